"""A supervisor's typed answer: the observations of one program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from grader.results.provenance import Calls

if TYPE_CHECKING:
    from grader.sandbox.interface import Answer


class ProcessEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Evidence from the kernel and the watch; nothing in it comes from the program."""

    stopped: str | None
    """Why it was stopped: `cpu`, `blocked`, `wall`, `memory`, `shared`, `disturbed`, `garbage`; None: it was not.

    `shared`: the machine's shared memory grew beyond the limit, and shrank when the program ended. `disturbed`: it grew
    and did not shrink, so another process used it (never final)."""
    status: int | None
    """Exit code, or minus the signal that ended it; None after a result, because the process is then killed."""
    cpu: float
    longest: float = 0.0
    """CPU time of the longest call that has a limit of its own, or of several quick ones."""
    wall: float
    waited: float
    """Time in which it was ready to run but the machine was busy with something else."""
    oom: bool
    """Whether the kernel killed a process for memory while it ran."""

    @property
    def has_ended(self) -> bool:
        """Whether the process can answer nothing more."""
        return self.stopped is not None or self.oom or self.status is not None


NOTHING_DONE = ProcessEvidence(stopped=None, status=None, cpu=0.0, wall=0.0, waited=0.0, oom=False)


class Lint(msgspec.Struct, frozen=True, kw_only=True):
    """The linter's result."""

    messages: list[str] = []
    broken: str = ""
    """Why there is no result: the source hung or crashed the linter."""


class ProgramRun(msgspec.Struct, frozen=True, kw_only=True):
    """The official single-process run."""

    evidence: ProcessEvidence
    result: str | None = None
    """The official result text; None if the process ended without one."""
    kind: str = ""
    """The type of the exception behind the text."""
    lines: str = ""
    """Lines of the program through which the exception passed, outermost first, separated by commas; self-reported."""


JudgementKind = Literal[
    "", "diverged", "unconfirmed", "waiting", "malformed", "load", "ended", "assertion", "error", "unlike"
]
"""Why a candidate is not confirmed. `diverged`: with its answers, the tests make other calls than the recorded ones.
`waiting`: they make the call in which its process ended."""


class Likeness(msgspec.Struct, frozen=True, kw_only=True):
    """The comparison of a candidate's answers with the expected ones."""

    calls: Calls | None = None
    doubt: str = ""
    """Why a pass is not believed."""
    has_nothing_to_compare: bool = False
    """Of a reference solution: it returns nothing, prints nothing and changes nothing."""


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """The tests' verdict on a candidate in its own process."""

    evidence: ProcessEvidence
    confirmed: bool = False
    reason: str = ""
    kind: JudgementKind = ""
    likeness: Likeness | None = None
    right: list[bool] = []
    """Of a candidate that fails, if its job asks for it: which assertions of the tests hold."""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of a task's tests."""

    calls: list[str] = []
    """Messages; empty if there are none, for the reason `refused` or `failed`."""
    names: dict[str, str] = {}
    """Names that the tests use and nobody else defines -> how they are found."""
    expected: list[str] = []
    """Without a reference solution: the replies that the tests expect."""
    refused: str = ""
    failed: str = ""
    """Why the reference solution does not pass its tests."""


class RecordedCalls(msgspec.Struct, frozen=True, kw_only=True):
    """The run of a recording."""

    evidence: ProcessEvidence
    recorded: Recorded | None = None


class Answers(msgspec.Struct, frozen=True, kw_only=True):
    """A candidate's answers to the recorded calls, as it sent them."""

    evidence: ProcessEvidence
    transcript: bytes = b""
    """Its messages, each in a line: the first after its code was loaded, then the replies; empty if it ended before."""
    unsure: bool = False
    """Whether the official run may not stop where it was stopped: its time or memory was up while it encoded an answer,
    or it went on after it was told that its time was up."""

    @property
    def messages(self) -> list[str]:
        """All that it sent."""
        return self.transcript.decode().split("\n") if self.transcript else []

    @property
    def replies(self) -> list[str]:
        """Its answers to the calls."""
        return self.messages[1:]


class ShownAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer and the expected one, around their first difference, and the difference in words."""

    expected: str
    returned: str
    why: str


class AnswerComparison(msgspec.Struct, frozen=True, kw_only=True):
    """What a comparison says of the answers that it got."""

    verdicts: list[tuple[bool, bool, str]] = []
    """Whether each is right, officially and carefully, and the exception if it is one."""
    shown: dict[str, ShownAnswer] = {}
    """Position -> texts for people: of the first wrong answer in each reading, or of all."""
    failed: tuple[int, str] | None = None
    """The number of the input on whose answer the checker failed, and why."""
    has_no_side_effect: bool = False
    """Of a reference solution: whether it changes no argument and prints nothing."""


class ComparedAnswers(msgspec.Struct, frozen=True, kw_only=True):
    """The run of a comparison."""

    evidence: ProcessEvidence
    compared: AnswerComparison | None = None


class Executed(msgspec.Struct, frozen=True, kw_only=True):
    """All observations of one job."""

    lint: Lint | None = None
    run: ProgramRun | None = None
    record: RecordedCalls | None = None
    answer: Answers | None = None
    judge: Judgement | None = None
    compare: ComparedAnswers | None = None

    @property
    def is_success(self) -> bool:
        """Whether the program passed the official run, its judge or the linter; False if there is none of them."""
        if self.run is not None:
            return self.run.result == "passed"
        if self.judge is not None:
            return self.judge.confirmed
        return self.lint is not None and not self.lint.messages


# Not `Executed()`, which is equal: msgspec prepares a type when it first converts to it, and crashes if several threads
# do that at once (msgspec 0.22). So the first conversion is here, when this module is imported.
_NOTHING = msgspec.convert({}, Executed)
"""An answer without any observation."""


def parse_answer(answer: Answer) -> Executed:
    """Convert an answer; raises msgspec.ValidationError if it is invalid or empty."""
    executed = msgspec.convert(answer, Executed)
    if executed == _NOTHING:
        raise msgspec.ValidationError("an empty answer")
    return executed
