"""A row of a code benchmark as a task: a signature to complete, and tests."""

from __future__ import annotations

import ast
import functools
import warnings
from typing import TYPE_CHECKING

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.files.problems import shown
from grader.scorers.execution.assembly import Signature, assemble, read_signature
from grader.task import Block, Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.data.rows import Row, Rows
    from grader.scorers.execution.declaration import ExecutionBenchmark, ExecutionColumns


class CodeTask(Task, frozen=True, kw_only=True):
    """A task with the code to execute."""

    signature_text: str
    tests: str
    signature: Signature
    """The parsed signature, shared by all samples."""
    solution: str | None = None
    """A body or a program that is known to be correct."""

    @property
    def reference(self) -> str | None:
        """The solution as the text of a program."""
        return None if self.solution is None else _program(self.solution, self.signature_text)


def make(qid: str, signature: str, tests: str, groups: dict[str, str | list[str]], solution: object = None) -> CodeTask:
    """Return a task with only a signature and tests. `solution`: a body or a program, or None."""
    return CodeTask(
        id=qid,
        signature_text=signature,
        tests=tests,
        signature=read_signature(signature),
        solution=_text(solution),
        groups=groups,
    )


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


@functools.lru_cache(maxsize=256)
def _program(solution: str, signature: str) -> str:
    return assemble(f"```python\n{solution}\n```", signature, "humaneval-v-v2").completion


def columns_problem(columns: ExecutionColumns) -> str:
    """Return what is wrong with the declared columns; empty if they are valid."""
    if columns.tests is None:
        return "[columns] needs `tests`: the column with the tests of a task"
    if (columns.signature is None) == (columns.prompt is None):
        return "[columns] needs either `signature`, or `prompt` with `entry_point`"
    if (columns.prompt is None) != (columns.entry_point is None):
        return "[columns]: `prompt` and `entry_point` belong together: `check(candidate)` is called with that function"
    return ""


def tasks_from(rows: Rows, benchmark: ExecutionBenchmark) -> dict[str, CodeTask]:
    """Turn rows into tasks; raises InputError that names every invalid row."""
    columns = benchmark.columns
    if problem := columns_problem(columns):
        raise InputError([f"{benchmark.id}/benchmark.toml: {problem}"])
    tasks: dict[str, CodeTask] = {}
    problems = []
    needed = list(filter(None, (columns.id, columns.signature, columns.prompt, columns.tests)))
    for number, row in enumerate(rows.rows, 1):
        where = rows.where(number)
        missing = [name for name in needed if not isinstance(row.get(name), str)]
        if missing:
            problems.append(f"{where}: no text in column {', '.join(missing)}")
            continue
        task = _task(row, columns)
        if task.id in tasks:
            problems.append(f"{where}: task {task.id!r} is a duplicate: an earlier row has it")
        if fault := _fault(task.tests):
            why = f"{columns.tests} is invalid Python, so every program would fail: {fault}"
            problems.append(f"{where}: task {quoted(task.id)}: {why}")
        tasks[task.id] = task
    if problems:
        raise InputError(shown(problems))
    return tasks


def _task(row: Row, columns: ExecutionColumns) -> CodeTask:
    signature = str(row[columns.signature or columns.prompt or ""])
    tests = str(row[columns.tests or ""])
    if (function := row.get(columns.entry_point or "")) is not None:
        tests = f"{tests.rstrip()}\n\n\ncheck({str(function).strip()})\n"
    return CodeTask(
        id=row[columns.id],
        text=str(row.get(columns.question or "") or ""),
        groups={name: labels for name in columns.groups if (labels := _labels(row.get(name)))},
        blocks=tuple(_blocks(row, columns)),
        row=row,
        signature_text=signature,
        tests=tests,
        signature=read_signature(signature),
        solution=_text(row.get(columns.solution or "")),
    )


def _blocks(row: Row, columns: ExecutionColumns) -> Iterator[Block]:
    named = (
        ("Signature", columns.signature or columns.prompt),
        ("Tests", columns.tests),
        ("Reference solution", columns.solution),
    )
    for title, name in named:
        if name and isinstance(row.get(name), str):
            yield Block(kind="code", title=title, content=row[name], is_open=title == "Signature")


def _labels(value: object) -> str | list[str] | None:
    """Return a column's label or labels; of a mapping, the keys with a true value."""
    if isinstance(value, dict):
        return [str(key) for key, item in value.items() if item] or None
    if isinstance(value, list):
        return [str(item) for item in value] or None
    return str(value) if value not in (None, "") else None


def _fault(source: str) -> str:
    """Return where and why a text does not parse; empty if it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the user need not know about an odd escape in a test
            ast.parse(source)
    except SyntaxError as error:
        return f"its line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "nested too deeply"
    return ""
