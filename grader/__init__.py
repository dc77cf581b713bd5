"""Turns a file of model outputs into scores that can be trusted.

`grade` is the command's grading as a function; `compare` pairs two of its reports; `read_report` reads a results file.
`Pool` grades single samples for as long as it is open: the rewards of a training loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grader.api import compare, grade, read_report
from grader.resources import version

if TYPE_CHECKING:
    from grader.pool.client import Pool

__all__ = ["Pool", "compare", "grade", "read_report"]


def __getattr__(name: str) -> Any:
    """Return `__version__` or `Pool`. The modules behind them are imported at first use."""
    if name == "__version__":
        return version()
    if name == "Pool":
        from grader.pool.client import Pool

        return Pool
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
