"""What the statements of a program do: which names they bind and use, and whether they only test or show something."""

from __future__ import annotations

import ast
import contextlib
from typing import TYPE_CHECKING

from grader.scorers.execution.extraction import SCOPES

if TYPE_CHECKING:
    from collections.abc import Iterable

IMPORTS = (ast.Import, ast.ImportFrom)


def unparsed(nodes: Iterable[ast.stmt]) -> str | None:
    """Return statements as text; None if they are nested too deeply."""
    with contextlib.suppress(RecursionError, MemoryError, ValueError):
        return "\n".join(map(ast.unparse, nodes))
    return None


def loaded_in(node: ast.AST) -> set[str]:
    """Return the names that a piece of a program reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def bound_in(tree: ast.AST) -> set[str]:
    """Return every name that is bound somewhere in a program."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, SCOPES):
            found.add(node.name)
        elif isinstance(node, ast.arg):
            found.add(node.arg)
        elif isinstance(node, ast.alias):
            found.add((node.asname or node.name).split(".")[0])
        elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
            found.add(node.name)
    return found


def bound_outside(nodes: Iterable[ast.stmt]) -> set[str]:
    """Return the names that statements bind outside functions and classes."""
    return {name for node in nodes for name in ((node.name,) if isinstance(node, SCOPES) else bound_in(node))}


def assigned_in(node: ast.stmt) -> list[str]:
    """Return the names that a statement assigns."""
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def words_in(node: ast.AST) -> set[str]:
    """Return the names and attributes in a piece of a program."""
    return {getattr(part, "id", getattr(part, "attr", "")) for part in ast.walk(node)}


def has_calls(nodes: Iterable[ast.AST]) -> bool:
    """Return whether there is a call in pieces of a program."""
    return any(isinstance(part, ast.Call) for node in nodes for part in ast.walk(node))


def says_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement does nothing: `pass`, an import, or a constant such as a docstring."""
    if isinstance(statement, (ast.Pass, ast.Import, ast.ImportFrom)):
        return True
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def is_main_guard(node: ast.stmt) -> bool:
    """Return whether a statement runs only in the main module."""
    return isinstance(node, ast.If) and "__name__" in loaded_in(node.test)


# --- demonstrations ---------------------------------------------------------------------------------------------

_DEFINES = (*IMPORTS, *SCOPES)
_WITHOUT_EFFECT = (ast.Assert, ast.Raise, ast.Return, ast.Pass)
_SHOWS = {"print", "input", "main", "exit", "_exit", "quit", "write", "show", "unittest", "doctest", "pytest"}


def without_demonstrations(body: Iterable[ast.stmt], names: Iterable[str] = ()) -> list[ast.stmt]:
    """Return the statements of a program without its demonstrations and main guards.

    A demonstration is a statement outside definitions that tests or shows something, or that uses one of `names`:
    itself, through a function of the program, or through a name that another demonstration assigned. Constants and
    set-up calls are kept, and so is what assigns a name that the functions use.
    """
    statements, asked = list(body), {*names}
    if all(isinstance(node, _DEFINES) for node in statements):
        return statements
    scopes = [node for node in statements if isinstance(node, SCOPES)]
    users = _users_of(asked or _SHOWS, scopes)
    # What functions use and do not bind themselves.
    needed = asked.union(*(loaded_in(node) - bound_in(node) for node in scopes))
    found: list[ast.stmt] = []
    lost: set[str] = set()
    for node in statements:
        own = set() if isinstance(node, SCOPES) else {*assigned_in(node)}
        uses_lost = not isinstance(node, SCOPES) and not lost.isdisjoint(loaded_in(node) - own)
        if uses_lost or not _is_kept(node, asked, users, needed):
            lost |= own
        else:
            lost -= own
            found.append(node)
    return found


def _users_of(names: set[str], scopes: Iterable[ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]) -> set[str]:
    """Return names, and the functions and classes of a program that use one of them, directly or through others."""
    by_word: dict[str, list[str]] = {}
    for node in scopes:
        for word in words_in(node):
            by_word.setdefault(word, []).append(node.name)
    found, new = {*names}, [*names]
    while new:
        more = [name for name in by_word.pop(new.pop(), ()) if name not in found]
        found.update(more)
        new += more
    return found


def _is_kept(node: ast.stmt, asked: set[str], users: set[str], needed: set[str]) -> bool:
    if isinstance(node, (ast.If, ast.Try)):
        return not is_main_guard(node) and all(_is_kept(part, asked, users, needed) for part in node.body)
    if isinstance(node, _DEFINES):
        return True
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        called = {ast.unparse(part.func) for part in ast.walk(node) if isinstance(part, ast.Call)}
        asks = bool(asked) and not called.isdisjoint(asked | {"input"}) and needed.isdisjoint(assigned_in(node))
        return node.value is not None and not asks
    if isinstance(node, _WITHOUT_EFFECT) or (isinstance(node, ast.Expr) and not has_calls([node])):
        return False
    return words_in(node).isdisjoint(_SHOWS | users)
