"""Send functions, and instances of a candidate's own types as the nearest plain data, unless they override comparison.

This decides no verdict: everything that is sent is data, and the tests compare data. It exists for honest programs
that return, for example, their own subclass of list, so that they keep the credit for its contents.
"""

from __future__ import annotations

import base64
import builtins
import contextlib
import dis
import enum
import functools
import importlib
import itertools
import marshal
import operator
import sys
import types
import weakref

from grade_sandbox.values import constructed, standing_in
from grade_sandbox.values.instances import attributes
from grade_sandbox.values.wire import UncrossableError, module_of, type_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, MutableMapping
    from typing import Any

    from grade_sandbox.values.wire import NodeEncoder

SCALARS = (int, float, complex, str, bytes)
_COMPARING = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")
# Modules with classes that are not an attribute of the module, or that name another module as theirs.
_LIBRARIES = {"itertools", "functools", "collections", "types", "random", "json", "io", "socket"}
_HEAP_TYPE = 1 << 9
_CALLABLE: tuple[type[Any], ...] = (
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.MethodDescriptorType,
    types.BuiltinMethodType, types.WrapperDescriptorType, types.MethodWrapperType, functools.partial,
    functools._lru_cache_wrapper, operator.itemgetter, operator.attrgetter, operator.methodcaller,
)  # fmt: skip
CODE, MODULE, BOUND = CALLBACKS = "code", "module", "bound"
"""The nodes of functions of the tests."""
BUILTIN_MODULES = ("builtins", "math", "cmath", "operator", "statistics", "numpy")
_REFUSED = {
    "eval", "exec", "compile", "open", "input", "breakpoint", "__import__", "globals", "locals", "vars", "exit", "quit",
    "help", "getattr", "setattr", "delattr",
}  # fmt: skip


def overrides(kind: type[Any], base: type[Any], more: Iterable[str] = ()) -> bool:
    """Whether a class compares its instances in another way than `base` does."""
    return any(_found(kind, name) is not _found(base, name) for name in (*_COMPARING, *more))


def _found(kind: type[Any], name: str) -> Any:
    return next((base.__dict__[name] for base in kind.__mro__ if name in base.__dict__), None)


def is_own(kind: type[Any]) -> bool:
    """Whether a class is defined by the program and not by a library."""
    made_by_a_class_statement = kind.__flags__ & _HEAP_TYPE
    module = module_of(kind)
    known = getattr(sys.modules.get(module), kind.__name__, None) is kind
    return bool(made_by_a_class_statement) and not known and module not in _LIBRARIES


def scalar(value: Any) -> Any:
    """Return the plain number or text for an instance of a subclass of such a type; None for other values."""
    kind = type(value)
    if not is_own(kind):
        return None
    for base, plain in _PLAIN_SCALARS.items():
        if isinstance(value, base):
            if overrides(kind, base):
                raise UncrossableError(f"{type_name(value)}, whose class overrides comparison")
            return plain(value)
    return None


_PLAIN_SCALARS: dict[type[Any], Callable[[Any], Any]] = {
    int: int.__pos__,
    float: float.__pos__,
    complex: complex.__pos__,
    str: str.__str__,
    bytes: lambda value: bytes.__getitem__(value, slice(None)),
}


def node(encoder: NodeEncoder, value: Any) -> list[Any] | None:
    """Return a node for a value that is not plain data itself; None if no node can represent it."""
    kind = type(value)
    if isinstance(value, (*_CALLABLE, type)) or type_name(value) in {"numpy.ufunc", "numpy.vectorize"}:
        return _callable(encoder, value)
    if is_own(kind):
        return _own(encoder, value, kind)
    return ["function", kind.__name__] if encoder.functions and callable(value) else None


def _own(encoder: NodeEncoder, value: Any, kind: type[Any]) -> list[Any]:
    if isinstance(value, standing_in.Tree):
        return _tree(encoder, value, kind)
    for base in kind.__mro__:
        name = constructed.name_of(base)
        if name is not None:
            return _of_base(encoder, value, base, name)
    for base in kind.__mro__:
        if base in encoder.classes:
            return _descendant(encoder, value, kind, base)
    if hasattr(kind, "__next__") and hasattr(kind, "__iter__"):
        return encoder.iterator(value)
    if callable(value) and encoder.functions:
        return ["function", kind.__name__]
    return _tree(encoder, value, kind)


def _of_base(encoder: NodeEncoder, value: Any, base: type[Any], name: str) -> list[Any]:
    """Return a node for an instance of a class derived from a type that is sent as its parts."""
    kind = type(value)
    if overrides(kind, base):
        raise UncrossableError(f"{type_name(value)}, whose class overrides comparison")
    fields = getattr(kind, "_fields", None)
    if base is tuple and isinstance(fields, tuple) and all(type(field) is str for field in fields):
        return ["record", kind.__name__, list(fields), encoder.atoms(tuple.__iter__(value))]
    return encoder.constructed(name, value)


def _descendant(encoder: NodeEncoder, value: Any, kind: type[Any], base: type[Any]) -> list[Any]:
    """Return a node for an instance of a class derived from one of the signature's: an instance of that class."""
    if overrides(kind, base) or isinstance(value, (enum.Enum, tuple, list, dict, set, str, int, float, bytes)):
        raise UncrossableError(f"{type_name(value)}, whose class overrides comparison")
    return ["instance", encoder.classes[base], encoder.pairs(attributes(value))]


def _tree(encoder: NodeEncoder, value: Any, kind: type[Any]) -> list[Any]:
    """Return a node for an object of the candidate's own class: its attributes, and facts that tests use."""
    held = attributes(value)
    if isinstance(value, enum.Enum):
        held = {"name": value.name, "value": value.value}
    is_theirs = any("t" in table.get(id(value), ()) for table in encoder.known)  # the tests have its class themselves
    for name in () if is_theirs else encoder.reads:
        if name not in held and hasattr(kind, name):
            with contextlib.suppress(Exception):
                held[name] = getattr(value, name)
    facts = _facts(encoder, value, kind)
    sendable = [(name, item) for name, item in held.items() if type(name) is str and not name.startswith("__")]
    node = ["tree", kind.__name__, overrides(kind, object), encoder.pairs(dict(sendable)), encoder.pairs(facts)]
    if encoder.functions:
        return node
    if kind not in encoder.members:
        encoder.members[kind] = _members(kind)
    return [*node, encoder.atom(encoder.members[kind])] if encoder.members[kind] else node


def _facts(encoder: NodeEncoder, value: Any, kind: type[Any]) -> dict[Any, Any]:
    """Return what built-in functions get from an object; from one of the other side also what they got there."""
    is_tree = isinstance(value, standing_in.Tree)
    facts = dict(standing_in.facts_of(value)) if is_tree else {}
    base = standing_in.Tree if is_tree else object
    for name, ask in _FACTS.items():
        if _found(kind, name) is not None and _found(kind, name) is not _found(base, name):
            with contextlib.suppress(Exception):
                facts[name] = ask(encoder, value)
        elif name == "__iter__" in facts:
            facts[name] = iter(facts[name])
    return facts


def _members(kind: type[Any]) -> tuple[tuple[str, str, tuple[Any, ...]], ...]:
    """Return name, wrapper and parts of the members of a class of the tests that need nothing but their object.

    Programs may use them: methods, operators, properties, and plain values.
    """
    members = {name: one for base in reversed(kind.__mro__) if is_own(base) for name, one in vars(base).items()}
    found = []
    for name, one in members.items():
        wrapper = WRAPPERS.get(type(one).__name__)
        parts = (one,) if wrapper is None else tuple(getattr(one, part) for part in wrapper[1])
        if all(_stands_alone(part) if type(part) is types.FunctionType else _is_plain(name, part) for part in parts):
            found.append((name, "" if wrapper is None else type(one).__name__, parts))
    return tuple(found)


WRAPPERS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {
    "property": (property, ("fget", "fset")),
    "staticmethod": (staticmethod, ("__func__",)),
    "classmethod": (classmethod, ("__func__",)),
}
"""Name of what a class has around a function -> its type, and where this has its functions."""


def _is_plain(name: str, value: Any) -> bool:
    """Whether a value that is no function can be sent under this name; Python's own names have functions, or None."""
    return value is None or (type(value) in _PLAIN and name[:2] != "__")


_PLAIN = {type(None), bool, int, float, str}


@functools.cache
def _stands_alone(function: types.FunctionType) -> bool:
    """Whether a function has no closure, no unusual defaults, and no globals of the tests except for libraries."""
    defaults = [*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()]
    if function.__closure__ or not _PLAIN.issuperset(map(type, defaults)):
        return False
    space = function.__globals__
    # The methods of a dataclass of the tests have the built-in functions as globals.
    own = (space[name] for name in _names(function.__code__) if name in space and name not in vars(builtins))
    return all(type(value) is types.ModuleType and _is_library(value) for value in own)


_FACTS: dict[str, Callable[[NodeEncoder, Any], Any]] = {
    "__bool__": lambda e, v: bool(v),
    "__len__": lambda e, v: len(v),
    "__str__": lambda e, v: str(v),
    "__repr__": lambda e, v: repr(v),
    "__iter__": lambda e, v: iter(v),
}


def _callable(encoder: NodeEncoder, value: Any) -> list[Any] | None:
    """Return a node for a function: a callback from the candidate, else only a function with a known name."""
    name = getattr(value, "__name__", type(value).__name__)
    if type(value) is types.FunctionType and not encoder.functions:
        return _code(encoder, value)
    if encoder.functions:
        doc = getattr(value, "__doc__", None)
        named = ["function", name if type(name) is str else type(value).__name__]
        return [*named, doc] if type(doc) is str and type(value) is types.FunctionType else named
    qualified = getattr(value, "__qualname__", name)
    for module in BUILTIN_MODULES:
        if find_builtin(module, qualified) is value:
            return ["builtin", module, qualified]
    owner = getattr(value, "__self__", None)
    is_method = isinstance(value, (types.BuiltinMethodType, types.MethodType)) and type(owner) is not types.ModuleType
    if is_method and not is_own(type(owner)):
        return [BOUND, encoder.atom(owner), name]
    return None


def find_builtin(module: Any, qualified: Any) -> Any:
    """Return a built-in function, type or method by its name, or None."""
    found: Any = sys.modules.get(module)
    if type(qualified) is not str or module not in BUILTIN_MODULES or qualified in _REFUSED or "__" in qualified:
        return None
    for part in qualified.split("."):
        found = getattr(found, part, None)
    return found if callable(found) else None


# --- functions that tests pass to a program: `solution(lambda x: x + 1, [1, 2])`, `solution(seen.append)` ---


class FunctionNumbers:
    """Gives each function of the tests a number, by which a program gets the same function in later calls."""

    def __init__(self) -> None:
        self._known: weakref.WeakKeyDictionary[types.FunctionType, int] = weakref.WeakKeyDictionary()
        self._next = itertools.count()

    def __getitem__(self, function: types.FunctionType) -> int:
        """Return the number of a function."""
        if function not in self._known:
            self._known[function] = next(self._next)
        return self._known[function]


def _code(encoder: NodeEncoder, function: types.FunctionType) -> list[Any]:
    """Return the node of a function: name, line, number, code, defaults, closure, and the globals that it names.

    These are plain values, modules, and other functions of the tests. Only the tests' side sends functions with their
    code, and only the candidate's side builds them.
    """
    code = function.__code__
    data = base64.b64encode(marshal.dumps(code)).decode()
    defaults = encoder.atom((function.__defaults__, function.__kwdefaults__))
    closure = encoder.atoms(cell.cell_contents for cell in function.__closure__ or ())
    space = function.__globals__
    used = sorted({name for name in _names(code) if name in space and space[name] is not function})
    named = [[name, _named(encoder, space[name])] for name in used]
    number = encoder.numbers[function] if encoder.numbers else 0  # 0: this only tries whether it can be sent
    return [CODE, function.__qualname__, code.co_firstlineno, number, data, defaults, closure, named]


def _named(encoder: NodeEncoder, value: Any) -> Any:
    """Return the atom of a global, or the node of a module."""
    if type(value) is not types.ModuleType:
        return encoder.atom(value)
    if not _is_library(value):
        raise UncrossableError(f"function that uses the module {value.__name__}")
    return [MODULE, value.__name__]


def _is_library(module: types.ModuleType) -> bool:
    return module.__name__.partition(".")[0] in sys.stdlib_module_names or module.__name__ == "numpy"


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield the names of globals in code, at any depth. An attribute may have the name of a global by chance."""
    yield from (step.argval for step in dis.get_instructions(code) if step.opname in {"LOAD_GLOBAL", "LOAD_NAME"})
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)


def is_written_at(value: Any, found: list[Any]) -> bool:
    """Whether a value is the function of a node: of the same name, on the same line of the tests."""
    if type(value) is not types.FunctionType:
        return False
    return [value.__qualname__, value.__code__.co_firstlineno] == found[1:3]


def held(function: types.FunctionType, found: list[Any]) -> Iterator[tuple[Any, Any]]:
    """Yield the atoms of a function's closure and globals in a node, each with its value in this process."""
    *_, closure, named = found
    yield from zip(closure, (cell.cell_contents for cell in function.__closure__ or ()), strict=True)
    yield from ((atom, function.__globals__[name]) for name, atom in named if name in function.__globals__)


def callback(found: list[Any], decoder: Any, known: MutableMapping[int, Any]) -> Any:
    """Return the function of a node; `decoder`: a receiving.Decoder; `known`: number -> function of an earlier call.

    Its defaults, closure and globals are set to what they are now.
    """
    if found[0] == BOUND:
        return getattr(decoder.value(found[1]), found[2])
    _, name, _, number, data, defaults, closure, named = found
    function = known.get(number)
    if function is None:
        code, cells = marshal.loads(base64.b64decode(data)), tuple(types.CellType() for _ in closure)
        space = {"__builtins__": builtins, "__name__": "tests"}
        function = types.FunctionType(code, space, name.rpartition(".")[2], None, cells)
        space[function.__name__] = known[number] = function
    for key, value in named:
        is_module = isinstance(value, list)
        function.__globals__[key] = importlib.import_module(value[1]) if is_module else decoder.value(value)
    for cell, atom in zip(function.__closure__ or (), closure, strict=True):
        cell.cell_contents = decoder.value(atom)
    function.__defaults__, function.__kwdefaults__ = decoder.value(defaults)
    return function
