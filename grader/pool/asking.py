"""One request to a pool, whatever carries it: what is sent, and what is made of the replies."""

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
    """Return what is asked for; raises UsageError for what is no pair of a qid and a text."""
    found = []
    for number, sample in enumerate(samples):
        if not (isinstance(sample, tuple | list) and len(sample) == 2 and isinstance(sample[1], str)):
            raise UsageError(f"samples[{number}]: expected (qid, raw output), not {sample!r:.80}")
        qid, text = str(sample[0]), sample[1]
        # Half of a surrogate pair is no character: nothing could send or write it.
        found.append(Asked(qid=qid, text=text.encode("utf-8", "replace").decode(), official=official))
    return found


class Exchange:
    """Collects the results of samples; what is lost on the way can be asked for again."""

    def __init__(self, asked: list[Asked]) -> None:
        self._asked = asked
        self._results: list[SampleResult | None] = [None] * len(asked)
        self._sent: list[int] = []

    @property
    def is_complete(self) -> bool:
        """Whether every sample has a result."""
        return None not in self._results

    def request(self, seconds: float) -> bytes:
        """Return what is to be sent: a request for everything that has no result yet."""
        self._sent = [place for place, result in enumerate(self._results) if result is None]
        return messages.frame(Grade(samples=[self._asked[place] for place in self._sent], seconds=seconds))

    def take(self, reply: messages.Reply) -> None:
        """Take in a reply; raises a GradeError where nothing is scored, ConnectionError for what is no reply."""
        match reply:
            case Found(place=place, result=result) if 0 <= place < len(self._sent):
                self._results[self._sent[place]] = result
            case Refused() as refused:
                raise messages.error_of(refused)
            case _:
                raise ConnectionError("not a reply to what was asked")

    def results(self, why: str) -> list[SampleResult]:
        """Return a result for each sample; `why` is said of those that have none."""
        counts = Counter[str]()
        found = []
        for one, result in zip(self._asked, self._results, strict=True):
            made = result or messages.unscored(one, why)
            found.append(msgspec.structs.replace(made, sample=counts[one.qid]))
            counts[one.qid] += 1
        return found
