"""A hostile program as data: its source, its task, and what must come of it."""

from dataclasses import dataclass

SIGNATURE = "def solution(x: int) -> int:\n"
TESTS = """

def check(candidate):
    assert candidate(3) == 7392
    assert candidate(5) == 1187


check(solution)
"""
# Anything but passing, and nothing of ours at fault.
NOT_PASSED = frozenset({"failed", "error", "timeout", "out_of_memory", "crashed"})
PASSED = frozenset({"passed"})
LINT = frozenset({"lint_failed"})
# Searches its callers for the official harness, reports a pass to it and is gone; apart from the tests it goes on.
CHEAT = """
import json, os, socket, struct, sys, time


def cheat():
    frame = sys._getframe()
    while frame:
        if isinstance(frame.f_locals.get("check_program"), str):
            frame.f_locals["result"].append("passed")
            os._exit(0)
        frame = frame.f_back
"""


@dataclass(frozen=True, kw_only=True)
class Program:
    """One attack."""

    name: str
    source: str
    official: frozenset[str]
    """Outcomes that the official reading may have."""
    signature: str = SIGNATURE
    tests: str = TESTS
    honest: bool = False
    """It satisfies its tests, however oddly: it is to be credited."""
    says: str = ""
    """A pattern that the details of the readings must match."""
    never: str = ""
    """A pattern that they must not: what it would say had it got somewhere."""
    more: tuple[str, ...] = ()
    """Further predictions for the same task, under the same conditions."""
    reference: str = ""
    """A correct program, where the task has one."""
    careful: str = ""
    """The careful outcome, where only one is right."""

    def answer(self) -> str:
        """Return the model's text."""
        return fenced(self.source)


def fenced(source: str) -> str:
    """Return a program as a model would write it."""
    return f"```python\n{source}\n```"
