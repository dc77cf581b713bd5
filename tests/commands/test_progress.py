"""Progress lines in a log: what is done, and an estimate only if there is something to estimate from."""

from __future__ import annotations

import pytest

from grader.commands import progress


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the lines take for the time now."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_the_time_left_is_not_estimated_from_a_few_steps(
    clock: list[float], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = progress.Lines(quiet=False)
    lines.phase("answering", 400)
    clock[0] += 10
    lines.advance()
    clock[0] += 10
    lines.advance(99, passed=50)
    clock[0] += 20
    lines.advance(300)
    assert capsys.readouterr().err.splitlines() == [
        "answering: 1/400",
        "answering: 100/400, 50 % pass, 60 s left",
        "answering: 400/400, 12 % pass in 40.0 s",
    ]
