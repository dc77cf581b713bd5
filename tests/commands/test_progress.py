"""Progress lines in a log: what is done, and an estimate only if there is something to estimate from."""

import pytest

from grader.commands import progress
from grader.commands.progress import Lines


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds that the lines take for the time now."""
    now = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_phase_has_one_last_line_and_no_line_twice(clock: list[float], capsys: pytest.CaptureFixture[str]) -> None:
    """Megabytes are counted reply by reply: most replies add none, also after the last megabyte."""
    lines = progress.Lines(quiet=False)
    for name in ("reading answers (MB)", "answering"):
        lines.phase(name, 2)
        for _ in range(2):
            for steps in (0, 0, 1, 0, 0):
                lines.advance(steps)
                clock[0] += 4
        clock[0] += 60
        lines.advance(0)
    lines.phase("fetching x (MB)", None)
    lines.advance(0)
    clock[0] += 20
    lines.advance(3)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "reading answers (MB): 2/2 in 28.0 s", "answering: 2/2 in 28.0 s", "fetching x (MB): 3",
    ]  # fmt: skip


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


def test_quiet_keeps_warnings_only(capfd: pytest.CaptureFixture[str]) -> None:
    with Lines(quiet=True) as lines:
        lines.message("chatter")
        lines.warning("trouble")
    assert capfd.readouterr().err == "trouble\n"
