"""The gates of `grade PREDICTIONS`: checked first, decided when the run is graded, and printed last."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.commands import github
from grader.commands.console import say
from grader.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from grader.decisions.gate import GateResult
    from grader.decisions.thresholds import FailUnder, MaxDrop
    from grader.grading.setup import Setup
    from grader.results import ReadingName, Report
    from grader.scorers.interface import AnyRun
    from grader.scorers.registry import AnyScorer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """The gates that a run must meet."""

    thresholds: Sequence[FailUnder]
    drops: Sequence[MaxDrop]
    baseline: Path | None
    baseline_report: Report | None
    """The report in `baseline`."""
    confident: bool
    reading: ReadingName

    @classmethod
    def from_options(cls, setup: Setup, *, reading: ReadingName, **options: Any) -> Gates:
        """Return the gates of `options` (all other fields); the baseline is read before a run can replace its file."""
        if options["confident"] and not options["thresholds"]:
            raise UsageError("--confident needs --fail-under.")
        report = _read_baseline(options["baseline"], options["drops"], reading, setup)
        return cls(baseline_report=report, reading=reading, **options)

    def __bool__(self) -> bool:
        return bool(self.thresholds or self.drops)

    def check(self, scorer: AnyScorer, run: AnyRun) -> None:
        """Raise UsageError for a gate on a metric that the run will not have, before it is scored."""
        from grader.decisions import thresholds

        thresholds.check_before_run(scorer, run, thresholds=self.thresholds, drops=self.drops)

    def decide(self, report: Report) -> GateDecisions:
        """Return what the gates decide about a report."""
        if not self:
            return GateDecisions([])
        from grader.decisions.gate import decide_all

        try:
            return GateDecisions(
                decide_all(
                    report,
                    thresholds=self.thresholds,
                    baseline=self.baseline_report,
                    drops=self.drops,
                    reading=self.reading,
                    confident=self.confident,
                )
            )
        except UsageError as error:
            return GateDecisions([], error)


class GateDecisions(NamedTuple):
    """What the gates of a run decided."""

    results: Sequence[GateResult]
    error: UsageError | None = None
    """Why the gates cannot be decided, for example an unknown metric. The results are saved all the same."""


def _read_baseline(path: Path | None, drops: Sequence[MaxDrop], reading: ReadingName, setup: Setup) -> Report | None:
    """Return the baseline's report, or None without one.

    Raises UsageError if only one of `--baseline` and `--max-drop` is given, and for a baseline of another benchmark,
    split or protocol.
    """
    if path is None:
        if drops:
            raise UsageError("--max-drop needs --baseline.")
        return None
    from grader.scorers.report_check import read_report

    report = read_report(path)
    baseline_tasks = (report.benchmark, report.split, report.protocol)
    tasks = (setup.declared.id, setup.split, setup.protocol)
    if baseline_tasks != tasks:
        raise UsageError(
            f"{path} cannot be the baseline of this run: it has {', '.join(baseline_tasks)}; "
            f"this run has {', '.join(tasks)}."
        )
    if not drops:
        from grader.decisions.gate import missing_margin_error

        raise missing_margin_error(report, reading)
    return report


def finish(report: Report, decisions: GateDecisions, write_error: InfrastructureError | None) -> int:
    """Print the gates' decisions, as the last output; return the exit code.

    A run is incomplete if a file could not be written (`write_error` says why), or if its judge answered nothing; a run
    without gates also if no sample could be scored. Its exit code is that of an InfrastructureError, unless a gate is
    not met: then `write_error` is only printed, else raised. Raises `decisions.error` if there is no `write_error`.
    """
    if decisions.error is not None:
        raise write_error or decisions.error
    judge_problem = _judge_problem(report)
    if judge_problem:
        say(f"error: {judge_problem}")
    is_complete = write_error is None and not judge_problem
    if decisions.results:
        from grader.decisions.gate import exit_code

        code = exit_code(decisions.results, complete=is_complete)
    else:
        has_no_scores = bool(report.samples) and report.unscored == len(report.samples)
        code = InfrastructureError.exit_code if has_no_scores or not is_complete else 0
    error_decides = code == InfrastructureError.exit_code
    if write_error is not None and not error_decides:
        say(f"error: {write_error}")
    announce(decisions.results)
    if write_error is not None and error_decides:
        raise write_error
    return code


def announce(gates: Sequence[GateResult], *, has_table: bool = False) -> None:
    """Print the decision of every gate: advisory ones first, and the worst of the others last, where a CI shows it.

    On GitHub, each is also a message at the top of the run. `has_table`: they are in a table above, so only the
    number of gates in each state follows.
    """
    from grader.decisions.gate import WORST_FIRST

    for gate in gates:
        github.annotate_gate(gate)
    if has_table:
        counts = Counter(gate.state for gate in gates if not gate.is_advisory)
        words = ", ".join(f"{counts[state]} {state}" for state in WORST_FIRST if counts[state])
        say(f"GATES: {words or 'none decides'}")
        return
    for gate in sorted(gates, key=lambda gate: (gate.is_advisory, WORST_FIRST.index(gate.state)), reverse=True):
        advisory = " (advisory)" if gate.is_advisory else ""
        say(f"GATE {gate.state.upper()}{advisory}: {gate.gate}: {gate.reason}")


def _judge_problem(report: Report) -> str:
    """Return what happened if a judge answered none of its questions, with the last reason; else an empty text."""
    judge = report.provenance.judge
    if judge is None or judge.questions == 0 or judge.questions > judge.failed:
        return ""
    without_reply = judge.failed - judge.unreadable
    if not judge.unreadable:
        cause = "there was no reply"
    elif not without_reply:
        cause = "it replied, but no reply could be read"
    else:
        cause = f"{without_reply} got no reply, and {judge.unreadable} got replies that could not be read"
    last_reason = f" Last reason: {judge.last_error.rstrip('. ')}." if judge.last_error else ""
    failure = f"answered none of its {judge.questions:,} questions"
    if judge.questions == 1:
        failure = "did not answer its question"
    advice = " If it does not keep to the prompt, give another --judge-model." if judge.unreadable else ""
    return f"the judge {failure}: {cause}.{last_reason} The same command asks again.{advice}"
