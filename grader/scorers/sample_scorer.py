"""Score samples call by call, without a run around them, as a pool for rewards does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal, NamedTuple, Protocol, Self

import msgspec

from grader.results import Outcome, Reading

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.results import SampleResult

NOT_REQUESTED = Reading(
    outcome=Outcome.UNSCORED, credit=None, detail="not requested (official=True requests it)", rule="not_asked"
)
"""The official reading of a sample for which only the careful reading was requested."""


Seconds = Annotated[float, msgspec.Meta(ge=0, le=86_400)]


class ScoreRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """A request to score one sample, also as clients send it. 0 and empty mean: as its task says."""

    text: str
    """The raw model output."""
    qid: str = ""
    """The id of its task."""
    row: msgspec.Raw = msgspec.Raw()
    """The task itself as JSON; in a batch that is sent, the name of one of its rows. Empty: a task of the benchmark."""
    official: bool = False
    """Whether to produce the official reading too, if it takes more than reading the text."""
    verbatim: bool = False
    """Whether the text is the program, and not an output with a program in it."""
    printed: bool = False
    """Whether the result has what the program printed for each standard input of its task."""
    each: bool = False
    """Whether to find out which tests of a program that fails are right."""
    timeout: Seconds = 0.0
    """CPU seconds of the program."""
    memory: Annotated[int, msgspec.Meta(ge=0)] | str = 0
    """Bytes of the program; a text such as `512m` when it is sent."""
    wall: Seconds = 0.0
    """Maximum duration of a run in seconds."""
    wait: Annotated[float, msgspec.Meta(ge=0)] = 0.0
    """Seconds after which it is unscored."""


Lane = Literal["usual", "loops"]
"""Samples of a lane wait for each other only. `loops`: samples that seldom end, so that no other waits for them."""


class LaneSize(NamedTuple):
    """How many threads may score in a lane, and the maximum number of samples that each scores at a time."""

    threads: int
    samples: int


class SampleScorer(Protocol):
    """A scorer of batches of samples, and a context manager."""

    @property
    def lanes(self) -> Mapping[Lane, LaneSize]:
        """The lanes of this scorer; without `loops`, all samples are in the usual one."""

    def __enter__(self) -> Self:
        """Prepare for scoring, and start in the background what takes long to start; raises a GradeError."""

    def __exit__(self, *_: object) -> None:
        """Release all resources."""

    def score(self, requests: Sequence[ScoreRequest]) -> Sequence[SampleResult]:
        """Return one result per sample, in the given order, all with `sample` 0; raises a GradeError.

        After an InfrastructureError it can be asked again.
        """

    def abort(self) -> None:
        """End what takes long: calls of `score` may fail, now and later."""

    def forget(self, qid: str) -> None:
        """Forget what is known of a task, because it is no longer among the run's tasks."""

    @property
    def lost_sandboxes(self) -> int:
        """Number of sandboxes lost so far."""
