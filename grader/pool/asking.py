"""One request to a pool, for any transport: build the request, and collect the replies."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.pool import messages
from grader.pool.messages import Found, Grade, Refused
from grader.scorers.asked import Asked

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.results import SampleResult


def asked_of(samples: Iterable[tuple[str, str]], *, official: bool) -> list[Asked]:
    """Return the requested samples; raises UsageError for anything but pairs of a qid and a text."""
    found = []
    for number, sample in enumerate(samples):
        if not (isinstance(sample, tuple | list) and len(sample) == 2 and isinstance(sample[1], str)):
            raise UsageError(f"samples[{number}]: expected (qid, raw output), not {sample!r:.80}")
        qid, text = str(sample[0]), sample[1]
        # Half a surrogate pair is not a character: it could not be sent or written.
        found.append(Asked(qid=qid, text=text.encode("utf-8", "replace").decode(), official=official))
    return found


class Exchange:
    """Collects the results of samples; lost ones can be requested again."""

    def __init__(self, asked: list[Asked]) -> None:
        self._asked = asked
        self._results: list[SampleResult | None] = [None] * len(asked)
        self._sent: list[int] = []

    @property
    def is_complete(self) -> bool:
        """Whether every sample has a result."""
        return None not in self._results

    def request(self, seconds: float) -> bytes:
        """Return the request message for all samples without a result."""
        self._sent = [place for place, result in enumerate(self._results) if result is None]
        return messages.frame(Grade(samples=[self._asked[place] for place in self._sent], seconds=seconds))

    def take(self, reply: messages.Reply) -> None:
        """Process a reply; raises a GradeError if the pool refused the request, ConnectionError if it is invalid."""
        match reply:
            case Found(place=place, result=result) if 0 <= place < len(self._sent):
                self._results[self._sent[place]] = result
            case Refused() as refused:
                raise messages.error_of(refused)
            case _:
                raise ConnectionError("the reply does not match the request")

    def results(self, why: str) -> list[SampleResult]:
        """Return a result for each sample; samples without one are unscored, with `why` as the detail."""
        counts = Counter[str]()
        found = []
        for one, result in zip(self._asked, self._results, strict=True):
            made = result or messages.unscored(one, why)
            found.append(msgspec.structs.replace(made, sample=counts[one.qid]))
            counts[one.qid] += 1
        return found
