"""Receipts of self-tests, in the cache folder: what was tested on this machine, when, and the result.

A receipt shows two separate facts: that this machine grades correctly (any data shows this), and that the references of
one data set pass. The first one is void when version, sandbox, kernel, processor or limits change; the second one also
when the data changes.
"""

from __future__ import annotations

import contextlib
import hashlib
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.files.replacing import replacing
from grader.results import SelftestProvenance
from grader.selftest.machine import Machine, differences

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one self-test with the data of one benchmark."""

    at: str
    """When it ended, in UTC: `2026-11-22T00:10:05+00:00`."""
    benchmark: str
    protocol: str
    machine: Machine
    data: str
    data_digest: str | None
    passed: bool
    problems: int
    counts: dict[str, tuple[int, int]]
    """Kind of probe -> (number of expected verdicts, number of probes)."""
    repeats: int
    under_load: bool
    load: float
    """Load average when it began: recorded, not compared."""
    cpu_ratio: float = 0.0
    """Time of the calibration program, relative to the standard machine; 0: not measured."""

    @property
    def name(self) -> str:
        """The receipt's file name, which is the same for the same test on the same machine."""
        what = (self.benchmark, self.protocol, self.data_digest, self.machine)
        return hashlib.sha256(msgspec.json.encode(what)).hexdigest()[:24] + ".json"


def folder() -> Path:
    """Return the folder of the receipts; create it if it does not exist."""
    path = resources.cache_folder() / "selftests"
    path.mkdir(exist_ok=True)
    return path


def keep(receipt: Receipt) -> Path:
    """Write a receipt; it replaces an earlier receipt of the same test, passed or not."""
    path = folder() / receipt.name
    with replacing(path) as file:
        file.write(msgspec.json.format(msgspec.json.encode(receipt)))
    return path


def find(machine: Machine, benchmark: str, protocol: str, data_digest: str | None) -> SelftestProvenance | None:
    """Return the newest valid receipt of this machine for this data, else for other data of the benchmark."""
    valid = [receipt for receipt in _of(benchmark, protocol) if not differences(receipt.machine, machine)]
    if not valid:
        return None
    # A newer failed test of this machine overrides an older one that passed, for any data.
    newest = max(valid, key=lambda receipt: receipt.at)
    same = [receipt for receipt in valid if data_digest is not None and receipt.data_digest == data_digest]
    chosen = max(same, key=lambda receipt: receipt.at) if same and newest.passed else newest
    return SelftestProvenance(
        at=chosen.at,
        passed=chosen.passed,
        problems=chosen.problems,
        counts=chosen.counts,
        data=chosen.data,
        data_digest=chosen.data_digest,
        same_data=chosen in same,
        repeats=chosen.repeats,
        under_load=chosen.under_load,
        load=chosen.load,
        cpu_ratio=chosen.cpu_ratio,
    )


def machines(benchmark: str, protocol: str) -> list[Machine]:
    """Return the machines in a benchmark's receipts."""
    return [receipt.machine for receipt in _of(benchmark, protocol)]


def why_void(machine: Machine, benchmark: str, protocol: str, *, of_sandbox: bool = True) -> str:
    """Return why there is no valid receipt: nothing was tested, or something has changed since.

    Without `of_sandbox`, the sandbox and its limits are not compared, because they are not known yet.
    """
    kept = list(_of(benchmark, protocol))
    if not kept:
        return "no self-test of this benchmark and protocol was run on this machine"
    nearest = min(kept, key=lambda receipt: len(differences(receipt.machine, machine, of_sandbox=of_sandbox)))
    changed = differences(nearest.machine, machine, of_sandbox=of_sandbox)
    return f"since the self-test of {nearest.at[:16].replace('T', ' ')} UTC, {' and '.join(changed)} changed"


def _of(benchmark: str, protocol: str) -> Iterator[Receipt]:
    for path in folder().glob("*.json"):
        with contextlib.suppress(OSError, msgspec.DecodeError):
            receipt = msgspec.json.decode(path.read_bytes(), type=Receipt)
            if (receipt.benchmark, receipt.protocol) == (benchmark, protocol):
                yield receipt
