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
    """Take turns, without the warnings that Python prints about odd literals (`1if`): nobody asked for them."""
    with _TURN, warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        yield


def tree_from(source: str) -> ast.Module:
    """Return the tree of a source text; raises what `ast.parse` raises."""
    with _in_turn():
        return ast.parse(source)


def literal_from(source: str) -> Any:
    """Return the value of a literal; raises what `ast.literal_eval` raises."""
    with _in_turn():
        return ast.literal_eval(source)
