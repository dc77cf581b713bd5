"""The official outcome of a program whose answers are known: its tests, unchanged, call functions that return them.

Only plain answers count. Whatever is in doubt has no outcome here; the program then runs with its tests.
"""

from __future__ import annotations

import math
import os
import resource
import time

from grade_sandbox.official.official_run import lines_of
from grade_sandbox.tests import recording
from grade_sandbox.tests.replay import Replay
from grade_sandbox.tests.test_run import Replies
from grade_sandbox.values import wire
from grade_sandbox.values.call_context import CallContext
from grade_sandbox.values.standing_in import Proxy
from grade_sandbox.values.wire import UnconfirmedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType
    from typing import Any

    from grade_sandbox.tests.replay import Tests

MOST_LEVELS_OF_CALLS = 32
"""Tests that call a program from deeper may see another recursion error than it has answered with."""
MOST_MEMORY = 32 << 10
"""Kilobytes that tests may take for themselves, beside what the program has needed."""
MOST_CHARACTERS = 10_000
WAITING = "waiting"
"""The kind of the outcome if the tests make a call whose answer was not recorded."""
MOST_LEVELS = 50
"""Values that are nested deeper may not be compared everywhere."""
_NODES = {"list", "tuple", "dict"}
_REFERENCES = {"i", "s", "r", "t"}
_EXCEPTIONS = {
    "ArithmeticError", "AssertionError", "AttributeError", "Exception", "IndexError", "KeyError", "LookupError",
    "NameError", "NotImplementedError", "OverflowError", "RuntimeError", "TypeError", "UnboundLocalError",
    "ValueError", "ZeroDivisionError",
}  # fmt: skip
"""Exceptions whose text is that of their arguments."""


def found(tests: Tests, hello: str, answers: list[str]) -> dict[str, Any] | None:
    """Return the official outcome, or None if it is in doubt. Call it in a fork."""
    if tests.unchanged is None:
        return None
    message = wire.loads(hello)
    if message.get("n") != [] or not all(map(_is_plain_call, tests.calls)):
        return None
    return _Plain(tests, tests.unchanged, answers).outcome(message["functions"])


class _Plain(Replay):
    """Runs the unchanged tests with functions that return the recorded answers."""

    def __init__(self, tests: Tests, code: CodeType, answers: list[str]) -> None:
        super().__init__(tests.spec, code, code, tests.calls, answers, tuple, recording.RECENT)
        self._room = 0
        self._is_waiting = False
        """Whether the tests have made a call whose answer was not recorded."""

    def outcome(self, functions: list[str]) -> dict[str, Any] | None:
        """Return the text and the type of the exception that ends the tests, and the lines of the tests that it passed.

        Text and type are empty if all tests pass. `seconds`: the CPU time of the tests.
        """
        self.replies, self.context = Replies({}, self.note, self.called, self._recent), CallContext(self.refusal)
        self.names = {name: Proxy(name, None, self.called) for name in functions}
        namespace: dict[str, Any] = {name: self._function(proxy) for name, proxy in self.names.items()}
        start, memory = time.process_time(), _memory()
        ended: BaseException | None = None
        try:
            self._room = _room()
            exec(self._tests, namespace)
        except BaseException as error:
            ended = error
        seconds = time.process_time() - start
        if self.replies.ours.has_missed():
            return None
        if self._is_waiting:
            return {"kind": WAITING, "seconds": seconds}
        # The limits of this process are not those of the program.
        if self.error is not None or isinstance(ended, (RecursionError, MemoryError)):
            return None
        if resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory > MOST_MEMORY:
            return None
        if not (ended is None or isinstance(ended, Exception)):
            return None
        text = "" if ended is None else str(ended)
        if len(text) > MOST_CHARACTERS or "0x" in text:
            return None
        kind, lines = ("", "") if ended is None else (type(ended).__name__, lines_of(ended))
        has_floats = any(map(_has_floats, self._calls))
        return {"text": text, "kind": kind, "lines": lines, "seconds": seconds, "has_floats": has_floats}

    def _function(self, proxy: Proxy) -> Callable[..., Any]:
        def asked(*args: Any, **kwargs: Any) -> Any:
            if self._room - _room() > MOST_LEVELS_OF_CALLS:
                self.refuse("the tests call it from too deep")
            return self.called(proxy, args, kwargs)

        # Python's own messages name a function like this.
        asked.__name__ = asked.__qualname__ = proxy.__name__
        asked.__module__ = "builtins"
        return asked

    def _begin(self, call: dict[str, Any], values: list[Any]) -> None:
        # A program that still has what it returned earlier would see what the tests do to it.
        if self.replies.theirs.changed():
            raise UnconfirmedError("the tests change an answer")
        super()._begin(call, values)

    def _reply(self) -> tuple[str, Any]:
        self._is_waiting = self._next >= len(self._texts)
        if not self._is_waiting and not _is_plain_reply(wire.loads(self._texts[self._next])):
            raise UnconfirmedError("an answer is not plain")
        return super()._reply()


def _room(count: int = 0) -> int:
    """Return how many more calls are possible, whatever counts towards the limit of this Python."""
    try:
        return _room(count + 1)
    except RecursionError:
        return count


def _memory() -> int:
    """Return the memory of this process, in kilobytes."""
    with open("/proc/self/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 10


def _is_plain_call(call: dict[str, Any]) -> bool:
    """Whether a call is one of a function, with plain arguments, and with nothing around it."""
    atoms = [*call["v"], *(atom for _, atom in call["k"])]
    is_alone = call["f"].get("x", ["", ""])[0] == "name" and not call.keys() & {"p", "i", "s"}
    changed = [node for _, _, node in call["m"]]
    return is_alone and all(map(_is_plain, atoms)) and all(map(_is_plain_node, [*call["n"], *changed]))


def _has_floats(call: dict[str, Any]) -> bool:
    nodes = [*call["n"], *(node for _, _, node in call["m"])]
    atoms = [*call["v"], *(atom for _, atom in call["k"]), *(atom for node in nodes for atom in node[1])]
    return any(isinstance(atom, float) for atom in atoms)


def _is_plain_reply(reply: dict[str, Any]) -> bool:
    changes = reply.get("m", [])
    if reply.keys() - {"v", "e", "m", "n"} or any(tag != "t" for tag, _, _ in changes):
        return False
    # If a dictionary changes during a loop over it, what the loop reads depends on all earlier changes.
    if any(node[0] == "dict" for _, _, node in changes):
        return False
    nodes = [*reply["n"], *(node for _, _, node in changes)]
    if "e" in reply:
        raised = reply["n"][reply["e"]["r"]]
        return _is_plain_exception(raised) and all(_is_plain_node(node) for node in nodes if node is not raised)
    return "v" in reply and _is_plain(reply["v"]) and all(map(_is_plain_node, nodes)) and _is_flat(reply["n"])


def _is_flat(nodes: list[Any]) -> bool:
    """Whether containers are nested in a few levels, and none is in itself. Their nodes come level by level."""
    levels = [0] * len(nodes)
    for number, (_, parts) in enumerate(nodes):
        for inner in (atom["r"] for atom in parts if isinstance(atom, dict) and "r" in atom):
            if inner <= number:
                return False
            levels[inner] = max(levels[inner], levels[number] + 1)
    return max(levels, default=0) <= MOST_LEVELS


def _is_plain_exception(node: list[Any]) -> bool:
    kind, name, arguments, *more = node
    if kind != "exception" or name not in _EXCEPTIONS or any(isinstance(one, dict) for one in arguments):
        return False
    # More is: its own name, attributes, cause, library and notes.
    return all(map(_is_plain, arguments)) and (not more or (more[0] == name and not more[3] and not more[4]))


def _is_plain_node(node: list[Any]) -> bool:
    return node[0] in _NODES and len(node) == 2 and all(map(_is_plain, node[1]))


def _is_plain(atom: Any) -> bool:
    if isinstance(atom, dict):
        return len(atom) == 1 and not atom.keys() - _REFERENCES
    return atom is None or isinstance(atom, (bool, int, str)) or (isinstance(atom, float) and math.isfinite(atom))
