"""Turns a file of model outputs into scores that can be trusted.

`grade` is the command's grading as a function; `compare` pairs two of its reports; `read_report` reads a results file.
"""

from __future__ import annotations

from grader.api import compare, grade, read_report

__version__ = "0.1.0"
__all__ = ["compare", "grade", "read_report"]
