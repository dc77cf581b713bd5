"""The state of a program's process that belongs to a call: random seeds, standard input, and what was printed."""

from __future__ import annotations

import io
import random
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

MAX_PRINTED = 1_000_000


class CallState:
    """Sets the state of this process that a call expects, and reports the effects of the call."""

    def __init__(self, output: io.StringIO) -> None:
        """`output`: the standard output."""
        self._output, self._default_stdin = output, sys.stdin
        self._stdin: io.StringIO | None = None
        """The standard input that calls have; None: none."""
        self._start = 0
        """The position in it when the last call began."""

    def enter(self, state: dict[str, Any]) -> None:
        """Set the state. `input` stays until a call has another one; None: the program has none."""
        self._output.seek(0)
        self._output.truncate()
        if "input" in state:
            self._stdin = io.StringIO(state["input"]) if state["input"] is not None else None
            sys.stdin = self._stdin if self._stdin is not None else self._default_stdin
        self._start = self._stdin.tell() if self._stdin is not None else 0
        if "seed" in state:
            random.seed(state["seed"])
        if "numpy_seed" in state:
            import numpy

            numpy.random.seed(state["numpy_seed"])

    def effects(self) -> tuple[str, int]:
        """Return what the call printed, and how many characters of the input it read."""
        stdin = self._stdin
        consumed = stdin.tell() - self._start if stdin is not None and not stdin.closed else 0
        return self._output.getvalue()[:MAX_PRINTED], consumed
