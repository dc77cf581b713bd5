"""What sandboxes are for. No sandbox that runs programs ever sees a test, so each serves one role for its whole life.

`linting` reads programs and tests but executes neither. `answering` runs programs and never gets a test. `judging` runs
tests and never gets a model's program. `official` runs both in one process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["linting", "answering", "judging", "official"]
ROLE_OF_KIND: dict[str, Role] = {
    "run": "official",
    "answer": "answering",
    "record": "judging",
    "judge": "judging",
    "compare": "judging",
    "lint": "linting",
}
"""Kind of job -> its role; if a job is of several kinds, the first one here decides."""


def role_of(job: Mapping[str, object]) -> Role:
    """Return the role of a job; raises ValueError if it asks for nothing."""
    for kind, role in ROLE_OF_KIND.items():
        if job.get(kind):
            return role
    raise ValueError("a job that asks for nothing")


def may_never_end(program: str) -> bool:
    """Whether a program may never end: it has the text `while`, as most have that do not end.

    Only the order of programs depends on it. In a run, those with loops start first: started last, one would run alone
    while other workers wait. In a pool, they have threads of their own, and their jobs come later, so that no other one
    waits for them. (The slowest of 20 quick samples behind 16 endless ones took 7.1 s, and 9.3 s if these did not come
    later: means of seven pairs of `tests/bench/rewards.py behind` on a machine with eight processes a core.)
    """
    return "while" in program


def program_of(job: Mapping[str, Any]) -> str:
    """Return the source of the program that a job runs; empty if it runs none."""
    # A job has the calls that a candidate or a script answers, or the program (`head`) of an official run.
    answering = job.get("answer") or {}
    return str(answering.get("script") or answering.get("candidate", {}).get("source") or job.get("head", ""))
