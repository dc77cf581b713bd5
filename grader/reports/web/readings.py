"""What a page says about the two readings. A benchmark of the user's own has no published scorer to reproduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers import declarations

if TYPE_CHECKING:
    from collections.abc import Iterable

_PUBLISHED = "of the published scorer, bug for bug"
_OWN = "of the rules that the benchmark's protocol names"


def lead(benchmarks: Iterable[str]) -> str:
    """Return the sentences above a table of metrics of these benchmarks, given by id."""
    official = _PUBLISHED if all(map(declarations.is_bundled, benchmarks)) else _OWN
    return (
        f"In percent, with 95 % intervals. Official is the verdict {official}; careful is the verdict of an attentive "
        "person."
    )


def official(benchmark: str) -> str:
    """Return the explanation of the official reading of a benchmark, given by id."""
    if declarations.is_bundled(benchmark):
        return (
            "The verdict of the benchmark's published scorer, bug for bug, under the protocol named above. Compare "
            "this number with a leaderboard."
        )
    return "The verdict of the rules that the protocol named above stands for. This benchmark has no published scorer."
