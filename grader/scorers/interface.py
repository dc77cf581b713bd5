"""The interface of scorers. A scorer is one way of judging predictions of tasks.

A scorer turns rows into tasks, predictions into samples with two readings, and samples into metrics; a report shows its
tasks as they are. No code outside `grader.scorers` depends on which scorer it uses. To add one, subclass `Scorer`, with
what it needs of `capabilities.py`, and register it: in `registry.py`, or in another package as an entry point of the
group `grade.scorers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from grader.benchmark import Benchmark
from grader.errors import UsageError
from grader.observer import Observer
from grader.options import Options
from grader.predictions.file import PredictionFile
from grader.predictions.outcomes import Oddities
from grader.results import (
    Facts,
    IntervalMethod,
    JudgeProvenance,
    Metric,
    Note,
    Outcome,
    Reading,
    ReadingName,
    Report,
    SampleResult,
    SandboxProvenance,
    by_observation,
)
from grader.task import Task

if TYPE_CHECKING:
    from grader.data.tables import Rows

B = TypeVar("B", bound=Benchmark)
T = TypeVar("T", bound=Task)

Observe = Callable[[Sequence[SampleResult], ReadingName], float | None]
"""Return the credit of one observation's samples, in [0, 1]; None if it is unscored."""


class Run(msgspec.Struct, Generic[B, T], frozen=True, kw_only=True):
    """The input of a scorer: tasks to grade and their predictions."""

    benchmark: B
    split: str
    protocol: str
    tasks: Mapping[str, T]
    """The tasks to grade, by id, in the benchmark's order."""
    predictions: Mapping[str, list[str]]
    """Task id -> raw outputs; an empty list if a prediction is missing and `--missing wrong` was given."""
    file: PredictionFile
    options: Options
    observer: Observer
    oddities: Oddities = Oddities()
    """Server failures and truncated answers among the predictions; see `grader.scorers.oddities.marked`."""

    def replies(self) -> Iterator[tuple[T, int, str | None]]:
        """Yield (task, number of the sample, prediction).

        A task without predictions has None, as often as the other tasks have a prediction.
        """
        rounds = max(map(len, self.predictions.values()), default=0) or 1
        for qid, texts in self.predictions.items():
            for number, text in enumerate(texts or [None] * rounds):
                yield self.tasks[qid], number, text


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a scorer."""

    samples: list[SampleResult]
    metrics: list[Metric] | None = None
    """None: those that `Scorer.metrics` returns."""
    facts: Facts | msgspec.UnsetType = msgspec.UNSET
    """What the scorer keeps about the run, of the type `Scorer.run_facts`."""
    notes: list[Note] | None = None
    """None for an earlier run that is scored again: it keeps its notes."""
    intervals: IntervalMethod | None = None
    """How the intervals were computed, if not by `statistics.intervals`."""
    baselines: dict[str, dict[str, float]] = {}
    sandbox: SandboxProvenance | None = None
    judge: JudgeProvenance | None = None
    program_judge: int | msgspec.UnsetType = msgspec.UNSET
    """See `Report.judge`."""
    write_own: Callable[[Path], Path] | None = None
    """Writes the scorer's own file beside a path without suffix; returns the path of that file."""


AnyRun = Run[Any, Any]


class Earlier(msgspec.Struct, Generic[B], frozen=True, kw_only=True):
    """An earlier run to score again, with its results file if there is one."""

    benchmark: B
    split: str
    protocol: str
    path: Path
    """The prediction file."""
    stem: Path
    """The prediction file's path without suffix. The names of the files beside it begin with it."""
    report: Report | None
    options: Options

    def existing(self) -> Report:
        """Return the report; raises UsageError if there is none."""
        if self.report is None:
            raise UsageError(
                f"--score-only: there is no {self.stem.name}_results.json beside {self.path.name}; grade it once "
                "without --score-only."
            )
        return self.report


class TableBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A table of a whole run, for reports."""

    title: str
    lead: str
    """One sentence that says what the table shows."""
    columns: list[str]
    """The column titles; the first column names the rows."""
    rows: list[list[str]]


class CurveBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A curve of a metric over a number, in both readings."""

    title: str
    axis: str
    """What the number on the axis is."""
    prefix: str
    """The metric's name without the number: `pass@`."""
    k: list[int]
    official: list[tuple[float | None, int]]
    """For each number: (value in percent, number of observations)."""
    careful: list[tuple[float | None, int]]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What reports show of a whole run, in addition to its metrics."""

    lines: list[str] = []
    """For the terminal."""
    tables: list[TableBlock] = []
    curve: CurveBlock | None = None


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """What reports show of one sample, in addition to its readings."""

    kind: str = ""
    """Why the readings differ, in a word."""
    gold: str = ""
    """The gold answer, if there is one."""
    facts: list[tuple[str, str]] = []
    """(Name, value); a long value is shown as text."""
    official: list[tuple[str, str | bool | None]] = []
    """(Name, value) pairs that the official reading found; None: not judged."""
    careful: list[tuple[str, str | bool | None]] = []
    failed_test: str = ""
    """The source of the test that failed in the official run."""
    failed_line: int | None = None
    """The line of the program, counted from 1, at which a test failed."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """The program that was built from one prediction and executed."""

    completion: str
    """The code that was extracted from the output."""
    program: str
    """The code that ran: the completion within its task's frame, and the tests."""
    result: str
    """The official result text."""


class OwnFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a scorer's own file, which lies beside the results."""

    programs: dict[str, list[Program]] = {}
    predictions: dict[str, list[str]] = {}
    problem: str = ""
    """Why its content cannot be shown, as a sentence; empty if it can."""


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """How reports name and explain the metrics, rules and outcomes of a scorer."""

    glossary: Mapping[str, str] = {}
    """Metric or rule -> its explanation, one sentence."""
    outcomes: Mapping[str, str] = {}
    """Outcome -> its name in reports, if its own name would mislead."""
    unread: frozenset[str] = frozenset()
    """The rules of careful readings that say that no rule read the reply."""


class Scorer(ABC, Generic[B, T]):
    """One way of judging predictions of tasks. A scorer has no state: all it needs is passed to it.

    What only some scorers can do is in `capabilities.py`: a class for each, to inherit from beside this one.
    """

    declaration: type[B]
    """The type of a benchmark.toml with this scorer."""
    sample_facts: ClassVar[type[Facts]] = Facts
    """The type of what it keeps about a sample (`SampleResult.facts`)."""
    run_facts: ClassVar[type[Facts]] = Facts
    """The type of what it keeps about a run (`Scored.facts`)."""
    words: ClassVar[Words] = Words()

    def check_declaration(self, declared: B) -> str:
        """Return what is wrong with a declaration; empty if it is valid."""
        return ""

    def columns(self, declared: B, split: str) -> list[str] | None:
        """Return the columns that scoring reads; None: all but the image."""
        return None

    @abstractmethod
    def tasks(self, declared: B, split: str, rows: Rows) -> dict[str, T]:
        """Turn rows into tasks by id; raises InputError with every problem."""

    @abstractmethod
    def score(self, run: Run[B, T]) -> Scored:
        """Judge the predictions of a run; raises a GradeError."""

    @abstractmethod
    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give; a file with other metrics is refused when it is read."""

    def summary(self, report: Report) -> Summary:
        """Return what reports show of a whole run in addition to its metrics; InputError for a damaged report."""
        return Summary()

    def made_with(self, report: Report) -> dict[str, Any]:
        """Return what reports show under "How it was made" in addition to the provenance."""
        return {}

    def marks(self, sample: SampleResult) -> Marks:
        """Return what reports show of a sample in addition to its readings; raises InputError for a damaged report."""
        return Marks()


def named(*columns: str | None) -> list[str]:
    """Return the columns that have a name, each once."""
    return list(dict.fromkeys(filter(None, columns)))


def in_group(report: Report, group: str | None) -> dict[str, list[SampleResult]]:
    """Return the samples of each observation, of those in a group (`field=value`; None: all samples)."""
    return by_observation(sample for sample in report.samples if group is None or group in sample.labels())


def mean_credit(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
    """Return the mean credit of the scored samples; None if none is scored."""
    credits_ = [r.points for s in members if (r := s.reading(reading)).is_scored]
    return sum(credits_) / len(credits_) if credits_ else None


MISSING_RULE = "missing"
"""The rule of a reading without a prediction."""


def missing_reading(outcome: Outcome) -> Reading:
    """Return the reading of a missing prediction, under `--missing wrong`."""
    return Reading(outcome=outcome, credit=0, detail="there is no prediction", rule=MISSING_RULE)
