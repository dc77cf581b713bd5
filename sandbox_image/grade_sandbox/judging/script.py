"""A task's tests: compiled once, run in forks."""

from __future__ import annotations

import builtins
import dis
import importlib
import re

from grade_sandbox import values, wire
from grade_sandbox.candidate.answering import SIGNATURE, declared
from grade_sandbox.confine import process
from grade_sandbox.judging import patience
from grade_sandbox.judging.asking import Asker, NotTellingError, UnconfirmedError, make_repeatable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import CodeType
    from typing import Any

    from grade_sandbox.jobs import JudgedTask, Task

# Modules in which to look up a name that the signature forgot to import but programs import.
_TRUSTED = (
    "math", "collections", "itertools", "functools", "typing", "copy", "random", "re", "string", "heapq", "bisect",
    "operator", "datetime", "json", "cmath", "statistics", "fractions", "decimal", "time",
)  # fmt: skip
_ALIASES = {"np": "numpy", "pd": "pandas", "numpy": "numpy", "pandas": "pandas"} | {name: name for name in _TRUSTED}


class Script:
    """The tests of a task."""

    def __init__(self, spec: Task | JudgedTask) -> None:
        """Compile signature and tests; raises what compiling them raises."""
        self.spec = spec
        # The future import of this file must not affect the signature: it would turn annotations into texts.
        self.signature = compile(spec["signature"], SIGNATURE, "exec", dont_inherit=True)
        self.strict = patience.compile_strict(spec["test"])

    def classes(self) -> tuple[dict[str, Any], dict[str, type[Any]], dict[str, Any]]:
        """Return the signature's names but for what a program must write, its classes, and what was to be written."""
        space: dict[str, Any] = {"__file__": process.FILE}
        exec(self.signature, space)
        stubs = {name: space.pop(name) for name in self.spec["stubs"] if name in space}
        kept = [name for name in self.spec["classes"] if name.partition(".")[0] not in stubs]
        return space, declared(kept, space), stubs

    def run(
        self,
        code: CodeType,
        asker_of: Callable[[dict[str, type[Any]]], Asker],
        names: Mapping[str, str],
        before: Callable[[dict[str, Any]], object] = lambda space: None,
    ) -> Asker:
        """Run the tests; raises what they raise. `before` is called with their names.

        `names`: name -> how a name that the tests use and nobody else defines is found; see recording.py.
        """
        make_repeatable()
        space, classes, stubs = self.classes()
        asker = asker_of(classes)
        for name, stub in stubs.items():
            space[name] = asker.substitute(name, is_class=isinstance(stub, type), stub=stub)
        for name, how in names.items():
            space[name] = _value_of(name, how, asker)
        before(space)
        exec(code, space)
        return asker


def _value_of(name: str, how: str, asker: Asker) -> Any:
    if how in {"function", "class"}:
        return asker.substitute(name, is_class=how == "class")
    if how == "value":
        return asker.ask(("value", name))
    _, module, attribute = how.split(":")
    found = importlib.import_module(module)
    return getattr(found, attribute) if attribute else found


# --- names ---

_READING = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


def open_names(script: Script) -> list[str]:
    """Return the global names that the tests read, and neither they nor the signature nor Python define."""
    space, _, stubs = script.classes()
    return sorted(global_names(script.strict) - space.keys() - stubs.keys() - set(dir(builtins)))


def global_names(code: CodeType) -> set[str]:
    """Return the global names that code reads but does not define."""
    used = {(step.argval, step.opname, is_top) for step, is_top in _steps(code)}
    stored = {name for name, how, is_top in used if how == "STORE_GLOBAL" or (is_top and how == "STORE_NAME")}
    # An annotation of a variable reads `__annotations__`, a dictionary that each module has of its own.
    return {name for name, how, _ in used if how in _READING} - stored - {"__annotations__", "__name__"}


def _steps(code: CodeType, *, is_top: bool = True) -> Iterator[tuple[dis.Instruction, bool]]:
    """Yield every instruction with a name, also of nested functions, and whether it is one of the module itself."""
    yield from ((step, is_top) for step in dis.get_instructions(code) if step.opcode in dis.hasname)
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield from _steps(constant, is_top=False)


def library(name: str) -> str:
    """Return how the module or library function is found that a program most likely means by this name; else empty."""
    if name in _ALIASES:
        try:
            importlib.import_module(_ALIASES[name])
        except ImportError:
            return ""
        return f"import:{_ALIASES[name]}:"
    return next((f"import:{m}:{name}" for m in _TRUSTED if hasattr(importlib.import_module(m), name)), "")


# --- why tests do not pass ---

_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}\b")


def reason_of(error: BaseException, tests: str) -> tuple[str, str]:
    """Return (reason, kind): why the tests do not confirm a program. An address would differ from run to run."""
    reason, kind = _reason_of(error, tests)
    return wire.clip(_ADDRESS.sub("0x...", reason)), kind


def _reason_of(error: BaseException, tests: str) -> tuple[str, str]:
    if isinstance(error, UnconfirmedError):
        return str(error), error.kind
    if isinstance(error, values.EndlessError):
        return f"the tests ask for {error}", NotTellingError.kind
    if isinstance(error, AssertionError):
        said = str(error) or _line_of(error, tests)
        return f"a test fails: {said}" if said else "a test fails", "assertion"
    return f"{type(error).__name__}: {error}", "error"


def _line_of(error: BaseException, tests: str) -> str:
    """Return the last line of the tests through which an exception passed."""
    number, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            number = trace.tb_lineno
        trace = trace.tb_next
    lines = tests.split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
