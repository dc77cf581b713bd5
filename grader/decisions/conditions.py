"""Differences in the conditions of two runs: a different judge forbids a comparison, other limits may matter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.scorers.oddities import FILTER

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.results import Report, SandboxProvenance

_RECORDED_REPLIES = "recorded replies"
_NO_JUDGE = "no judge"


class ConditionDifference(msgspec.Struct, frozen=True, kw_only=True):
    """One condition that differs between two runs."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        """Return the difference as text."""
        return f"{self.what} {self.before} and {self.after}"


def check_judges(before: Report, after: Report) -> None:
    """Raise UsageError if two runs had different judges, because the judge may have caused a change."""
    first, second = judge_of(before), judge_of(after)
    if first == second:
        return
    if _RECORDED_REPLIES in (first, second) and _NO_JUDGE not in (first, second):
        return  # the model behind recorded replies is unknown: `differences` reports it
    raise UsageError(
        f"These runs cannot be compared: they had different judges ({first} and {second}), which may have caused the "
        "changes. Grade both with the same --judge-model, or both without a judge."
    )


def differences(before: Report, after: Report) -> list[ConditionDifference]:
    """Return the relevant conditions that differ between two runs, without those that one run does not record."""
    conditions = [*_grading_conditions(before, after), *_judge_conditions(before, after)]
    first, second = before.provenance.sandbox, after.provenance.sandbox
    if first is not None and second is not None:
        conditions += _sandbox_conditions(first, second)
    return [
        ConditionDifference(what=what, before=value_before, after=value_after)
        for what, value_before, value_after in conditions
        if value_before and value_after and value_before != value_after
    ]


def in_words(differences: list[ConditionDifference]) -> str:
    """Return all differences in one line."""
    return "; ".join(map(str, differences))


def judge_of(report: Report) -> str:
    """Return the name of a run's judge; `no judge` if none judged anything."""
    judge = report.provenance.judge
    if judge is None or (judge.model and not judge.questions):
        return _NO_JUDGE  # a model that got no questions has judged nothing
    return judge.model or _RECORDED_REPLIES


def _judge_version(report: Report) -> str:
    """Return the version of the rules of careful verdicts on programs; empty if nothing was executed."""
    return str(report.judge_version) if isinstance(report.judge_version, int) else ""


def _grading_conditions(before: Report, after: Report) -> Iterator[tuple[str, str, str]]:
    """Yield (condition, before, after) of the grading; an empty text means unknown."""
    yield "judge of programs, version", _judge_version(before), _judge_version(after)
    yield "grade's version", before.provenance.grade, after.provenance.grade
    # In the official reading, each filter of a log of lm-evaluation-harness is another rule.
    yield "filters of the log", _filters(before), _filters(after)
    part_before, part_after = (
        f"{report.part.n} of {report.part.of}" if report.part else "all" for report in (before, after)
    )
    yield "part of the benchmark", part_before, part_after


def _filters(report: Report) -> str:
    """Return the filters that made the graded texts, sorted; empty if there is none."""
    prefix = f"{FILTER}="
    names = {name for sample in report.samples for name in sample.group_names() if name.startswith(prefix)}
    return ", ".join(sorted(name.removeprefix(prefix) for name in names))


def _judge_conditions(before: Report, after: Report) -> Iterator[tuple[str, str, str]]:
    """Yield (condition, before, after) of the judges; an empty text means unknown."""
    first, second = before.provenance.judge, after.provenance.judge
    if first is None or second is None:
        return
    yield "judge", first.model or _RECORDED_REPLIES, second.model or _RECORDED_REPLIES
    yield "judge's endpoint", first.endpoint, second.endpoint


def _sandbox_conditions(first: SandboxProvenance, second: SandboxProvenance) -> Iterator[tuple[str, str, str]]:
    """Yield (condition, before, after) of the sandboxes; an empty text means unknown."""
    yield "timeout", _seconds(first.cpu_seconds), _seconds(second.cpu_seconds)
    yield "memory limit", _megabytes(first), _megabytes(second)
    yield "Python inside", first.python, second.python
    yield "sandbox", first.backend, second.backend
    yield "OCI runtime", first.runtime, second.runtime
    # Beside another Python, sandbox or runtime, another image says nothing more.
    if (first.python, first.backend, first.runtime) == (second.python, second.backend, second.runtime):
        yield "sandbox image", first.image or first.identity, second.image or second.identity


def _seconds(limit: float | None) -> str:
    return f"{limit:g} s" if limit else ""


def _megabytes(sandbox: SandboxProvenance) -> str:
    return f"{sandbox.memory_bytes >> 20} MB" if sandbox.memory_bytes else ""
