"""What a zygote rehearses is what its forks do, and leaves nothing behind."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tests.sandbox import inside

if TYPE_CHECKING:
    import pytest

rehearsal = inside.load("rehearsal")
answering = inside.load("answering")


def test_the_calls_that_are_rehearsed_have_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    answer, found = answering._Answerer.answer, []
    monkeypatch.setattr(answering._Answerer, "answer", lambda *given: found.append(answer(*given)))
    monkeypatch.setattr(rehearsal, "TIMES", 2)
    rehearsal.rehearse()
    kinds = [next(iter(json.loads(one))) for one in found]
    assert kinds == ["v", "e"] * (len(kinds) // 2)
    assert len(kinds) == 2 * len(rehearsal._CALLS)


def test_a_rehearsal_leaves_nothing_behind() -> None:
    def state() -> list[object]:
        streams, place = (sys.stdin, sys.stdout, sys.stderr), (Path.cwd(), len(list(Path("/proc/self/fd").iterdir())))
        alarm = signal.getsignal(signal.SIGALRM)
        return [set(sys.modules), streams, place, alarm, threading.enumerate(), sys.argv, sys.path[:], dict(os.environ)]

    before, drawn = state(), random.getstate()
    try:
        rehearsal.rehearse()
    finally:
        random.setstate(drawn)
    assert state() == before
