"""The declaration, in benchmark.toml, of a benchmark that is scored by execution."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from grader.benchmark import Benchmark, Columns, Protocol, distinct
from grader.errors import InputError
from grader.scorers.execution.comparison_names import EVALPLUS, comparison_problem
from grader.scorers.execution.extraction import Rules


class ExecutionColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns: `tests` with either `signature`, or `prompt` and `entry_point`; or `inputs`."""

    needed = ("id", "signature", "prompt", "entry_point", "tests", "inputs", "outputs")
    nested = ("inputs", "outputs", "function")
    code_fields = ("prompt",)
    signature: str | None = None
    prompt: str | None = None
    """Source code for the model to continue: imports, helpers, and the signature of the function to write."""
    entry_point: str | None = None
    """Name of that function. The tests define `check(candidate)`, which is called with it. If a row has no entry point,
    its tests run by themselves."""
    tests: str | None = None
    """A script, or a list of assertions."""
    setup: str | None = None
    """Code before a list of assertions."""
    timeout: str | None = None
    """CPU seconds of a task's programs, with inputs of each input; without a value those of `--timeout`."""
    optional: list[str] = []
    """Columns of text that a row need not have; then it is empty. (The benchmark `rows` of pools: signatures.)"""
    memory: str | None = None
    """Memory of a task's programs: a size such as `256m`, or bytes; without a value that of `--memory`."""
    wall: str | None = None
    """Maximum duration of a run in seconds, whatever the load."""
    solution: str | None = None
    inputs: str | None = None
    """Lists of texts: each is the standard input of one run of the program. `tests.input`: the field of a column with
    objects, also as JSON; `outputs` and `function` can be so, too."""
    outputs: str | None = None
    """Lists of the expected outputs, one for each input."""
    cases: list[str] = []
    """Instead of `inputs` and `outputs`: columns with lists of `{"input", "output"}`, as LiveCodeBench has them."""
    more_inputs: str | None = None
    """Further inputs, as EvalPlus has them: the first ones are then also judged by themselves."""
    function: str | None = None
    """The name of the function to call with each input; without one, programs read standard input."""
    tolerance: str | None = None
    """The difference of numbers that EvalPlus allows."""
    checker: str | None = None
    """Python source that defines `check(input, output, expected)`, for tasks with several right outputs."""
    description: str | None = None
    """A description of the image in words."""

    def without_effect(self) -> tuple[str, ...]:
        """Return the column of reference solutions, which only help to find the calls of the tests."""
        return (self.solution,) if self.solution is not None else ()


class ExecutionProtocol(Protocol, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of an official evaluator."""

    assembly: Rules = "plain"
    """How a program is built from a prediction."""
    executed_layout: Literal["v1", "v2"] = "v2"
    """The layout of `_executed.json`, as in one version of HumanEval-V's evaluator."""
    lint: bool = False
    """Whether programs with pylint errors are not run."""
    k: Annotated[int, msgspec.Meta(ge=1)] = 1
    """The k of pass@k, if there are several samples."""
    timeout: Annotated[float, msgspec.Meta(ge=0.1, le=3600)] = 2.0
    """CPU seconds of a program, or of each input, where `--timeout` is not given."""
    times_reference: Annotated[float, msgspec.Meta(ge=0)] = 4.0
    """An input has this many times the CPU time that the reference needs for the slowest, if that is more."""
    compare: str = "lines"
    """The comparison of outputs, by its name (comparison_names.py)."""
    prelude: str = ""
    """Code that runs before each program."""
    harness: Literal["", "livecodebench"] = ""
    """How the official reading runs a program that reads standard input: as a script, or as LiveCodeBench does."""
    compare_careful: str = ""
    """The comparison of the careful reading, for example `near:1e-6`; empty: see `comparison_names.CAREFUL`."""
    python: str = ""
    """Python version of the official environment, for example `3.12`."""
    has_file: bool = True
    """Whether `__file__` is defined in the official run; published evaluators execute a text that is no file."""
    timed_out: str = ""
    failed_prefix: str = ""
    lint_prefix: str = ""
    """The official result of a timeout, and what precedes an exception's text and the linter's messages."""
    prompts: Literal["", "humaneval-v-v1", "humaneval-v-v2"] = ""
    """The published prompts to use; empty: a plain prompt."""

    def with_timeout(self, timeout: float | None) -> ExecutionProtocol:
        """Return the protocol with the limit of `--timeout`, if it is given; its message names the limit in seconds."""
        seconds = self.timeout if timeout is None else timeout
        shown = int(seconds) if seconds == int(seconds) else seconds
        timed_out = self.timed_out.replace("{timeout}", str(shown))
        return msgspec.structs.replace(self, timeout=seconds, timed_out=timed_out)


class ExecutionBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark whose predictions are programs with tests."""

    columns: ExecutionColumns
    protocols: Mapping[str, ExecutionProtocol]
    checker: str = ""
    """A file beside the benchmark.toml with the checker of tasks that have none in `columns.checker`."""
    requirements: str = ""
    """A file beside the benchmark.toml, in pip's format, with packages that programs may import."""

    def problem(self) -> str:
        """Return what is wrong with the declared columns and comparisons; empty if they are valid."""
        for name, protocol in self.protocols.items():
            for field, value in (("compare", protocol.compare), ("compare_careful", protocol.compare_careful)):
                # EvalPlus' comparison is an official one only, and is no comparison of printed texts.
                names_text_comparison = value and (field, value) != ("compare", EVALPLUS)
                if names_text_comparison and (problem := comparison_problem(value)):
                    return f"protocols.{name}: {field} = {value!r}: {problem}"
        return columns_problem(self.columns)

    def scored_columns(self, split: str) -> list[str]:
        """Return the columns needed to assemble and execute programs."""
        del split
        columns = self.columns
        program = (columns.signature, columns.prompt, columns.entry_point, columns.tests, columns.solution)
        inputs = (columns.more_inputs, columns.tolerance, *columns.cases, columns.checker, columns.setup)
        nested = (columns.inputs, columns.outputs, columns.function)
        # `tests.input` is a field of the column `tests`, or a column itself.
        inputs += tuple(part for name in nested if name for part in (name, name.partition(".")[0]))
        limits = columns.timeout, columns.memory, columns.wall
        display = columns.id, columns.question, columns.split, *columns.groups, columns.cluster
        return distinct(*display, *program, *inputs, *limits)

    @property
    def python(self) -> str:
        """The official Python version of the default protocol."""
        return self.protocols[self.default_protocol].python

    def required_packages(self) -> str:
        """Return the text of the requirements file, empty without one; raises InputError."""
        path = Path(self.folder) / self.requirements
        try:
            return path.read_text(encoding="utf-8") if self.requirements else ""
        except (OSError, UnicodeDecodeError) as error:
            raise InputError([f"{path}: the requirements cannot be read: {error}"]) from None


def columns_problem(columns: ExecutionColumns) -> str:
    """Return what is wrong with the declared columns; empty if they are valid. Those with `cases` need no others."""
    if columns.cases:
        return ""
    if columns.inputs is not None or columns.outputs is not None:
        return _inputs_problem(columns)
    if columns.tests is None:
        return "[columns] needs `tests`, the column with the tests of a task, or `inputs` and `outputs`"
    if columns.signature is not None and columns.prompt is not None:
        return "[columns] has both `signature` and `prompt`: a task has one of them"
    if columns.prompt is not None and columns.entry_point is None:
        return "[columns] has `prompt`, so it needs `entry_point`: `check(candidate)` is called with that function"
    return ""


def _inputs_problem(columns: ExecutionColumns) -> str:
    if columns.inputs is None:
        return "[columns] has `outputs`, but no `inputs`"
    if columns.outputs is None and columns.solution is None:
        return "[columns] has `inputs`, so it needs `outputs`, or `solution`: a reference whose answers are expected"
    if columns.prompt is not None and columns.entry_point is None and columns.function is None:
        return "[columns] has `prompt`, code to continue, and no `function`: a task in words is in `question`"
    return ""
