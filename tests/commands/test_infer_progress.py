"""How far a run is, in words."""

from __future__ import annotations

import pytest

from grader.commands.infer_progress import Lines, described, duration
from grader.inference.events import Progress
from grader.models.replies import Usage


def test_a_line_tells_requests_failures_tokens_their_rate_and_the_time_left() -> None:
    progress = Progress(
        total=120,
        before=20,
        done=40,
        failed=10,
        in_flight=8,
        waiting=2,
        usage=Usage(prompt_tokens=9000, completion_tokens=1000),
        seconds=50.0,
    )
    assert described(progress) == (
        "requests: 60/120, 50 s left, 10 failed, 8 in flight, 2 waiting to be sent again, 10,000 tokens, "
        "20 written a second"
    )


def test_before_the_first_reply_there_is_no_rate_and_no_time_left() -> None:
    assert described(Progress(total=5, before=0, in_flight=1)) == "requests: 0/5, 1 in flight, 0 tokens"


@pytest.mark.parametrize(("seconds", "said"), [(90, "90 s"), (600, "10 min"), (9000, "2.5 h")])
def test_a_time_is_told_in_the_unit_that_suits_it(seconds: float, said: str) -> None:
    assert duration(seconds) == said


def test_quiet_keeps_warnings_only(capfd: pytest.CaptureFixture[str]) -> None:
    with Lines(quiet=True) as lines:
        lines.message("chatter")
        lines.warning("trouble")
    assert capfd.readouterr().err == "trouble\n"
