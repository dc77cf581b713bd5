"""Python source as a tree. Threads take turns: where two build trees at a time, CPython 3.11 raises a SystemError."""

from __future__ import annotations

import ast
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_TURN = threading.RLock()


@contextmanager
def _in_turn() -> Iterator[None]:
    """Take turns, without Python's warnings about odd literals and escapes (`1if`): nobody asked for them."""
    with _TURN, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tree_from(source: str, flags: int = 0) -> ast.Module:
    """Return the tree of a source text; raises what `ast.parse` raises. `flags`: further ones of the compiler's."""
    with _in_turn():
        tree: ast.Module = compile(source, "<unknown>", "exec", ast.PyCF_ONLY_AST | flags, dont_inherit=True)
        return tree


def literal_from(source: str) -> Any:
    """Return the value of a literal; raises what `ast.literal_eval` raises."""
    with _in_turn():
        return ast.literal_eval(source)
