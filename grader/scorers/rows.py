"""The rows of a benchmark, in a common format or in one that only its scorer reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.data.load import load
from grader.scorers.capabilities import HasOwnData

if TYPE_CHECKING:
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.data.load import ColumnSet
    from grader.data.tables import Rows
    from grader.scorers.registry import AnyScorer


def rows_of(
    benchmark: Benchmark,
    split: str,
    protocol: str,
    given: Path | None,
    scorer: AnyScorer,
    *,
    wanted: ColumnSet | None = None,
) -> Rows:
    """Load the rows of a split. Raises the same errors as `load`."""
    rows = HasOwnData.of(scorer).own_rows(benchmark, split, given)
    if rows is not None:
        return rows
    return load(benchmark, split, protocol, given, scorer.columns(benchmark, split), wanted=wanted)
