"""Which executor runs a run's programs. Today there is one: this machine's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.executors.local import open_local

if TYPE_CHECKING:
    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Limits


def open_executor(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Executor:
    """Return the executor that the options ask for; raises InfrastructureError where it cannot be had."""
    return open_local(options, limits, observer, python)
