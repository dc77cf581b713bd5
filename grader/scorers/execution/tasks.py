"""A row of a code benchmark as a task: a signature to complete, and tests."""

from __future__ import annotations

import ast
import contextlib
import functools
import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError, UsageError
from grader.files.json_text import quoted
from grader.files.python_source import tree_from
from grader.options import MIN_MEMORY, bytes_of
from grader.scorers.execution.assembly import Signature, assemble, read_signature
from grader.scorers.execution.extraction import defined_names, parse_or_none
from grader.scorers.execution.inputs.cases import BadRowError, Cases, read_cases, value_at
from grader.scorers.execution.runnable import runnable_script
from grader.scorers.execution.signature_completion import complete_signature, names_to_define
from grader.scorers.rows import groups_of
from grader.task import Block, Task

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.data.tables import Row, Rows
    from grader.sandbox.interface import Limits
    from grader.scorers.execution.declaration import ExecutionBenchmark, ExecutionColumns


MAX_SECONDS = 100.0
"""Maximum CPU time that a row may ask for."""
MAX_MEMORY = 64 << 30
"""Maximum memory that a row may ask for."""


class CodeTask(Task, frozen=True, kw_only=True):
    """A task with the code to execute."""

    signature_text: str
    tests: str
    signature: Signature
    """The parsed signature, shared by all samples."""
    names_to_define: tuple[str, ...] = ()
    """The names that the tests use and nobody defines: what to write, if the signature does not say it."""
    solution: str | None = None
    """A body or a program that is known to be correct."""
    cases: Cases | None = None
    """Inputs in the data; None: the tests ask the program."""
    cpu_seconds: float = 0.0
    """CPU time for one program, or for one input; 0: as for the other tasks."""
    memory_bytes: int = 0
    """Memory of one program; 0: as for the other tasks."""
    wall_seconds: float = 0.0
    """Maximum duration of one run in seconds, whatever the load; 0: as for the other tasks."""
    has_list_of_assertions: bool = False
    """Whether the row has a list of assertions, and no script. Of a program that fails, each one is then judged."""
    has_invalid_tests: bool = False
    """Whether every program fails officially, because the tests are not Python; the row is broken."""

    @property
    def prompt_text(self) -> str:
        """The question, or else the signature."""
        return self.text or self.signature_text

    def with_limits(self, limits: Mapping[str, float]) -> CodeTask:
        """Return the task with other limits (`timeout`, `memory`, `wall`); raises UsageError."""
        try:
            return msgspec.structs.replace(
                self,
                cpu_seconds=_parse_seconds(limits.get("timeout")) or self.cpu_seconds,
                memory_bytes=_parse_memory(limits.get("memory")) or self.memory_bytes,
                wall_seconds=_parse_seconds(limits.get("wall"), "wall") or self.wall_seconds,
            )
        except BadRowError as error:
            raise UsageError(str(error)) from None

    @property
    def solution_source(self) -> str:
        """The solution as it is, after the signature if it is only the body of its function."""
        solution = self.solution or ""
        return f"{self.signature_text}{solution}" if solution.lstrip("\r\n")[:1].isspace() else solution

    def program_seconds(self, limits: Limits) -> float:
        """Return the CPU time for one program, or for one input.

        It is at most the duration of a run: nothing else stops a program that works for longer.
        """
        seconds = self.cpu_seconds or limits.cpu_seconds
        return min(seconds, self.wall_seconds or seconds)

    @property
    def reference(self) -> str | None:
        """The solution as a program: unchanged if it defines what is asked for, else assembled like a model's reply."""
        if self.solution is None or _defines_any(self.solution, self.signature.required):
            return self.solution
        return _program(self.solution, self.signature_text, self.names_to_define, has_inputs=self.cases is not None)


def _nonempty_text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


@functools.lru_cache(maxsize=256)
def _defines_any(source: str, names: tuple[str, ...]) -> bool:
    tree = parse_or_none(source)
    return tree is not None and not defined_names(tree).isdisjoint(names)


@functools.lru_cache(maxsize=256)
def _program(solution: str, signature: str, names_to_define: tuple[str, ...], *, has_inputs: bool) -> str:
    """Return the careful program of a reply with a solution. With inputs, it does not run behind the signature."""
    prelude = "" if has_inputs else None
    # Which official rules these are hardly matters: the official program is taken only if it does the same.
    program = assemble(f"```python\n{solution}\n```", signature, "humaneval-v-v2", names_to_define, prelude)
    return program.completion if program.recovered_completion is None else program.recovered_completion


def read_tasks(rows: Rows, benchmark: ExecutionBenchmark) -> dict[str, CodeTask]:
    """Turn rows into tasks; raises InputError for rows without an id, and for too many broken rows."""
    columns = benchmark.columns
    if problem := benchmark.problem():
        raise InputError([f"{benchmark.id}/benchmark.toml: {problem}"])
    return rows.tasks(partial(_task_or_broken, columns=columns, checker=_read_checker(benchmark)))


def _read_checker(benchmark: ExecutionBenchmark) -> str:
    """Return the checker in a file beside the declaration; raises InputError."""
    path = Path(benchmark.folder) / benchmark.checker
    try:
        return path.read_text(encoding="utf-8") if benchmark.checker else ""
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: the checker cannot be read: {error}"]) from None


def _task_or_broken(row: Row, columns: ExecutionColumns, checker: str) -> CodeTask:
    """Return a row's task. If the row cannot be used, the task says why; raises BadRowError without an id."""
    if type(row.get(columns.id)) is int:
        row = row | {columns.id: str(row[columns.id])}
    try:
        _check_columns(row, columns)
        return _task(row, columns, checker)
    except BadRowError as error:
        if not isinstance(row.get(columns.id), str):
            raise
        return _broken_task(row, columns, str(error), has_invalid_tests=isinstance(error, _InvalidTestsError))


def _check_columns(row: Row, columns: ExecutionColumns) -> None:
    """Raise BadRowError if a row lacks a text that it needs. A row with inputs needs no tests."""
    needed = filter(None, (columns.id, columns.signature, columns.prompt))
    missing = [name for name in needed if not isinstance(row.get(name), str) and name not in columns.optional]
    if columns.tests and not _has_inputs(row, columns) and not isinstance(row.get(columns.tests), (str, list)):
        missing.append(columns.tests)
    if missing:
        raise BadRowError(f"no text in column {', '.join(missing)}")


def _broken_task(row: Row, columns: ExecutionColumns, problem: str, *, has_invalid_tests: bool = False) -> CodeTask:
    return CodeTask(
        id=row[columns.id],
        row=row,
        broken=problem,
        has_invalid_tests=has_invalid_tests,
        signature_text="",
        tests="",
        signature=read_signature(""),
    )


class _InvalidTestsError(BadRowError):
    """Tests that are not Python: officially, every program fails them."""


def _task(row: Row, columns: ExecutionColumns, checker: str) -> CodeTask:
    """Return a row's task; raises BadRowError if nothing can be tested by it."""
    signature = str(row.get(columns.signature or columns.prompt or "") or "")
    script_or_list, setup = _tests_and_setup(row, columns)
    solution = _nonempty_text(row.get(columns.solution or ""))
    if script_or_list and _has_inputs(row, columns):
        raise BadRowError(f"it has both {columns.tests} and {columns.inputs}, and only one of them can judge a program")
    has_cases = _has_inputs(row, columns) or bool(columns.cases)
    cases = read_cases(row, columns, checker) if has_cases else None
    if cases is not None:
        tests = _valid_python(_test_script(row, columns), columns)
    else:
        tests = _tests_that_run(row, columns, signature or solution or "")
        if _syntax_problem(read_signature(signature).source):
            # Of ClassEval's 100 skeletons, three are not Python. A program that is complete without one can be tested.
            signature = ""
    full_signature = complete_signature(read_signature(signature), tests, signature, solution)
    function = "" if cases is None else cases.function
    return CodeTask(
        id=row[columns.id],
        text=str(row.get(columns.question or "") or ""),
        groups=groups_of(row, columns.groups),
        blocks=tuple(_blocks(row, columns)),
        row=row,
        signature_text=signature,
        tests=tests,
        signature=_with_setup(full_signature, _setup_for_programs(setup)),
        names_to_define=(function, "Solution") if function else names_to_define(tests, signature),
        solution=solution,
        cases=cases,
        cpu_seconds=_parse_seconds(row.get(columns.timeout or "")),
        memory_bytes=_parse_memory(row.get(columns.memory or "")),
        wall_seconds=_parse_seconds(row.get(columns.wall or ""), "wall"),
        has_list_of_assertions=not isinstance(script_or_list, str),
    )


def _tests_that_run(row: Row, columns: ExecutionColumns, program: str) -> str:
    """Return a row's tests as a script that runs them; raises BadRowError. `program`: may name the function."""
    tests = _test_script(row, columns)
    if not tests.strip():
        raise BadRowError("it has no tests, so every program would pass")
    entry_point = str(row.get(columns.entry_point or "") or "").strip()
    return _valid_python(runnable_script(tests, entry_point, program), columns)


def _valid_python(tests: str, columns: ExecutionColumns) -> str:
    if problem := _syntax_problem(tests):
        raise _InvalidTestsError(f"{columns.tests} is invalid Python, so every program would fail: {problem}")
    return tests


def _has_inputs(row: Row, columns: ExecutionColumns) -> bool:
    """Whether a task has inputs; where there is also a column of tests, not every task does."""
    return bool(columns.inputs and (not columns.tests or value_at(row, columns.inputs) is not None))


def _test_script(row: Row, columns: ExecutionColumns) -> str:
    """Return the tests as one script, after the set-up code."""
    tests, setup = _tests_and_setup(row, columns)
    if isinstance(tests, str):
        return f"{setup}\n{tests}" if setup and tests.strip() else tests
    for number, test in enumerate(tests, 1):
        if not isinstance(test, str):
            raise BadRowError(f"column {columns.tests}: item {number} is not a text with an assertion")
    return "\n".join([setup, *tests, ""]).lstrip("\n").replace("\r\n", "\n")


def _tests_and_setup(row: Row, columns: ExecutionColumns) -> tuple[str | list[Any], str]:
    """Return the tests of a row, a script or a list of assertions; and the set-up code.

    The list may be JSON, and the set-up code a list of lines.
    """
    tests = row.get(columns.tests or "") or ""
    if isinstance(tests, str) and tests.lstrip().startswith("["):
        with contextlib.suppress(ValueError):
            tests = list(json.loads(tests))
    setup = row.get(columns.setup or "") or ""
    lines = setup if isinstance(setup, list) else [setup]
    return tests, "\n".join(map(str, lines))


def _setup_for_programs(setup: str) -> str:
    """Return the part of set-up code that programs may use: imports and classes. The rest could compute an answer."""
    tree = parse_or_none(setup)
    body = [] if tree is None else tree.body
    declarations = [node for node in body if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef))]
    return "".join(f"{ast.unparse(node)}\n" for node in declarations)


def _with_setup(signature: Signature, setup: str) -> Signature:
    """Return a signature after set-up code, whose names programs can use in the official run, too."""
    source = f"{setup}\n{signature.source}"
    if not setup or parse_or_none(source) is None:
        return signature
    return msgspec.structs.replace(signature, source=source, shared_classes=read_signature(source).shared_classes)


def _parse_seconds(value: object, name: str = "timeout") -> float:
    """Return a limit in seconds; 0 without a value. Raises BadRowError, in which the limit has this name."""
    if value in (None, ""):
        return 0.0
    try:
        seconds = float(str(value))
    except ValueError:
        seconds = -1.0
    if not 0 < seconds <= MAX_SECONDS:
        raise BadRowError(f"the {name} is {quoted(str(value))}, not a number of seconds up to {MAX_SECONDS:g}")
    return seconds


def _parse_memory(value: object) -> int:
    """Return a program's memory in bytes, at least what Python itself needs; 0 without a value. Raises BadRowError."""
    if value in (None, ""):
        return 0
    try:
        size = bytes_of(str(value))
    except (ValueError, OverflowError):
        size = 0
    if isinstance(value, bool) or not 0 < size <= MAX_MEMORY:
        limit = f"up to {MAX_MEMORY >> 30}g"
        raise BadRowError(f"the memory is {quoted(str(value))}, not a size such as 256m or a number of bytes, {limit}")
    return max(size, MIN_MEMORY)


def _blocks(row: Row, columns: ExecutionColumns) -> Iterator[Block]:
    """Yield the code that reports show with a task."""
    titled = (
        ("Signature", row.get(columns.signature or columns.prompt or "")),
        ("Tests", _test_script(row, columns)),
        ("Reference solution", row.get(columns.solution or "")),
    )
    for title, content in titled:
        if isinstance(content, str) and content:
            yield Block(kind="code", title=title, content=content, is_open=title == "Signature")


def _syntax_problem(source: str) -> str:
    """Return where and why a text does not parse; empty if it does."""
    try:
        tree_from(source)
    except SyntaxError as error:
        return f"its line {error.lineno}: {error.msg}" if error.lineno else str(error.msg)
    except (ValueError, RecursionError, MemoryError) as error:
        return str(error) or "nested too deeply"
    return ""
