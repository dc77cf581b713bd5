"""The rows of a benchmark, in a common format or in one that only its scorer reads, and the tasks that they become."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec

from grader.data.load import load
from grader.data.tables import cell
from grader.errors import InputError
from grader.files.json_text import problem_lines, quoted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from grader.benchmark import Benchmark, DerivedGrouping, TaskSets
    from grader.data.tables import ColumnSet, Rows
    from grader.scorers.registry import AnyScorer
    from grader.task import Task


def rows_of(
    benchmark: Benchmark,
    split: str,
    protocol: str,
    given: Path | None,
    scorer: AnyScorer,
    *,
    wanted: ColumnSet | None = None,
) -> Rows:
    """Load the rows of a split; the errors are those of `load`. `given` is the path of `--data`.

    `wanted`: the columns that the rows have; None: only those that scoring uses.
    """
    rows = scorer.load_scorer_rows(benchmark, split, given)
    if rows is not None:
        return rows
    columns = benchmark.scored_columns(split)
    if columns is not None:
        of_groupings = (derived.source for derived in benchmark.derived.values())
        of_sets = (name for sets in benchmark.together.values() for name in sets.columns)
        columns = [*columns, *of_groupings, *of_sets]
    return load(benchmark, split, protocol, given, columns, wanted=wanted)


def tasks_of(scorer: AnyScorer, declared: Benchmark, split: str, rows: Rows) -> dict[str, Any]:
    """Turn rows into tasks, with all groups and sets.

    Raises InputError for rows without an id or a set, and for too many broken rows.
    """
    tasks: dict[str, Task] = scorer.tasks(declared, split, rows)
    if names := declared.columns.groups:
        tasks = {
            qid: task if task.groups else msgspec.structs.replace(task, groups=groups_of(task.row, names))
            for qid, task in tasks.items()
        }
    if declared.derived:
        _check_sources(declared, tasks, rows)
        tasks = {qid: _with_derived_groups(task, declared.derived) for qid, task in tasks.items()}
    return _with_sets(tasks, declared.together, rows) if declared.together else tasks


def _with_sets(tasks: Mapping[str, Task], declared: Mapping[str, TaskSets], rows: Rows) -> dict[str, Task]:
    """Return the tasks with the sets that are scored together; raises InputError that names every task without one."""
    problems: list[str] = []
    with_sets: dict[str, Task] = {}
    for index, (qid, task) in enumerate(tasks.items()):
        try:
            sets = {name: _set_name(task, index, together) for name, together in declared.items()}
        except ValueError as error:
            problems.append(f"{rows.place or rows.origin}: {qid}: {error}")
            continue
        with_sets[qid] = msgspec.structs.replace(task, together=sets)
    if problems:
        raise InputError(problem_lines(problems))
    return with_sets


def groups_of(row: Mapping[str, Any], names: Iterable[str]) -> dict[str, str | list[str]]:
    """Return column -> label, or labels if a row has a list of them; of an object, the keys with a true value."""
    groups: dict[str, str | list[str]] = {}
    for name in names:
        value = row.get(name)
        if isinstance(value, dict):
            value = [key for key, is_set in value.items() if is_set]
        if isinstance(value, list):
            if labels := list(dict.fromkeys(label for entry in value if (label := cell(entry)) is not None)):
                groups[name] = labels
        elif (label := cell(value)) is not None:
            groups[name] = label
    return groups


def _check_sources(declared: Benchmark, tasks: Mapping[str, Task], rows: Rows) -> None:
    """Raise InputError if no task has the source column of a derived grouping that has a default: all would get it.

    Also if the main metric needs the grouping.
    """
    needed = [name for name, group in declared.derived.items() if group.otherwise or name in declared.main_groupings]
    sources = {name: declared.derived[name].source for name in needed}
    problems = [
        f"{rows.place or rows.origin}: no column {quoted(source)} (`derived.{name}.source` in benchmark.toml)"
        for name, source in sources.items()
        if tasks and not any(source in task.row or source in task.groups for task in tasks.values())
    ]
    if problems:
        raise InputError(problems)


def _with_derived_groups(task: Task, derived: Mapping[str, DerivedGrouping]) -> Task:
    groups = dict(task.groups)
    for name, group in derived.items():
        value = cell(task.row.get(group.source)) or str(groups.get(group.source, ""))
        if label := group.values.get(value, group.otherwise):
            groups[name] = label
    return msgspec.structs.replace(task, groups=groups)


def _set_name(task: Task, index: int, together: TaskSets) -> str:
    """Return the name of the set of a task; `index` is its position in the data. Raises ValueError."""
    missing = [name for name in together.columns if cell(task.row.get(name)) is None]
    if missing:
        raise ValueError(f"no value in column {missing[0]}")
    match = re.match(together.id_pattern, task.id)
    if match is None:
        raise ValueError(f"the id_pattern {quoted(together.id_pattern)} does not match the id")
    parts = [*(str(task.row[name]) for name in together.columns), *(group or "" for group in match.groups())]
    if together.rows:
        parts.append(str(index // together.rows))
    return "/".join(parts)
