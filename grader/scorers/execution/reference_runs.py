"""The runs of a reference solution: a second one, with another hash seed, if its answers may depend on it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from grader.files.python_source import tree_from
from grader.sandbox.values import has_sets
from grader.scorers.execution.candidate import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

HASH_SEEDS = 0, 1
_HASHING = {"set", "frozenset", "hash", "id"}
_FIXED_MODULES = {
    "__future__", "bisect", "cmath", "collections", "copy", "decimal", "fractions", "functools", "hashlib", "heapq",
    "itertools", "json", "math", "numbers", "numpy", "operator", "re", "statistics", "string", "typing",
}  # fmt: skip
"""Modules whose functions return the same in every run, but for `_VARYING_NAMES`."""
_VARYING_NAMES = _HASHING | {
    "object", "random", "samples", "empty", "empty_like", "globals", "locals", "vars", "open", "input", "exec", "eval",
    "compile", "getattr", "attrgetter", "methodcaller", "and_", "or_", "xor",
}  # fmt: skip
"""Names that give access to hash values, addresses, random numbers, files, or to other names."""
_SET_OPERATORS = (ast.BitAnd, ast.BitOr, ast.BitXor, ast.Sub)
"""The operations on the keys or items of a dictionary that make a set. `operator` has functions for them."""
_CLOCK = {"now", "utcnow", "today", "localtime", "gmtime", "ctime", "asctime", "time"}
"""Functions that tell what time it is."""


def reference_candidates(
    qid: str, source: str, calls: Sequence[str], *, preceding: str, reports_side_effects: bool = False
) -> list[Candidate]:
    """Return a reference solution once for each hash seed that it needs. `preceding`: the code that runs before it."""
    seeds = HASH_SEEDS if can_vary(f"{preceding}\n{source}", calls) else HASH_SEEDS[:1]
    return [
        Candidate(qid=qid, source=source, role="reference", hash_seed=seed, reports_side_effects=reports_side_effects)
        for seed in seeds
    ]


def can_vary(source: str, calls: Iterable[str]) -> bool:
    """Whether a program may answer these calls differently in another run. Most reference solutions cannot."""
    nodes = _nodes(source)
    names = _names(nodes)
    imported = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    makes_sets = _has_node(nodes, ast.Set, ast.SetComp) or (
        not names.isdisjoint({"keys", "items"}) and _has_node(nodes, *_SET_OPERATORS)
    )
    return (
        not nodes  # it is not valid Python, so nothing is known of it
        or makes_sets
        or not _modules(nodes) <= _FIXED_MODULES
        or not _VARYING_NAMES.isdisjoint(names | imported)
        or any(name.startswith("__") for name in names)  # such as `__import__`, `__class__`
        or _has_node(nodes, ast.ClassDef)  # its objects have addresses, which their texts and hash values show
        or any(map(has_sets, calls))
    )


def asks_for_time(tests: str) -> bool:
    """Whether tests may ask what time it is. Then an answer that is right now may be wrong a second later."""
    if not any(f"{name}(" in tests for name in _CLOCK):  # This is cheaper than parsing the tests.
        return False
    return not _CLOCK.isdisjoint(_names(node.func for node in _nodes(tests) if isinstance(node, ast.Call)))


def _nodes(source: str) -> list[ast.AST]:
    """Return the parts of a program; none if it is not valid Python."""
    try:
        return list(ast.walk(tree_from(source)))
    except (SyntaxError, ValueError, RecursionError):
        return []


def _names(nodes: Iterable[ast.AST]) -> set[str]:
    return {getattr(node, "id", getattr(node, "attr", "")) for node in nodes}


def _modules(nodes: Iterable[ast.AST]) -> set[str]:
    modules = {name.name for node in nodes if isinstance(node, ast.Import) for name in node.names}
    return modules | {node.module or "" for node in nodes if isinstance(node, ast.ImportFrom)}


def _has_node(nodes: Iterable[ast.AST], *kinds: type[ast.AST]) -> bool:
    return any(isinstance(node, kinds) for node in nodes)
