"""What a supervisor is asked to do, and what it asks of the processes below it. The grader builds jobs of these types.

They travel as JSON, and bytes in them behind it (values/wire.py). Nothing loads this module: it exists for the type
checker, on both sides of the channel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal, NotRequired

    Work = Literal["truthy", "falsy", "judge", "compare"]
    """`truthy`, `falsy`: record calls with such answers. `judge`: let the tests judge answers.
    `compare`: compare answers with expected ones."""


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


class Candidate(Declared):
    """A program, and what it must tell of itself."""

    source: str
    names: Sequence[str]
    """Names that the tests use and nobody else defines."""
    reads: Sequence[str]
    """Attributes that the tests read."""
    each: NotRequired[int]
    """Bytes of the largest answer that is kept whole. If given, each call has the whole limit of CPU time, and changes
    of its arguments are not reported."""
    kept: NotRequired[Sequence[int]]
    """The calls to whose answers or arguments later calls refer. The supervisor adds this list."""


class Answer(TypedDict):
    """Let a candidate answer recorded calls."""

    candidate: Candidate
    calls: Sequence[str]
    known: NotRequired[Sequence[str]]
    """Digests of large answers that are expected: of an equal one, only the digest is kept."""
    most: NotRequired[float]
    """Seconds of work after which nothing more is asked, if each call has limits of its own."""


class Script(TypedDict):
    """Run a program once for each of `calls`, the texts of its standard input."""

    script: str
    calls: Sequence[str]
    most: NotRequired[float]
    """Seconds of work after which nothing more is asked."""


class Reordered(TypedDict):
    """The calls of a task in another order."""

    calls: Sequence[str]
    order: Sequence[int]
    """The number of each call in the first order."""
    expected: bytes
    """The messages of the reference solution."""


class Answers(TypedDict):
    """What a candidate answered."""

    said: bytes
    """Its messages, each in a line; empty if it ended before the first."""
    again: NotRequired[bytes]
    """Its messages for the calls in another order."""


class JudgedTask(Task):
    """A task whose tests judge answers."""

    names: Sequence[str]
    calls: Sequence[str]
    reads: NotRequired[Sequence[str]]
    expected: NotRequired[Sequence[bytes]]
    """The messages of each run of the reference solution, none if there is no reference. Missing: only tests decide."""
    again: NotRequired[Reordered]
    opaque: NotRequired[bool]
    """Answers that only go back into other calls may be any values."""


class Judge(TypedDict):
    """Let the tests judge answers."""

    task: JudgedTask
    answers: Answers
    each: NotRequired[bool]
    """Whether to find out which assertions hold, if the candidate fails."""


class Pair(TypedDict):
    """An answer and the expected one: texts that a program printed, or messages with what a function returned."""

    number: int
    """The number of the input."""
    expected: str
    given: NotRequired[str]
    """Missing if the program gave no answer, or if `same` is set."""
    same: NotRequired[bool]
    """Whether the answer is the expected one, byte for byte."""
    runs: NotRequired[Sequence[str]]
    """What the reference solution answered in its other runs."""
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
    rules: Sequence[str]
    """The comparisons of the official and of the careful reading; see comparisons.py."""
    checker: NotRequired[str]
    evalplus: NotRequired[EvalPlus]
    pairs: Sequence[Pair]
    order: NotRequired[str]
    """The form in which the reference's answers have no order; see varying.py."""
    finds_order: NotRequired[bool]
    """Whether the pairs are answers of the reference itself, and the job finds out how its runs differ."""


class Request(TypedDict):
    """What the process that records and judges does in a fork."""

    work: Work
    cpu: float
    """Seconds after which the kernel ends the fork; the supervisor's own limits are lower."""
    task: Task | JudgedTask | Compare | None
    """None: the same as in the last request."""
    answers: Answers | None
    each: bool
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
    hash_seed: NotRequired[int]
    """If given, a program runs in an interpreter with this hash seed, and with other random numbers than usual."""
    patient: NotRequired[bool]
    """Whether the machine's shared memory may grow more than usual, because others use it."""
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
