"""Turns a file of model outputs into scores that can be trusted.

`grade` is the command's grading as a function; `compare` pairs two of its reports; `read_report` reads a results file.
"""

from __future__ import annotations

from grader.api import compare, grade, read_report
from grader.resources import VERSION as __version__  # noqa: N811 - the name that tools look for

__all__ = ["__version__", "compare", "grade", "read_report"]
