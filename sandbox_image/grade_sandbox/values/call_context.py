"""The process state that belongs to a call: whether the tests capture output, their input, and their random seeds.

A generator's state reveals the numbers drawn from it. So a state is sent only if it is fresh from seeding, and if the
tests draw nothing from it until they seed it again. Otherwise only a one-way digest of it is sent.
"""

from __future__ import annotations

import builtins
import copy
import functools
import hashlib
import io
import random
import sys

from grade_sandbox.values.wire import MalformedError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


_LIST_ITERATOR: type[Any] = type(iter([0]))


class CallContext:
    """The tests' side: the state to send with a call, and the effects of a call."""

    def __init__(self, unusual: Callable[[str], BaseException]) -> None:
        """`unusual` creates the exception for an input that cannot be sent."""
        self._output, self._input = sys.stdout, sys.stdin
        self._unusual = unusual
        self._builtin_input = builtins.input
        self._told_input: tuple[Any, str | None] = None, None
        """Where the input comes from, and what is left of it."""
        self._periods: dict[str, list[_Period]] = {}
        """Generator -> the period from one setting of its state to the next."""
        self._told: dict[str, list[Any]] = {}
        for name, (module, seed, set_state) in _SETTERS.items():
            if module in sys.modules:
                self._listen(sys.modules[module], seed, functools.partial(self._begin, name))
                # A state that is set again may be one from which numbers were drawn.
                self._listen(sys.modules[module], set_state, functools.partial(self._begin, name, drawn=True))

    def _listen(self, module: Any, name: str, begin: Callable[[], object]) -> None:
        original = getattr(module, name)

        def told(*args: Any, **kwargs: Any) -> Any:
            self._look()
            result = original(*args, **kwargs)
            begin()
            return result

        setattr(module, name, told)

    def _begin(self, name: str, *, drawn: bool = False) -> None:
        periods = self._periods.setdefault(name, [])
        periods.append(_Period(len(periods), _STATES[name](), drawn=drawn))

    def _look(self) -> None:
        """Record the generators from which something was drawn."""
        for name, periods in self._periods.items():
            periods[-1].drawn |= _STATES[name]() != periods[-1].begun

    def _states(self) -> dict[str, list[Any]]:
        """Return generator -> [number of the period, state], with a digest for a state that reveals too much."""
        self._look()
        states = {name: (periods[-1], _STATES[name]()) for name, periods in sorted(self._periods.items())}
        return {n: [period.number, derived(state) if period.drawn else state] for n, (period, state) in states.items()}

    def settled(self, told: dict[str, list[Any]]) -> dict[str, list[Any]]:
        """Return the states of a call as they may be sent after the last one: a digest if the tests drew later."""
        self._look()
        return {name: one_way(one) if self._periods[name][one[0]].drawn else one for name, one in told.items()}

    def now(self) -> dict[str, Any]:
        """Return the state to send with a call; see messages.py."""
        found: dict[str, Any] = {}
        if sys.stdout is not self._output:
            found["captures"] = True
        given = self._given_input()
        if given != self._told_input:
            self._told_input = given
            found["input"] = given[1]
        changed = {name: state for name, state in self._states().items() if state != self._told.get(name)}
        if changed:
            self._told |= changed
            found["seeds"] = changed
        return found

    def _given_input(self) -> tuple[Any, str | None]:
        if isinstance(lines := self._patched_lines(), list):
            return builtins.input, "".join(f"{line}\n" for line in lines)
        if sys.stdin is self._input:
            return None, None
        if not isinstance(sys.stdin, io.StringIO):
            raise self._unusual(f"the tests set sys.stdin to a {type(sys.stdin).__name__}")
        return sys.stdin, sys.stdin.getvalue()[sys.stdin.tell() :]

    def _patched_lines(self) -> list[str] | None:
        """Return what `input` returns next, if the tests have patched it with a mock that has a list of texts."""
        is_patched = builtins.input is not self._builtin_input
        effect: Any = getattr(builtins.input, "side_effect", None) if is_patched else None
        if type(effect) is not _LIST_ITERATOR:
            return None
        return [line for line in copy.copy(effect) if isinstance(line, str)]

    def after(self, printed: str, consumed: int) -> None:
        """Apply the effects of a call: its output, and how much of the input it read."""
        if not isinstance(printed, str):  # a control
            raise MalformedError("it printed what is no text")
        if printed:
            sys.stdout.write(printed)
        source, given = self._told_input
        if consumed > 0 and given is not None:
            if source is builtins.input:
                for _ in range(given[:consumed].count("\n")):
                    source()
            else:
                source.seek(min(source.tell() + consumed, len(source.getvalue())))
            self._told_input = source, given[consumed:]


class _Period:
    """The time from one setting of a generator to the next: the initial state, and whether the tests drew from it."""

    __slots__ = ("begun", "drawn", "number")

    def __init__(self, number: int, begun: list[Any], *, drawn: bool) -> None:
        self.number, self.begun, self.drawn = number, begun, drawn


def derived(state: list[Any]) -> str:
    """Return a one-way digest of a state."""
    return hashlib.sha256(repr(state).encode()).hexdigest()


def one_way(told: list[Any]) -> list[Any]:
    """Return the entry of a generator without its state."""
    number, state = told
    return [number, state if isinstance(state, str) else derived(state)]


def as_told(recorded: dict[str, list[Any]], told: dict[str, list[Any]]) -> bool:
    """Whether states equal the recorded ones, also if only a digest was sent."""
    return recorded.keys() == told.keys() and all(recorded[n] in (told[n], one_way(told[n])) for n in told)


def _python_state() -> list[Any]:
    version, internal, gauss = random.getstate()
    return [version, list(internal), gauss]


def _numpy_state() -> list[Any]:
    name, keys, position, has_gauss, gauss = sys.modules["numpy"].random.get_state()
    return [name, keys.tolist(), int(position), int(has_gauss), float(gauss)]


_STATES = {"random": _python_state, "numpy": _numpy_state}
_SETTERS = {"random": ("random", "seed", "setstate"), "numpy": ("numpy.random", "seed", "set_state")}
"""Generator -> its module, and the functions that set it."""


def _enter_python(state: Any) -> None:
    if isinstance(state, str):
        random.seed(state)
    else:
        random.setstate((state[0], tuple(state[1]), state[2]))


def _enter_numpy(state: Any) -> None:
    import numpy

    if isinstance(state, str):
        numpy.random.seed([int(state[start : start + 8], 16) for start in range(0, len(state), 8)])
    else:
        numpy.random.set_state((state[0], numpy.array(state[1], dtype=numpy.uint32), *state[2:]))


_ENTER = {"random": _enter_python, "numpy": _enter_numpy}


class Entered:
    """The candidate's side: sets the state of a call, and reports the effects."""

    def __init__(self, printed: io.StringIO) -> None:
        self._printed, self._input = printed, sys.stdin
        self._given: io.StringIO | None = None
        self._start = 0

    def enter(self, state: dict[str, Any]) -> None:
        """Set the state of this process that a call expects."""
        self._printed.seek(0)
        self._printed.truncate()
        if "input" in state:
            self._given = io.StringIO(state["input"]) if state["input"] is not None else None
            sys.stdin = self._given if self._given is not None else self._input
        self._start = self._given.tell() if self._given is not None else 0
        for name, (_, seeded) in state.get("seeds", {}).items():
            _ENTER[name](seeded)

    def left(self, state: dict[str, Any]) -> tuple[str, int]:
        """Return the effects of the call: what it printed, if the tests capture this, and how much input it read."""
        is_open = self._given is not None and not self._given.closed
        consumed = self._given.tell() - self._start if self._given is not None and is_open else 0
        return self._printed.getvalue() if state.get("captures") else "", consumed
