"""Notes on tasks that are not judged, or whose verdicts are weaker, and on modules that the sandbox does not have."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from grader.files.json_text import quoted
from grader.scorers.execution.states import BrokenReference, Judgeable, NotJudgeable
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.results import SampleResult
    from grader.scorers.execution.pipeline import Pipeline
    from grader.scorers.execution.sample import Sample
    from grader.scorers.execution.states import State, States

NAMED_TASKS = 10
"""Maximum number of tasks that a note names."""
NOT_JUDGED = (
    "{tasks} not judged: the tests cannot judge programs that run apart from them, so careful metrics are over the "
    "other tasks. {named}."
)
BROKEN = "{tasks} judged without a reference solution, because it fails the tests: {named}. Correct the solution."
WITHOUT_REFERENCE = (
    "{tasks} judged without a reference solution, so more weakly: answers that satisfy the tests by accident may count "
    "as passed. Add a column with solutions: {named}."
)
LACKING = (
    "{tasks} cannot be judged in this sandbox, so samples are unscored in both readings: the tests or the reference "
    "solution need a module that it does not have: {named}."
)
MODULES = (
    "The sandbox does not have these modules: {named}. A program that imports one fails, and where the task needs it, "
    "samples are unscored. `grade doctor` lists what it has; a benchmark's `requirements` add packages."
)
FAILED = "{tasks} failed, so samples are unscored. {named}"
NO_MODULE = "No module named "
"""What Python says of a module that is not there, before its name in quotes."""
_MODULE = re.compile(rf"{NO_MODULE}'([\w.]+)'")


def tasks_without_module(states: Mapping[str, State]) -> dict[str, str]:
    """Return task -> a module that its tests or its reference solution need and the sandbox does not have."""
    # A task may be judged without its reference solution, which then is what failed.
    reasons = {
        qid: state.reference_failure if isinstance(state, Judgeable) else state.reason for qid, state in states.items()
    }
    matches = {qid: _MODULE.search(reason) for qid, reason in reasons.items()}
    return {qid: match[1] for qid, match in matches.items() if match is not None}


def task_notes(samples: Iterable[Sample], pipeline: Pipeline) -> list[str]:
    """Return notes on tasks whose verdicts are weaker, or whose samples are unscored, and why.

    A task without a module is named for that alone, and a broken reference solution in one note only.
    """
    states = pipeline.states
    modules, broken = tasks_without_module(states), states.reasons(BrokenReference)
    weaker = _without_named_tasks(states.reference_failures, modules | broken)
    without_reference = [
        qid
        for qid in dict.fromkeys(sample.task.id for sample in samples if sample.candidates)
        if isinstance(state := states.get(qid), Judgeable) and state.has_no_reference and not state.reference_failure
    ]
    return _notes(
        [
            *_unjudged_tasks(states),
            (BROKEN, _reason_lines(weaker)),
            (WITHOUT_REFERENCE, without_reference),
            (f"The checker of {FAILED}", _fault_lines(pipeline.inputs.failed_checkers)),
            (f"The reference solution of {FAILED}", _fault_lines(broken)),
        ]
    )


def notes_on_unjudged_tasks(states: States) -> list[str]:
    """Return notes on tasks that are not judged, and why."""
    return _notes(_unjudged_tasks(states))


def _unjudged_tasks(states: States) -> list[tuple[str, list[str]]]:
    """Return the texts of notes on tasks that are not judged, and the tasks: each is named once."""
    modules = tasks_without_module(states)
    unjudged = _without_named_tasks(states.reasons(NotJudgeable), modules)
    return [(LACKING, _reason_lines(modules)), (NOT_JUDGED, _reason_lines(unjudged))]


def missing_module_notes(samples: Iterable[SampleResult]) -> list[str]:
    """Return a note on the modules that programs or tasks lacked, with the number of samples and tasks of each."""
    tasks: dict[str, list[str]] = defaultdict(list)
    for sample in samples:
        for name in set(_PACKAGE.findall(f"{sample.official.detail} {sample.careful.detail}")):
            tasks[name].append(sample.qid)
    named = [
        f"{name}: {counted(len(qids), 'sample')} of {counted(len(set(qids)), 'task')}"
        for name, qids in sorted(tasks.items(), key=lambda item: -len(item[1]))
    ]
    return _notes([(MODULES, named)])


_PACKAGE = re.compile(rf"{NO_MODULE}'(\w+)")


def _without_named_tasks(tasks: Mapping[str, str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the tasks that another note does not name already."""
    return {qid: why for qid, why in tasks.items() if qid not in named}


def _notes(notes: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Return texts with the tasks that they are about; those about none are left out."""
    return [text.format(tasks=counted(len(tasks), "task"), named=_join_first(tasks)) for text, tasks in notes if tasks]


def _reason_lines(tasks: Mapping[str, str]) -> list[str]:
    return [f"{qid} ({why})" for qid, why in tasks.items()]


def _fault_lines(tasks: Mapping[str, str]) -> list[str]:
    return [f"{quoted(qid)}: {why}" for qid, why in tasks.items()]


def _join_first(texts: list[str]) -> str:
    """Return the first texts, and how many more there are."""
    more = f"; and {len(texts) - NAMED_TASKS} more" if len(texts) > NAMED_TASKS else ""
    return "; ".join(texts[:NAMED_TASKS]) + more
