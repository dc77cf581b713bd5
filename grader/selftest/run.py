"""The steps of a self-test: plan, grade, judge, write the receipt."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader import grading, receipts, resources
from grader.predictions.file import PredictionFile
from grader.receipts import Receipt, load_average, this_machine
from grader.results import SelftestProvenance
from grader.selftest import verdict
from grader.selftest.outcome import Outcome
from grader.selftest.plan import NothingToTestError, choose, make

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.grading import Graded
    from grader.observer import Observer
    from grader.options import Options
    from grader.selftest.plan import Plan

# The process ends when its parent is gone, so that a killed self-test leaves no load behind.
_LOOP = (
    "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(1_000_000):\n        pass\n"
)


@contextlib.contextmanager
def busy(*, wanted: bool) -> Iterator[list[int]]:
    """Keep every core busy inside the block, if `wanted`; yield the ids of the busy processes."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(resources.usable_cores() if wanted else 0):
            running.append(subprocess.Popen([sys.executable, "-I", "-S", "-c", _LOOP]))  # noqa: S603
        yield [process.pid for process in running]
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()


def selftest(
    asked: Sequence[Options], observer: Observer, *, repeats: int = 1, under_load: bool = False, strict: bool = True
) -> Outcome:
    """Test the data of each of the options, and write receipts. Raises GradeError if nothing can run.

    Data without answers are an error, or are left out if not `strict`.
    """
    began, load = time.monotonic(), load_average()
    plans = _plans(asked, strict=strict)
    with busy(wanted=under_load):
        graded = [(plan, [grade(plan, observer) for _ in range(repeats)]) for plan in plans]
    at = datetime.now(UTC).isoformat(timespec="seconds")
    tested = []
    for plan, (first, *others) in graded:
        result = verdict.judge(plan, [each.report for each in (first, *others)])
        provenance = SelftestProvenance(
            at=at,
            passed=result.passed,
            problems=len(result.problems),
            counts={tally.kind: (tally.as_expected, tally.of) for tally in result.tallies},
            data=first.report.provenance.data,
            data_digest=first.report.provenance.data_digest,
            repeats=repeats,
            under_load=under_load,
            load=load,
            cpu_ratio=result.cpu_ratio,
        )
        assert first.subject is not None
        machine = this_machine(first.report.provenance.sandbox)
        receipts.keep(Receipt(subject=first.subject, machine=machine, tested=provenance, strengths=result.strengths))
        tested.append(result)
    return Outcome(
        passed=all(each.passed for each in tested),
        at=at,
        seconds=round(time.monotonic() - began, 1),
        repeats=repeats,
        under_load=under_load,
        tested=tested,
        left_out=[each.benchmark for each in asked if each.benchmark not in {plan.options.benchmark for plan in plans}],
    )


def _plans(asked: Sequence[Options], *, strict: bool) -> list[Plan]:
    made = []
    for options in map(choose, asked):
        try:
            made.append(make(options, *grading.load_tasks(options)))
        except NothingToTestError:
            if strict:
                raise
    return made


def grade(plan: Plan, observer: Observer) -> Graded:
    """Grade a plan's probes once, like a prediction file. Raises GradeError."""
    texts = {qid: [probe.prediction for probe in probes] for qid, probes in plan.probes.items()}
    with tempfile.TemporaryDirectory(prefix="grade-selftest-") as folder:
        options = _with_replies(plan, Path(folder))
        return grading.grade(PredictionFile.of(texts, "probes"), options, observer)


def _with_replies(plan: Plan, folder: Path) -> Options:
    """Return the plan's options, with a file of the probes' judge replies if there are any."""
    replies = {
        qid if not number else f"{qid}@{number}": probe.judge_reply
        for qid, probes in plan.probes.items()
        for number, probe in enumerate(probes)
        if probe.judge_reply is not None
    }
    if not replies:
        return plan.options
    path = folder / "judge_replies.json"
    path.write_text(json.dumps(replies), encoding="utf-8")
    return msgspec.structs.replace(plan.options, judge_replies=path)
