"""Skip functions that earlier programs had, word for word, and in which pylint found nothing.

The samples of a task often end with the same test function. It is skipped only if nothing around it can change what
pylint finds in it. Apart from its own names, it uses only built-in ones. Neither this program nor the one from which
the function was learned has any of these names in its module. The function returns no value.
"""

from __future__ import annotations

import ast
import builtins
import symtable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_KEPT, MAX_LENGTH, MAX_DEFINED = 1000, 16 << 10, 200
"""Maximum numbers: of texts in a table, of characters in a text, of names in a module from which texts are learned."""
_BUILT_IN = frozenset(dir(builtins))


class Repeated:
    """The functions in which pylint found nothing. `begin` starts a program, and `end` ends it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        """Lines of the program; empty if nothing may be skipped or learned."""
        self._checked: list[str] = []
        """Texts of the program's functions that were not skipped."""
        self._defined: Any = ()
        """Names of the program's module."""
        self._once: dict[str, frozenset[str]] = {}
        """Text of a function that one program without messages had -> the names of that program's module."""
        self._known: dict[str, frozenset[str] | None] = {}
        """Text of a function that several programs had -> the names in the function; None: it is always checked."""

    def begin(self, source: str, *, usable: bool) -> None:
        """`usable`: the source is plain text, and has no instructions for pylint."""
        self._lines = source.split("\n") if usable else []
        self._checked = []

    def give_up(self) -> None:
        """Skip and learn nothing more in this program."""
        self._lines = []

    def unknown(self, module: Any) -> Iterator[Any]:
        """Yield the statements of a module that must be checked."""
        self._defined = module.locals
        for node in module.get_children():
            text = self._text(node)
            if not text or not self._is_known(text):
                self._checked.append(text)
                yield node

    def _text(self, node: Any) -> str:
        """Return the text of a function; empty for any other statement, and for a long function."""
        if type(node).__name__ != "FunctionDef":
            return ""
        text = "\n".join(self._lines[node.lineno - 1 : node.end_lineno])
        return text if len(text) <= MAX_LENGTH else ""

    def _is_known(self, text: str) -> bool:
        if text in self._once:
            learned_beside, names = self._once.pop(text), _names(text)
            if names is None or names.isdisjoint(learned_beside):
                _put(self._known, text, names)
        names = self._known.get(text)
        return names is not None and names.isdisjoint(self._defined)

    def end(self, *, is_clean: bool) -> None:
        """Learn from a program; `is_clean`: pylint checked all of it and found nothing."""
        if is_clean and self._lines and len(self._defined) <= MAX_DEFINED:
            defined = frozenset(self._defined)
            for text in self._checked:
                if text and text not in self._known:
                    _put(self._once, text, defined)
        self._defined = ()
        self.give_up()


def _put(table: dict[str, Any], text: str, value: object) -> None:
    if len(table) >= MAX_KEPT:
        del table[next(iter(table))]
    table[text] = value


def _names(text: str) -> frozenset[str] | None:
    """Return the names in a function; None if it uses other names of the module than built-in ones, or imports.

    Its own variables count as well: astroid looks for them in the module where the function has not bound them yet.
    None also if it returns a value: what pylint infers from a call may depend on what it inferred in the function.
    """
    try:
        tree, module = ast.parse(text), symtable.symtable(text, "<function>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = module.get_children()
    # Decorators, annotations and default values are evaluated by the module.
    if len(functions) != 1 or len(module.get_symbols()) != 1 or module.get_symbols()[0].is_referenced():
        return None
    if _returns_values(tree.body[0]):
        return None
    names: set[str] = set()
    scopes = list(functions)
    while scopes:
        scope = scopes.pop()
        symbols = scope.get_symbols()
        if scope.get_type() != "function" or any(symbol.is_imported() for symbol in symbols):
            return None
        if any(symbol.is_global() and symbol.get_name() not in _BUILT_IN for symbol in symbols):
            return None
        names.update(symbol.get_name() for symbol in symbols)
        scopes += scope.get_children()
    # `__doc__` is the module's own docstring.
    return None if "__doc__" in names else frozenset(names)


def _returns_values(function: ast.AST) -> bool:
    nodes = list(ast.iter_child_nodes(function))
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Yield | ast.YieldFrom) or (isinstance(node, ast.Return) and node.value):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)
    return False
