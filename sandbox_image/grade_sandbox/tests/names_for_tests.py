"""Names that tests may use without defining them: the candidate's functions, constants and imported modules."""

from __future__ import annotations

import builtins
import dis

from grade_sandbox.values import instances, remote_objects
from grade_sandbox.values.standing_in import Proxy
from grade_sandbox.values.value_format import UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import CodeType
    from typing import Any

    from grade_sandbox.jobs import Declared
    from grade_sandbox.values.receiving import Decoder
    from grade_sandbox.values.remote_objects import Link
    from grade_sandbox.values.standing_in import CallBack, Makers

# Modules in which to look up a name that the signature forgot to import but the candidate imported.
_TRUSTED = (
    "math", "collections", "itertools", "functools", "typing", "copy", "random", "re", "string", "heapq", "bisect",
    "operator", "datetime", "json", "cmath", "statistics", "fractions", "decimal", "time",
)  # fmt: skip
_ALIASES = {"np": "numpy", "pd": "pandas", "numpy": "numpy", "pandas": "pandas"} | {name: name for name in _TRUSTED}


def open_names(names: set[str], namespace: dict[str, Any]) -> list[str]:
    """Return those of the tests' `global_names` that nobody defines."""
    return sorted(names - namespace.keys() - set(dir(builtins)))


def global_names(code: CodeType) -> set[str]:
    """Return the global names that the tests read but do not define."""
    used = {(step.argval, step.opname, is_top) for step, is_top in _steps(code)}
    stored = {name for name, how, is_top in used if how == "STORE_GLOBAL" or (is_top and how == "STORE_NAME")}
    # An annotation of a variable reads `__annotations__`, a dictionary that each module has of its own.
    return {name for name, how, _ in used if how in _READING} - stored - {"__annotations__"}


_READING = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


def read_attributes(code: CodeType) -> list[str]:
    """Return the names of all attributes that the tests read."""
    return sorted({step.argval for step, _ in _steps(code) if step.opname in {"LOAD_ATTR", "LOAD_METHOD"}})


def _steps(code: CodeType, *, is_top: bool = True) -> Iterator[tuple[dis.Instruction, bool]]:
    """Yield every instruction with a name, also of nested functions, and whether it is one of the module itself."""
    yield from ((step, is_top) for step in dis.get_instructions(code) if step.opcode in dis.hasname)
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield from _steps(constant, is_top=False)


def classes_and_stubs(spec: Declared, namespace: dict[str, Any]) -> tuple[dict[str, type[Any]], dict[str, Any]]:
    """Remove the stubs from a signature's namespace; return the signature's classes, and the stubs by name."""
    classes = instances.declared(spec["classes"], namespace)
    return classes, {name: namespace.pop(name) for name in spec["stubs"] if name in namespace}


def stand_ins(stubs: dict[str, Any], call: CallBack, link: Link) -> dict[str, Any]:
    """Return what the tests get for the functions and classes that the candidate must write, by name.

    If there is such a class, this includes built-in functions that ask for the kind of an object.
    """
    asks = remote_objects.questions(link) if any(isinstance(stub, type) for stub in stubs.values()) else {}
    return asks | {
        name: remote_objects.class_of(name, stub, link) if isinstance(stub, type) else Proxy(name, stub, call)
        for name, stub in stubs.items()
    }


def library(name: str) -> Any:
    """Return the module or library function that a candidate most likely means by this name, or None."""
    if name in _ALIASES:
        try:
            return __import__(_ALIASES[name])
        except ImportError:
            return None
    for module in map(__import__, _TRUSTED):
        if hasattr(module, name):
            return getattr(module, name)
    return None


def lend(
    namespace: dict[str, Any],
    names: Iterable[str],
    hello: dict[str, Any],
    decoder: Decoder,
    makers: Makers,
    proxy: Callable[[str], object],
) -> int:
    """Define in the tests' namespace the names that a candidate has; return the number of values.

    Modules and library functions come from this process's own library if the candidate has imported them. If it has
    defined `isclose` itself, the tests get neither: the library's is not what they would test, and the candidate's
    could be what makes them pass. `proxy(name)` creates the proxy of a function.
    """
    functions = {name for name in hello["functions"] if isinstance(name, str)}
    for name in names:
        found = library(name)
        if found is not None and (name in hello["imported"] or _is_plain(found, hello["values"].get(name))):
            namespace[name] = found
        elif found is not None and not (name in hello["errors"] and _is_error(found)):
            if name in functions | hello["errors"].keys() | hello["values"].keys():
                namespace[name] = _Redefined(name, makers.note)
        elif name in hello["errors"]:
            namespace[name] = makers.error_class(name, hello["errors"][name])
        elif name in hello["values"]:
            namespace[name] = decoder.value(hello["values"][name])
        elif name in functions:
            namespace[name] = proxy(name)
    return len(hello["values"].keys() & set(names))


def _is_plain(found: Any, atom: Any) -> bool:
    """Whether a candidate has written down this very number or text of the library."""
    return type(found) in {int, float, str} and type(atom) is type(found) and repr(atom) == repr(found)


def _is_error(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, Exception)


class _Redefined:
    """Represents a candidate's own object with the name of one of the library: a test that uses it confirms nothing."""

    def __init__(self, name: str, note: Callable[[BaseException], BaseException]) -> None:
        self._name, self._note = name, note

    def _refuse(self, *args: Any, **kwargs: Any) -> Any:
        why = f"the tests use {self._name!r}, which the program defines and the standard library as well"
        raise self._note(UnconfirmedError(why))

    __getattr__ = __call__ = __iter__ = __len__ = __bool__ = __eq__ = __ne__ = __contains__ = __getitem__ = _refuse
    __lt__ = __le__ = __gt__ = __ge__ = __float__ = __index__ = __neg__ = __abs__ = __hash__ = _refuse
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __mod__ = __rmod__ = __pow__ = __rpow__ = __floordiv__ = __rfloordiv__ = _refuse
