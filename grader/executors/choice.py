"""Choose the executor of a run: this machine, or a Ray cluster."""

from __future__ import annotations

import contextlib
from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from grader.errors import UsageError
from grader.executors.local import open_local

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.executors.interface import Executor
    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import Limits


def open_executor(
    options: Options, limits: Limits, observer: Observer, python: str | None = None, *, apart: bool = False
) -> Executor:
    """Return the executor for these options; raises InfrastructureError if it is not available.

    `apart`: programs and tests never share a sandbox, whatever the order of the jobs (grader/executors/apart.py).
    """
    if options.executor == "ray":
        if apart:
            raise UsageError(
                "--executor ray grades one prediction file per call: its nodes do not separate the tests of one file "
                "from the programs of the next. Give one file, or --executor local."
            )
        # Imported late: it needs the extra `ray`, which takes a second to load.
        from grader.executors.ray import open_ray

        return open_ray(options, limits, observer, python)
    if options.ray_address is not None:
        raise UsageError("--ray-address gives a cluster, which needs --executor ray.")
    return open_local(options, limits, observer, python, apart=apart)


class _Kept(NamedTuple):
    """Executors that several runs use in turn."""

    stack: contextlib.ExitStack
    executors: dict[tuple[Limits, str | None], Executor]


_kept: ContextVar[_Kept | None] = ContextVar("kept", default=None)


@contextlib.contextmanager
def executors_kept() -> Iterator[None]:
    """Keep the executors of the runs in this block open and reuse them. All runs must have the same options."""
    with contextlib.ExitStack() as stack:
        token = _kept.set(_Kept(stack, {}))
        try:
            yield
        finally:
            _kept.reset(token)


@contextlib.contextmanager
def executor_of_run(
    options: Options, limits: Limits, observer: Observer, python: str | None = None
) -> Iterator[Executor]:
    """Yield the executor of a run: a new one, or one that earlier runs have left open."""
    kept = _kept.get()
    if kept is not None:
        if (limits, python) not in kept.executors:
            # Its sandboxes are separate: one run's tests never meet the next run.
            opened = open_executor(options, limits, observer, python, apart=True)
            kept.executors[limits, python] = kept.stack.enter_context(opened)
        yield kept.executors[limits, python]
        return
    with open_executor(options, limits, observer, python) as executor:
        yield executor
