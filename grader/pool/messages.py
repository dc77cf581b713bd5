"""What the process that grades and its clients send each other: JSON over HTTP."""

from __future__ import annotations

from typing import Annotated

import msgspec

from grader.results import Outcome, Reading, SampleResult
from grader.scorers.sample_scorer import NOT_REQUESTED, ScoreRequest

NO_TASK = "expected the `qid` of a task, or a `row` with the task itself"
REQUEST_BYTES = 256 << 20
"""Maximum length of a request to the process that grades."""


class Batch(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Samples that are graded together."""

    samples: list[ScoreRequest]
    rows: dict[str, msgspec.Raw] = {}
    """Tasks that several samples share, by a name."""
    official: bool = False
    wait: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    stream: bool = False
    """Whether each result is sent as a line of its own (`ResultLine`), as soon as there is one."""


class ResultLine(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one sample of a batch."""

    place: int
    """The sample's index in the batch."""
    result: SampleResult


class PoolState(msgspec.Struct, kw_only=True):
    """The state of a pool, with counts since its process started."""

    pid: int
    benchmark: str
    waiting: int = 0
    """Samples that wait for a round or are in one."""
    queued: dict[str, int] = {}
    """Lane -> number of samples that wait in it for a round."""
    clients: int = 0
    """Number of connections."""
    outcomes: dict[str, int] = {}
    """Careful outcome -> number of samples."""
    expired: int = 0
    """Samples whose time was over before they were scored, or whose client had gone."""
    repeated: int = 0
    """Samples that were scored again because infrastructure failed."""
    lost_sandboxes: int = 0
    """Sandboxes that were lost. The job of each ran again, at most once."""
    failures: int = 0
    """Rounds that found no sandbox."""
    problem: str = ""
    """Why the last round failed; empty if it did not."""
    memory_bytes: int = 0
    """Resident memory of the process, without its sandboxes."""

    def count_result(self, result: SampleResult) -> None:
        """Count a sample that has its result, by its outcome."""
        self.waiting -= 1
        outcome = result.careful.outcome.value
        self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1


INFRASTRUCTURE = "infrastructure"
"""The rule of a sample on which the infrastructure failed. Only such a sample can be scored by another try."""


def unscored_result(request: ScoreRequest, why: str, rule: str = INFRASTRUCTURE) -> SampleResult:
    """Return the result of a sample that was not scored."""
    reading = Reading(outcome=Outcome.UNSCORED, credit=None, detail=why, rule=rule)
    return SampleResult(
        qid=request.qid, sample=0, official=reading if request.official else NOT_REQUESTED, careful=reading
    )
