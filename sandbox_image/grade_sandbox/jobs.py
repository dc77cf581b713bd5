"""What a supervisor is asked to do, and what it asks of the processes below it. The grader builds jobs of these types.

They travel as JSON, and bytes in them behind it (wire.py). Nothing loads this module: it exists for the type
checker, on both sides of the channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Literal, NotRequired

    Work = Literal["record", "judge", "compare"]
    """`record`: record calls. `judge`: let the tests judge answers. `compare`: compare answers with expected ones."""


class Declared(TypedDict):
    """What a signature declares."""

    signature: str
    classes: Sequence[str]
    """The classes that it defines, and whose objects are sent as their attributes."""
    stubs: Sequence[str]
    """The functions and classes that a candidate must write."""


class Task(Declared):
    """A task's tests."""

    test: str
    reference: str | None
    """The reference solution; None: what the tests compare answers with is expected."""


class Candidate(Declared):
    """A program, and what it must tell of itself."""

    source: str
    names: Mapping[str, str]
    """Names that the tests use and nobody else defines -> how they are found; see judging/recording.py."""
    max_answer_bytes: NotRequired[int]
    """Of a larger answer only a digest is kept. If given, each call has the whole limit of CPU time."""
    with_effects: NotRequired[bool]
    """Whether a reply has the arguments as the call left them, and what was printed. Missing: it has."""
    kept_calls: NotRequired[Sequence[int]]
    """The calls to whose answers later calls refer. The supervisor adds this list."""
    run: NotRequired[int]
    """0 for the usual random numbers, which are also those if it is missing; others for each other number."""


class Answer(TypedDict):
    """Let a candidate answer recorded calls."""

    candidate: Candidate
    calls: Sequence[str]
    expected_digests: NotRequired[Sequence[str]]
    """Digests of large answers that are expected: of an equal one, only the digest is kept."""
    max_seconds: NotRequired[float]
    """Seconds of work after which nothing more is asked, if each call has limits of its own."""


class Script(TypedDict):
    """Run a program once for each of `calls`, the texts of its standard input."""

    script: str
    calls: Sequence[str]
    max_seconds: NotRequired[float]
    """Seconds of work after which nothing more is asked."""


class JudgedTask(Declared):
    """A task whose tests judge answers."""

    test: str
    names: Mapping[str, str]
    calls: Sequence[str]
    expected: NotRequired[Sequence[bytes]]
    """The messages of each run of the reference solution. Missing: only tests decide."""
    is_reference: NotRequired[bool]
    """Whether the answers are the reference's own: is there anything to compare?"""


class Judge(TypedDict):
    """Let the tests judge answers."""

    task: JudgedTask
    transcript: bytes
    """A program's messages, each in a line: its first one, then a reply to each call. Empty if it ended before."""
    by_assertion: NotRequired[bool]
    """Whether to find out which assertions hold, if the program fails."""


class Pair(TypedDict):
    """An answer and the expected one: texts that a program printed, or messages with what a function returned."""

    number: int
    """The number of the input."""
    expected: str
    answer: NotRequired[str]
    """Missing if the program gave no answer, or if `same` is set."""
    same: NotRequired[bool]
    """Whether the answer is the expected one, byte for byte."""
    input: NotRequired[str]
    """The standard input, or the call."""


class EvalPlus(TypedDict):
    """What EvalPlus' comparison needs to know."""

    tolerance: float
    is_mbpp: bool
    base: int
    """The number of base inputs."""


class Compare(TypedDict):
    """Compare a program's answers with the expected ones."""

    function: str
    """Empty: the answers are printed texts."""
    with_arguments: NotRequired[bool]
    """Whether the answers are changed arguments and printed texts, because the function returns nothing."""
    rules: Sequence[str]
    """The comparisons of the official and of the careful reading; see comparisons.py."""
    checker: NotRequired[str]
    evalplus: NotRequired[EvalPlus]
    pairs: Sequence[Pair]
    is_reference: NotRequired[bool]
    """Whether the pairs are answers of the reference itself, and the job finds out whether they have side effects."""


class Request(TypedDict):
    """What the process that records and judges does in a fork."""

    work: Work
    cpu: float
    """Seconds after which the kernel ends the fork; the supervisor's own limits are lower."""
    task: Task | JudgedTask | Compare | None
    """None: the same as in the last request."""
    transcript: bytes
    by_assertion: bool
    """As in `Judge`."""


class Job(TypedDict):
    """One job: its limits, and one or more parts, done in the order in which they stand here."""

    id: int
    cpu: float
    wall: float
    """Seconds."""
    memory: NotRequired[int]
    """Bytes, if less than the sandbox has."""
    alone: NotRequired[bool]
    """Whether no other job runs on this machine's other supervisors."""
    retry: NotRequired[bool]
    """Whether others filled the machine's shared memory at the first try, so that it may grow more than usual."""
    head: NotRequired[str]
    test: NotRequired[str]
    """A program and its tests, for the linter and for the official run."""
    timed_out: NotRequired[str]
    failed_prefix: NotRequired[str]
    """The texts of the official run if it times out, and before what it says if it fails otherwise."""
    file: NotRequired[bool]
    """Whether `__file__` is defined in the official run."""
    lint: NotRequired[bool]
    """If the linter has messages, nothing more is done."""
    record: NotRequired[Task]
    """Record the calls of a task's tests."""
    answer: NotRequired[Answer | Script]
    judge: NotRequired[Judge]
    compare: NotRequired[Compare]
    run: NotRequired[bool]
    """Do the official run."""
