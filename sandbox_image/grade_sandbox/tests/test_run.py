"""One run of a task's tests, with a candidate's recorded answers behind them (replay.py).

The tests get the names that they use without defining them: functions, constants and modules that a candidate has.
"""

from __future__ import annotations

import builtins
import dis
import random
import re
import sys

from grade_sandbox.confine import process
from grade_sandbox.values import instances, receiving, remote_objects, wire
from grade_sandbox.values.call_context import CallContext
from grade_sandbox.values.messages import RETURNED, UNSENT, Hello, failure_of
from grade_sandbox.values.standing_in import Proxy
from grade_sandbox.values.wire import MalformedError, UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType
    from typing import Any, NoReturn

    from grade_sandbox.jobs import Declared, Task
    from grade_sandbox.tests.tried import Replayed
    from grade_sandbox.values.messages import Reply
    from grade_sandbox.values.passed import Passed
    from grade_sandbox.values.remote_objects import Link
    from grade_sandbox.values.standing_in import CallBack, Note

SEED = 20241
# Modules in which to look up a name that the signature forgot to import but the candidate imported.
_TRUSTED = (
    "math", "collections", "itertools", "functools", "typing", "copy", "random", "re", "string", "heapq", "bisect",
    "operator", "datetime", "json", "cmath", "statistics", "fractions", "decimal", "time",
)  # fmt: skip
_ALIASES = {"np": "numpy", "pd": "pandas", "numpy": "numpy", "pandas": "pandas"} | {name: name for name in _TRUSTED}


def make_repeatable() -> None:
    """Let tests run in the same way for recording and for judging: same random numbers, same order of threads."""
    # A thread runs until it waits, so the calls of several threads have an order. A loop that waits for another thread
    # without sleeping still ends.
    sys.setswitchinterval(1.0)
    generator = random.Random(SEED)
    # `secrets`, `SystemRandom` and NumPy's unseeded generators use this function.
    random._urandom = generator.randbytes  # type: ignore[attr-defined]
    random.seed(SEED)
    numpy = sys.modules.get("numpy")
    if numpy is not None and "numpy.random" in sys.modules:
        numpy.random.seed(SEED)


class TestRun:
    """Gives tests the names of a candidate, and answers their calls."""

    refusal: type[UnconfirmedError] = UnconfirmedError
    """What tests raise that prepare more for a call than can be sent."""

    def __init__(self, spec: Task, signature: CodeType, tests: CodeType) -> None:
        """`spec`: what a job says of the task; `signature` and `tests`: its code."""
        self.spec = spec
        self._signature, self._tests = signature, tests
        self.error: BaseException | None = None
        """The first reason why nothing can be confirmed: the tests may catch the exception."""
        self.used = 0
        """Number of uses of the candidate's functions and names by the tests."""
        self.stubs: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        """The global names of the tests, before they run."""

    def verdict(self, hello: Replayed) -> tuple[str, str]:
        """Return ("", "") if every test passes, else (reason, kind)."""
        why = "", ""
        try:
            if (failed := failure_of(hello.text)) is not None:
                return f"the candidate's code does not load: {wire.clip(failed)}", "load"
            self._run(Hello.read(hello.text))
            if not self.used:
                why = "the tests pass without a call", "unconfirmed"
        except BaseException as error:
            why = reason_of(error, self.spec["test"])
        return why if self.error is None else reason_of(self.error, "")

    def _run(self, hello: Hello) -> None:
        make_repeatable()
        namespace: dict[str, Any] = {"__file__": process.FILE}
        exec(self._signature, namespace)
        classes, self.stubs = classes_and_stubs(self.spec, namespace)
        self.replies, self.context = Replies(classes, self.note, self.called), CallContext(self.refusal)
        wanted = self.wanted(namespace)
        functions = set(map(str, hello.functions))
        lent = {name: stub for name, stub in self.stubs.items() if name in functions}
        lent = stand_ins(lent, self.called, self)
        namespace |= lent
        self.replies.tested |= lent
        for name in wanted:
            # Officially, tests and program share one process, so the tests have what the program imports.
            if name in hello.imported and (found := library(name)) is not None:
                namespace[name] = found
        self.names = dict(namespace)
        exec(self._tests, namespace)

    def wanted(self, namespace: dict[str, Any]) -> list[str]:
        """Return the names of the candidate that the tests may use."""
        raise NotImplementedError

    def note(self, error: BaseException) -> BaseException:
        """Store the first reason why nothing can be confirmed; return it."""
        if self.error is None:
            self.error = error
        return self.error

    def answer(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Return the answer to a call: RETURNED and its value, or RAISED and the exception."""
        raise NotImplementedError

    def called(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Answer a call of the tests."""
        if self.error is not None:
            raise self.error
        try:
            return delivered(*self.answer(proxy, args, kwargs))
        except (UnconfirmedError, MalformedError) as error:
            self.note(error)
            raise

    # --- called by substitutes for classes (remote_objects.py) ---

    def operate(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Carry out an operation."""
        return self.called(target, args, kwargs)

    def compare(self, name: str, left: Any, right: Any) -> Any:
        """Compare by identity."""
        return remote_objects.compared(name, left, right, self)

    def refuse(self, why: str) -> NoReturn:
        """Raise the exception after which nothing can be confirmed."""
        raise self.note(UnconfirmedError(why))


_ADDRESS = re.compile(r"\b0x[0-9a-f]{8,}\b")


def reason_of(error: BaseException, tests: str) -> tuple[str, str]:
    """Return (reason, kind): why the tests do not confirm a candidate. An address would differ from run to run."""
    reason, kind = _reason_of(error, tests)
    return _ADDRESS.sub("0x...", reason), kind


def _reason_of(error: BaseException, tests: str) -> tuple[str, str]:
    if isinstance(error, UnconfirmedError):
        return str(error), error.kind
    if isinstance(error, wire.EndlessError):
        return f"the tests ask for {error}", "unconfirmed"
    if isinstance(error, MalformedError):
        return f"the candidate sent a malformed value ({error})", "malformed"
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


class Replies:
    """Decodes the answers of one candidate, reply by reply."""

    def __init__(self, classes: dict[str, type[Any]], note: Note, call_back: CallBack) -> None:
        """`classes`: name -> class of the signature. `note` records why nothing can be confirmed.

        `call_back(stub, args, kwargs)` calls a function that the candidate has returned.
        """
        self.classes = classes
        self.labels = {kind: name for name, kind in classes.items()}
        self.tested: dict[str, Any] = {}
        """Name -> substitute of a class that the candidate must write, to be filled in."""
        self.objects: dict[int, Any] = {}
        """Number -> substitute for an object of such a class."""
        self.note, self.call_back = note, call_back

    def decode(self, nodes: Any, passed: Passed | None = None) -> receiving.Decoder:
        """Return a decoder of a reply's nodes."""
        decoder = _Decoder(nodes, self, passed)
        decoder.decode_all()
        return decoder

    def take(self, reply: Reply, passed: Passed | None) -> tuple[str, Any]:
        """Apply the changes that a call made; return RETURNED and its value, or RAISED and the exception."""
        if reply.how == UNSENT:
            what = str(reply.value)[:200]
            raise UnconfirmedError(f"the candidate returned what cannot be serialized: {what}")
        try:
            decoder = self.decode(reply.nodes, passed)
            result = decoder.value(reply.value)
            for number, node in reply.changes:
                if passed is None:
                    raise MalformedError("a change of nothing")
                decoder.fill(passed.changed(number, node), node)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise MalformedError(str(error)[:200]) from None
        return reply.how, result


def delivered(how: str, result: Any) -> Any:
    """Return an answer's value, or raise its exception."""
    if how == RETURNED:
        return result
    if not isinstance(result, (Exception, SystemExit)):
        raise UnconfirmedError("the candidate's process ended during a call")
    if isinstance(result, (StopIteration, StopAsyncIteration)):
        # A `map` or `zip` in the tests would take it as its normal end, and end early and silently.
        raise UnconfirmedError("the candidate raised StopIteration")
    raise result


class _Decoder(receiving.Decoder):
    """Builds the values of a reply: a function becomes a stub that calls the candidate again."""

    def __init__(self, nodes: Any, replies: Replies, passed: Passed | None) -> None:
        super().__init__(nodes, replies.classes, passed)
        self.note = replies.note  # type: ignore[method-assign,assignment]
        self._call_back, self._tested, self._objects = replies.call_back, replies.tested, replies.objects

    def object(self, name: Any, number: Any, *, compares: bool) -> Any:
        if type(number) is not int:
            raise MalformedError("an object without a number")
        if number not in self._objects:
            self._objects[number] = remote_objects.made(self._tested[name], compares=compares)
        return self._objects[number]

    def function(self, node: list[Any]) -> Any:
        if node[0] != "function" or not isinstance(node[1], str):
            raise MalformedError("a function that is none")
        return Proxy(node[1], None, self._call_back)


# --- names ---


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
