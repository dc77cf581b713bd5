"""The declaration, in benchmark.toml, of a benchmark that is scored by execution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from grader.benchmark import Benchmark, Columns, Protocol
from grader.scorers.execution.extraction import Rules


class ExecutionColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns: either `signature` and `tests`, or `prompt`, `entry_point` and `tests`."""

    signature: str | None = None
    prompt: str | None = None
    """Source code for the model to continue: imports, helpers, and the signature of the function to write."""
    entry_point: str | None = None
    """Name of that function. The tests define `check(candidate)`, which is called with it. If a row has no entry point,
    its tests run by themselves."""
    tests: str | None = None
    solution: str | None = None
    description: str | None = None
    """A description of the image in words."""

    def without_weight(self) -> tuple[str, ...]:
        """Return the column of reference solutions, which only help to find the calls of the tests."""
        return (self.solution,) if self.solution is not None else ()


class ExecutionProtocol(Protocol, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of an official evaluator."""

    assembly: Rules = "plain"
    """How a program is built from a prediction."""
    executed_layout: Literal["v1", "v2"] = "v2"
    """The layout of `_executed.json`, as in one version of HumanEval-V's evaluator."""
    lint: bool = True
    """Whether programs with pylint errors are not run."""
    k: int = 1
    """The k of pass@k, if there are several samples."""
    python: str = ""
    """Python version of the official environment, for example `3.12`."""
    timed_out: str = ""
    failed_prefix: str = ""
    lint_prefix: str = ""
    prompts: Literal["", "humaneval-v-v1", "humaneval-v-v2"] = ""
    """The published prompts to use; empty: a plain prompt."""


class ExecutionBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark whose predictions are programs with tests."""

    columns: ExecutionColumns
    protocols: Mapping[str, ExecutionProtocol]
