"""Functions that tests pass to a program: `solution(lambda x: x + 1, [1, 2])`, `solution(seen.append)`.

The code of such a function is sent with what it names: plain values, modules, and other functions of the tests. Only
the tests' side sends it, and only the candidate's side builds it.
"""

from __future__ import annotations

import base64
import builtins
import dis
import importlib
import marshal
import sys
import types

from grade_sandbox.values.value_format import UncrossableError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from grade_sandbox.values.value_format import NodeEncoder

CODE, MODULE, BOUND = KINDS = "code", "module", "bound"


def node(encoder: NodeEncoder, function: types.FunctionType) -> list[Any]:
    """Return the node of a function: name, line, code, defaults, closure, and the globals that it names."""
    code = function.__code__
    data = base64.b64encode(marshal.dumps(code)).decode()
    defaults = encoder.atom((function.__defaults__, function.__kwdefaults__))
    closure = encoder.atoms(cell.cell_contents for cell in function.__closure__ or ())
    space = function.__globals__
    used = sorted({name for name in _names(code) if name in space and space[name] is not function})
    named = [[name, _named(encoder, space[name])] for name in used]
    return [CODE, function.__qualname__, code.co_firstlineno, data, defaults, closure, named]


def _named(encoder: NodeEncoder, value: Any) -> Any:
    """Return the atom of a global, or the node of a module."""
    if type(value) is not types.ModuleType:
        return encoder.atom(value)
    name = value.__name__
    if name.partition(".")[0] not in sys.stdlib_module_names and name != "numpy":
        raise UncrossableError(f"function that uses the module {name}")
    return [MODULE, name]


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


def made(found: list[Any], decoder: Any) -> Any:
    """Return the function of a node; `decoder`: a receiving.Decoder."""
    if found[0] == BOUND:
        return getattr(decoder.value(found[1]), found[2])
    _, name, _, data, defaults, closure, named = found
    space: dict[str, Any] = {"__builtins__": builtins, "__name__": "tests"}
    for key, value in named:
        space[key] = importlib.import_module(value[1]) if isinstance(value, list) else decoder.value(value)
    cells = tuple(types.CellType(decoder.value(atom)) for atom in closure)
    positional, by_name = decoder.value(defaults)
    code = marshal.loads(base64.b64decode(data))
    function = types.FunctionType(code, space, name.rpartition(".")[2], positional, cells)
    function.__kwdefaults__ = by_name
    space.setdefault(function.__name__, function)
    return function
