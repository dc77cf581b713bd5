"""The steps of a self-test: plan, grade, judge, write the receipt."""

from __future__ import annotations

import io
import json
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader import grading
from grader.selftest import ledger, receipts, verdict
from grader.selftest import plan as plans
from grader.selftest.busy import busy
from grader.selftest.machine import load_average, this_machine
from grader.selftest.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.observer import Observer
    from grader.options import Options
    from grader.results import Report
    from grader.selftest.outcome import Tested
    from grader.selftest.plan import Plan


def selftest(asked: Sequence[Options], observer: Observer, *, repeats: int = 1, under_load: bool = False) -> Outcome:
    """Test the data of each of the options, and write receipts. Raises GradeError if nothing can run."""
    began, load = time.monotonic(), load_average()
    made = [_plan(plans.choose(options)) for options in asked]
    with busy(wanted=under_load):
        graded = [(plan, [grade(plan, observer) for _ in range(repeats)]) for plan in made]
    at = datetime.now(UTC).isoformat(timespec="seconds")
    tested = []
    for plan, reports in graded:
        tested.append(verdict.judge(plan, reports))
        receipt = _receipt(reports[0], tested[-1], at, load)
        if repeats > 1:
            ledger.add(_check(plan, reports, at, load))
        receipts.keep(msgspec.structs.replace(receipt, repeats=repeats, under_load=under_load))
    return Outcome(
        passed=all(each.passed for each in tested),
        at=at,
        seconds=round(time.monotonic() - began, 1),
        repeats=repeats,
        under_load=under_load,
        tested=tested,
    )


def _plan(options: Options) -> Plan:
    declared, tasks = grading.load_tasks(options)
    return plans.make(options, declared, tasks)


def grade(plan: Plan, observer: Observer) -> Report:
    """Grade a plan's probes once, like a prediction file. Raises GradeError."""
    records = [{"qid": qid, "predictions": [p.prediction for p in probes]} for qid, probes in plan.probes.items()]
    with tempfile.TemporaryDirectory(prefix="grade-selftest-") as folder:
        options = _with_replies(plan, Path(folder))
        return grading.grade("-", options, observer, stdin=io.BytesIO(msgspec.json.encode(records))).report


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


def _check(plan: Plan, reports: Sequence[Report], at: str, load: float) -> ledger.Check:
    """Return the result of the repetitions, for the ledger."""
    tables = [{(s.qid, s.sample): s for s in report.samples} for report in reports]
    flakes = [
        ledger.Flake(
            qid=qid,
            sample=number,
            program=ledger.program_hash(plan.probes[qid][number].prediction),
            reading=reading,
            verdicts=tuple(str(table[qid, number].reading(reading).outcome) for table in tables),
        )
        for qid, number, reading in verdict.changed_verdicts(reports)
    ]
    return ledger.Check(
        at=at,
        source="selftest",
        benchmark=reports[0].benchmark,
        protocol=reports[0].protocol,
        data_digest=reports[0].provenance.data_digest,
        sandboxes=tuple(map(ledger.sandbox_of, reports)),
        load=load,
        checked={qid: len(probes) * (len(reports) - 1) for qid, probes in plan.probes.items()},
        flakes=flakes,
    )


def _receipt(report: Report, tested: Tested, at: str, load: float) -> receipts.Receipt:
    return receipts.Receipt(
        at=at,
        benchmark=report.benchmark,
        protocol=report.protocol,
        machine=this_machine(report.provenance.sandbox),
        data=report.provenance.data,
        data_digest=report.provenance.data_digest,
        passed=tested.passed,
        problems=len(tested.problems),
        counts={tally.kind: (tally.as_expected, tally.of) for tally in tested.tallies},
        repeats=1,
        under_load=False,
        load=load,
        cpu_ratio=tested.cpu_ratio,
    )
