"""The runs of a reference solution: a second one if its answers may be others each time."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from grader.scorers.execution.candidate import Candidate
from grader.scorers.execution.extraction import parse_any_length

if TYPE_CHECKING:
    from grader.scorers.execution.tasks import CodeTask

_VARYING = re.compile(r"\b(?:random|time|datetime|uuid|secrets)\b|\bid\(")
"""What gives a program other values in each run: random numbers, clocks, addresses.

One of 800 reference solutions (HumanEval+, MBPP+, ClassEval and written ones) needs a second run, for a clock. None
needs one with another hash seed: the order of a set is always the same here, and decides no verdict of theirs.
"""
_CLOCK = {"now", "utcnow", "today", "localtime", "gmtime", "ctime", "asctime", "time"}
"""Functions that tell what time it is."""


def reference_candidates(task: CodeTask) -> list[Candidate]:
    """Return a task's reference solution once for each of its runs."""
    source = task.reference or ""
    runs = 2 if _VARYING.search(task.signature.source + source) else 1
    return [Candidate(qid=task.id, source=source, role="reference", run=run) for run in range(runs)]


def asks_for_time(tests: str) -> bool:
    """Whether tests may ask what time it is. Then an answer that is right now may be wrong a second later."""
    if not any(f"{name}(" in tests for name in _CLOCK):  # This is cheaper than parsing the tests.
        return False
    nodes = ast.walk(parse_any_length(tests) or ast.Module([], []))
    called = (node.func for node in nodes if isinstance(node, ast.Call))
    return any(getattr(function, "id", getattr(function, "attr", "")) in _CLOCK for function in called)
