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
from grade_sandbox.judging import asking, compiled_tests, continuing
from grade_sandbox.judging.asking import Asker, UnconfirmedError
from grade_sandbox.judging.compiled_tests import CompiledTests, failure_reason
from grade_sandbox.judging.forks import run_in_fork
from grade_sandbox.judging.views import JudgeContext, Ref

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    from grade_sandbox.jobs import Candidate, Task
    from grade_sandbox.judging.asking import AnswerCall

MAX_CALLS, MAX_BYTES = 20_000, 12 << 20
MAX_OBJECTS = 12
CALLS_DEPEND_ON_ANSWERS = "its tests make other calls if the answers are others"
_EXECUTING = {"eval", "exec", "compile"}
_UNPICKLES = re.compile(r"\b(pickle|shelve|dill|joblib|marshal)\b")
"""What can execute code from an answer. The calls of tests that use it are not recorded."""


class Recording:
    """The tests of a task, and its reference solution."""

    def __init__(self, spec: Task) -> None:
        self._spec = spec
        self._compile_error = ""
        """Why the tests cannot be compiled."""
        self._names: dict[str, str] = {}
        """The names that the first run has found: see `_Record.names`."""
        try:
            self._tests = CompiledTests(spec)
            self._continuing = continuing.ContinuingTests(spec["test"])
        except Exception as error:
            self._compile_error = values.error_text(error)

    def record(self, seconds: float) -> dict[str, Any]:
        """Return the calls and the names of the tests, or why they are not recorded: see the grader's `Recorded`.

        `seconds` of CPU time for each run. Call it in a fork.
        """
        if refusal := self._compile_error or self._execution_refusal():
            return {"refused": refusal}
        recorded = run_in_fork(self._record_run, seconds) or {"failed": "it does not finish beside its tests"}
        if "calls" not in recorded:
            return recorded
        self._names = recorded["names"]
        comparable_calls = run_in_fork(self._altered_run, seconds)
        # A run may leave calls out, since some depend on whether others have passed, but it may not make others.
        if comparable_calls is None or not set(comparable_calls) <= set(recorded.pop("comparable")):
            return {"refused": CALLS_DEPEND_ON_ANSWERS}
        return recorded

    def _execution_refusal(self) -> str:
        """Return why tests are refused that could execute an answer as code; empty if they could not."""
        names = [compiled_tests.global_names(code) for code in (self._tests.strict_code, self._tests.signature)]
        executes = _EXECUTING & (names[0] | names[1])
        unpickles = _UNPICKLES.search(self._spec["signature"] + self._spec["test"])
        return "the tests execute texts, which may be those of an answer" if executes or unpickles else ""

    def _run(self, code: types.CodeType, record: _Record, names: dict[str, str], **options: Any) -> Asker:
        process.swallow_output()
        return self._tests.run(code, record.make_asker, names, **options)

    def _record_run(self) -> dict[str, Any]:
        """Record the calls. What the reference raises and the tests do not expect is a failure of the reference."""
        record = _Record()
        try:
            names = compiled_tests.undefined_names(self._tests)
            record.load(self._spec, names)
            self._run(self._tests.strict_code, record, record.names)
            record.compare_other_objects()
        except BaseException as error:
            # The tests may catch the exception that refuses them, so that they end with another one.
            refusal = record.error or (error if isinstance(error, UnconfirmedError) else None)
            if refusal is not None:
                return {"refused": str(refusal)}
            return {"failed": failure_reason(error, self._spec["test"])[0]}
        if record.error is not None:
            return {"refused": str(record.error)}
        if not record.calls:
            return {"refused": "the tests call nothing"}
        return {"calls": record.calls, "names": record.names, "comparable": record.comparable_calls()}

    def _altered_run(self) -> list[str]:
        """Return the calls that the tests make if every answer is altered, and if they continue after failures."""
        record = _Record(asking.altered_value)
        try:
            record.load(self._spec, list(self._names))
            self._run(self._continuing.code, record, record.names, prepare=self._continuing.bind)
        except BaseException:  # The calls before it count.
            pass
        # A run without an end makes calls that the first has not made.
        return [*record.comparable_calls(), *(["more"] if record.is_endless else [])]


class _Record:
    """The calls of one run, which the reference answers in the same process."""

    def __init__(self, alter: Callable[[Any], Any] = lambda value: value) -> None:
        """`alter` makes of each answer the one that the tests get."""
        self.calls: list[str] = []
        self._replies: list[str] = []
        self.names: dict[str, str] = {}
        """Name -> its origin (see `_find_origin`), of each name that the tests take from the reference."""
        self.is_endless = False
        """Whether the tests made too many calls."""
        self._alter, self._bytes = alter, 0
        self._asker: Asker | None = None
        self._comparisons: list[tuple[str, str, Any, Any]] = []
        """("op" | "method", its name, and two objects) that the tests compare."""
        self._methods: dict[Any, tuple[Any, str]] = {}
        """id() of a function -> the object whose method it is, and its name."""

    @property
    def error(self) -> BaseException | None:
        """Why the calls cannot be recorded."""
        return None if self._asker is None else self._asker.error

    def load(self, spec: Task, names: list[str]) -> None:
        """Execute the reference, and find in it the names that the tests use and nobody else defines."""
        process.enlarge_stack()
        self._reference_state = _ReferenceState()
        with self._reference_state:
            candidate: Candidate = {
                "signature": spec["signature"], "classes": spec["classes"], "stubs": spec["stubs"],
                "source": spec["reference"] or "", "names": {},
            }  # fmt: skip
            # `names` is empty, because only the loaded reference shows which are classes; `send_by_number` adds these.
            program = Program(candidate)
            origins = {name: _find_origin(name, program.namespace) for name in (*names, *spec["stubs"])}
            defined = [(name, origin) for name, origin in origins.items() if origin]
            # A stub is known from the signature. If the reference imports it, the tests get what it imports.
            self.names = {name: origin for name, origin in defined if name in names or origin.startswith("import:")}
            program.send_by_number(name for name, origin in self.names.items() if origin == "class")
            self._answerer = Answerer(candidate, program, CallState(self._reference_state.printed))

    def make_asker(self, classes: dict[str, type[Any]]) -> Asker:
        """Return, and keep, what makes the calls of this run; the tests get its answers altered by `alter`."""
        self._asker = _RecordingAsker(self, classes, self._answer_call)
        self._asker.alter = self._alter
        return self._asker

    def _answer_call(self, call: str) -> tuple[int, str]:
        """Record a call, and return its number and the reference's reply."""
        self._bytes += len(call)
        if len(self.calls) >= MAX_CALLS or self._bytes > MAX_BYTES:
            self.is_endless = True
            raise UnconfirmedError(
                f"the tests make more than {MAX_CALLS:,} calls, or calls of more than {MAX_BYTES >> 20} MB"
            )
        self.calls.append(call)
        with self._reference_state:
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
        # A call whose reply never came was not the reason for any later one, and is left out.
        answered = enumerate(zip(self.calls, self._replies, strict=False))
        return [context.make_comparable(number, call, reply) for number, (call, reply) in answered]

    # --- comparisons of other objects ---

    def note_comparison(self, target: tuple[str, Any], args: tuple[Any, ...], outcome: str, value: Any) -> None:
        """Note a comparison of two objects by an operator, or by a method with one argument that returns a truth.

        `target`: "op" and its name, or "function" and its number. `compare_other_objects` compares all other pairs of
        objects in this way, too.
        """
        target_kind, name_or_number = target
        if target == ("op", "getattr") and asking.is_object(args[0]) and callable(value):
            # A method is called in two steps: this one reads it, and a later one calls it as a function.
            self._methods[id(value)] = args[0], args[1]
        if outcome != RETURNED or type(value) is not bool:
            return
        is_operator = target_kind == "op" and name_or_number in operations.COMPARISONS
        if is_operator and len(args) == 2 and all(map(asking.is_object, args)):
            self._comparisons.append(("op", name_or_number, *args))
        elif target_kind == "function" and len(args) == 1 and asking.is_object(args[0]) and self._asker is not None:
            function = self._asker.value_of("function", name_or_number)
            owner, name = self._methods.get(id(function), (None, ""))
            if owner is not None:
                self._comparisons.append(("method", name, owner, args[0]))

    def compare_other_objects(self) -> None:
        """Compare also all other pairs of objects, in each way in which the tests compare some.

        A class could answer that its objects equal anything, which the tests' own comparisons would not show.
        """
        if self._asker is None:
            return
        objects = list(self._asker.objects.values())[:MAX_OBJECTS]
        known_pairs = {(kind, name, id(one), id(two)) for kind, name, one, two in self._comparisons}
        for kind, name in dict.fromkeys((kind, name) for kind, name, _, _ in self._comparisons):
            for one, two in itertools.permutations(objects, 2):
                if (kind, name, id(one), id(two)) not in known_pairs:
                    self._compare(kind, name, one, two)

    def _compare(self, kind: str, name: str, one: Any, two: Any) -> None:
        """Compare two objects by an operator (`kind` "op") or a method; to ask the reference records the call."""
        assert self._asker is not None
        try:
            if kind == "op":
                self._asker.ask(("op", name), one, two)
            else:
                self._asker.ask(("op", "getattr"), one, name)(two)
        except Exception:  # What the reference raises is an answer, too, and was recorded as one.
            pass


class _RecordingAsker(Asker):
    """Tells the record of each call."""

    def __init__(self, record: _Record, classes: dict[str, type[Any]], answer_call: AnswerCall) -> None:
        super().__init__(classes, answer_call)
        self._record = record

    def make_call(self, target: tuple[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        outcome, value = super().make_call(target, args, kwargs)
        self._record.note_comparison(target, args, outcome, value)
        return outcome, value


class _ComparableCalls(JudgeContext):
    """Writes a reference to an object or an answer as a digest of the call that has made it, in place of its number."""

    def __init__(self, classes: dict[str, type[Any]]) -> None:
        super().__init__(classes)
        self._digests: dict[tuple[str, Any], str] = {}
        """(kind, number) of a reference -> the digest of the call."""

    def node_of(self, value: Any) -> tuple[str, Any] | None:
        return (value.kind, self._digest(*_reference_key(value))) if type(value) is Ref else None

    def _digest(self, kind: str, number: Any) -> str:
        return self._digests.get((kind, number), str(number))

    def make_comparable(self, number: int, call: str, reply: str) -> str:
        """Return a call in the form in which it is compared, and note its digest for the calls that refer to it."""
        (target_kind, target), args, kwargs, state = values.read(call, self)
        if target_kind == "function":
            target = self._digest(target_kind, target)
        text = values.write(((target_kind, target), args, kwargs, state), self)
        digest = hashlib.sha256(text.encode()).hexdigest()
        self._digests["answer", number] = digest
        value = asking.read_reply(reply, self).value
        if type(value) is Ref:
            self._digests.setdefault(_reference_key(value), digest)
        return text


def _reference_key(ref: Ref) -> tuple[str, Any]:
    """Return the kind and the number of a reference."""
    return ref.kind, ref.content[0] if isinstance(ref.content, tuple) else ref.content


class _ReferenceState:
    """The streams and random numbers of the reference, in a process with tests that have theirs.

    It is a context: within it, the streams and the generators are those of the reference. At first, its generators are
    seeded as in a program's process.
    """

    def __init__(self) -> None:
        self.printed = process.Streams()
        self._stdin: Any = process.Streams()
        self._stderr = self._stdin
        self._seed_functions: dict[Any, Any] = {random: random.seed}
        """A module with a generator -> its own `seed`, which the tests' side replaces."""
        if numpy_random := sys.modules.get("numpy.random"):
            self._seed_functions[numpy_random] = numpy_random.seed
        self._generator_states: list[Any] = []
        # Outside of the context, the tests' output goes nowhere.
        process.swallow_output()

    def __enter__(self) -> None:
        test_seed_functions = [module.seed for module in self._seed_functions]
        self._test_streams = sys.stdin, sys.stdout, sys.stderr
        self._test_generators = self._states(), test_seed_functions
        sys.stdin, sys.stdout, sys.stderr = self._stdin, self.printed, self._stderr
        for module, seed_function in self._seed_functions.items():
            module.seed = seed_function
        if self._generator_states:
            self._set_states(self._generator_states)
        else:
            process.seed_generators()

    def __exit__(self, *_: object) -> None:
        self._stdin, self._generator_states = sys.stdin, self._states()
        sys.stdin, sys.stdout, sys.stderr = self._test_streams
        states, test_seed_functions = self._test_generators
        self._set_states(states)
        for module, seed_function in zip(self._seed_functions, test_seed_functions, strict=True):
            module.seed = seed_function

    def _states(self) -> list[Any]:
        """Return the states of the random generators: only one side may use each sequence of numbers."""
        return [module.getstate() if module is random else module.get_state() for module in self._seed_functions]

    def _set_states(self, states: list[Any]) -> None:
        for module, state in zip(self._seed_functions, states, strict=True):
            (module.setstate if module is random else module.set_state)(state)


def _find_origin(name: str, namespace: dict[str, Any]) -> str:
    """Return what a name of the program is: `function`, `class`, `value`, or `import:module:attribute`; "" if nothing.

    Officially, tests and program share one process, so the tests have what the program imports.
    """
    if name not in namespace:
        return ""
    value = namespace[name]
    if isinstance(value, types.ModuleType):
        return f"import:{value.__name__}:"
    if isinstance(value, types.FunctionType) and value.__globals__ is namespace:
        return "function"
    module = next(_modules_with(name, value), "")
    if module:
        return f"import:{module}:{name}"
    return "class" if isinstance(value, type) else "function" if callable(value) else "value"


def _modules_with(name: str, value: Any) -> Iterator[str]:
    for module in list(sys.modules.values()):
        if getattr(module, "__dict__", {}).get(name) is value and not module.__name__.startswith("grade_sandbox"):
            yield module.__name__
