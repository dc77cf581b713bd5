"""What of a process's state belongs to a call: whether the tests listen, what they set as input, what they seeded."""

from __future__ import annotations

import io
import random
import sys

from instances import MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any


class Surroundings:
    """The tests' side: what is to be told with a call, and what a call leaves behind."""

    def __init__(self, unusual: Callable[[str], BaseException]) -> None:
        """`unusual`: makes the exception for an input that cannot be told."""
        self._output, self._input = sys.stdout, sys.stdin
        self._unusual = unusual
        self._told_input: str | None = None
        self._seeded: set[str] = set()
        self._told: dict[str, list[Any]] = {}
        self._listen_to_seeds()

    def _listen_to_seeds(self) -> None:
        _wrap(random, ("seed", "setstate"), lambda: self._seeded.add("p"))
        numpy = sys.modules.get("numpy")
        if numpy is not None and "numpy.random" in sys.modules:
            _wrap(numpy.random, ("seed", "set_state"), lambda: self._seeded.add("n"))

    def now(self) -> dict[str, Any]:
        """Return what a call is to be told, as entries of its message."""
        found: dict[str, Any] = {}
        if sys.stdout is not self._output:
            found["p"] = True
        given = None
        if sys.stdin is not self._input:
            if not isinstance(sys.stdin, io.StringIO):
                raise self._unusual(f"the tests set sys.stdin to a {type(sys.stdin).__name__}")
            given = sys.stdin.getvalue()[sys.stdin.tell() :]
        if given != self._told_input:
            self._told_input = given
            found["i"] = given
        states = {name: _STATES[name]() for name in sorted(self._seeded)}
        changed = {name: state for name, state in states.items() if state != self._told.get(name)}
        if changed:
            self._told |= changed
            found["s"] = changed
        return found

    def after(self, reply: dict[str, Any]) -> None:
        """Take in what a call printed and what it read."""
        printed, consumed = reply.get("p", ""), reply.get("i", 0)
        if not isinstance(printed, str) or not isinstance(consumed, int):
            raise MalformedError("it printed what is no text")
        if printed:
            sys.stdout.write(printed)
        if consumed > 0 and sys.stdin is not self._input and isinstance(sys.stdin, io.StringIO):
            sys.stdin.seek(min(sys.stdin.tell() + consumed, len(sys.stdin.getvalue())))
            self._told_input = sys.stdin.getvalue()[sys.stdin.tell() :]


def _wrap(module: Any, names: Iterable[str], tell: Callable[[], object]) -> None:
    for name in names:
        original = getattr(module, name)

        def told(*args: Any, _original: Callable[..., Any] = original, **kwargs: Any) -> Any:
            tell()
            return _original(*args, **kwargs)

        setattr(module, name, told)


def _python_state() -> list[Any]:
    version, internal, gauss = random.getstate()
    return [version, list(internal), gauss]


def _numpy_state() -> list[Any]:
    name, keys, position, has_gauss, gauss = sys.modules["numpy"].random.get_state()
    return [name, keys.tolist(), int(position), int(has_gauss), float(gauss)]


_STATES = {"p": _python_state, "n": _numpy_state}


class Entered:
    """The candidate's side: enters what a call was told, and says what is left behind."""

    def __init__(self, printed: io.StringIO) -> None:
        self._printed, self._input = printed, sys.stdin
        self._given: io.StringIO | None = None
        self._start = 0

    def enter(self, call: dict[str, Any]) -> None:
        """Make this process what the call expects."""
        self._printed.seek(0)
        self._printed.truncate()
        if "i" in call:
            self._given = io.StringIO(call["i"]) if call["i"] is not None else None
            sys.stdin = self._given if self._given is not None else self._input
        self._start = self._given.tell() if self._given is not None else 0
        for name, state in call.get("s", {}).items():
            if name == "p":
                random.setstate((state[0], tuple(state[1]), state[2]))
            else:
                import numpy

                numpy.random.set_state((state[0], numpy.array(state[1], dtype=numpy.uint32), *state[2:]))

    def left(self, call: dict[str, Any]) -> dict[str, Any]:
        """Return what the call leaves behind, as entries of its answer."""
        found: dict[str, Any] = {"p": self._printed.getvalue()} if call.get("p") else {}
        if self._given is not None and not self._given.closed:
            found["i"] = self._given.tell() - self._start
        return found
