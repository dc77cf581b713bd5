"""What a page says about the two readings. A benchmark of the user's own has no published scorer to reproduce."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import resources

if TYPE_CHECKING:
    from collections.abc import Iterable

_PUBLISHED = "of the published scorer, bug for bug"
_OWN = "of the rules that the benchmark's protocol names"


def lead(benchmarks: Iterable[str]) -> str:
    """Return the sentences above a table of metrics of these benchmarks, given by id."""
    official = _PUBLISHED if set(benchmarks) <= set(resources.bundled_benchmarks()) else _OWN
    return (
        f"In percent, with 95 % intervals. Official is the verdict {official}; careful is the verdict of an attentive "
        "person."
    )


def official(benchmark: str) -> str:
    """Return the explanation of the official reading of a benchmark, given by id."""
    if benchmark in resources.bundled_benchmarks():
        return (
            "The verdict of the benchmark's published scorer, bug for bug, under the protocol named above. Compare "
            "this number with a leaderboard."
        )
    return "The verdict of the rules that the protocol named above stands for. This benchmark has no published scorer."
