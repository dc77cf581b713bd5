"""How every scorer treats a prediction that is a server failure or was truncated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.predictions.outcomes import TRUNCATED
from grader.results import Outcome, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.predictions.outcomes import Oddities
    from grader.results import SampleResult

SERVER_FAILURE = "server_failure"
"""The rule of a reading that is unscored because the model's server failed."""

NOT_JUDGED = "not_judged"
"""The rule of a reading that is unscored because it needed a judge, but the judge was missing or not understood."""


def marked(samples: Iterable[SampleResult], oddities: Oddities) -> list[SampleResult]:
    """Return the samples with their oddities: a server failure is unscored (careful reading), truncation is flagged.

    The official reading stays: its scorer reads whatever is there.
    """
    return [_marked(sample, oddities) for sample in samples]


def _marked(sample: SampleResult, oddities: Oddities) -> SampleResult:
    place = sample.qid, sample.sample
    failure = oddities.failures.get(place)
    if failure is not None:
        careful = Reading(outcome=Outcome.UNSCORED, credit=0, detail=failure.sentence, rule=SERVER_FAILURE)
        return msgspec.structs.replace(sample, careful=careful)
    if place in oddities.truncated:
        return msgspec.structs.replace(sample, flags=[TRUNCATED])
    return sample
