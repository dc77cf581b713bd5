"""The declaration, in benchmark.toml, of a benchmark that is scored like Mr-Ben."""

from __future__ import annotations

from grader.benchmark import Benchmark, Columns


class MrBenColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    answer: str | None = None


class MrBenBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark with one file per subject, scored by MR-Score."""

    columns: MrBenColumns
    subjects: list[str] = []
    """Names of the files, without suffix; each has one subject."""
    weights: dict[str, float] = {}
    """Weights of MR-Score's parts."""
