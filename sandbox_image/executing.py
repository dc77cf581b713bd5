"""Restrict texts that tests execute (`eval(solution(3)) == 24`): such a text may only be an expression.

Otherwise a candidate's text would run in the process of the verdict. An audit hook checks every text before it runs.
"""

from __future__ import annotations

import re
import sys

import crossing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

_TESTS = {"<tests>", "<signature>", "<string>"}
"""Files of code that belongs to the tests or that they executed; a library that uses `exec` has other files."""
_SAFE = {
    "abs", "bool", "divmod", "float", "int", "len", "list", "max", "min", "pow", "range", "round", "set", "sorted",
    "str", "sum", "tuple", "dict", "math", "sqrt", "pi", "e", "floor", "ceil", "factorial", "gcd", "log", "exp",
}  # fmt: skip
_REFUSED = {
    "eval", "exec", "compile", "open", "input", "breakpoint", "globals", "locals", "vars", "getattr", "setattr",
    "delattr", "type", "object", "super", "property", "classmethod", "staticmethod", "os", "sys", "io", "subprocess",
    "ctypes", "builtins", "importlib", "pickle", "marshal", "socket", "signal", "threading", "unittest", "mock", "gc",
    "inspect", "types", "memoryview", "namedtuple", "dataclass", "load", "fromfile", "lib", "frombuffer",
}  # fmt: skip


def refuse_foreign_code(note: Callable[[BaseException], BaseException], text: str) -> None:
    """Refuse, in this process from now on, executed texts with names that do not occur in the tests.

    `note` gets the reason why nothing can be confirmed, and returns the exception. `text` has the allowed names.
    """
    if not re.search(r"\b(eval|exec)\b", text):
        return
    known = (_SAFE | set(re.findall(r"[^\W\d]\w*", text))) - _REFUSED

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event == "exec" and sys._getframe(1).f_code.co_filename in _TESTS:
            foreign = sorted(name for name in _names(args[0]) if name not in known or name.startswith("_"))
            if foreign:
                why = f"the tests execute a text that names {foreign[0]!r}, as a candidate could write it"
                raise note(crossing.UnconfirmedError(why))

    sys.addaudithook(hook)


def _names(code: CodeType) -> set[str]:
    """Return the global names and attributes in a code object, at any depth."""
    found: set[str] = set()
    stack: list[Any] = [code]
    while stack:
        part = stack.pop()
        if hasattr(part, "co_consts"):
            found.update(part.co_names)
            stack += part.co_consts
    return found
