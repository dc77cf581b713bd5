"""The declaration of a benchmark that is scored like Mr-Ben, and the weights of MR-Score."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from grader.benchmark import Benchmark, Columns
from grader.errors import UsageError
from grader.scorers.mr_ben.figures import Weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.options import Options


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


OWN_WEIGHTS = "MR-Score has weights of your own"


def weight_notes(declared: MrBenBenchmark, weights: Weights) -> Iterator[str]:
    """Yield a note that MR-Score is not the published one, if other weights were given."""
    if weights == Weights(**declared.weights):
        return
    words = ", ".join(f"{name} {weight:g}" for name, weight in weights._asdict().items())
    usual = ", ".join(f"{name} {weight:g}" for name, weight in Weights(**declared.weights)._asdict().items())
    total = math.fsum(weights)
    scale = "" if math.isclose(total, 1) else f" They add up to {total:g}, so its highest value is {100 * total:g}."
    yield f"{OWN_WEIGHTS} in both readings: {words} (the benchmark's are {usual}).{scale}"


def weights_of(declared: MrBenBenchmark, options: Options) -> Weights:
    """Return MR-Score's weights: the declared ones, replaced by those given."""
    given = {**declared.weights, **options.weights}
    strangers = given.keys() - set(Weights._fields)
    if strangers:
        raise UsageError(f"--weight {sorted(strangers)[0]}: the parts of MR-Score are {', '.join(Weights._fields)}.")
    senseless = [name for name, weight in given.items() if not 0 <= weight < math.inf]
    if senseless:
        raise UsageError(f"--weight {senseless[0]}={given[senseless[0]]:g}: a weight must be 0 or more.")
    if not any(given.values()):
        raise UsageError("--weight: one of MR-Score's weights must be more than 0.")
    return Weights(**given)
