"""What the statements of a program do: which global names they bind and use, and which of them a function needs."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import symtable
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.execution.extraction import SCOPES, cached_tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__"}
IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINES = (*IMPORTS, *SCOPES)
_SHOWS = frozenset({"print", "input", "main", "exit", "_exit", "quit", "write", "show"})
"""Names in statements that show something, or end the program."""
_SETTINGS = frozenset({"setrecursionlimit", "set_int_max_str_digits", "stack_size"})
"""Calls that change what every function can do."""


class Statement(NamedTuple):
    """A statement outside functions and classes, with global names."""

    node: ast.stmt
    bound: frozenset[str]
    """What it assigns, defines or imports."""
    used_at_once: frozenset[str]
    """What it reads when it runs: outside functions and classes."""
    used: frozenset[str]
    """The same, and what functions and classes in it read."""
    mentioned: frozenset[str]
    """All names and attributes in it."""

    @property
    def is_definition(self) -> bool:
        """Whether it defines a function or class, or imports something."""
        return isinstance(self.node, _DEFINES)

    @property
    def may_have_effects(self) -> bool:
        """Whether it may do more than bind names."""
        return not self.is_definition and has_calls([self.node])


@functools.lru_cache(maxsize=16)
def statements(source: str) -> tuple[Statement, ...]:
    """Return the statements of a program, without words that happen to be Python, such as `Sure` and `Output: 10`."""
    tree = cached_tree(source)
    if tree is None:
        return ()
    body = list(map(_statement, tree.body))
    known = bound_names(body) | BUILTINS
    return tuple(statement for statement in body if not _is_prose(statement, known))


def _is_prose(statement: Statement, known_names: frozenset[str]) -> bool:
    """Whether a statement is prose: a label (`Note: text`), or an expression with a name that nothing defines."""
    if isinstance(statement.node, ast.AnnAssign):
        return statement.node.value is None
    return isinstance(statement.node, ast.Expr) and is_noop(statement.node) and not statement.used <= known_names


def _statement(node: ast.stmt) -> Statement:
    parts = list(ast.walk(node))
    mentioned = frozenset(getattr(part, "id", getattr(part, "attr", "")) for part in parts)
    try:
        has_scopes = any(isinstance(part, _SCOPED) for part in parts)
        names = _names_by_scope(ast.unparse(node)) if has_scopes else _names(parts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        names = _names(parts)  # it cannot be unparsed, or the text not be compiled
    return Statement(node, frozenset(names.bound), frozenset(names.used_at_once), frozenset(names.used), mentioned)


class _Names(NamedTuple):
    """Global names of a statement, as in `Statement`."""

    bound: set[str]
    used_at_once: set[str]
    used: set[str]


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPED = (*SCOPES, *_COMPREHENSIONS, ast.Lambda)


def _names(parts: Iterable[ast.AST]) -> _Names:
    """Return the names of code without functions and classes, which uses all its names at once."""
    bound, used = set[str](), set[str]()
    for part in parts:
        if isinstance(part, ast.Name):
            (used if isinstance(part.ctx, ast.Load) else bound).add(part.id)
        elif isinstance(part, ast.alias):
            bound.add((part.asname or part.name).split(".")[0])
    return _Names(bound, used_at_once=used, used=used)


def _names_by_scope(text: str) -> _Names:
    """Return the global names of a statement with functions."""
    table = symtable.symtable(text, "<text>", "exec")
    names = _Names(set(), set(), set())
    scopes = [table]
    while scopes:
        scope = scopes.pop()
        scopes += scope.get_children()
        for symbol in scope.get_symbols():
            if scope is not table and not symbol.is_global():
                continue
            if symbol.is_assigned() or symbol.is_imported():
                names.bound.add(symbol.get_name())
            if symbol.is_referenced():
                names.used.add(symbol.get_name())
                if scope is table:
                    names.used_at_once.add(symbol.get_name())
    return names


def unparse(nodes: Iterable[ast.stmt]) -> str | None:
    """Return statements as text; None if they are nested too deeply."""
    with contextlib.suppress(RecursionError, MemoryError, ValueError):
        return "\n".join(map(ast.unparse, nodes))
    return None


def bound_names(body: Iterable[Statement]) -> frozenset[str]:
    """Return the global names that statements bind."""
    return frozenset[str]().union(*(statement.bound for statement in body))


def undefined_names(body: Sequence[Statement]) -> frozenset[str]:
    """Return the global names that statements use and nothing in them binds."""
    return frozenset[str]().union(*(statement.used for statement in body)) - bound_names(body) - BUILTINS


def has_calls(nodes: Iterable[ast.AST]) -> bool:
    """Return whether there is a call in pieces of a program."""
    return any(isinstance(part, ast.Call) for node in nodes for part in ast.walk(node))


def is_noop(statement: ast.stmt) -> bool:
    """Return whether a statement computes nothing: `pass`, an import, or an expression without a call (a docstring)."""
    if not isinstance(statement, ast.Expr):
        return isinstance(statement, (ast.Pass, *IMPORTS))
    return not any(isinstance(part, (ast.Call, ast.Yield, ast.YieldFrom, ast.Await)) for part in ast.walk(statement))


def is_main_guard(node: ast.stmt) -> bool:
    """Return whether a statement runs only in the main module."""
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


# --- what a function needs --------------------------------------------------------------------------------------


def statements_needed_by(names: Iterable[str], body: Sequence[Statement]) -> list[Statement]:
    """Return the statements that the functions `names` need: what defines them and what they use, and sets this up.

    Main guards do not run.
    """
    binders, users = _numbers_by_name(body, "bound"), _numbers_by_name(body, "used")
    names = frozenset(names)
    may_set_up = _numbers_of_setup(body, names)
    # Settings, such as the maximum recursion depth, are needed whatever the functions use.
    needed = {n for n in may_set_up if body[n].mentioned & _SETTINGS}
    waiting = [*names, *(name for n in needed for name in body[n].used)]
    seen = {*waiting}
    while waiting:
        name = waiting.pop()
        for n in (*binders[name], *(user for user in users[name] if user in may_set_up)):
            if n not in needed and not is_main_guard(body[n].node):
                needed.add(n)
                new_names = (body[n].used | body[n].bound) - seen
                seen |= new_names
                waiting += new_names
    return [body[n] for n in sorted(needed)]


def _numbers_of_setup(body: Sequence[Statement], names: frozenset[str]) -> set[int]:
    """Return the numbers of the statements whose calls may set up what they use, such as `table.append(0)`.

    One that shows something, or uses one of these names (those of the functions), is a test or a demonstration.
    """
    return {n for n, part in enumerate(body) if part.may_have_effects and not part.mentioned & (names | _SHOWS)}


def without_needless_statements(
    body: Sequence[Statement], names: Iterable[str], available: frozenset[str]
) -> list[Statement]:
    """Return the statements of a program that the functions `names` need, and those that can do no harm.

    Left out is what runs something, or cannot be loaded everywhere, such as a plot, a test, or `import pytest`.
    `available`: names that the program has without defining them.
    """
    needed = {id(statement) for statement in statements_needed_by(names, body)}
    remaining: list[Statement] = []
    known = {*BUILTINS, *available}
    for statement in body:
        if id(statement) in needed or _is_harmless(statement, known):
            remaining.append(statement)
            known |= statement.bound
    return remaining


def _is_harmless(statement: Statement, known: set[str]) -> bool:
    """Whether a statement runs nothing and can be loaded everywhere, if these names are known."""
    node = statement.node
    if isinstance(node, IMPORTS):
        modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
        is_standard = all(name.partition(".")[0] in sys.stdlib_module_names for name in modules)
        only_repeats = statement.bound <= known
        return is_standard or only_repeats
    if isinstance(node, (*SCOPES, ast.Assign)):
        return not statement.may_have_effects and statement.used_at_once <= known
    return is_noop(node)


def _numbers_by_name(body: Sequence[Statement], field: str) -> Mapping[str, list[int]]:
    """Return the numbers of the statements that have a name in a field, by name."""
    numbers = defaultdict[str, list[int]](list)
    for number, statement in enumerate(body):
        for name in getattr(statement, field):
            numbers[name].append(number)
    return numbers


# --- what a script does -----------------------------------------------------------------------------------------

_READS = frozenset({"input", "stdin", "fileinput"})
_PRINTS = frozenset({"print", "write", "writelines", "stdout"})


def reads_and_prints(body: Sequence[Statement]) -> bool:
    """Return whether a script calls something outside functions, and mentions what reads and what prints."""
    nodes = [statement.node for statement in body]
    if not has_calls(node for node in nodes if not isinstance(node, SCOPES)):
        return False
    names = frozenset[str]().union(*(statement.mentioned for statement in body))
    return bool(names & _READS) and bool(names & _PRINTS)
