"""A row of a code benchmark as a task: a signature to complete, and tests."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.scorers.execution.assembly import Signature, assemble, read_signature
from grader.task import Block, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.data.rows import Row, Rows
    from grader.scorers.execution.declaration import ExecutionBenchmark, ExecutionColumns


class CodeTask(Task, frozen=True, kw_only=True):
    """What is executed for a task."""

    signature_text: str
    tests: str
    signature: Signature
    """Read once for all samples."""
    solution: str | None = None
    """A solution that is known to be right, as a program's text."""


def make(qid: str, signature: str, tests: str, groups: dict[str, str | list[str]], solution: object = None) -> CodeTask:
    """Prepare a task that is known by its signature and tests alone. `solution`: a body, or a whole program."""
    return CodeTask(
        id=qid,
        signature_text=signature,
        tests=tests,
        signature=read_signature(signature),
        solution=_program(solution, signature),
        groups=groups,
    )


def _program(solution: object, signature: str) -> str | None:
    """Return a known solution as a program's text."""
    if not isinstance(solution, str) or not solution.strip():
        return None
    return assemble(f"```python\n{solution}\n```", signature, "v2").completion


def tasks_from(rows: Rows, benchmark: ExecutionBenchmark) -> dict[str, CodeTask]:
    """Turn rows into tasks; raises InputError naming every row that is wrong."""
    columns = benchmark.columns
    if columns.signature is None or columns.tests is None:
        raise InputError(
            [f"{benchmark.id}/benchmark.toml: scoring by execution needs columns.signature and columns.tests"]
        )
    tasks: dict[str, CodeTask] = {}
    problems = []
    for number, row in enumerate(rows.rows, 1):
        where = rows.where(number)
        missing = [
            name for name in (columns.id, columns.signature, columns.tests) if not isinstance(row.get(name), str)
        ]
        if missing:
            problems.append(f"{where}: no text in {', '.join(missing)}")
            continue
        qid = row[columns.id]
        if qid in tasks:
            problems.append(f"{where}: task {qid!r} is a duplicate: an earlier row has it")
        if fault := _fault(row[columns.tests]):
            problems.append(
                f"{where}: task {quoted(qid)}: {columns.tests} is invalid Python, so every program would fail: {fault}"
            )
        tasks[qid] = _task(row, columns, row[columns.signature], row[columns.tests])
    if problems:
        raise InputError(problems[:50])
    return tasks


def _task(row: Row, columns: ExecutionColumns, signature: str, tests: str) -> CodeTask:
    return CodeTask(
        id=row[columns.id],
        text=str(row.get(columns.question or "") or ""),
        groups={name: labels for name in columns.groups if (labels := _labels(row.get(name)))},
        blocks=tuple(_blocks(row, columns)),
        row=row,
        signature_text=signature,
        tests=tests,
        signature=read_signature(signature),
        solution=_program(row.get(columns.solution or ""), signature),
    )


def _blocks(row: Row, columns: ExecutionColumns) -> Iterator[Block]:
    named = (("Signature", columns.signature), ("Tests", columns.tests), ("Reference solution", columns.solution))
    for title, name in named:
        if name and isinstance(row.get(name), str):
            yield Block(kind="code", title=title, content=row[name], is_open=title == "Signature")


def _labels(value: object) -> str | list[str] | None:
    """Return a column's label or labels: of a mapping, the keys that have something."""
    if isinstance(value, dict):
        return [str(key) for key, item in value.items() if item] or None
    if isinstance(value, list):
        return [str(item) for item in value] or None
    return str(value) if value not in (None, "") else None


def _fault(source: str) -> str:
    """Return where and why a text does not parse; empty: it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a test is no concern of the user's
            ast.parse(source)
    except SyntaxError as error:
        return f"its line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "nested too deeply"
    return ""
