"""The state of a program's process that belongs to a call: the random seed, and what was printed."""

from __future__ import annotations

import random

TYPE_CHECKING = False
if TYPE_CHECKING:
    import io
    from typing import Any

MAX_PRINTED = 1_000_000


class CallState:
    """Sets the state of this process that a call expects, and reports what the call printed."""

    def __init__(self, output: io.StringIO) -> None:
        """`output`: the standard output."""
        self._output = output

    def enter(self, state: dict[str, Any]) -> None:
        """Set the state."""
        self._output.seek(0)
        self._output.truncate()
        if "seed" in state:
            random.seed(state["seed"])

    def printed(self) -> str:
        """Return what the call printed."""
        return self._output.getvalue()[:MAX_PRINTED]
