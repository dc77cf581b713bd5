"""Python source as a tree. Threads take turns: where two build trees at a time, CPython 3.11 raises a SystemError."""

from __future__ import annotations

import ast
import threading
from typing import Any

_TURN = threading.RLock()


def tree_from(source: str) -> ast.Module:
    """Return the tree of a source text; raises what `ast.parse` raises."""
    with _TURN:
        return ast.parse(source)


def literal_from(source: str) -> Any:
    """Return the value of a literal; raises what `ast.literal_eval` raises."""
    with _TURN:
        return ast.literal_eval(source)
