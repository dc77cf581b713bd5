"""A slow program is stopped after a short time; its answers so far decide whether it gets further calls."""

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pytest

from grader.sandbox import verdict_cache
from grader.sandbox.answer import Answers, Evidence, Executed
from grader.sandbox.interface import Limits
from grader.scorers.execution.assembly import read_signature
from grader.scorers.execution.candidate import Candidate
from grader.scorers.execution.inputs.answering import Answering, Wanted
from grader.scorers.execution.known import Spool
from grader.scorers.execution.tasks import CodeTask


class Settled:
    """A settler with a cache, whose program answers two calls before its short time ends, and otherwise all."""

    def __init__(self) -> None:
        self.ran: list[dict[str, Any]] = []
        self._kept: dict[str, Executed] = {}

    def key(self, job: dict[str, Any]) -> str:
        return verdict_cache.key(job, "here", Limits())

    def settle(
        self,
        phase: str,
        items: Iterable[tuple[str, Wanted]],
        job: Callable[[Wanted], dict[str, Any]],
        take: Callable[[str, Executed], bool],
        *,
        keeps_stopped: bool,
    ) -> dict[str, str]:
        for key, wanted in items:
            one = job(wanted)
            executed = self._kept[key] if key in self._kept else self._run(one)
            if keeps_stopped or not executed.is_open:
                self._kept[key] = executed
            take(key, executed)
        return {}

    def _run(self, job: dict[str, Any]) -> Executed:
        self.ran.append(job)
        is_short = "short" in job
        calls = job["answer"]["calls"][: 2 if is_short else None]
        evidence = msgspec.convert(EVIDENCE | {"stopped": "short" if is_short else None}, Evidence)
        return Executed(answer=Answers(evidence=evidence, hello="{}", replies=[f"reply to {call}" for call in calls]))


EVIDENCE = {"status": None, "cpu": 0.0, "wall": 0.0, "waited": 0.0, "oom": False}
TASK = CodeTask(id="q", signature_text="", tests="", signature=read_signature(""))
CALLS = ("a", "b", "c", "d")
ONE = Candidate(qid="q", source="")


@pytest.mark.parametrize("function", ["", "f"])
@pytest.mark.parametrize(
    ("is_decided", "asked"),
    [
        pytest.param(True, ["abcd"], id="was wrong"),
        # All its calls belong to one process.
        pytest.param(False, ["abcd", "abcd"], id="was not"),
    ],
)
def test_a_slow_program_gets_all_calls_unless_it_has_answered_wrongly(
    function: str, is_decided: bool, asked: list[str]
) -> None:
    settler = Settled()
    for _ in ("run", "from the cache"):
        with Spool() as spool:
            answering = Answering(settler, spool, Limits())  # type: ignore[arg-type]
            wanted = Wanted(ONE, TASK, "", CALLS, function, seconds=1.0, first_seconds=0.5)
            answering.run("running programs", [wanted], lambda _: is_decided)
            replies = [reply for part in answering.answers(ONE) for reply in part.replies]
        assert ["".join(one["answer"]["calls"]) for one in settler.ran] == asked
        assert replies == [f"reply to {call}" for call in (CALLS[:2] if is_decided else CALLS)]
        assert answering.open == set()


def test_in_a_pool_a_program_that_has_used_its_short_time_is_stopped() -> None:
    with Spool() as spool:
        answering = Answering(Settled(), spool, Limits(short_seconds=0.1))  # type: ignore[arg-type]
        answering.run("running programs", [Wanted(ONE, TASK, "", CALLS, "", 1.0, 0.5)], lambda _: True)
        assert answering.open == {ONE}
        assert answering.answers(ONE) == []
