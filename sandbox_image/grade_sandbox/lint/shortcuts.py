"""Make pylint faster: skip work that no error or fatal message depends on, or do it once instead of for every program.

This is written for the locked versions of pylint and astroid. tests/sandbox/test_linter.py compares the messages
with those of a fresh pylint.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    Callbacks = tuple[tuple[Callable[[Any], None], ...], tuple[Callable[[Any], None], ...]]

USELESS = {
    # They check the order and the position of imports, which are conventions.
    "ImportsChecker.leave_module", "ImportsChecker.visit_functiondef", "ImportsChecker.compute_first_non_import_node",
}  # fmt: skip
METHODS_WITHOUT_ERRORS = {
    "BasicErrorChecker": ("_check_redefinition",),
    "ImportsChecker": ("_record_import", "check_deprecated_module", "_add_imported_module"),
    "MethodArgsChecker": ("_check_missing_timeout",),
    "StdlibChecker": ("check_deprecated_class_in_call", "check_deprecated_method"),
    "VariablesChecker": ("_loopvar_name", "_check_late_binding_closure"),
}
"""Checker -> methods that only give warnings and conventions, or `function-redefined`, which is ignored."""
GLOBALS = ("_check_nonlocal_and_global", "_check_name_used_prior_global")
_PLAIN = re.compile(r"[\t\n -~]*")


class Shortcuts:
    """The shortcuts of one pylint. `choose_for` chooses those for the next source."""

    def __init__(self, linter: Any) -> None:
        """Replace methods of pylint and its checkers by ones that do nothing, or that have their result already."""
        from astroid import rebuilder
        from pylint.checkers import exceptions
        from pylint.utils import utils

        self.is_plain = False
        """Whether the source is the same text however it is read from a file."""
        # `Any`, because mypy would not allow to replace a function of a module by one of another type.
        self._utils: Any = utils
        self._original_tokenize = utils.tokenize_module
        # The checkers are always the same, and sorting them takes a sixth of the time for a program.
        checkers = linter.prepare_checkers()
        linter.prepare_checkers = lambda: checkers
        self._checkers = {type(checker).__name__: checker for checker in checkers}
        for name, methods in METHODS_WITHOUT_ERRORS.items():
            for method in methods:
                setattr(self._checkers[name], method, _do_nothing)
        builtin_exceptions = exceptions._builtin_exceptions()
        exceptions._builtin_exceptions = lambda: builtin_exceptions
        linter.initialize()
        linter.initialize = _do_nothing
        _share_walker(linter, checkers)
        self._rebuilder: Any = rebuilder.TreeRebuilder
        self._original_position = self._rebuilder._get_position_info

    def choose_for(self, source: str) -> None:
        """Skip the checks that cannot find anything in this source."""
        self.is_plain = _PLAIN.fullmatch(source) is not None and "coding" not in source
        # The tokens only serve to find instructions for pylint in comments. But if a line ends in a backslash, making
        # them may fail although Python compiles the source, and that changes what pylint reports.
        has_no_instructions = self.is_plain and "pylint" not in source and "\\\n" not in source
        self._utils.tokenize_module = (lambda _: []) if has_no_instructions else self._original_tokenize
        # astroid splits the first line of each function and class into tokens to find the column of its name. Only the
        # position of a message depends on it, and messages are used without their positions.
        self._rebuilder._get_position_info = _do_nothing if has_no_instructions else self._original_position
        self._switch_off("UnicodeChecker", ("process_module",), is_off=self.is_plain)
        has_no_globals = self.is_plain and "global" not in source and "nonlocal" not in source
        self._switch_off("BasicErrorChecker", GLOBALS, is_off=has_no_globals)

    def _switch_off(self, checker: str, methods: tuple[str, ...], *, is_off: bool) -> None:
        """Skip methods of a checker, or use them again."""
        attributes = vars(self._checkers[checker])
        for method in methods:
            if is_off:
                attributes[method] = _do_nothing
            else:
                attributes.pop(method, None)


def _do_nothing(*_: Any, **__: Any) -> None:
    """Replace a method that is skipped."""


class _Walker:
    """Calls the methods of the checkers for each node, as pylint's own walker does."""

    nbstatements = 0

    def __init__(self, events: Any) -> None:
        self._callbacks = _Callbacks(events)

    def add_checker(self, checker: Any) -> None:
        """Do nothing, because the checkers are already known."""

    def walk(self, node: Any) -> None:
        """Visit a node and its children, then leave it."""
        visits, leaves = self._callbacks[node.__class__]
        for visit in visits:
            visit(node)
        for child in node.get_children():
            self.walk(child)
        for leave in leaves:
            leave(node)


class _Callbacks(dict[type, "Callbacks"]):
    """Class of nodes -> the methods to call before and after the children of such a node."""

    def __init__(self, events: Any) -> None:
        self._events = events

    def __missing__(self, kind: type) -> Callbacks:
        name = kind.__name__.lower()
        self[kind] = _useful(self._events.visit_events[name]), _useful(self._events.leave_events[name])
        return self[kind]


def _share_walker(linter: Any, checkers: list[Any]) -> None:
    """Use one walker for all programs. Finding out which checker visits which node takes an eighth of the time."""
    from pylint.lint import pylinter

    module: Any = pylinter
    collected = module.ASTWalker(linter)
    for checker in checkers:
        collected.add_checker(checker)
    walker = _Walker(collected)
    module.ASTWalker = lambda _: walker


def _useful(callbacks: list[Any]) -> tuple[Callable[[Any], None], ...]:
    return tuple(callback for callback in callbacks if callback.__func__.__qualname__ not in USELESS)
