"""What a benchmark.toml says of a benchmark that is scored by execution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from grader.benchmark import Benchmark, Columns, Protocol
from grader.scorers.execution.extraction import Rules


class ExecutionColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns: either `signature` and `tests`, or `prompt`, `entry_point` and `tests`."""

    signature: str | None = None
    prompt: str | None = None
    """Source that a model continues: imports, helpers, and the signature of the function to write."""
    entry_point: str | None = None
    """Name of that function: the tests define `check(candidate)`, which is called with it. A row without it has tests
    that run by themselves."""
    tests: str | None = None
    solution: str | None = None
    description: str | None = None
    """What the image shows, in words."""

    def without_weight(self) -> tuple[str, ...]:
        """Return the column of known solutions: it only helps to find out what the tests call."""
        return (self.solution,) if self.solution is not None else ()


class ExecutionProtocol(Protocol, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of an official evaluator."""

    assembly: Rules = "plain"
    """How a prediction becomes a program."""
    executed_layout: Literal["v1", "v2"] = "v2"
    """Layout of the `_executed.json`: that of HumanEval-V's evaluator in one of its versions."""
    lint: bool = True
    """Whether a program that pylint finds an error in is not run."""
    k: int = 1
    """pass@k of several samples."""
    python: str = ""
    """Version of Python that the official environment has, as in `3.12`."""
    timed_out: str = ""
    failed_prefix: str = ""
    lint_prefix: str = ""
    prompts: Literal["", "humaneval-v-v1", "humaneval-v-v2"] = ""
    """The published prompts to ask with; empty: a plain one."""


class ExecutionBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark whose predictions are programs with tests."""

    columns: ExecutionColumns
    protocols: Mapping[str, ExecutionProtocol]
