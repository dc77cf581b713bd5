"""Turns a file of model outputs into scores that can be trusted.

`grade` is the command's grading as a function; `compare` pairs two of its reports; `read_report` reads a results file.
`Pool` grades single samples for as long as it is open: the rewards of a training loop.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from grader.api import compare, grade, read_report
    from grader.pool.client import Pool

__all__ = ["Pool", "compare", "grade", "read_report"]


_MODULES = {"Pool": "grader.pool.client", "compare": "grader.api", "grade": "grader.api", "read_report": "grader.api"}


def __getattr__(name: str) -> Any:
    """Import what `__all__` names, or `__version__`, when it is first used.

    This module is imported before the command can handle Ctrl-C, so its import must take no time.
    """
    if name == "__version__":
        from grader.resources import version

        return version()
    if name in _MODULES:
        return getattr(importlib.import_module(_MODULES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
