"""What is said of a server that keeps its replies back."""

from __future__ import annotations

import time

from grader.models.client import ClientStatus
from grader.models.pace import PaceStatus
from grader.models.replies import Usage
from grader.models.trouble import TroubleReporter


def status(trouble: str, *, held: float = 0.0) -> ClientStatus:
    pace = PaceStatus(in_flight=1, limit=4, most=8, held_seconds=held)
    return ClientStatus(pace=pace, calls=1, usage=Usage(), waiting=2, trouble=trouble, gives_up_after=600.0)


def test_a_failure_that_passes_at_once_is_not_worth_a_message() -> None:
    said: list[str] = []
    reporter = TroubleReporter("The judge", said.append, grace=60)
    for trouble in ("HTTP 500", "", "HTTP 429", ""):
        reporter.look(status(trouble))
    assert said == []


def test_one_that_lasts_is_said_and_so_is_its_end() -> None:
    said: list[str] = []
    reporter = TroubleReporter("The judge", said.append, grace=0)
    reporter.look(status("HTTP 500: loading.", held=20.0))
    reporter.look(status("HTTP 500: loading."))
    reporter.look(status(""))
    assert said == [
        "The judge: HTTP 500: loading. Trying again: 2 requests wait. At most 4 are sent at once. The server asks to "
        "wait 20 s. A request is given up after 10 minutes at most.",
        "The judge replies again. 2 requests wait. At most 4 are sent at once.",
    ]


def test_it_is_said_again_while_it_lasts_but_not_at_every_look() -> None:
    said: list[str] = []
    reporter = TroubleReporter("The judge", said.append, grace=0, every=0.5)
    looks = 0
    while len(said) < 3:
        reporter.look(status("HTTP 500"))
        looks += 1
        time.sleep(0.002)
    assert looks > 3
