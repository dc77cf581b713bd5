"""Texts that tests execute (`eval(solution(3)) == 24`). An answer's text is never executed.

It is computed here if it is an expression of literals and arithmetic. The texts of the tests themselves, and those that
the reference solution answered, are executed as usual. Tests can load only pickles of plain data: a pickle that names
anything else could execute code.
"""

import ast
import builtins
import operator
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
_OPERATORS: "dict[type[ast.AST], Callable[..., Any]]" = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow,
    ast.UAdd: operator.pos, ast.USub: operator.neg,
}  # fmt: skip
MAX_POWER = 1 << 12
MAX_TEXT = 10_000


def namespace(
    note: "Callable[[BaseException], BaseException]",
    text: str,
    codes: "tuple[CodeType, ...]",
    trusted: "Callable[[], Iterable[str]]",
) -> "dict[str, Any]":
    """Return the global names of signature and tests: with an `eval` and `exec` of their own, if they use these.

    `text` and `codes`: signature and tests. `note` gets the reason why nothing can be confirmed, and returns the
    exception. `trusted` returns the texts in the answers of the reference solution.
    """
    if _UNPICKLES.search(text):
        _watch_pickles(note)
    if not _EXECUTES.search(text):
        return {}
    own = {constant for code in codes for constant in _texts(code.co_consts)} | set(trusted())

    compiled: list[Any] = []

    def is_trusted(source: "Any") -> bool:
        return any(source is code for code in compiled) or (isinstance(source, str) and source in own)

    def refuse() -> "Any":
        raise note(UnconfirmedError("the tests execute a text that does more than compute with numbers and literals"))

    def checked_eval(source: "Any", *spaces: "Any", **more: "Any") -> "Any":
        if is_trusted(source):
            return eval(source, *_spaces(spaces), **more)
        try:
            return computed(ast.parse(str(source)[:MAX_TEXT].strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError):
            return refuse()

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


def computed(node: ast.expr) -> "Any":
    """Return the value of an expression of literals and arithmetic; raises ValueError for anything else."""
    match node:
        case ast.Constant():
            return node.value
        case ast.List() | ast.Tuple() | ast.Set():
            return {ast.List: list, ast.Tuple: tuple, ast.Set: set}[type(node)](map(computed, node.elts))
        case ast.Dict() if None not in node.keys:
            keys = [computed(key) for key in node.keys if key is not None]
            return dict(zip(keys, map(computed, node.values), strict=True))
        case ast.UnaryOp() if type(node.op) in _OPERATORS:
            return _OPERATORS[type(node.op)](computed(node.operand))
        case ast.BinOp() if type(node.op) in _OPERATORS:
            return _arithmetic(type(node.op), computed(node.left), computed(node.right))
    raise ValueError("not an expression of literals and arithmetic")


def _arithmetic(kind: "type[ast.AST]", left: "Any", right: "Any") -> "Any":
    if not all(isinstance(value, (int, float, complex)) for value in (left, right)):
        raise ValueError("arithmetic with something else than numbers")
    if kind is ast.Pow and isinstance(right, int) and abs(right) > MAX_POWER:
        raise ValueError("a power that is too large")
    return _OPERATORS[kind](left, right)
