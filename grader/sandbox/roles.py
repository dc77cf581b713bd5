"""What sandboxes are for. No sandbox that runs programs ever sees a test, so each serves one role for its whole life.

`linting` reads programs and tests but executes neither. `answering` runs programs and never gets a test. `judging` runs
tests and never gets a model's program. `official` runs both in one process.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Role = Literal["linting", "answering", "judging", "official"]
ROLES: tuple[Role, ...] = get_args(Role)
OF_PART: dict[str, Role] = {
    "run": "official",
    "answer": "answering",
    "record": "judging",
    "judge": "judging",
    "compare": "judging",
    "lint": "linting",
}
"""Part of a job -> its role; if a job has several parts, the first one here decides."""


def role_of(job: Mapping[str, object]) -> Role:
    """Return the role of a job; raises ValueError if it asks for nothing."""
    for part, role in OF_PART.items():
        if job.get(part):
            return role
    raise ValueError("a job that asks for nothing")


def has_loop(job: Mapping[str, Any]) -> bool:
    """Whether the program that a job runs has a `while` loop, as most programs have that never end."""
    asked = job.get("answer") or {}
    return "while" in (asked.get("script") or asked.get("candidate", {}).get("source") or job.get("head", ""))
