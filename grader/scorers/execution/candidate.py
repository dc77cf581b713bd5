"""A program whose careful verdict is to be found, and what is known of it."""

from __future__ import annotations

import ast

import msgspec

from grader.sandbox.answer import Split

_HASHING = {"set", "frozenset", "hash", "id", "keys"}


def hash_seeds(source: str) -> tuple[int, ...]:
    """Return the hash seeds with which a reference solution answers: more if the order of a set may decide answers."""
    try:
        nodes = list(ast.walk(ast.parse(source)))
    except (SyntaxError, ValueError, RecursionError):
        return 0, 1
    names = {getattr(node, "id", getattr(node, "attr", "")) for node in nodes}
    hashes = any(isinstance(node, (ast.Set, ast.SetComp)) for node in nodes) or not names.isdisjoint(_HASHING)
    # Two texts in a set have the same order with half of the seeds.
    return (0, 1, 2, 3) if hashes else (0, 1)


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A program without its tests."""

    qid: str
    source: str
    hash_seed: int = 0
    """Another one, and other random numbers, for further runs of a reference solution."""
    again: bool = False
    """Whether it answers the calls in another order (calls.py)."""
    is_whole: bool = False
    """Whether its source needs no prelude before it."""


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """The tests' verdict on a candidate. Without a `split` nothing is known, for the reason `lost`."""

    split: Split | None = None
    lost: str = ""
    is_late: bool = False
    """Whether the tests arrive at the very call in which the program has used up its CPU time."""
    is_open: bool = False
    """Whether a program used up its short time limit, so that it has no verdict yet."""

    @classmethod
    def of(cls, split: Split) -> Confirmed:
        """Return a verdict; none if the candidate or its tests need more than the short time that they were given."""
        return cls(is_open=True) if split.evidence.is_open else cls(split=split)


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts on a sample that was run apart from its tests."""

    completion: Confirmed = Confirmed()
    """Verdict on the official completion."""
    written: Confirmed | None = None
    """Verdict on the text as written, if the official completion lost some of it."""
    not_judged: str = ""
    """Why the task is outside the careful reading; empty if it is not."""
    calls: int = 0
    """Number of calls of the task, if it has a reference solution that passes."""

    @property
    def is_open(self) -> bool:
        """Whether a program used up its short time limit, so that it has no verdict yet."""
        return self.completion.is_open or (self.written is not None and self.written.is_open)
