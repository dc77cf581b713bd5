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
    from grader.grading.inputs import Setup
    from grader.results import ReadingName, Report
    from grader.scorers.interface import AnyRun
    from grader.scorers.registry import AnyScorer


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Gates:
    """The gates that a run must meet."""

    thresholds: Sequence[FailUnder]
    drops: Sequence[MaxDrop]
    baseline: Path | None
    earlier: Report | None
    """The report in `baseline`."""
    confident: bool
    reading: ReadingName

    @classmethod
    def of_options(cls, setup: Setup, *, reading: ReadingName, **given: Any) -> Gates:
        """Return the gates of the command's options; the baseline is read before a run can replace the file."""
        if given["confident"] and not given["thresholds"]:
            raise UsageError("--confident needs --fail-under.")
        earlier = _read_baseline(given["baseline"], given["drops"], reading, setup)
        return cls(earlier=earlier, reading=reading, **given)

    def __bool__(self) -> bool:
        return bool(self.thresholds or self.drops)

    def check(self, scorer: AnyScorer, run: AnyRun) -> None:
        """Raise UsageError for a gate on a metric that the run will not have, before it is scored."""
        from grader.decisions import thresholds

        thresholds.check_before_run(scorer, run, thresholds=self.thresholds, drops=self.drops)

    def decide(self, report: Report) -> Decided:
        """Return what the gates decide about a report."""
        if not self:
            return Decided([])
        from grader.decisions.gate import decide_all

        try:
            return Decided(
                decide_all(
                    report,
                    thresholds=self.thresholds,
                    baseline=self.earlier,
                    drops=self.drops,
                    reading=self.reading,
                    confident=self.confident,
                )
            )
        except UsageError as error:
            return Decided([], error)


class Decided(NamedTuple):
    """What the gates of a run decided."""

    results: Sequence[GateResult]
    refused: UsageError | None = None
    """Why the gates cannot be decided, for example an unknown metric. The results are saved all the same."""


def _read_baseline(path: Path | None, drops: Sequence[MaxDrop], reading: ReadingName, setup: Setup) -> Report | None:
    """Read and check the baseline."""
    if path is None:
        if drops:
            raise UsageError("--max-drop needs --baseline.")
        return None
    from grader.scorers.report_check import read_report

    report, will_be = read_report(path), (setup.declared.id, setup.split, setup.protocol)
    if (report.benchmark, report.split, report.protocol) != will_be:
        raise UsageError(
            f"{path} cannot be the baseline of this run: it has {report.benchmark}, {report.split}, "
            f"{report.protocol}; this run has {', '.join(will_be)}."
        )
    if not drops:
        from grader.decisions.gate import missing_margin_error

        raise missing_margin_error(report, reading)
    return report


def finish(report: Report, decided: Decided, unwritten: InfrastructureError | None) -> int:
    """Print the gates' decisions, as the last output; return the exit code. `unwritten`: why a file is missing."""
    if decided.refused is not None:
        raise unwritten or decided.refused
    lost = bool(report.samples) and report.unscored == len(report.samples)
    if silent := _silent_judge(report):
        lost = True
        say(f"error: {silent}")
    if not decided.results:
        if unwritten is not None:
            raise unwritten
        return InfrastructureError.exit_code if lost else 0
    from grader.decisions.gate import exit_code

    code = exit_code(decided.results, complete=unwritten is None and not silent)
    if unwritten is not None and code != InfrastructureError.exit_code:
        say(f"error: {unwritten}")
    announce(decided.results)
    if unwritten is not None and code == InfrastructureError.exit_code:
        raise unwritten
    return code


def announce(gates: Sequence[GateResult], *, is_shown: bool = False) -> None:
    """Print the decision of every gate; the last lines, which a CI's log shows first, are the worst that decide.

    On GitHub, each is also a message at the top of the run. `is_shown`: they are in a table above, so one line with
    their number follows.
    """
    from grader.decisions.gate import WORST_FIRST

    for gate in gates:
        github.on_top(gate)
    if is_shown:
        counts = Counter(gate.state for gate in gates if not gate.is_advisory)
        words = ", ".join(f"{counts[state]} {state}" for state in WORST_FIRST if counts[state])
        say(f"GATES: {words or 'none decides'}")
        return
    for gate in sorted(gates, key=lambda gate: (not gate.is_advisory, -WORST_FIRST.index(gate.state))):
        advisory = " (advisory)" if gate.is_advisory else ""
        say(f"GATE {gate.state.upper()}{advisory}: {gate.gate}: {gate.reason}")


def _silent_judge(report: Report) -> str:
    """Return what happened if a judge answered none of its questions, with the last reason; else an empty text."""
    from grader.wording import counted

    judge = report.provenance.judge
    if judge is None or judge.questions == 0 or judge.questions > judge.failed:
        return ""
    silent = judge.failed - judge.unreadable
    if not judge.unreadable:
        what = "there was no reply"
    elif not silent:
        what = "it replied, but no reply could be read"
    else:
        what = f"{silent} got no reply, and {judge.unreadable} got replies that could not be read"
    why = f" Last reason: {judge.last_error.rstrip('. ')}." if judge.last_error else ""
    of = counted(judge.questions, "question")
    advice = " If it does not keep to the prompt, give another --judge-model." if judge.unreadable else ""
    return f"the judge answered none of its {of}: {what}.{why} The same command asks again.{advice}"
