"""Python source as a tree. Threads take turns: where two build trees at a time, CPython 3.11 raises a SystemError."""

from __future__ import annotations

import ast
import threading
import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARSER_LOCK = threading.RLock()


@contextmanager
def _exclusive_without_warnings() -> Iterator[None]:
    """Let only one thread parse, and without Python's warnings about odd literals and escapes (`1if`)."""
    with _PARSER_LOCK, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def tree_from(source: str, flags: int = 0) -> ast.Module:
    """Return the tree of a source text; raises what `ast.parse` raises. `flags`: further ones of the compiler's."""
    with _exclusive_without_warnings():
        tree: ast.Module = compile(source, "<unknown>", "exec", ast.PyCF_ONLY_AST | flags, dont_inherit=True)
        return tree


def literal_from(source: str) -> Any:
    """Return the value of a literal; raises what `ast.literal_eval` raises."""
    with _exclusive_without_warnings():
        return ast.literal_eval(source)
