"""The ledger of flakes: samples that were graded again on this machine, and the verdicts that changed.

It is a JSON Lines file in the cache folder, with one line per check. Lines are only appended.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import resources

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from grader.results import Report

CONFIDENCE = 0.95


class Flake(msgspec.Struct, frozen=True, kw_only=True):
    """One verdict that changed when its sample was graded again."""

    qid: str
    sample: int
    program: str
    """A hash of the prediction."""
    reading: str
    verdicts: tuple[str, ...]
    """The verdict of each time, in order."""


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """Predictions that were graded more than once, and the verdicts that changed."""

    at: str
    source: str
    """`second opinion` or `selftest`."""
    benchmark: str
    protocol: str
    data_digest: str | None
    sandboxes: tuple[str, ...]
    """Their sandboxes, in order: `docker (Python 3.12.4)`."""
    load: float
    checked: dict[str, int]
    """qid -> number of samples that were graded again."""
    flakes: list[Flake]


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """How often verdicts changed."""

    flips: int
    checked: int

    @property
    def bound(self) -> float:
        """The upper bound of the rate: exact (Clopper-Pearson), one-sided, 95 %."""
        return upper_bound(self.flips, self.checked)


def upper_bound(flips: int, checked: int) -> float:
    """Return the exact one-sided upper bound of a rate; 1 if nothing was checked."""
    from scipy.stats import beta

    return float(beta.ppf(CONFIDENCE, flips + 1, checked - flips)) if flips < checked else 1.0


def path() -> Path:
    """Return the ledger's file."""
    return resources.cache_folder() / "flakes.jsonl"


def add(check: Check) -> None:
    """Append a check. One write per line: lines of concurrent graders do not mix."""
    line = msgspec.json.encode(check) + b"\n"
    descriptor = os.open(path(), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        os.write(descriptor, line)
    finally:
        os.close(descriptor)


def read() -> Iterator[Check]:
    """Yield the checks in order; skip damaged lines."""
    try:
        lines = path().read_bytes().splitlines()
    except OSError:
        return
    for line in lines:
        with contextlib.suppress(msgspec.DecodeError):
            yield msgspec.json.decode(line, type=Check)


def rate(checks: Iterable[Check]) -> Rate:
    """Return how often verdicts changed in these checks; a sample that changes in both readings counts once."""
    flips = checked = 0
    for check in checks:
        flips += len({(flake.qid, flake.sample) for flake in check.flakes})
        checked += sum(check.checked.values())
    return Rate(flips=min(flips, checked), checked=checked)


def by_task(checks: Iterable[Check]) -> dict[str, Rate]:
    """Return the rates of the tasks with changed verdicts, the highest rate first."""
    flips, checked = Counter[str](), Counter[str]()
    for check in checks:
        checked.update(check.checked)
        flips.update({qid: len({f.sample for f in check.flakes if f.qid == qid}) for qid in check.checked})
    worst = sorted((qid for qid in flips if flips[qid]), key=lambda qid: (-flips[qid] / checked[qid], qid))
    return {qid: Rate(flips=min(flips[qid], checked[qid]), checked=checked[qid]) for qid in worst}


def note(benchmark: str, data_digest: str | None, qids: Iterable[str]) -> list[str]:
    """Return a note about those tasks of a report whose verdicts changed before."""
    graded = set(qids)
    own = [check for check in read() if (check.benchmark, check.data_digest) == (benchmark, data_digest)]
    known = {qid: found for qid, found in by_task(own).items() if qid in graded}
    if not known:
        return []
    some = ", ".join(f"{qid} ({found.flips} of {found.checked})" for qid, found in list(known.items())[:10])
    more = f" and {len(known) - 10} more" if len(known) > 10 else ""
    return [
        f"Known flaky tasks (their verdicts changed when samples were graded again): {some}{more}; see `grade flakes`."
    ]


def program_hash(text: str) -> str:
    """Return a hash that identifies a prediction."""
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def sandbox_of(report: Report) -> str:
    """Return a description of a report's sandbox; empty if nothing was executed."""
    sandbox = report.provenance.sandbox
    return f"{sandbox.backend} (Python {sandbox.python})" if sandbox is not None else ""
