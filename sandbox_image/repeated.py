"""Skip functions that earlier programs had, word for word, and in which pylint found nothing.

The samples of a task often end with the same test function. It is skipped only if nothing around it can change what
pylint finds in it: apart from its own names it uses only built-in ones, and the program redefines none of these.
"""

from __future__ import annotations

import builtins
import symtable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

MAX_KEPT, MAX_LENGTH = 1000, 16 << 10
"""Maximum number of texts in each table, and maximum length of a text."""
_BUILT_IN = frozenset(dir(builtins))


class Repeated:
    """The functions in which pylint found nothing. `begin` starts a program, and `end` ends it."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        """Lines of the program; empty if nothing may be skipped or learned."""
        self._checked: list[str] = []
        """Texts of the program's functions that were not skipped."""
        self._once: dict[str, None] = {}
        """Texts of functions without messages that one program had."""
        self._known: dict[str, frozenset[str] | None] = {}
        """The same for several programs: text -> the built-in names that it uses; None: it must be checked."""

    def begin(self, source: str, *, usable: bool) -> None:
        """`usable`: the source is plain text, and has no instructions for pylint."""
        self._lines = source.split("\n") if usable else []
        self._checked = []

    def give_up(self) -> None:
        """Skip and learn nothing more in this program."""
        self._lines = []

    def unknown(self, module: Any) -> Iterator[Any]:
        """Yield the statements of a module that must be checked."""
        for node in module.get_children():
            text = self._text(node)
            if not text or not self._is_known(text, module.locals):
                self._checked.append(text)
                yield node

    def _text(self, node: Any) -> str:
        """Return the text of a function; empty for any other statement, and for a long function."""
        if type(node).__name__ != "FunctionDef":
            return ""
        text = "\n".join(self._lines[node.lineno - 1 : node.end_lineno])
        return text if len(text) <= MAX_LENGTH else ""

    def _is_known(self, text: str, defined: Any) -> bool:
        if text in self._once:
            del self._once[text]
            _put(self._known, text, _needs(text))
        needs = self._known.get(text)
        return needs is not None and needs.isdisjoint(defined)

    def end(self, *, is_clean: bool) -> None:
        """Learn from a program; `is_clean`: pylint checked all of it and found nothing."""
        if is_clean and self._lines:
            for text in self._checked:
                if text and text not in self._known:
                    _put(self._once, text, None)
        self.give_up()


def _put(table: dict[str, Any], text: str, value: object) -> None:
    if len(table) >= MAX_KEPT:
        del table[next(iter(table))]
    table[text] = value


def _needs(text: str) -> frozenset[str] | None:
    """Return the built-in names that a function uses; None if it uses other names of the module, or imports."""
    try:
        module = symtable.symtable(text, "<function>", "exec")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    functions = module.get_children()
    # Decorators, annotations and default values are evaluated by the module.
    if len(functions) != 1 or set(module.get_identifiers()) != {functions[0].get_name()}:
        return None
    names: set[str] = set()
    scopes = list(functions)
    while scopes:
        scope = scopes.pop()
        symbols = scope.get_symbols()
        if scope.get_type() != "function" or any(s.is_imported() or s.is_declared_global() for s in symbols):
            return None
        names.update(symbol.get_name() for symbol in symbols if symbol.is_global())
        scopes += scope.get_children()
    return frozenset(names) if names <= _BUILT_IN else None
