"""What the statements of a program do: which global names they bind and use, and which of them a function needs."""

from __future__ import annotations

import ast
import builtins
import contextlib
import functools
import re
import symtable
import sys
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from grader.scorers.execution.extraction import SCOPES, tree_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__"}
IMPORTS = (ast.Import, ast.ImportFrom)
_DEFINES = (*IMPORTS, *SCOPES)
_SHOWS = frozenset({"print", "input", "main", "exit", "_exit", "quit", "write", "show"})
"""Words of statements that show something, or end the program."""
_SETTINGS = frozenset({"setrecursionlimit", "set_int_max_str_digits", "stack_size"})
"""Calls that change what every function can do."""


class Statement(NamedTuple):
    """A statement outside functions and classes, with global names."""

    node: ast.stmt
    bound: frozenset[str]
    """What it binds, and what it changes by an assignment to an attribute or an item."""
    loaded: frozenset[str]
    """What it reads when it runs."""
    used: frozenset[str]
    """The same, and what functions in it read when they are called."""
    words: frozenset[str]
    """All names and attributes in it."""

    @property
    def is_definition(self) -> bool:
        """Whether it defines a function or class, or imports something."""
        return isinstance(self.node, _DEFINES)

    @property
    def acts(self) -> bool:
        """Whether it may do more than bind names."""
        return not self.is_definition and has_calls([self.node])


@functools.lru_cache(maxsize=16)
def statements(source: str) -> tuple[Statement, ...]:
    """Return the statements of a program, without words that happen to be Python, such as `Sure` and `Output: 10`."""
    tree = tree_of(source)
    every = [_statement(node, text) for node, text in _texts(tree, source)] if tree is not None else []
    known = names_bound(every) | BUILTINS
    return tuple(one for one in every if not _is_word(one, known))


def _texts(tree: ast.Module, source: str) -> Iterator[tuple[ast.stmt, str | None]]:
    """Yield statements, and their texts where they share no line with others: to write one anew takes longer."""
    lines = re.split(r"\r\n|\r|\n", source)
    begins = [min([node, *getattr(node, "decorator_list", ())], key=_line).lineno for node in tree.body]
    ends = [node.end_lineno or 0 for node in tree.body]
    befores, afters = [0, *ends], [*begins[1:], len(lines) + 1]
    for node, before, begin, end, after in zip(tree.body, befores, begins, ends, afters, strict=False):
        is_alone = before < begin and end < after
        yield node, "\n".join(lines[begin - 1 : end]) if is_alone else None


def _line(node: ast.stmt | ast.expr) -> int:
    return node.lineno


def _is_word(one: Statement, known: frozenset[str]) -> bool:
    if isinstance(one.node, ast.AnnAssign):
        return one.node.value is None
    return isinstance(one.node, ast.Expr) and says_nothing(one.node) and not one.used <= known


def is_constant(node: ast.stmt) -> bool:
    """Return whether a statement is a constant, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _statement(node: ast.stmt, text: str | None) -> Statement:
    parts = list(ast.walk(node))
    words = frozenset(getattr(part, "id", getattr(part, "attr", "")) for part in parts)
    try:
        has_scopes = any(isinstance(part, _SCOPED) for part in parts)
        bound, loaded, used = _names_by_scope(text or ast.unparse(node)) if has_scopes else _names(parts)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # it cannot be compiled, or not be written
        bound, loaded, used = _names(parts)
    changed = set() if isinstance(node, SCOPES) else {name for part in parts if (name := _changed(part))}
    return Statement(node, frozenset(bound | changed), frozenset(loaded), frozenset(used), words)


_Names: TypeAlias = tuple[set[str], set[str], set[str]]
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPED = (*SCOPES, *_COMPREHENSIONS, ast.Lambda)


def _names(parts: Iterable[ast.AST]) -> _Names:
    """Return the names that code without functions binds, reads at once, and uses."""
    bound, used = set[str](), set[str]()
    for part in parts:
        if isinstance(part, ast.Name):
            (used if isinstance(part.ctx, ast.Load) else bound).add(part.id)
        elif isinstance(part, ast.alias):
            bound.add((part.asname or part.name).split(".")[0])
        else:
            bound.add(getattr(part, "name", None) or getattr(part, "rest", None) or "")  # `except`, `match`
    return bound - {""}, used, used


def _names_by_scope(text: str) -> _Names:
    """Return the global names that a statement with functions binds, reads at once, and uses."""
    table = symtable.symtable(text, "<text>", "exec")
    bound, loaded, used = set[str](), set[str](), set[str]()
    scopes = [(table, True)]
    while scopes:
        scope, is_now = scopes.pop()
        symbols = [one for one in scope.get_symbols() if scope is table or one.is_global()]
        bound |= {one.get_name() for one in symbols if one.is_assigned() or one.is_imported() or one.is_namespace()}
        read = {one.get_name() for one in symbols if one.is_referenced()}
        used |= read
        loaded |= read if is_now else set()
        scopes += [(child, is_now and _runs_at_once(child)) for child in scope.get_children()]
    return bound, loaded, used


def _runs_at_once(scope: symtable.SymbolTable) -> bool:
    return scope.get_type() != "function" or scope.get_name().endswith(("comp", "genexpr"))


def _changed(part: ast.AST) -> str:
    """Return the variable whose attribute or item is assigned; empty for anything else."""
    if not isinstance(part, (ast.Attribute, ast.Subscript)) or isinstance(part.ctx, ast.Load):
        return ""
    value: ast.expr = part
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        value = value.value
    return value.id if isinstance(value, ast.Name) else ""


def unparsed(nodes: Iterable[ast.stmt]) -> str | None:
    """Return statements as text; None if they are nested too deeply."""
    with contextlib.suppress(RecursionError, MemoryError, ValueError):
        return "\n".join(map(ast.unparse, nodes))
    return None


def names_bound(body: Iterable[Statement]) -> frozenset[str]:
    """Return the global names that statements bind."""
    return frozenset[str]().union(*(one.bound for one in body))


def names_lacking(body: Sequence[Statement]) -> frozenset[str]:
    """Return the global names that statements use and nothing in them binds."""
    return frozenset[str]().union(*(one.used for one in body)) - names_bound(body) - BUILTINS


def has_calls(nodes: Iterable[ast.AST]) -> bool:
    """Return whether there is a call in pieces of a program."""
    return any(isinstance(part, ast.Call) for node in nodes for part in ast.walk(node))


def says_nothing(statement: ast.stmt) -> bool:
    """Return whether a statement does nothing: `pass`, an import, a docstring, a word that happens to be Python."""
    if not isinstance(statement, ast.Expr):
        return isinstance(statement, (ast.Pass, *IMPORTS))
    return not any(isinstance(part, (ast.Call, ast.Yield, ast.YieldFrom, ast.Await)) for part in ast.walk(statement))


def is_main_guard(node: ast.stmt) -> bool:
    """Return whether a statement runs only in the main module."""
    return isinstance(node, ast.If) and any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))


# --- what a function needs --------------------------------------------------------------------------------------


def needed(body: Sequence[Statement], names: Iterable[str]) -> list[Statement]:
    """Return the statements that functions need: those that define them and what they use, and set that up.

    A statement sets something up if it changes what is used, itself or by a function that it calls, and neither uses
    one of `names` nor shows something. Main guards do not run.
    """
    asked = frozenset(names)
    binds, uses = _index(body, "bound"), _index(body, "used")
    shows = _users(body, asked | _SHOWS)
    kept = {n for n, one in enumerate(body) if one.acts and one.words & _SETTINGS and not one.words & shows}
    # (Name, whether the name itself is needed). If not, its function may change what is needed: only its calls matter.
    waiting = [(name, True) for name in (*asked, *(name for n in kept for name in body[n].used))]
    seen = {*waiting}
    while waiting:
        name, is_needed = waiting.pop()
        binders = binds[name] if is_needed else []
        found, more = [*binders], list[tuple[str, bool]]()
        if not is_needed or any(not body[n].is_definition for n in binders):  # functions may change a variable
            more = [(node.name, False) for n in uses[name] if isinstance(node := body[n].node, SCOPES)]
        if not is_needed or any(not isinstance(body[n].node, SCOPES) for n in binders):
            found += [n for n in uses[name] if body[n].acts and not body[n].words & shows]
        new = [n for n in found if n not in kept and not is_main_guard(body[n].node)]
        kept.update(new)
        more += [(other, True) for n in new for other in body[n].used | body[n].bound]
        waiting += [one for one in dict.fromkeys(more) if one not in seen]
        seen.update(more)
    return [body[n] for n in sorted(kept)]


def without_needless(body: Sequence[Statement], names: Iterable[str], given: frozenset[str]) -> list[Statement]:
    """Return the statements of a program without those that its functions do not need, and that could do harm.

    That is: what runs something, or cannot be loaded everywhere, such as a plot, a test, or `import pytest`.
    """
    wanted = {id(one) for one in needed(body, names)}
    kept: list[Statement] = []
    known = {*BUILTINS, *given}
    for one in body:
        if id(one) in wanted or _is_harmless(one, known):
            kept.append(one)
            known |= one.bound
    return kept


def _is_harmless(one: Statement, known: set[str]) -> bool:
    if isinstance(one.node, IMPORTS):
        if one.bound <= known:
            return True
        modules = [one.node.module or ""] if isinstance(one.node, ast.ImportFrom) else [a.name for a in one.node.names]
        return all(name.partition(".")[0] in sys.stdlib_module_names for name in modules)
    if isinstance(one.node, (*SCOPES, ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return not one.acts and one.loaded <= known
    return says_nothing(one.node)


def _index(body: Sequence[Statement], field: str) -> Mapping[str, list[int]]:
    found = defaultdict[str, list[int]](list)
    for number, one in enumerate(body):
        for name in getattr(one, field):
            found[name].append(number)
    return found


def _users(body: Iterable[Statement], names: frozenset[str]) -> frozenset[str]:
    """Return names, and the functions and classes of a program that use one of them, directly or through others."""
    by_word = defaultdict[str, list[str]](list)
    for one in body:
        if isinstance(one.node, SCOPES):
            for word in one.words:
                by_word[word].append(one.node.name)
    found, new = {*names}, [*names]
    while new:
        more = {name for name in by_word.pop(new.pop(), ()) if name not in found}
        found |= more
        new += more
    return frozenset(found)


# --- what a script does -----------------------------------------------------------------------------------------

_READS = frozenset({"input", "stdin", "fileinput"})
_OPENS_INPUT = re.compile(r"\bopen\((?:0|'/dev/stdin')")
_PRINTS = frozenset({"print", "write", "writelines", "stdout"})
FULL = 4


def done_by(body: Sequence[Statement]) -> int:
    """Return how much a script does: 0 nothing, 1 its functions call something, 2 a call runs, 3 and reads or prints.

    `FULL`: it reads and prints.
    """
    nodes = [one.node for one in body]
    if not has_calls(nodes):
        return 0
    words = frozenset[str]().union(*(one.words for one in body))
    reads = bool(words & _READS) or ("open" in words and bool(_OPENS_INPUT.search(unparsed(nodes) or "")))
    return 1 + has_calls(node for node in nodes if not isinstance(node, SCOPES)) * (1 + reads + bool(words & _PRINTS))
