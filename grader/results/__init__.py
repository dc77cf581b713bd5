"""The records that every scorer produces and every report reads: a `<stem>_results.json`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any, Generic, Literal

import msgspec
from typing_extensions import TypeVar

from grader.results.provenance import Calls as Calls
from grader.results.provenance import FirstDifference as FirstDifference
from grader.results.provenance import IntervalMethod as IntervalMethod
from grader.results.provenance import JudgeProvenance as JudgeProvenance
from grader.results.provenance import NodeProvenance as NodeProvenance
from grader.results.provenance import Part as Part
from grader.results.provenance import Provenance as Provenance
from grader.results.provenance import SandboxProvenance as SandboxProvenance
from grader.wording import clean, counted, decimal

SCHEMA = 1
F = TypeVar("F", bound=msgspec.Struct)
SampleFacts = TypeVar("SampleFacts", default=Any)
RunFacts = TypeVar("RunFacts", default=Any)
ReadingName = Literal["official", "careful"]
READINGS: tuple[ReadingName, ReadingName] = ("official", "careful")


def other_reading(reading: ReadingName) -> ReadingName:
    """Return the other of the two readings."""
    return "official" if reading == "careful" else "careful"


class Outcome(StrEnum):
    """The conclusion of one reading about one sample."""

    PASSED = "passed"
    FAILED = "failed"
    """A test's assertion failed."""
    ERROR = "error"
    """The program raised an exception other than a failed assertion."""
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    """The process was ended by a signal that it caused itself."""
    LINT_FAILED = "lint_failed"
    SUSPECT = "suspect"
    """Passed officially, but not confirmed by the split harness."""
    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    AMBIGUOUS = "ambiguous"
    UNSCORED = "unscored"
    """Not judged, or lost by the model's server or by infrastructure; says nothing about the sample."""
    NOT_JUDGED = "not_judged"
    """Careful only: the sample's task is outside the careful reading, whatever a program does."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of one sample."""

    outcome: Outcome
    credit: int | float | None
    """1 or 0, or between them if a benchmark gives partial credit; null if `unscored` or `not_judged`."""
    answer: str | None = None
    """The answer that was read, such as a letter."""
    detail: str = ""
    """The error's text or the reason, for people."""
    rule: str | msgspec.UnsetType = msgspec.UNSET
    """The rule that decided."""
    span: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    """Where the answer was read: characters [start, end) of the prediction."""

    @property
    def points(self) -> float:
        """The credit as a number: 0 if there is none."""
        return self.credit or 0

    @property
    def is_scored(self) -> bool:
        """Whether there is a verdict."""
        return self.outcome not in (Outcome.UNSCORED, Outcome.NOT_JUDGED)

    @property
    def rule_name(self) -> str:
        """The name of the rule that decided; empty if there is none."""
        return "" if self.rule is msgspec.UNSET else self.rule


OTHER_ANSWERS = "alike"
"""The flag of a program that passes with other answers than the reference solution's: the tests accept them."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a scorer keeps about a sample, or about a run, in the results file; a scorer has its own types of it."""

    @property
    def parts_differ(self) -> bool:
        """Whether the readings of a sample disagree on a part that a metric counts, and that is not in them."""
        return False


class SampleResult(msgspec.Struct, Generic[SampleFacts], frozen=True, kw_only=True):
    """Both readings of one sample."""

    qid: str
    """The id of the task."""
    sample: int
    """Position among the qid's predictions, from 0."""
    seconds: float = 0.0
    """CPU time of the program."""
    official: Reading
    careful: Reading
    unit: str | msgspec.UnsetType = msgspec.UNSET
    """The id of its observation (a circular question), if it is not the qid."""
    family: str | msgspec.UnsetType = msgspec.UNSET
    """The family of its task, if tasks are variants of others."""
    groups: Mapping[str, str | list[str]] | msgspec.UnsetType = msgspec.UNSET
    """Category field -> label, or list of labels."""
    together: Mapping[str, str] | msgspec.UnsetType = msgspec.UNSET
    """Name of a kind of set -> the set whose tasks must all be right."""
    flags: list[str] | msgspec.UnsetType = msgspec.UNSET
    """`truncated`, if the prediction was cut off or its reasoning never ends; `alike`, if a program passes and answers
    otherwise than the reference solution."""
    calls: Calls | msgspec.UnsetType = msgspec.UNSET
    """Code: the program's answers beside those of a valid reference solution."""
    tests: list[bool] | msgspec.UnsetType = msgspec.UNSET
    """Code with a list of tests, if the program fails: whether each test is right."""
    reward: float | msgspec.UnsetType | None = msgspec.UNSET
    """Only of a `Pool`'s result: what it is worth in training, from 0 to 1; null without a verdict."""
    facts: SampleFacts | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="extra")
    """The scorer's own record, a `Facts`; of a `Pool`'s result it is plain data."""

    def reading(self, name: ReadingName) -> Reading:
        """Return the named reading."""
        return self.official if name == "official" else self.careful

    @property
    def differs(self) -> bool:
        """Whether the readings disagree on the outcome, the answer, the credit or a part that a metric counts.

        A careful reading that does not judge the task disagrees with nothing.
        """
        if self.careful.outcome is Outcome.NOT_JUDGED:
            return False
        official, careful = (
            # The answers of two right readings are not compared: the readings may write one answer differently.
            (reading.outcome, None if reading.points >= 1 else reading.answer, reading.credit)
            for reading in (self.official, self.careful)
        )
        return official != careful or facts_as(Facts, self.facts).parts_differ

    @property
    def first_difference(self) -> FirstDifference | None:
        """The first call with another answer than the reference; None if there is none, or no call was compared."""
        return self.calls.first if isinstance(self.calls, Calls) else None

    def explaining_call(self, reading: Reading) -> FirstDifference | None:
        """Return the first call with a wrong answer, to explain why a reading gives no credit; None: it adds nothing.

        It adds nothing for a reply without a program, if both answers have the same text (they differ in what the call
        prints or changes), or if the reading's detail names the call.
        """
        first = self.first_difference
        if first is None or reading.points >= 1 or reading.outcome is Outcome.NO_ANSWER:
            return None
        has_same_text = first.expected == first.returned
        is_in_detail = first.call in reading.detail
        return None if has_same_text or is_in_detail else first

    @property
    def observation(self) -> str:
        """The observation that this sample belongs to."""
        return self.qid if self.unit is msgspec.UNSET else self.unit

    @property
    def independent_unit(self) -> str:
        """What varies independently of the others: the family of its task, or else its observation."""
        return self.observation if self.family is msgspec.UNSET else self.family

    def group_names(self) -> Iterator[str]:
        """Yield the groups of this sample, as `field=value`."""
        return group_names_of(self.groups if isinstance(self.groups, Mapping) else {})


def group_names_of(groups: Mapping[str, str | list[str]]) -> Iterator[str]:
    """Yield the groups of a task or a sample, as `field=value`."""
    for field, values in groups.items():
        for value in [values] if isinstance(values, str) else values:
            yield f"{field}={value}"


def facts_as(kind: type[F], facts: object) -> F:
    """Return the facts of a sample or a run as their type; without facts, the defaults of this type."""
    return facts if isinstance(facts, kind) else kind()


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One metric in one reading, in percent, unrounded."""

    name: str
    """For example `accuracy`, `pass@1`."""
    reading: ReadingName
    group: str | None = None
    """None for the overall value, else `field=value`."""
    value: float | None
    """None if it was not judged."""
    ci95: tuple[float, float] | None = None
    """The 95 % interval."""
    stderr: float | None = None
    """In points."""
    n: int
    """Number of observations: tasks, questions, circular groups."""
    bounds: tuple[float, float] | msgspec.UnsetType = msgspec.UNSET
    """If samples are unscored: the worst and the best case."""
    dropped: int | msgspec.UnsetType = msgspec.UNSET
    """Observations left out of the value, because too few of their samples are scored."""

    @property
    def is_partial(self) -> bool:
        """Whether the value leaves out unscored samples."""
        return self.bounds is not msgspec.UNSET

    @property
    def number(self) -> float:
        """The value; raises ValueError if it was not judged."""
        if self.value is None:
            raise ValueError(f"{self.name} was not judged")
        return self.value


Pair = tuple[Metric | None, Metric | None]
"""A metric in the official and in the careful reading."""


def in_percent(metric: Metric | None) -> str:
    """Return a metric's value with one decimal; without one, its worst and best case, or a dash."""
    if metric is not None and metric.value is not None:
        return decimal(metric.value)
    if metric is None or metric.bounds is msgspec.UNSET:
        return "–"
    return " to ".join(map(decimal, metric.bounds))


def is_same(official: Metric | None, careful: Metric | None) -> bool:
    """Whether a metric has the same value in both readings."""
    if official is None or careful is None:
        return False
    if official.value is None or careful.value is None:
        return (official.value, official.bounds) == (careful.value, careful.bounds)
    return abs(official.value - careful.value) < 1e-9


def reading_change(official: Metric | None, careful: Metric | None) -> float | None:
    """Return careful minus official, in points; None if they are not of the same samples.

    Then their difference would not be that of the readings.
    """
    if official is None or careful is None or official.value is None or careful.value is None:
        return None
    has_same_samples = not official.is_partial and not careful.is_partial and official.n == careful.n
    return careful.value - official.value if has_same_samples else None


def observation_counts(official: Metric | None, careful: Metric | None) -> str:
    """Return the number of observations as text; two numbers if the readings count different ones."""
    return " and ".join(dict.fromkeys(str(metric.n) for metric in (official, careful) if metric is not None))


class UnscoredCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Number of unscored samples, by reading."""

    official: int = 0
    careful: int = 0


class Note(msgspec.Struct, frozen=True):
    """A sentence that a reader of the report must know."""

    text: str
    kind: str = "general"
    """`official`: about the official values; reports put it beside them. Others than `general` are a scorer's own."""


class Aggregation(msgspec.Struct, frozen=True, kw_only=True):
    """The metrics that a declaration and `-k` ask for, of every scorer."""

    mean_over: list[str] = []
    """Groupings whose labels have the same weight; of several, each is within the one before."""
    f1_of: list[str] = []
    """Two groups (`field=label`) of whose accuracies F1 is the harmonic mean."""
    k: list[int] = []
    """The numbers of samples of pass@k and pass^k; empty: all samples of a task."""

    def __post_init__(self) -> None:
        """Raise ValueError for an F1 that is not of two groups, and for a k below 1."""
        if len(self.f1_of) not in (0, 2) or min(self.k, default=1) < 1:
            raise ValueError("f1_of needs two groups, and each k is at least 1")


class Report(msgspec.Struct, Generic[SampleFacts, RunFacts], frozen=True, kw_only=True):
    """All results of one grading run."""

    schema: int = SCHEMA
    benchmark: str
    benchmark_name: str = ""
    benchmark_description: str = ""
    """What its tasks ask."""
    scorer: str
    """`scoring` in benchmark.toml."""
    split: str
    protocol: str
    """The official scorer and its version."""
    model: str | None = None
    """The model that made the predictions, if the file names it."""
    part: Part | None = None
    """The graded part; None for the whole benchmark."""
    metrics: list[Metric]
    samples: list[SampleResult[SampleFacts]]
    """One for each prediction."""
    unscored: int = 0
    """Samples that are unscored in at least one reading."""
    unscored_by_reading: UnscoredCounts = UnscoredCounts()
    provenance: Provenance = Provenance()
    judge_version: int | msgspec.UnsetType = msgspec.field(default=msgspec.UNSET, name="judge")
    """Code: the version of the careful rules."""
    facts: RunFacts | msgspec.UnsetType = msgspec.UNSET
    """The scorer's own record of the run, a `Facts`."""
    aggregation: Aggregation = Aggregation()
    """`mean_over` and `f1_of` of the declaration, and the `k` of `-k`."""
    baselines: dict[str, dict[str, float]] = {}
    """Group (`all`: every task) -> baseline -> score."""
    abbreviations: dict[str, str] = {}
    """Group value -> official abbreviation."""
    notes: list[Note] = []

    def __repr__(self) -> str:
        """Return one line: all samples of a run would be megabytes of text."""
        counts = ", ".join(
            [counted(len(self.metrics), "metric"), counted(len(self.samples), "sample"), f"{self.unscored} unscored"]
        )
        return clean(f"<Report {self.benchmark} {self.split} {self.protocol}: {counts}>")

    def metric(self, name: str, reading: ReadingName = "official", group: str | None = None) -> Metric | None:
        """Return the named metric, or None if this report does not have it."""
        for metric in self.metrics:
            if (metric.name, metric.reading, metric.group) == (name, reading, group):
                return metric
        return None

    def pairs(self) -> dict[tuple[str, str | None], Pair]:
        """Return (name, group) -> the metric in the official and in the careful reading, in the report's order."""
        readings: dict[tuple[str, str | None], dict[ReadingName, Metric]] = {}
        for metric in self.metrics:
            readings.setdefault((metric.name, metric.group), {})[metric.reading] = metric
        return {key: (pair.get("official"), pair.get("careful")) for key, pair in readings.items()}

    def overall(self) -> dict[str, Pair]:
        """Return name -> the metric of the whole benchmark in the official and in the careful reading."""
        return {name: pair for (name, group), pair in self.pairs().items() if group is None}

    def official_notes(self) -> list[str]:
        """Return the notes on the official values."""
        return [note.text for note in self.notes if note.kind == "official"]

    def differences(self) -> list[SampleResult]:
        """Return the samples on which the readings disagree."""
        return [sample for sample in self.samples if sample.differs]


def count_unscored(samples: Iterable[SampleResult]) -> tuple[int, UnscoredCounts]:
    """Return the number of samples that are unscored in at least one reading, and the numbers by reading."""
    unscored = Outcome.UNSCORED
    flags = [(sample.official.outcome is unscored, sample.careful.outcome is unscored) for sample in samples]
    by_reading = UnscoredCounts(
        official=sum(official for official, _ in flags), careful=sum(careful for _, careful in flags)
    )
    return sum(official or careful for official, careful in flags), by_reading


def metrics_leaving_out_unscored(report: Report) -> str:
    """Return the metrics that leave out unscored samples: `accuracy and recall`; `all metrics` if each or none does.

    A metric can use unscored samples if it needs only a part of the verdict, which they have.
    """
    readings_by_metric: dict[str, list[str]] = {}
    has_metric_of_all_samples = False
    for name, pair in report.overall().items():
        for reading, metric in zip(READINGS, pair, strict=True):
            if metric is None:
                # Either the metric has no such reading, or nothing is scored in it: then all samples are left out.
                leaves_out = getattr(report.unscored_by_reading, reading) > 0
            else:
                leaves_out = metric.is_partial
                has_metric_of_all_samples |= not leaves_out
            if leaves_out:
                readings_by_metric.setdefault(name, []).append(reading)
    if not readings_by_metric or not has_metric_of_all_samples:
        return "all metrics"
    *names, last = [
        name if len(readings) == len(READINGS) else f"{name} ({readings[0]})"
        for name, readings in readings_by_metric.items()
    ]
    return f"{', '.join(names)} and {last}" if names else last


def other_answers_in_words(samples: Iterable[SampleResult]) -> str:
    """Return how many passing programs have other answers than the reference, as part of a sentence; empty if none."""
    passed = [sample for sample in samples if sample.careful.outcome is Outcome.PASSED]
    number = sum(isinstance(sample.flags, list) and OTHER_ANSWERS in sample.flags for sample in passed)
    if not number:
        return ""
    verb = "answers" if number == 1 else "answer"
    return f"{number:,} of {len(passed):,} passes {verb} otherwise than the reference solution; the tests accept it"
