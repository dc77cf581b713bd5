"""The candidates that may answer while the linter still works on other programs."""

from __future__ import annotations

import collections
from typing import TYPE_CHECKING

from grader.sandbox.interface import FEW_LINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.sandbox.answer import Executed
    from grader.scorers.execution.confirming import Candidate
    from grader.scorers.execution.sample import Sample

FIRST_LINTS = 32
"""After so many programs it is known whether the linter is slower than the programs."""


class Accepted:
    """Hands out candidates as the linter accepts them, to several threads."""

    def __init__(self, samples: Iterable[Sample]) -> None:
        self._of: dict[str, Candidate] = {}
        """Key of a lint job -> the candidate that may answer if the linter accepts the program."""
        self._ready: collections.deque[Candidate] = collections.deque()
        for sample in samples:
            if not sample.attempt.program.rebinds:
                self._of[sample.key] = sample.completion
            if sample.written is not None:
                # The linter does not decide about this one.
                self._ready.append(sample.written)
        self.possible = [*self._ready, *self._of.values()]
        """All candidates that may be accepted."""
        self._programs = len(self._of)

    def note(self, key: str, executed: Executed) -> None:
        """Note a result of the linter."""
        if executed.lint is not None and not executed.lint.messages and not executed.lint.broken:
            candidate = self._of.get(key)
            if candidate is not None:
                self._ready.append(candidate)
        self._of.pop(key, None)

    def arriving(self, is_over: Callable[[], bool]) -> Iterator[Candidate | None]:
        """Yield the accepted candidates, or None if there is none at the moment; `is_over()`: none will be added.

        It ends early if the candidates answer faster than the linter accepts them, and most of its work is left: then
        more processes should lint.
        """
        while True:
            ends = is_over()
            if self._ready:
                yield self._ready.popleft()
            elif ends or self._is_slow:
                return
            else:
                yield None

    @property
    def _is_slow(self) -> bool:
        left = len(self._of)
        return self._programs - left >= FIRST_LINTS and left > FEW_LINTS
