"""A task's tests: compiled once, run in forks."""

from __future__ import annotations

import builtins
import dis
import importlib
import re
from typing import NamedTuple

from grade_sandbox import values, wire
from grade_sandbox.candidate.answering import SIGNATURE, user_classes
from grade_sandbox.confine import process
from grade_sandbox.judging import continuing
from grade_sandbox.judging.asking import Asker, InvalidReplyError, UnconfirmedError, make_repeatable

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from types import CodeType
    from typing import Any

    from grade_sandbox.jobs import JudgedTask, Task


class Signature(NamedTuple):
    """What the signature of a task defines, by name."""

    namespace: dict[str, Any]
    """All but the stubs."""
    classes: dict[str, type[Any]]
    """Those that a program need not write."""
    stubs: dict[str, Any]
    """What a program must write."""


class CompiledTests:
    """The tests of a task."""

    def __init__(self, spec: Task | JudgedTask) -> None:
        """Compile signature and tests; raises what compiling them raises."""
        self.spec = spec
        # The future import of this file must not affect the signature: it would turn annotations into texts.
        self.signature = compile(spec["signature"], SIGNATURE, "exec", dont_inherit=True)
        self.strict_code = continuing.compile_strict(spec["test"])

    def execute_signature(self) -> Signature:
        """Return new objects for all that the signature defines; raises what it raises."""
        namespace: dict[str, Any] = {"__file__": process.FILE}
        exec(self.signature, namespace)
        stubs = {name: namespace.pop(name) for name in self.spec["stubs"] if name in namespace}
        class_names = [name for name in self.spec["classes"] if name.partition(".")[0] not in stubs]
        return Signature(namespace, user_classes(class_names, namespace), stubs)

    def run(
        self,
        code: CodeType,
        make_asker: Callable[[dict[str, type[Any]]], Asker],
        names: Mapping[str, str],
        prepare: Callable[[dict[str, Any]], object] = lambda namespace: None,
    ) -> Asker:
        """Run the tests; raises what they raise. `prepare` is called with their names.

        `names`: name -> the origin of a name that the tests use and nobody else defines; see recording.py.
        """
        make_repeatable()
        namespace, classes, stubs = self.execute_signature()
        asker = make_asker(classes)
        for name, stub in stubs.items():
            namespace[name] = asker.substitute(name, is_class=isinstance(stub, type), stub=stub)
        for name, origin in names.items():
            namespace[name] = _find_value(name, origin, asker)
        prepare(namespace)
        exec(code, namespace)
        return asker


def _find_value(name: str, origin: str, asker: Asker) -> Any:
    """Return what tests have under a name of the program; `origin`: see `_find_origin` in recording.py."""
    if origin in {"function", "class"}:
        return asker.substitute(name, is_class=origin == "class")
    if origin == "value":
        return asker.ask(("value", name))
    _, module_name, attribute = origin.split(":")
    module = importlib.import_module(module_name)
    return getattr(module, attribute) if attribute else module


# --- names ---

_READING_OPCODES = {"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"}


def undefined_names(tests: CompiledTests) -> list[str]:
    """Return the global names that the tests read, and neither they nor the signature nor Python define."""
    namespace, _, stubs = tests.execute_signature()
    return sorted(global_names(tests.strict_code) - namespace.keys() - stubs.keys() - set(dir(builtins)))


def global_names(code: CodeType) -> set[str]:
    """Return the global names that code reads but does not define."""
    steps = {(step.argval, step.opname, is_top) for step, is_top in _named_instructions(code)}
    stored = {name for name, opcode, is_top in steps if opcode == "STORE_GLOBAL" or (is_top and opcode == "STORE_NAME")}
    # An annotation of a variable reads `__annotations__`, a dictionary that each module has of its own.
    return {name for name, opcode, _ in steps if opcode in _READING_OPCODES} - stored - {"__annotations__", "__name__"}


def _named_instructions(code: CodeType, *, is_top: bool = True) -> Iterator[tuple[dis.Instruction, bool]]:
    """Yield every instruction with a name, also of nested functions, and whether it is one of the module itself."""
    yield from ((step, is_top) for step in dis.get_instructions(code) if step.opcode in dis.hasname)
    for constant in code.co_consts:
        if hasattr(constant, "co_consts"):
            yield from _named_instructions(constant, is_top=False)


# --- why tests do not pass ---

_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}\b")


def failure_reason(error: BaseException, tests: str) -> tuple[str, str]:
    """Return (reason, kind): why the tests do not confirm a program. An address would differ from run to run."""
    reason, kind = _unclipped_reason(error, tests)
    return wire.clip(_ADDRESS.sub("0x...", reason)), kind


def _unclipped_reason(error: BaseException, tests: str) -> tuple[str, str]:
    if isinstance(error, UnconfirmedError):
        return str(error), error.kind
    # Only the first items of an iterator were sent, so it counts as a value that could not be serialized.
    if isinstance(error, values.EndlessError):
        return f"the tests ask for {error}", InvalidReplyError.kind
    if isinstance(error, AssertionError):
        message = str(error) or _last_line(error, tests)
        return f"a test fails: {message}" if message else "a test fails", "assertion"
    return f"{type(error).__name__}: {error}", "error"


def _last_line(error: BaseException, tests: str) -> str:
    """Return the last line of the tests through which an exception passed."""
    number, trace = 0, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            number = trace.tb_lineno
        trace = trace.tb_next
    lines = tests.split("\n")
    return lines[number - 1].strip() if 0 < number <= len(lines) else ""
