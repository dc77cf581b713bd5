"""A second opinion: some of a run's samples are graded again in fresh sandboxes. No verdict of the run changes."""

from __future__ import annotations

import io
import math
import random
from collections import Counter
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import msgspec

from grader import grading
from grader.errors import UsageError
from grader.results import READINGS, Outcome
from grader.sandbox import bubblewrap, docker
from grader.selftest import ledger
from grader.selftest.ledger import Check, Flake
from grader.selftest.machine import load_average

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.grading import Graded
    from grader.observer import Observer
    from grader.options import Options
    from grader.results import Report, SampleResult

FEWEST = 20
Key = tuple[str, int]


def ask(graded: Graded, options: Options, observer: Observer, *, percent: float) -> Check:
    """Grade some samples of a run again; add the result to the ledger and return it. Raises GradeError."""
    report, sandbox = graded.report, graded.report.provenance.sandbox
    if sandbox is None or graded.file is None:
        raise UsageError("--second-opinion: this run executed no programs, so there is nothing to execute again.")
    texts = {record.qid: record.predictions for record in graded.file.records}
    chosen = choose(report, percent, random.SystemRandom())
    again = _again(chosen, texts, options, _other(sandbox.backend), observer)
    check = compare(report, again, chosen, texts)
    ledger.add(check)
    return check


def choose(report: Report, percent: float, draw: random.Random) -> list[Key]:
    """Return the samples to grade again: a share of those with a verdict, at least 20, and every timeout."""
    scored = [s for s in report.samples if Outcome.UNSCORED not in {s.official.outcome, s.careful.outcome}]
    count = min(len(scored), max(FEWEST, math.ceil(len(scored) * percent / 100)))
    drawn = {(sample.qid, sample.sample) for sample in draw.sample(scored, count)}
    late = {(s.qid, s.sample) for s in scored if Outcome.TIMEOUT in {s.official.outcome, s.careful.outcome}}
    return [key for s in scored if (key := (s.qid, s.sample)) in drawn | late]


def _other(backend: str) -> Literal["docker", "bubblewrap"]:
    """Return the backend for second opinions: the other one, if this machine has it."""
    if backend == "docker":
        return "bubblewrap" if bubblewrap.executable() is not None else "docker"
    return "docker" if docker.available() else "bubblewrap"


def _again(
    chosen: list[Key],
    texts: Mapping[str, list[str]],
    options: Options,
    sandbox: Literal["docker", "bubblewrap"],
    observer: Observer,
) -> Report:
    """Grade the chosen samples again; a task's samples are numbered in the order of `chosen`."""
    predictions: dict[str, list[str]] = {}
    for qid, sample in chosen:
        predictions.setdefault(qid, []).append(texts[qid][sample])
    records = [{"qid": qid, "predictions": given} for qid, given in predictions.items()]
    runtime = options.runtime if sandbox == "docker" else None
    again = msgspec.structs.replace(
        options, sandbox=sandbox, runtime=runtime, isolation="container", cache=False, k=(), limit=None,
        ids=tuple(predictions), executor="local", ray_address=None,
    )  # fmt: skip
    return grading.grade("-", again, observer, stdin=io.BytesIO(msgspec.json.encode(records))).report


def compare(first: Report, second: Report, chosen: list[Key], texts: Mapping[str, list[str]]) -> Check:
    """Return the result of grading again; samples that are unscored the second time are not counted."""
    before = {(sample.qid, sample.sample): sample for sample in first.samples}
    after = {(sample.qid, sample.sample): sample for sample in second.samples}
    seen, checked = Counter[str](), Counter[str]()
    flakes: list[Flake] = []
    for qid, sample in chosen:
        now = after.get((qid, seen[qid]))
        seen[qid] += 1
        if now is None or Outcome.UNSCORED in {now.official.outcome, now.careful.outcome}:
            continue
        checked[qid] += 1
        flakes += _flakes(before[qid, sample], now, texts[qid][sample])
    return Check(
        at=datetime.now(UTC).isoformat(timespec="seconds"),
        source="second opinion",
        benchmark=first.benchmark,
        protocol=first.protocol,
        data_digest=first.provenance.data_digest,
        sandboxes=(ledger.sandbox_of(first), ledger.sandbox_of(second)),
        load=load_average(),
        checked=dict(checked),
        flakes=flakes,
    )


def _flakes(before: SampleResult, now: SampleResult, text: str) -> list[Flake]:
    return [
        Flake(
            qid=before.qid,
            sample=before.sample,
            program=ledger.program_hash(text),
            reading=name,
            verdicts=(str(before.reading(name).outcome), str(now.reading(name).outcome)),
        )
        for name in READINGS
        if before.reading(name).outcome is not now.reading(name).outcome
    ]


def in_words(check: Check) -> str:
    """Return a sentence about a second opinion."""
    checked = sum(check.checked.values())
    where = f"in fresh sandboxes, {check.sandboxes[-1]}"
    flipped = {(flake.qid, flake.sample) for flake in check.flakes}
    if not flipped:
        return f"Second opinion: {checked} samples were graded again {where}, with the same verdicts."
    some = ", ".join(f"{f.qid} #{f.sample} {f.reading} {' -> '.join(f.verdicts)}" for f in check.flakes[:10])
    return (
        f"Second opinion: {checked} samples were graded again {where}, and {len(flipped)} changed ({some}). The "
        "verdicts of this run stay as they are; `grade flakes` shows all changed verdicts on this machine."
    )
