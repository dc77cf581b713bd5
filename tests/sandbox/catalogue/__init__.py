"""Correct programs, each of which a grader that distrusts programs could easily refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import (
    arrays,
    builtin_bases,
    classes,
    environment,
    exceptions,
    functions,
    iterators,
    plain_values,
    records,
    state,
)

if TYPE_CHECKING:
    from .program import Program

MODULES = [records, classes, builtin_bases, exceptions, iterators, arrays, functions, state, environment, plain_values]
PROGRAMS: list[Program] = [program for module in MODULES for program in module.PROGRAMS]
