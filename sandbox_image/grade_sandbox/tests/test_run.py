"""One run of a task's tests, with a candidate's recorded answers behind them (replay.py) or itself (interactive.py)."""

from __future__ import annotations

import re

from grade_sandbox.tests import executing, names_for_tests, recording
from grade_sandbox.values import receiving, remote_objects, standing_in, value_format, wire
from grade_sandbox.values.call_context import CallContext
from grade_sandbox.values.object_table import ObjectTable
from grade_sandbox.values.standing_in import Proxy
from grade_sandbox.values.value_format import MalformedError, UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from types import CodeType
    from typing import Any, NoReturn

    from grade_sandbox.jobs import Task
    from grade_sandbox.values.standing_in import CallBack

    Note = Callable[[BaseException], BaseException]


class TestRun:
    """Gives tests the names of a candidate, and answers their calls."""

    refusal: type[UnconfirmedError] = UnconfirmedError
    """What tests raise that prepare more for a call than can be sent."""
    counts_values = False
    """Whether a value of the candidate that the tests may read counts as used."""

    def __init__(self, spec: Task, signature: CodeType, tests: CodeType, recent: int | None = None) -> None:
        """`spec`: what a job says of the task; `signature` and `tests`: its code; `recent`: see ObjectTable."""
        self._recent = recent
        self.spec = spec
        self._signature, self._tests = signature, tests
        self.error: BaseException | None = None
        """The first reason why nothing can be confirmed: the tests may catch the exception."""
        self.used = 0
        """Number of uses of the candidate's functions and names by the tests."""
        self.stubs: dict[str, Any] = {}
        self.names: dict[str, Any] = {}
        """The global names of the tests, before they run."""

    def verdict(self, hello: str) -> tuple[str, str]:
        """Return ("", "") if every test passes, else (reason, kind)."""
        why = "", ""
        try:
            message = value_format.loads(hello)
            if "failed" in message:
                return f"the candidate's code does not load: {wire.clip(str(message['failed']))}", "load"
            self._run(hello_of(message))
            if not self.used:
                why = "the tests pass without a call", "unconfirmed"
        except BaseException as error:
            why = reason_of(error, self.spec["test"])
        return why if self.error is None else reason_of(self.error, "")

    def _run(self, hello: dict[str, Any]) -> None:
        recording.make_repeatable()
        text = self.spec["signature"] + self.spec["test"]
        namespace = executing.namespace(self.note, text, (self._signature, self._tests), self.trusted)
        exec(self._signature, namespace)
        classes, self.stubs = names_for_tests.classes_and_stubs(self.spec, namespace)
        self.replies, self.context = Replies(classes, self.note, self.called, self._recent), CallContext(self.refusal)
        wanted = self.wanted(namespace)
        functions = set(map(str, hello["functions"]))
        lent = {name: stub for name, stub in self.stubs.items() if name in functions}
        lent = names_for_tests.stand_ins(lent, self.called, self)
        namespace |= lent
        self.replies.tested |= lent
        decoder = self.replies.decode(hello["n"])
        proxy = lambda name: Proxy(name, None, self.called)  # noqa: E731
        values = names_for_tests.lend(namespace, wanted, hello, decoder, self.replies.makers, proxy)
        self.used += values * self.counts_values
        self.names = dict(namespace)
        exec(self._tests, namespace)

    def wanted(self, namespace: dict[str, Any]) -> list[str]:
        """Return the names of the candidate that the tests may use."""
        raise NotImplementedError

    def trusted(self) -> Iterable[str]:
        """Return texts of the reference solution, which the tests may execute."""
        return ()

    def note(self, error: BaseException) -> BaseException:
        """Store the first reason why nothing can be confirmed; return it."""
        if self.error is None:
            self.error = error
        return self.error

    def answer(self, proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, Any]:
        """Return the answer to a call: ("v", value) or ("e", exception)."""
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
    if isinstance(error, value_format.EndlessError):
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

    def __init__(self, classes: dict[str, type[Any]], note: Note, call_back: CallBack, recent: int | None) -> None:
        """`classes`: name -> class of the signature. `note` records why nothing can be confirmed.

        `call_back(stub, args, kwargs)` calls a function that the candidate has returned. `recent`: see ObjectTable.
        """
        self.classes = classes
        self.labels = {kind: name for name, kind in classes.items()}
        self.ours, self.theirs = ObjectTable("t", by_value=True, recent=recent), ObjectTable("a", by_value=False)
        self.tested: dict[str, Any] = {}
        """Name -> substitute of a class that the candidate must write, to be filled in."""
        self.makers = _Makers(note, call_back, self.tested)

    def decode(self, nodes: Any) -> receiving.Decoder:
        """Return a decoder of a reply's nodes; its objects then count as sent."""
        known = {"t": self.ours.objects, "a": self.theirs.objects}
        decoder = receiving.Decoder(nodes, self.classes, known, self.makers)
        decoder.decode_all()
        self.theirs.add(decoder.built, nodes)
        return decoder

    def take(self, reply: dict[str, Any]) -> tuple[str, Any]:
        """Apply the changes that a call made; return ("v", value) or ("e", exception)."""
        if "u" in reply:
            what = str(reply["u"])[:200]
            raise UnconfirmedError(f"the candidate returned what cannot be serialized: {what}")
        try:
            decoder = self.decode(reply.get("n"))
            how = "e" if "e" in reply else "v"
            result = decoder.value(reply[how])
            for tag, number, node in reply["m"]:
                table = {"t": self.ours, "a": self.theirs}[tag]
                table.check_change(number, node)
                decoder.fill(table.objects[number], node)
                table.look(number)
        except (TypeError, ValueError, KeyError, IndexError, AttributeError) as error:
            raise MalformedError(str(error)[:200]) from None
        return how, result

    def forget(self, numbers: Iterable[int]) -> None:
        """Release objects that the tests no longer use: all received ones, and these of their own."""
        self.theirs.forget_all()
        self.ours.forget(numbers)


def delivered(how: str, result: Any) -> Any:
    """Return an answer's value, or raise its exception."""
    if how == "v":
        return result
    if not isinstance(result, (Exception, SystemExit)):
        raise UnconfirmedError("the candidate's process ended during a call")
    if isinstance(result, (StopIteration, StopAsyncIteration)):
        # A `map` or `zip` in the tests would take it as its normal end, and end early and silently.
        raise UnconfirmedError("the candidate raised StopIteration")
    raise result


def hello_of(message: dict[str, Any]) -> dict[str, Any]:
    """Return a candidate's first message, with all required fields; raises MalformedError."""
    wanted = {"functions": list, "imported": list, "errors": dict, "values": dict, "n": list}
    if not all(type(message.get(name)) is kind for name, kind in wanted.items()):
        raise MalformedError("it does not say what it defines")
    return message


class _Makers(standing_in.Makers):
    """The makers of the tests' side: a function becomes a stub that calls the candidate again."""

    def __init__(self, note: Note, call_back: CallBack, tested: Mapping[str, Any]) -> None:
        super().__init__()
        self.note = note  # type: ignore[method-assign,assignment]
        self._call_back, self._tested = call_back, tested

    def object(self, name: Any, *, compares: bool) -> Any:
        return remote_objects.made(self._tested[name], compares=compares)

    def function(self, node: list[Any]) -> Any:
        if node[0] != "function" or not isinstance(node[1], str):
            raise MalformedError("a function that is none")
        made = Proxy(node[1], None, self._call_back)
        made.__doc__ = node[2] if len(node) > 2 and isinstance(node[2], str) else None
        return made
