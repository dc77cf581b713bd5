"""The interface of scorers. A scorer is one way of judging predictions of tasks.

A scorer turns rows into tasks, predictions into samples with two readings, and samples into metrics; a report shows its
tasks as they are. No code outside `grader.scorers` depends on which scorer it uses. To add one, subclass `Scorer`
and register it: in `registry.py`, or in another package as an entry point of the group `grade.scorers`; all that it
needs can be imported from here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from grader.benchmark import Benchmark, Columns, Protocol, Settings, distinct
from grader.errors import InputError, UsageError
from grader.models.prompt import PromptOptions, Sampling, Turn
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
    facts_as,
)
from grader.results.groups import in_group
from grader.scorers import aggregates
from grader.scorers.means import Observe, SampleValue, credit, each_observation, mean_credit, metric_rows
from grader.scorers.oddities import CAUSES, with_families, with_groups, with_oddities
from grader.scorers.pairing import MetricComparison, Side, compare_paired, without_observations
from grader.scorers.prompting import check_question, prompt_values, turn_from_template
from grader.task import Block, Task

if TYPE_CHECKING:
    from grader.data.tables import Rows
    from grader.scorers.sample_scorer import SampleScorer

__all__ = [
    "Benchmark",
    "Block",
    "Columns",
    "CurveBlock",
    "EarlierRun",
    "ExecutedProgram",
    "Facts",
    "InputError",
    "Metric",
    "MetricComparison",
    "Note",
    "Observe",
    "Outcome",
    "PromptOptions",
    "Protocol",
    "Reading",
    "ReadingName",
    "Report",
    "Run",
    "SampleDetails",
    "SampleResult",
    "SampleValue",
    "Sampling",
    "Scorer",
    "ScorerFile",
    "ScorerOutput",
    "Settings",
    "Side",
    "Summary",
    "TableBlock",
    "Task",
    "Turn",
    "UsageError",
    "Words",
    "credit",
    "distinct",
    "each_observation",
    "facts_as",
    "in_group",
    "mean_credit",
    "metric_rows",
    "missing_reading",
    "prompt_values",
    "turn_from_template",
]

B = TypeVar("B", bound=Benchmark)
T = TypeVar("T", bound=Task)


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
    """Server failures and truncated answers among the predictions."""

    def replies(self) -> Iterator[tuple[T, int, str | None]]:
        """Yield (task, number of the sample, prediction).

        A task without predictions has None, as often as the other tasks have a prediction.
        """
        rounds = max(map(len, self.predictions.values()), default=0) or 1
        for qid, texts in self.predictions.items():
            for number, text in enumerate(texts or [None] * rounds):
                yield self.tasks[qid], number, text

    def missing(self) -> Iterator[tuple[T, int]]:
        """Yield (task, number of the sample) of each missing prediction."""
        return ((task, number) for task, number, text in self.replies() if text is None)

    def with_task_data(self, samples: Iterable[SampleResult]) -> list[SampleResult]:
        """Return samples with the groups and the family (`columns.cluster`) of their tasks, and with oddities.

        Oddities of predictions can change the careful reading: see `grader.scorers.oddities.with_oddities`.
        """
        return with_families(
            with_oddities(with_groups(samples, self.tasks), self.oddities), self.tasks, self.benchmark.columns
        )


class ScorerOutput(msgspec.Struct, frozen=True, kw_only=True):
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
    judge_version: int | msgspec.UnsetType = msgspec.UNSET
    """See `Report.judge_version`."""
    write_scorer_file: Callable[[Path], Path] | None = None
    """Writes the scorer's own file beside a path without suffix; returns the path of that file."""


AnyRun = Run[Any, Any]


class EarlierRun(msgspec.Struct, Generic[B], frozen=True, kw_only=True):
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

    def require_report(self) -> Report:
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
    facts: dict[str, Any] = {}
    """Shown under "How it was made", in addition to the provenance."""
    tables: list[TableBlock] = []
    curve: CurveBlock | None = None


class SampleDetails(msgspec.Struct, frozen=True, kw_only=True):
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
    unit: Mapping[ReadingName, Outcome] = {}
    """Reading -> outcome of the sample's unit in this round, if several tasks are judged together."""
    failed_test: str = ""
    """The source of the test that failed in the official run."""
    failed_line: int | None = None
    """The line of the program, counted from 1, at which a test failed."""


class ExecutedProgram(msgspec.Struct, frozen=True, kw_only=True):
    """The program that was built from one prediction and executed."""

    completion: str
    """The code that was extracted from the output."""
    program: str
    """The code that ran: the completion within its task's frame, and the tests."""
    result: str
    """The official result text."""


class ScorerFile(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a scorer's own file, which lies beside the results."""

    programs: dict[str, list[ExecutedProgram]] = {}
    predictions: dict[str, list[str]] = {}
    problem: str = ""
    """Why its content cannot be shown, as a sentence; empty if it can."""


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """How reports name and explain the metrics, rules and outcomes of a scorer."""

    glossary: Mapping[str, str] = {}
    """Metric or rule -> its explanation, one sentence."""
    outcomes: Mapping[str, str] = {}
    """Outcome -> its name in reports, if its own name would mislead."""
    causes: Mapping[str, str] = msgspec.field(default_factory=CAUSES.copy)
    """Rule of an unscored reading -> why it is unscored; with another rule, the sandbox or the grader itself failed."""
    unread: frozenset[str] = frozenset()
    """The rules of careful readings that say that no rule read the reply."""


class Scorer(ABC, Generic[B, T]):
    """One way of judging predictions of tasks. A scorer has no state: all it needs is passed to it.

    It must have a `declaration`, `tasks` and `score`; all else has a default.
    """

    declaration: type[B]
    """The type of a benchmark.toml with this scorer."""
    sample_facts: ClassVar[type[Facts]] = Facts
    """The type of what it keeps about a sample (`SampleResult.facts`)."""
    run_facts: ClassVar[type[Facts]] = Facts
    """The type of what it keeps about a run (`ScorerOutput.facts`)."""
    sample_values: ClassVar[Mapping[str, SampleValue]] = {"accuracy": credit}
    """Metric -> the value of a scored sample in it. A scorer whose metrics are no means of these has its own
    `metrics`, `metric_names` and `observe`."""
    words: ClassVar[Words] = Words()
    options: ClassVar[frozenset[str]] = frozenset()
    """The options that it accepts and not every scorer does: fields of `Options`, or `shots`."""
    modes: ClassVar[Mapping[str, str]] = {}
    """Ways to ask a model about a task: name -> description; the first is the default."""
    usual_sampling: ClassVar[Sampling] = Sampling()
    """The sampling settings of the official runs, unless the declaration gives others."""
    signed_metrics: ClassVar[frozenset[str]] = frozenset()
    """The metrics that can be below 0."""
    file_ending: ClassVar[str] = ""
    """Ending of the file that it writes beside the results (`ScorerOutput.write_scorer_file`); empty: none."""
    has_units: ClassVar[bool] = False
    """Whether several tasks are judged together: `--id`, `--limit` and reports treat them as one item."""
    reads_whole_replies: ClassVar[bool] = False
    """Whether the careful reading is of the whole reply where a log's filter made the prediction of it."""
    runs_programs: ClassVar[bool] = False
    """Whether predictions become programs that are executed."""

    # --- data -----------------------------------------------------------------------------------------------------

    def load_scorer_rows(self, declared: B, split: str, source: Path | PredictionFile | None) -> Rows | None:
        """Load rows in a format that only this scorer reads; None: they have a common format, or there are none.

        `source` is the path of `--data`, or None for the declared data; or it is a prediction file, which may have the
        questions beside the predictions. Raises InputError, UsageError, DataUnavailableError.
        """
        return None

    @abstractmethod
    def tasks(self, declared: B, split: str, rows: Rows) -> dict[str, T]:
        """Turn rows into tasks by id; raises InputError with every problem."""

    def complete(
        self, declared: B, rows: Rows, tasks: dict[str, T], predicted: Iterable[str] | None
    ) -> tuple[dict[str, T], list[str]]:
        """Return the tasks, with those that are made from them (rotated options), and notes on the data for reports.

        `predicted`: the ids that have predictions; None: add all tasks that a model can be asked about.
        """
        return tasks, []

    def turns(self, declared: B, task: T, prompt_options: PromptOptions) -> Sequence[Turn]:
        """Return the requests with which a model is asked about a task; raises UsageError, InputError.

        Without a template, the question is asked as it is, with its options.
        """
        values = prompt_values(declared, task)
        question = "\n".join(filter(None, (task.text, values["options_text"])))
        check_question(declared, prompt_options, question)
        turn_without_template = Turn(text=lambda _: question)
        return [turn_from_template(declared, prompt_options, turn_without_template, values)]

    # --- scoring --------------------------------------------------------------------------------------------------

    @abstractmethod
    def score(self, run: Run[B, T]) -> ScorerOutput:
        """Judge the predictions of a run; raises a GradeError."""

    def rescore(self, earlier: EarlierRun[B]) -> ScorerOutput:
        """Score an earlier run again, with the options given now; raises UsageError, InputError."""
        report = earlier.require_report()
        if report.provenance.settings != earlier.benchmark.settings_in(earlier.protocol):
            raise UsageError(
                f"The results of {earlier.path.name} were made with other [settings] in benchmark.toml. Grade again "
                "without --score-only."
            )
        if not report.samples:
            raise UsageError(
                f"--score-only: the data of {earlier.split} has no answers, so there is nothing to score again."
            )
        return ScorerOutput(samples=report.samples)

    def sample_scorer(self, run: Run[B, T]) -> SampleScorer | None:
        """Return a scorer of single samples, call by call; None: `score` can be used for that.

        `run` has all tasks and no predictions.
        """
        return None

    def unjudged_task_notes(self, run: Run[B, T]) -> list[str]:
        """Return notes on the run's tasks that the careful reading does not judge, whatever is predicted."""
        return []

    # --- metrics --------------------------------------------------------------------------------------------------

    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give; a file with other metrics is refused when it is read."""
        return [
            row
            for name, value in self.sample_values.items()
            for row in metric_rows(report.samples, name, partial(each_observation, value=value))
        ]

    def metric_names(self, run: Run[B, T]) -> Sequence[str]:
        """Return the metrics that a run will have, before it is scored; empty: unknown."""
        return tuple(self.sample_values)

    def missing_metric_hint(self, name: str, source: Run[B, T] | Report) -> str:
        """Return why a run or a report does not have a metric, or how to get it, after a space; empty if unknown."""
        return ""

    def would_report_metric(self, report: Report, name: str, group: str | None) -> bool:
        """Whether a report would have this metric if all its samples had been scored."""
        return report.metric(name) is not None or report.metric(name, "careful") is not None

    def observe(self, name: str) -> Observe | None:
        """Return the function that gives an observation's value in a metric; None: the metric is not a mean."""
        value = self.sample_values.get(name)
        return None if value is None else partial(mean_credit, value=value)

    def observations(
        self, report: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> dict[str, float | None] | None:
        """Return observation -> value in [0, 1] (None: unscored), in the report's order.

        For a metric that is not a mean of observations, return None.
        """
        observe = self.observe(name)
        if observe is None:
            return None
        return {unit: observe(members, reading) for unit, members in in_group(report, group).items()}

    def compare(self, before: Side, after: Side, name: str, group: str | None = None) -> MetricComparison | None:
        """Compare one metric that both sides have; None: a difference in this metric cannot be tested.

        Raises NothingPairedError if the sides share no observation.
        """
        # None: the name is that of another metric.
        main_metric = aggregates.compare_main_metric(before, after, name, group)
        if main_metric is not None:
            return main_metric
        first, second = (self.observations(side.report, name, side.reading, group) for side in (before, after))
        if first is None or second is None:
            return None
        unpaired = {item for item in first | second if first.get(item) is None or second.get(item) is None}
        if unpaired:
            # A weighted mean gives each observation a value that depends on the others: only the pairs may count.
            sides = (Side(without_observations(side.report, unpaired), side.reading) for side in (before, after))
            first, second = (self.observations(side.report, name, side.reading, group) or {} for side in sides)
        return compare_paired(first, second, after, name, group)

    # --- reports --------------------------------------------------------------------------------------------------

    def summary(self, report: Report) -> Summary:
        """Return what reports show of a whole run in addition to its metrics; InputError for a damaged report."""
        return Summary()

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        """Return what reports show of a sample in addition to its readings."""
        return SampleDetails()

    def read_scorer_file(self, report: Report, path: Path) -> ScorerFile:
        """Read the scorer's own file of a run."""
        return ScorerFile()


MISSING_RULE = "missing"
"""The rule of a reading without a prediction."""


def missing_reading(outcome: Outcome) -> Reading:
    """Return the reading of a missing prediction, under `--missing wrong`."""
    return Reading(outcome=outcome, credit=0, detail="there is no prediction", rule=MISSING_RULE)
