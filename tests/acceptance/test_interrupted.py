"""Ctrl-C: what was kept is said as it is, with a cache and without one."""

import os
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.command import Started

RESUMES = "Interrupted. What was finished is kept; the same command resumes."
STARTS_OVER = (
    "Interrupted. With --no-cache, nothing is kept of a file that is not finished: grading it again starts over."
)


def interrupted(*words: object, pipe: Path) -> subprocess.CompletedProcess[str]:
    """Run `grade` on a pipe without a writer, and interrupt it while it waits for the first byte."""
    os.mkfifo(pipe)
    run = Started(*words)
    with pipe.open("wb"):
        # Opening has waited for the reader.
        run.send_signal(signal.SIGINT)
        return run.wait()


@pytest.mark.parametrize(("option", "message"), [("--cache", RESUMES), ("--no-cache", STARTS_OVER)])
def test_an_interrupt_promises_to_resume_only_with_a_cache(
    sample: Callable[[str], tuple[Path, Path]], option: str, message: str
) -> None:
    path, folder = sample("vstar")
    path.unlink()
    ran = interrupted(path, "-b", "vstar", "--data", folder / "questions.jsonl", option, pipe=path)
    assert (ran.returncode, ran.stderr.strip()) == (130, message)


def test_without_a_cache_an_interrupt_of_several_files_keeps_those_that_are_finished(
    sample: Callable[[str], tuple[Path, Path]],
) -> None:
    path, folder = sample("vstar")
    pipe = path.with_name("second.json")
    ran = interrupted(path, pipe, "-b", "vstar", "--data", folder / "questions.jsonl", "--no-cache", pipe=pipe)
    assert ran.returncode == 130
    assert ran.stderr.strip().endswith(STARTS_OVER)
