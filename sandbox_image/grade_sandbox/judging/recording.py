"""Record the calls of a task's tests beside its reference solution.

The tests run twice, in forks. In the second run the reference gives other answers, and failing assertions do not end
it: it must make no call that the first did not make. Else the calls depend on the answers, and the task is not judged.
"""

from __future__ import annotations

import hashlib
import itertools
import random
import re
import sys
import types

from grade_sandbox import operations, values
from grade_sandbox.candidate.answering import RETURNED, Answerer, Program
from grade_sandbox.candidate.state import CallState
from grade_sandbox.confine import process
from grade_sandbox.judging import asking, patience, script
from grade_sandbox.judging.asking import Asker, UnconfirmedError
from grade_sandbox.judging.forks import run_in_fork
from grade_sandbox.judging.script import Script, reason_of
from grade_sandbox.judging.seen import Ref, Seen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from grade_sandbox.jobs import Candidate, Task

MAX_CALLS, MAX_BYTES = 20_000, 12 << 20
MAX_OBJECTS = 12
DIFFERENT = "its tests make other calls if the answers are others"
_EXECUTING = {"eval", "exec", "compile"}
_UNPICKLES = re.compile(r"\b(pickle|shelve|dill|joblib|marshal)\b")
"""What can execute code from an answer. The calls of tests that use it are not recorded."""


class Recording:
    """The tests of a task, and its reference solution."""

    def __init__(self, spec: Task) -> None:
        self._spec = spec
        self._broken = ""
        self._names: dict[str, str] = {}
        try:
            self._script = Script(spec)
            self._patient = patience.Patient(spec["test"])
        except Exception as error:
            self._broken = f"{type(error).__name__}: {str(error)[:200]}"

    def record(self, seconds: float) -> dict[str, Any]:
        """Return {"calls": [texts], "names": {name: how}}, {"refused": why} or {"failed": why}; see answer.py.

        `seconds` of CPU time for each run. Call it in a fork.
        """
        if self._broken:
            return {"refused": self._broken}
        code = script.global_names(self._script.strict) | script.global_names(self._script.signature)
        if code & _EXECUTING or _UNPICKLES.search(self._spec["signature"] + self._spec["test"]):
            return {"refused": "the tests execute texts, which may be those of an answer"}
        first = run_in_fork(self._first, seconds) or {"failed": "it does not finish beside its tests"}
        if "calls" not in first:
            return first
        self._names = first["names"]
        second = run_in_fork(self._second, seconds)
        if second is None or not set(second) <= set(first.pop("compared")):
            return {"refused": DIFFERENT}
        return first

    def _run(self, code: types.CodeType, record: _Record, names: dict[str, str], **options: Any) -> Asker:
        process.swallow_output()
        return self._script.run(code, record.asker, names, **options)

    def _first(self) -> dict[str, Any]:
        """Record the calls. What the reference raises and the tests do not expect is a failure of the reference."""
        record = _Record()
        try:
            names = script.open_names(self._script)
            record.load(self._spec, names)
            self._run(self._script.strict, record, record.names)
            record.ask_about_others()
        except BaseException as error:
            if record.error is not None:
                return {"refused": str(record.error)}
            if isinstance(error, UnconfirmedError):
                return {"refused": str(error)}
            return {"failed": reason_of(error, self._spec["test"])[0]}
        if record.error is not None:
            return {"refused": str(record.error)}
        if not record.calls:
            return {"refused": "the tests call nothing"}
        return {"calls": record.calls, "names": record.names, "compared": record.comparable_calls()}

    def _second(self) -> list[str]:
        record = _Record(asking.other)
        try:
            record.load(self._spec, list(self._names))
            self._run(self._patient.code, record, record.names, before=self._patient.bind)
        except BaseException:
            pass
        return [*record.comparable_calls(), *(["more"] if record.is_endless else [])]


class _Record:
    """The calls of one run, which the reference answers in the same process."""

    def __init__(self, changed: Callable[[Any], Any] = lambda value: value) -> None:
        self.calls: list[str] = []
        self._replies: list[str] = []
        self.names: dict[str, str] = {}
        self.is_endless = False
        self._changed, self._bytes = changed, 0
        self._asker: Asker | None = None
        self._questions: list[tuple[str, str, Any, Any]] = []
        """("op" | "method", its name, and two objects) that the tests compare."""
        self._methods: dict[Any, tuple[Any, str]] = {}
        """id() of a function -> the object whose method it is, and its name."""

    @property
    def error(self) -> BaseException | None:
        """Why the calls cannot be recorded."""
        return None if self._asker is None else self._asker.error

    def load(self, spec: Task, names: list[str]) -> None:
        """Execute the reference, and find out how the names are found that the tests use."""
        process.enlarge_stack()
        self._beside = _Beside()
        with self._beside:
            given: Candidate = {
                "signature": spec["signature"], "classes": spec["classes"], "stubs": spec["stubs"],
                "source": spec["reference"] or "", "names": {},
            }  # fmt: skip
            program = Program(given)
            found = {name: _how(name, program.namespace) for name in (*names, *spec["stubs"])}
            # What the reference takes from a library is no function that a program has to write.
            self.names = {n: how for n, how in found.items() if how and (n in names or how.startswith("import:"))}
            program.keep_objects(name for name, how in self.names.items() if how == "class")
            self._answerer = Answerer(given, program, CallState(self._beside.printed))

    def asker(self, classes: dict[str, type[Any]]) -> Asker:
        """Return what makes the calls."""
        self._asker = _Noting(self, classes, self._answer)
        self._asker.changed = self._changed
        return self._asker

    def _answer(self, call: str) -> tuple[int, str]:
        self._bytes += len(call)
        if len(self.calls) >= MAX_CALLS or self._bytes > MAX_BYTES:
            self.is_endless = True
            raise UnconfirmedError(
                f"the tests make more than {MAX_CALLS:,} calls, or calls of more than {MAX_BYTES >> 20} MB"
            )
        self.calls.append(call)
        with self._beside:
            reply = self._answerer.answer(call, is_kept=True)
        self._replies.append(reply)
        return len(self.calls) - 1, reply

    def comparable_calls(self) -> list[str]:
        """Return the calls in a form that does not depend on the numbers of what they refer to.

        Where a run leaves out a call, all later objects and answers have other numbers.
        """
        if self._asker is None:
            return []
        context = _ComparableCalls(self._asker.classes)
        context.names = {kind: name for name, kind in self._asker.classes.items()}
        return [context.call(*one) for one in zip(range(len(self.calls)), self.calls, self._replies, strict=False)]

    # --- questions about other objects ---

    def note_comparison(self, target: tuple[str, Any], args: tuple[Any, ...], how: str, value: Any) -> None:
        """Note a comparison of two objects: an object could claim to be equal to anything."""
        kind, which = target
        if kind == "op" and which == "getattr" and asking.is_object(args[0]) and callable(value):
            self._methods[id(value)] = args[0], args[1]
        if how != RETURNED or type(value) is not bool:
            return
        if kind == "op" and which in operations.COMPARISONS and len(args) == 2 and all(map(asking.is_object, args)):
            self._questions.append(("op", which, *args))
        elif kind == "function" and len(args) == 1 and asking.is_object(args[0]) and self._asker is not None:
            owner, name = self._methods.get(id(self._asker.value_of("function", which)), (None, ""))
            if owner is not None:
                self._questions.append(("method", name, owner, args[0]))

    def ask_about_others(self) -> None:
        """Ask the same about the other objects, as if the tests did."""
        if self._asker is None:
            return
        objects = list(self._asker.objects.values())[:MAX_OBJECTS]
        asked = {(kind, name, id(one), id(two)) for kind, name, one, two in self._questions}
        for kind, name in dict.fromkeys((kind, name) for kind, name, _, _ in self._questions):
            for one, two in itertools.permutations(objects, 2):
                if (kind, name, id(one), id(two)) not in asked:
                    self._ask(kind, name, one, two)

    def _ask(self, kind: str, name: str, one: Any, two: Any) -> None:
        assert self._asker is not None
        try:
            if kind == "op":
                self._asker.ask(("op", name), one, two)
            else:
                self._asker.ask(("op", "getattr"), one, name)(two)
        except Exception:  # What the reference raises is an answer, too, and was recorded as one.
            pass


class _Noting(Asker):
    """Tells of each call."""

    def __init__(self, record: _Record, *given: Any) -> None:
        super().__init__(*given)
        self._record = record

    def make_call(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        how, value = super().make_call(target, args, kwargs)
        self._record.note_comparison(target, args, how, value)
        return how, value


class _ComparableCalls(Seen):
    """Writes what a call refers to as a digest of the call that has made it."""

    def __init__(self, classes: dict[str, type[Any]]) -> None:
        super().__init__(classes)
        self._makers: dict[tuple[str, Any], str] = {}

    def node_of(self, value: Any) -> tuple[str, Any] | None:
        return (value.kind, self._maker(*_number_of(value))) if type(value) is Ref else None

    def _maker(self, kind: str, number: Any) -> str:
        return self._makers.get((kind, number), str(number))

    def call(self, number: int, call: str, reply: str) -> str:
        """Return a call as it is compared, and note what it has made."""
        (kind, which), args, kwargs, state = values.read(call, self)
        which = self._maker(kind, which) if kind == "function" else which
        text = values.write(((kind, which), args, kwargs, state), self)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._makers["answer", number] = digest
        value = asking.read_reply(reply, self)[1]
        if type(value) is Ref:
            self._makers.setdefault(_number_of(value), digest)
        return text


def _number_of(ref: Ref) -> tuple[str, Any]:
    return ref.kind, ref.content[0] if isinstance(ref.content, tuple) else ref.content


class _Beside:
    """Streams and random numbers of the reference, in a process with tests that have their own."""

    def __init__(self) -> None:
        self.printed = process.Streams()
        self._stdin: Any = process.Streams()
        self._seeds: dict[Any, Any] = {random: random.seed}
        if (numpy := sys.modules.get("numpy")) is not None and "numpy.random" in sys.modules:
            self._seeds[numpy.random] = numpy.random.seed
        self._states: list[Any] = []
        process.swallow_output()

    def __enter__(self) -> None:
        self._theirs = sys.stdin, sys.stdout, sys.stderr, self._generator_states(), [m.seed for m in self._seeds]
        sys.stdin, sys.stdout, sys.stderr = self._stdin, self.printed, self._stdin
        for module, seed in self._seeds.items():
            module.seed = seed
        if self._states:
            self._set(self._states)
        else:
            process.seed()

    def __exit__(self, *_: object) -> None:
        self._stdin, self._states = sys.stdin, self._generator_states()
        sys.stdin, sys.stdout, sys.stderr, states, seeds = self._theirs
        self._set(states)
        for module, seed in zip(self._seeds, seeds, strict=True):
            module.seed = seed

    def _generator_states(self) -> list[Any]:
        """Return the states of the random generators: only one side may use each sequence of numbers."""
        return [module.getstate() if module is random else module.get_state() for module in self._seeds]

    def _set(self, states: list[Any]) -> None:
        for module, state in zip(self._seeds, states, strict=True):
            (module.setstate if module is random else module.set_state)(state)


def _how(name: str, space: dict[str, Any]) -> str:
    """Return how a name of the program is found: `function`, `class` or `value`, or `import:module:attribute`.

    Officially, tests and program share one process, so the tests have what the program imports.
    """
    if name not in space:
        return ""
    value = space[name]
    if isinstance(value, types.ModuleType):
        return f"import:{value.__name__}:"
    if isinstance(value, types.FunctionType) and value.__globals__ is space:
        return "function"
    module = next(_modules_with(name, value), "")
    if module:
        return f"import:{module}:{name}"
    return "class" if isinstance(value, type) else "function" if callable(value) else "value"


def _modules_with(name: str, value: Any) -> Iterator[str]:
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get(name) is value and not module.__name__.startswith("grade_sandbox"):
            yield module.__name__
