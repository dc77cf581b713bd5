"""Choose the backend: the given one, else Docker if an engine answers, else bubblewrap; never run without one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import resources
from grader.errors import InfrastructureError, UsageError
from grader.sandbox import bubblewrap, docker, engines

if TYPE_CHECKING:
    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Backend, BackendName, Limits

NEITHER = (
    "There is nothing to run untrusted code in: no Docker engine answers and bubblewrap is not installed. "
    "Install one of them (`apt-get install bubblewrap`, or docker.io) and run `grade doctor`. "
    "Nothing was executed; grade never runs code without a sandbox."
)
FORBIDDEN = "{} bubblewrap is not installed (`apt-get install bubblewrap`). Nothing was executed."


def choose(asked: str) -> BackendName:
    """Return the backend's name; raises InfrastructureError if none is available."""
    resources.needs_posix("A sandbox")
    if asked in {"auto", "docker"} and (asked == "docker" or docker.available()):
        return "docker"
    if bubblewrap.executable() is None:
        if asked == "auto":
            raise InfrastructureError(FORBIDDEN.format(denied) if (denied := engines.forbidden()) else NEITHER)
        raise InfrastructureError(f"bubblewrap is not installed. {NEITHER}")
    return "bubblewrap"


def open_backend(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Backend:
    """Return a backend that is ready to start supervisors; raises InfrastructureError.

    `python` is the Python version of the official environment (`3.12`); the sandbox uses it if it is available.
    """
    if choose(options.sandbox) == "docker":
        return docker.Docker(limits, observer, runtime=options.runtime, python=python)
    if options.runtime:
        raise UsageError(
            f"--runtime {options.runtime} is an option of the Docker engine, but bubblewrap would be used here: "
            "start the engine, or omit the option."
        )
    return bubblewrap.Bubblewrap(limits, observer, python=python)
