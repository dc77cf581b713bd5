"""Restrict texts that tests execute (`eval(solution(3)) == 24`): such a text may only compute.

Otherwise a candidate's text would run in the process of the verdict, where the expected values are. The text may use
literals, its own local names, built-in functions that only compute, and the namespaces that the tests pass to `eval` or
`exec`. It may not read or change a variable of the tests.
"""

import ast
import builtins
import dis
import math
import re
import sys
import types

import codes
import crossing
from standing_in import Proxy

# No `from __future__ import annotations` here: `eval` and `exec` would pass it on to texts of the tests.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType
    from typing import Any, NoReturn

_TESTS = {"<tests>", "<signature>", "<string>"}
"""Files of code that belongs to the tests or that they executed; a library that uses `exec` has other files."""
_EXECUTES = re.compile(r"\b(eval|exec)\b")
_OWN = "__executed__"
"""Marks the global variables of the tests, also in a copy of them."""
_LOCALS = re.compile(r"\b(locals|vars|f_locals|__dict__)\b")
"""How tests may copy their local variables to a dictionary. Then every namespace is treated as the tests' own."""
_BUILTINS = {
    "abs", "all", "any", "bin", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate", "filter", "float",
    "frozenset", "hex", "int", "isinstance", "iter", "len", "list", "map", "max", "min", "next", "oct", "ord", "pow",
    "print", "range", "repr", "reversed", "round", "set", "slice", "sorted", "str", "sum", "tuple", "zip",
    "ArithmeticError", "Exception", "IndexError", "KeyError", "LookupError", "TypeError", "ValueError",
    "ZeroDivisionError",
}  # fmt: skip
_MODULES = {"math", "cmath", "fractions", "decimal", "datetime", "collections", "numpy"}
_CONSTRUCTORS = {
    "Counter", "Decimal", "Fraction", "OrderedDict", "array", "date", "datetime", "defaultdict", "deque", "time",
    "timedelta",
}  # fmt: skip
_CONSTANTS = (math.pi, math.e, math.tau)
# `format` reads attributes of its arguments, but their names are in a text and not among the names of the code.
_ATTRIBUTES = _CONSTRUCTORS | {
    name
    for kind in (str, bytes, list, dict, set, tuple, int, float, complex, math)
    for name in dir(kind)
    if not name.startswith("_")
} - {"format", "format_map", "nan", "inf"}
_READING, _STORING = {"LOAD_NAME", "LOAD_GLOBAL"}, {"STORE_NAME", "STORE_GLOBAL"}
_REACHING = {"LOAD_ATTR", "LOAD_METHOD", "IMPORT_FROM"}
_CHANGING = {"STORE_SUBSCR", "STORE_SLICE", "DELETE_SUBSCR"}


def refuse_foreign_code(
    note: "Callable[[BaseException], BaseException]",
    spec: "dict[str, Any]",
    code: "CodeType",
    namespace: "dict[str, Any]",
    classes: "dict[str, type[Any]]",
    computed: "Callable[[Any], Any]",
) -> None:
    """Restrict, in this process from now on, the texts that tests execute.

    `note` gets the reason why nothing can be confirmed, and returns the exception. `spec` has the texts of the tests
    and the signature; `code` is that of the tests, which will run in `namespace`. `classes`: those of the signature.
    `computed` checks what a text has computed, and returns the value that the tests get.
    """
    text = f"{spec['signature']}\n{spec['test']}"
    if not _EXECUTES.search(text):
        return
    namespace[_OWN] = True
    restriction = _Restriction(note, text, code, classes, computed)
    builtins.eval = restriction.replaced(builtins.eval)
    builtins.exec = restriction.replaced(builtins.exec)

    def hook(event: str, args: "tuple[Any, ...]") -> None:
        # Only a reference to the original functions leads here.
        if event == "exec" and sys._getframe(1).f_code.co_filename in _TESTS:
            restriction.check(args[0], _Names(sys._getframe(1)), stores=False)

    sys.addaudithook(hook)


class _Names:
    """The meaning of names in a text: variables of the tests, or entries of namespaces passed to `eval` or `exec`."""

    def __init__(
        self, frame: "FrameType", namespace: "Any" = None, local: "Any" = None, *, open_locals: bool = False
    ) -> None:
        own_globals = namespace is None or open_locals or _OWN in namespace
        own_locals = own_globals if local is None else open_locals or _OWN in local
        self.is_closed = not own_globals and not own_locals
        """Whether the text cannot reach any variable of the tests."""
        self.handed_globals = {} if own_globals else namespace
        self.handed_locals = {} if own_locals else (namespace if local is None else local)
        self._own: list[Any] = [namespace if own_globals and namespace is not None else frame.f_globals]
        if own_locals:
            self._own.append(frame.f_locals if local is None else local)

    def of_tests(self, name: str) -> "list[Any]":
        """Return the values of the tests' variables that this name may mean."""
        return [] if self.is_closed else [space[name] for space in self._own if name in space]


class _Restriction:
    """Checks each text that the tests execute."""

    def __init__(
        self,
        note: "Callable[[BaseException], BaseException]",
        text: str,
        code: "CodeType",
        classes: "dict[str, type[Any]]",
        computed: "Callable[[Any], Any]",
    ) -> None:
        self._note, self._classes, self._computed = note, tuple(classes.values()), computed
        self._open_locals = _LOCALS.search(text) is not None
        parts = list(_parts(code))
        self._variables = {name for part in parts for name in (*part.co_varnames, *part.co_cellvars)} | {
            name for part in parts for name, used in codes.names(part) if used in _STORING
        }
        self._texts = [text for part in parts for text in _texts(part.co_consts)]
        self._named = _names_beside_answers(text)
        self._defined: set[str] = set()
        """Names that executed texts have defined among the variables of the tests."""

    def replaced(self, execute: "Any") -> "Any":
        """Return `eval` or `exec` with a check of what the tests execute."""

        def checked(source: "Any", /, *given: "Any", **more: "Any") -> "Any":
            frame = sys._getframe(1)
            namespace, local = (*given, None, None)[:2]
            # Python 3.13 also accepts them as keywords.
            namespace, local = more.pop("globals", namespace), more.pop("locals", local)
            spaces = namespace, local
            if namespace is None:
                spaces = frame.f_globals, frame.f_locals if local is None else local
            if frame.f_code.co_filename not in _TESTS or self._is_of_tests(source):
                return execute(source, *spaces, **more)
            code = source
            if not isinstance(source, types.CodeType):
                text = source.lstrip(" \t") if isinstance(source, str) and name == "eval" else source
                code = compile(text, "<string>", name, dont_inherit=True)
            names = _Names(frame, namespace, local, open_locals=self._open_locals)
            self.check(code, names, stores=name == "exec")
            result = execute(source, *spaces, **more)
            self._check_stored(code, spaces[0] if spaces[1] is None else spaces[1])
            return self._computed(result)

        name = checked.__name__ = checked.__qualname__ = execute.__name__
        return checked

    def _check_stored(self, code: "CodeType", space: "Any") -> None:
        """Check the values of the names that a text has defined."""
        for name in {name for name, how in codes.names(code) if how in _STORING}:
            if name in space:
                value = space[name]
                checked = self._computed(value)
                if checked is not value:
                    space[name] = checked

    def _is_of_tests(self, source: "Any") -> bool:
        """Whether this text object is a constant of the tests. An equal text may be a candidate's answer."""
        if not isinstance(source, (str, bytes)):
            return False
        if isinstance(source, str) and "\n" in source.strip():
            return any(source.split() == text.split() for text in self._texts if isinstance(text, str))
        return any(source is text for text in self._texts)

    def check(self, code: "CodeType", names: _Names, *, stores: bool) -> None:
        """Refuse code that does more than compute. `stores`: whether the code may define names."""
        parts = list(_parts(code))
        used = {(part is code, name, how) for part in parts for name, how in codes.names(part)}
        stored = {name for _, name, how in used if how in _STORING}
        for name in sorted(stored):
            if not stores or not (names.is_closed or self._is_free(name, names)):
                self._refuse(f"names {name!r}")
        for is_top, name, how in sorted(used):
            if name.startswith("__") or not self._is_harmless(name, how, names, stored, is_top=is_top):
                self._refuse(f"names {name!r}")
        steps = {dis.opname[number] for part in parts for _, number, _ in codes.instructions(part)}
        if "LOAD_BUILD_CLASS" in steps:
            self._refuse("names a class of its own")
        if any(part.co_consts.count(("*",)) for part in parts):
            self._refuse("names whatever a module has")
        for name in sorted({name for part in parts for name in _matched(part)} - _ATTRIBUTES):
            self._refuse(f"names {name!r}")
        if not stores and steps & _CHANGING:
            self._refuse("names what it changes")
        if stores and not names.is_closed:
            self._defined |= stored

    def _refuse(self, what: str) -> "NoReturn":
        why = f"the tests execute a text that {what}, as a candidate could write it"
        raise self._note(crossing.UnconfirmedError(why))

    def _is_free(self, name: str, names: _Names) -> bool:
        """Whether a text may define this name among the variables of the tests."""
        if name in self._variables or hasattr(builtins, name):
            return False
        return name in self._defined or not names.of_tests(name)

    def _is_harmless(self, name: str, how: str, names: _Names, stored: set[str], *, is_top: bool) -> bool:
        if how in _STORING:
            return True
        if how in _REACHING:
            return name in _ATTRIBUTES
        if how == "IMPORT_NAME":
            return name in _MODULES
        if how not in _READING:
            return False
        if name in stored | self._named or name in names.handed_globals:
            return True
        if is_top and name in names.handed_locals:
            return True
        values = names.of_tests(name)
        if values:
            return name in self._defined or all(map(self._is_pure, values))
        return name in _BUILTINS

    def _is_pure(self, value: "Any") -> bool:
        """Whether a value reveals nothing about expected values: a module, a constructor, a candidate's function."""
        if type(value) is types.ModuleType:
            return value.__name__ in _MODULES
        if isinstance(value, type):
            return value in self._classes or (value.__module__ in _MODULES and value.__name__ in _CONSTRUCTORS)
        if isinstance(value, types.BuiltinFunctionType) and value.__module__ in {"math", "cmath"}:
            return True
        array = getattr(sys.modules.get("numpy"), "array", self)
        return type(value) is Proxy or value is array or any(value is constant for constant in _CONSTANTS)


def _parts(code: "Any") -> "Iterator[CodeType]":
    """Yield a code object and the code objects in it, at any depth."""
    if isinstance(code, types.CodeType):
        yield code
        for constant in code.co_consts:
            yield from _parts(constant)


def _matched(code: "CodeType") -> "Iterator[str]":
    """Yield the attributes in patterns like `case Exception(__traceback__=found)`: their names are in a constant."""
    before = 0, 0
    for _, number, argument in codes.instructions(code):
        if dis.opname[number] == "MATCH_CLASS":
            yield from code.co_consts[before[1]] if dis.opname[before[0]].startswith("LOAD_CONST") else ("?",)
        before = number, argument


def _texts(constants: "Any") -> "Iterator[str | bytes]":
    """Yield the texts among constants, without single characters: Python has only one object for each of them."""
    for constant in constants:
        if isinstance(constant, (str, bytes)) and len(constant) > 1:
            yield constant
        elif isinstance(constant, (tuple, frozenset)):
            yield from _texts(constant)


def _names_beside_answers(text: str) -> set[str]:
    """Return the names in texts that the tests write in a call of `eval` or `exec`: `eval(f"{solution(3)} + a")`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            stack: list[ast.AST] = [node.args[0]] if name in {"eval", "exec"} else []
            while stack:
                part = stack.pop()
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    found.update(re.findall(r"[^\W\d]\w*", part.value))
                # The arguments of an inner call are arguments for the candidate, or values put into the text.
                stack += [part.func] if isinstance(part, ast.Call) else ast.iter_child_nodes(part)
    return found
