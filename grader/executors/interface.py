"""What an executor is: it takes jobs and gives verdicts. Where and on how many machines they run is its own matter.

The order of a run's phases belongs to the scorer: an executor finishes one `run` before it is given the next.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, Self

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grader.results import SandboxProvenance
    from grader.sandbox.interface import Answer, Job
    from grader.sandbox.tickets import Verdict


class Executor(Protocol):
    """Runs jobs in sandboxes. Used as a context manager: at its end nothing of it is left."""

    def __enter__(self) -> Self:
        """Make it ready; raises InfrastructureError."""

    def __exit__(self, *_: object) -> None:
        """End every sandbox, and keep what is to be kept."""

    def begin(self) -> None:
        """Jobs will come soon: start what takes long to start."""

    def key(self, job: Job) -> str:
        """Return the name of what comes of a job: a hash of all that can change it."""

    def has(self, key: str) -> bool:
        """Whether `kept` has something of this name."""

    def kept(self, key: str) -> Answer | None:
        """Return what came of a job in an earlier run, if it was kept."""

    def keep(self, key: str, answer: Answer) -> None:
        """Keep what came of a job for later runs."""

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[Verdict]:
        """Yield a verdict for every (key, job), in the order they finish. Jobs are drawn as they are needed.

        Raises InfrastructureError where nothing can run them; a later `run` may find that they can.
        """

    def with_tests(self) -> Executor:
        """Return the same executor for jobs of a task's own solution: they may be done where its tests are.

        It shares everything with this one, which is the one that is closed.
        """

    def describe(self) -> SandboxProvenance:
        """Return what a report says about where programs ran."""
