"""The candidates that may answer while the linter still works on other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.sandbox.interface import FEW_LINTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from grader.sandbox.answer import Executed
    from grader.scorers.execution.candidate import Candidate
    from grader.scorers.execution.sample import Sample

FIRST_LINTS = 32
"""Number of linted programs after which it is known whether the linter is slower than the programs."""


class Accepted:
    """Hands out each candidate when the linter has accepted it. Several threads may use it."""

    def __init__(self, samples: Iterable[Sample], is_over: Callable[[], bool]) -> None:
        """`is_over` returns whether the linter has no more results."""
        self._is_over = is_over
        self.candidates: list[Candidate] = []
        """Those accepted so far. A candidate can be there twice."""
        self._of: dict[str, dict[Candidate, None]] = {}
        """Key of a lint job without a result -> the candidates that may answer if the linter accepts the program."""
        for sample in samples:
            of = self._of.setdefault(sample.key, {})
            if not sample.attempt.program.rebinds:
                of[sample.completion] = None
            if sample.written is not None:
                # The linter does not decide about this one.
                self.candidates.append(sample.written)
        self.possible = list(dict.fromkeys([*self.candidates, *(c for of in self._of.values() for c in of)]))
        """All candidates that may be accepted."""
        self._programs = len(self._of)

    def note(self, key: str, executed: Executed) -> None:
        """Note a result of the linter."""
        if executed.lint is not None and not executed.lint.messages and not executed.lint.broken:
            self.candidates.extend(self._of.get(key, ()))
        self._of.pop(key, None)

    def arriving(self) -> Iterator[Candidate | None]:
        """Yield the accepted candidates, or None if there is none at the moment.

        It ends early if candidates answer faster than the linter accepts them and many programs are left to lint: then
        more workers should lint.
        """
        place = 0
        while True:
            ends = self._is_over()
            if place < len(self.candidates):
                yield self.candidates[place]
                place += 1
            elif ends or self._is_slow:
                return
            else:
                yield None

    @property
    def _is_slow(self) -> bool:
        left = len(self._of)
        return self._programs - left >= FIRST_LINTS and left > FEW_LINTS
