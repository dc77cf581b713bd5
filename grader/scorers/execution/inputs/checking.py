"""Checkers: Python in the data that decides about outputs where several are right. They run without a candidate."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import msgspec

from grader.results import Outcome
from grader.scorers.execution.inputs.judging import Given, printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.scorers.execution.candidate import Candidate
    from grader.scorers.execution.inputs.answering import Answering
    from grader.scorers.execution.inputs.cases import Cases
    from grader.scorers.execution.jobs import Texts

_CALLED = """

import json, sys
_given, sys.stdout, _output = json.load(sys.stdin), sys.stderr, sys.stdout
_output.write(json.dumps(bool(check(*_given))))
_output.flush()
"""


class CheckerError(Exception):
    """Raised if a checker gives no verdict; the text says on which input, and why."""


def runs_of_checker(
    candidate: Candidate, cases: Cases, given: Sequence[Given]
) -> tuple[Candidate, str, tuple[str, ...]]:
    """Return the name of these runs, the program, and its inputs: one for each answer, with its text as data."""
    texts = tuple(
        json.dumps([cases.inputs[number], one.value, expected])
        for number, (one, expected) in enumerate(zip(given, cases.outputs or (), strict=True))
        if one.outcome is Outcome.PASSED
    )
    return key_of_checker(candidate), f"{cases.checker}{_CALLED}", texts


def checked(
    answering: Answering, candidate: Candidate, given: Sequence[Given], seconds: float, words: Texts
) -> list[bool]:
    """Return the checker's verdicts on a program's answers; raises CheckerError."""
    count = sum(one.outcome is Outcome.PASSED for one in given)
    key = key_of_checker(candidate)
    if key in answering.lost:
        raise CheckerError(f"the checker was not run: {answering.lost[key]}")
    verdicts = iter(printed(answering.answers(key), count, seconds, words) if count else ())
    return [one.outcome is Outcome.PASSED and _verdict(next(verdicts), number) for number, one in enumerate(given, 1)]


def _verdict(said: Given, number: int) -> bool:
    if said.outcome is not Outcome.PASSED or said.value not in ("true", "false"):
        raise CheckerError(
            f"the checker fails with the output for input {number}: {said.why or 'it ended without a verdict'}"
        )
    return bool(said.value == "true")


def key_of_checker(candidate: Candidate) -> Candidate:
    """Return the name under which the checker's runs for a program are kept."""
    digest = hashlib.sha256(candidate.source.encode("utf-8", "surrogatepass")).hexdigest()
    return msgspec.structs.replace(candidate, source=f"checker for {digest}")
