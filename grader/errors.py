"""The expected errors of `grade`; each class has its exit code.

A message says what happened, the likely cause, and the next command to run.
"""

from __future__ import annotations

from typing import ClassVar


class GradeError(Exception):
    """Base of every expected failure. Its text is shown to the user unchanged."""

    exit_code: ClassVar[int] = 2


class UsageError(GradeError):
    """The options or arguments contradict each other, or name something that does not exist."""


class InputError(GradeError):
    """Files given by the user are invalid; `problems` has every problem found, one line each."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


class DataUnavailableError(GradeError):
    """The benchmark's own data is not available (no network, no such file)."""


class InfrastructureError(GradeError):
    """Nothing trustworthy could be graded: no sandbox, no image, no judge."""

    exit_code = 3


class InterruptedRunError(GradeError):
    """Ctrl-C; its text says what was kept, and what the same command does."""

    exit_code = 130


def first_line(error: BaseException) -> str:
    """Return an error's first line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
