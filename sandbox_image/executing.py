"""Tests that execute a text (`eval(solution(3)) == 24`): it may say what an expression says, and nothing more.

What a candidate wrote would else run where the verdict is reached. An audit hook sees every text before it runs.
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
"""Files of code that is the tests', or that they have executed; a library that uses `exec` is another one."""
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
    """Refuse, for the rest of this process, texts that tests execute and that name more than the tests do.

    `note` is told why nothing can be confirmed, and returns the exception to raise. `text`: all that the tests may say.
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
    """Return the global names and attributes of a code, at any depth."""
    found: set[str] = set()
    stack: list[Any] = [code]
    while stack:
        part = stack.pop()
        if hasattr(part, "co_consts"):
            found.update(part.co_names)
            stack += part.co_consts
    return found
