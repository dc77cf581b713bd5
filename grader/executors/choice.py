"""Choose the executor of a run: this machine, or a Ray cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.executors.local import open_local

if TYPE_CHECKING:
    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Limits


def open_executor(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Executor:
    """Return the executor for these options; raises InfrastructureError if it is not available."""
    if options.executor == "ray":
        # Imported late: it needs the extra `ray`, which takes a second to load.
        from grader.executors.ray import open_ray

        return open_ray(options, limits, observer, python)
    return open_local(options, limits, observer, python)
