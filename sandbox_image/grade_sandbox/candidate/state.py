"""The state of a program's process that belongs to a call: random seeds, standard input, and what was printed."""

from __future__ import annotations

import io
import random
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PRINTED = 1_000_000


class Entered:
    """Sets the state of this process that a call expects, and reports the effects of the call."""

    def __init__(self, printed: io.StringIO) -> None:
        """`printed`: the standard output."""
        self._printed, self._input = printed, sys.stdin
        self._given: io.StringIO | None = None
        self._start = 0

    def enter(self, state: dict[str, Any]) -> None:
        """Set the state. `input` stays until a call has another one; None: the program has none."""
        self._printed.seek(0)
        self._printed.truncate()
        if "input" in state:
            self._given = io.StringIO(state["input"]) if state["input"] is not None else None
            sys.stdin = self._given if self._given is not None else self._input
        self._start = self._given.tell() if self._given is not None else 0
        if "seed" in state:
            random.seed(state["seed"])
        if "numpy_seed" in state:
            import numpy

            numpy.random.seed(state["numpy_seed"])

    def left(self) -> tuple[str, int]:
        """Return what the call printed, and how many characters of the input it read."""
        is_open = self._given is not None and not self._given.closed
        consumed = self._given.tell() - self._start if self._given is not None and is_open else 0
        return self._printed.getvalue()[:MAX_PRINTED], consumed
