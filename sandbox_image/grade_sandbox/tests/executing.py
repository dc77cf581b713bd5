"""Texts that tests execute: only those that stand in the tests or the signature. An answer's text is never executed.

Tests can load only pickles of plain data: a pickle that names anything else could execute code.
"""

import builtins
import re
import sys
import types

from grade_sandbox.values import constructed
from grade_sandbox.values.wire import BUILTIN_TYPES, UnconfirmedError

# No `from __future__ import annotations` here: `eval` and `exec` would pass it on to texts of the tests.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType
    from typing import Any

_EXECUTES = re.compile(r"\b(eval|exec|compile)\b")
_UNPICKLES = re.compile(r"pickle|shelve|dill|joblib")
_DATA = [*BUILTIN_TYPES.values(), *(entry.kind for entry in constructed.TYPES.values())]
"""Types that a pickle may name."""
_OF_ARRAYS = {"_reconstruct", "_frombuffer", "scalar", "ndarray", "dtype"}
"""What NumPy's pickles of arrays name in its modules."""


def namespace(
    note: "Callable[[BaseException], BaseException]",
    text: str,
    codes: "tuple[CodeType, ...]",
) -> "dict[str, Any]":
    """Return the global names of signature and tests: with an `eval` and `exec` of their own, if they use these.

    `text` and `codes`: signature and tests. `note` gets the reason why nothing can be confirmed, and returns the
    exception.
    """
    if _UNPICKLES.search(text):
        _watch_pickles(note)
    if not _EXECUTES.search(text):
        return {}
    own = {constant for code in codes for constant in _texts(code.co_consts)}

    compiled: list[Any] = []

    def is_trusted(source: "Any") -> bool:
        return any(source is code for code in compiled) or (isinstance(source, str) and source in own)

    def refuse() -> "Any":
        raise note(UnconfirmedError("the tests execute a text that does not stand in them"))

    def checked_eval(source: "Any", *spaces: "Any", **more: "Any") -> "Any":
        return eval(source, *_spaces(spaces), **more) if is_trusted(source) else refuse()

    def checked_exec(source: "Any", *spaces: "Any", **more: "Any") -> "Any":
        return exec(source, *_spaces(spaces), **more) if is_trusted(source) else refuse()

    def checked_compile(source: "Any", *given: "Any", **more: "Any") -> "Any":
        code = compile(source, *given, **more)
        if is_trusted(source):
            compiled.append(code)
        return code

    made = {"eval": checked_eval, "exec": checked_exec, "compile": checked_compile}
    for name, function in made.items():
        function.__name__ = name
    return {"__builtins__": vars(builtins) | made}


def _watch_pickles(note: "Callable[[BaseException], BaseException]") -> None:
    """From now on, let this process load only pickles of plain data."""

    def audit(event: str, given: "tuple[Any, ...]") -> None:
        if event == "pickle.find_class" and not _is_data(*given):
            named = ".".join(map(str, given))[:200]
            raise note(UnconfirmedError(f"the tests load a pickle of an answer that names {named}"))

    sys.addaudithook(audit)


def _is_data(module: str, name: str) -> bool:
    found = getattr(sys.modules.get(module), name, None)
    is_of_array = str(module).partition(".")[0] == "numpy" and name in _OF_ARRAYS
    return is_of_array or any(found is kind for kind in _DATA)


def _spaces(given: "tuple[Any, ...]") -> "tuple[Any, ...]":
    """Return the namespaces of an execution: those that were passed, or those of the tests' function."""
    frame = sys._getframe(2)
    return given or (frame.f_globals, frame.f_locals)


def _texts(constants: "Iterable[Any]") -> "Iterator[str]":
    """Yield the texts among the constants of code, at any depth."""
    for constant in constants:
        if isinstance(constant, str):
            yield constant
        elif isinstance(constant, (tuple, frozenset)):
            yield from _texts(constant)
        elif isinstance(constant, types.CodeType):
            yield from _texts(constant.co_consts)
