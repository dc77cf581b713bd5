"""The interface of scorers. A scorer is one way of judging predictions of tasks.

A scorer turns rows into tasks, predictions into samples with two readings, and samples into metrics. It pairs two runs
for a comparison, and provides what reports show of a task, a sample and a run. No code outside `grader.scorers`
depends on which scorer it uses. To add one, subclass `Scorer` and register it: in `registry.py`, or in another
package as an entry point of the group `grade.scorers`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from grader.benchmark import Benchmark
from grader.errors import UsageError
from grader.models.prompt import IMAGE, Asking, Sampling, Turn, render
from grader.observer import Observer
from grader.options import Options
from grader.predictions.file import PredictionFile
from grader.predictions.outcomes import Oddities
from grader.results import (
    READINGS,
    IntervalMethod,
    JudgeProvenance,
    Metric,
    Outcome,
    Reading,
    ReadingName,
    Report,
    SampleResult,
    SandboxProvenance,
    by_observation,
)
from grader.scorers.pairing import Compared, NothingPairedError
from grader.statistics.paired import Difference, difference
from grader.task import Task

if TYPE_CHECKING:
    from grader.data.tables import Rows
    from grader.scorers.asking import SampleScorer

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
    settings: msgspec.Struct
    """The scorer's own settings, of the type `Scorer.settings`."""
    observer: Observer
    oddities: Oddities = Oddities()
    """Server failures and truncated answers among the predictions; see `grader.scorers.oddities.marked`."""


class NoSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a scorer without settings."""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """The output of a scorer."""

    samples: list[SampleResult]
    metrics: list[Metric]
    facts: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """Data of the run that the scorer stores in the results; see `results.write_facts`."""
    notes: list[str] | None = None
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
    settings: msgspec.Struct


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
    facts: list[tuple[str, str]] = []
    """(Name, value); a long value is shown as text."""
    official: list[tuple[str, str | bool | None]] = []
    """(Name, value) pairs that the official reading found; None: not judged."""
    careful: list[tuple[str, str | bool | None]] = []
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


class Scorer(ABC, Generic[B, T]):
    """One way of judging predictions of tasks. A scorer has no state: all it needs is passed to it."""

    declaration: type[B]
    """The type of a benchmark.toml with this scorer."""
    options: ClassVar[frozenset[str]] = frozenset()
    """The fields of `Options` that this scorer accepts and not every scorer does."""
    settings: ClassVar[type[msgspec.Struct]] = NoSettings
    """The scorer's own settings, given with `--set NAME=VALUE`; each field needs a default."""
    whole_units: ClassVar[bool] = False
    """Whether the tasks of a unit belong together: `--id`, `--limit` and reports treat them as one item."""
    unread_rules: ClassVar[frozenset[str]] = frozenset()
    """The rules of careful readings that say that no rule read the reply."""
    own_file: ClassVar[str] = ""
    """Ending of the file that the scorer writes beside the results and reads again; empty: no such file."""
    modes: ClassVar[Mapping[str, str]] = {}
    """Ways to ask the model about a task: name -> description; the first is the default."""
    usual_sampling: ClassVar[Sampling] = Sampling()
    """The sampling settings of the official runs, unless the declaration gives others."""
    runs_programs: ClassVar[bool] = False
    """Whether predictions become programs that are executed."""
    signed_metrics: ClassVar[frozenset[str]] = frozenset()
    """The metrics that can be below 0."""
    glossary: ClassVar[Mapping[str, str]] = {}
    """Metric or rule -> its explanation, one sentence that reports show."""
    outcome_names: ClassVar[Mapping[str, str]] = {}
    """Outcome -> its name in reports, if its own name would mislead."""

    # --- data -----------------------------------------------------------------------------------------------------

    def check_declaration(self, declared: B) -> str:
        """Return what is wrong with a declaration; empty if it is valid."""
        return ""

    def columns(self, declared: B, split: str) -> list[str] | None:
        """Return the columns that scoring reads; None: all but the image."""
        columns = declared.columns
        return named(columns.id, columns.question, columns.split, *columns.groups, columns.cluster)

    def own_rows(self, declared: B, split: str, given: Path | None) -> Rows | None:
        """Load rows in a format that only this scorer reads; None: the rows have a common format.

        `given` is the path of `--data`. Raises InputError, UsageError, DataUnavailableError.
        """
        return None

    def carried(self, file: PredictionFile, declared: B) -> Rows | None:
        """Return the rows that are part of the prediction file; None if it has none."""
        return None

    @abstractmethod
    def tasks(self, declared: B, split: str, rows: Rows) -> dict[str, T]:
        """Turn rows into tasks by id; raises InputError with every problem."""

    def complete(self, declared: B, tasks: dict[str, T], predicted: Iterable[str]) -> tuple[dict[str, T], list[str]]:
        """Add the tasks that have predictions but are missing in the data; return all tasks, and notes."""
        return tasks, []

    def notes(self, declared: B, rows: Rows) -> list[str]:
        """Return what a reader of the report must know about the data."""
        return []

    # --- inference ------------------------------------------------------------------------------------------------

    def tasks_to_ask(self, declared: B, tasks: dict[str, T]) -> dict[str, T]:
        """Return all tasks to ask a model about, including those that are missing in the data."""
        return tasks

    def sampling(self, declared: B) -> Sampling:
        """Return the sampling settings of the official runs."""
        return msgspec.structs.replace(self.usual_sampling, **declared.inference.given())

    def turns(self, declared: B, task: T, asking: Asking) -> Sequence[Turn]:
        """Return the requests about a task; raises UsageError, InputError."""
        if asking.template is None and not declared.inference.prompt:
            raise UsageError(
                f"{declared.id} has no prompt for its tasks: add one under [inference] in its "
                "benchmark.toml, or give a template with --prompt FILE."
            )
        return [self.from_template(declared, task, asking, Turn(text=lambda _: ""))]

    def from_template(self, declared: B, task: T, asking: Asking, usual: Turn) -> Turn:
        """Return a turn with the text of the user's template, else of the declaration's template, else unchanged."""
        template, name = asking.template, asking.template_name
        if template is None:
            template, name = declared.inference.prompt, f"{declared.id}/benchmark.toml: inference.prompt"
        if not template:
            return usual
        whole = template

        def text(texts: Mapping[str, str]) -> str:
            return render(whole, {**self.prompt_values(declared, task), "default": usual.text(texts)}, name)

        return msgspec.structs.replace(usual, text=text)

    def prompt_values(self, declared: B, task: T) -> dict[str, Any]:
        """Return the names that a prompt template can use: the row's columns and the task's own fields."""
        row = {name: value for name, value in task.row.items() if name != declared.columns.image}
        listed = "\n".join(f"{letter}. {text}" for letter, text in task.options.items())
        return {**row, "question": task.text, "options": dict(task.options), "options_text": listed, "image": IMAGE}

    def demonstrations(self, declared: B, split: str, given: Path | None) -> Mapping[str, list[Mapping[str, Any]]]:
        """Return demonstrations for prompts, by subject; empty if the benchmark has none; raises a GradeError."""
        return {}

    # --- scoring --------------------------------------------------------------------------------------------------

    def metric_names(self, run: Run[B, T]) -> Sequence[str]:
        """Return the names of the metrics that `score` will return, so that gates can be checked before it.

        Empty: they are unknown before scoring. If they are given, metrics must have the groups of the tasks.
        """
        return ()

    def why_not(self, name: str, run: Run[B, T]) -> str:
        """Return why a run will not have a metric, after a space; empty if the scorer has no such metric."""
        return ""

    @abstractmethod
    def score(self, run: Run[B, T]) -> Scored:
        """Judge the predictions of a run; raises a GradeError."""

    def sample_scorer(self, run: Run[B, T]) -> SampleScorer | None:
        """Return a scorer of single samples, call by call; None: `score` can be used for that.

        `run` has all tasks and no predictions.
        """
        return None

    def limited(self, task: T, given: Mapping[str, float]) -> T:
        """Return a task with other limits (`timeout`, `memory`, `wall`); raises UsageError."""
        raise UsageError(f"{', '.join(given)}: this benchmark executes nothing, so its tasks have no limits.")

    def rescore(self, earlier: Earlier[B]) -> Scored:
        """Compute the metrics of an earlier run again, with `recompute`; raises UsageError, InputError."""
        report = earlier.report
        if report is None:
            raise no_results(earlier.stem, earlier.path)
        if not report.samples:
            raise UsageError(
                f"--score-only: {earlier.split} has no public answers, so there is nothing to score again."
            )
        return Scored(samples=report.samples, metrics=self.recompute(report))

    def recompute(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give; a file with other metrics is refused when it is read.

        The metrics of a scorer that does not override this are not checked.
        """
        return report.metrics

    # --- self-test ------------------------------------------------------------------------------------------------

    def references(self, declared: B, tasks: Mapping[str, T]) -> dict[str, str]:
        """Return task id -> a prediction that is its reference solution; the tasks have all columns."""
        return {}

    # --- pairing for comparisons ----------------------------------------------------------------------------------

    def check_comparable(self, before: Report, after: Report) -> None:
        """Raise UsageError if a difference between these two reports would mean nothing."""

    def outside_careful(self, run: Run[B, T]) -> list[str]:
        """Return notes on the run's tasks that the careful reading does not judge, whatever is predicted."""
        del run
        return []

    def is_compared(self, name: str) -> bool:
        """Whether a difference in this metric can be tested."""
        return self.observe(name) is not None

    @abstractmethod
    def observe(self, name: str) -> Observe | None:
        """Return the function that gives an observation's value in a metric; None: the metric is not a mean."""

    def observations(
        self, report: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> dict[str, float | None]:
        """Return the value of each observation, in [0, 1] and in the report's order; None if it is unscored.

        Raises KeyError for a metric that is not a mean of observations.
        """
        observe = self.observe(name)
        if observe is None:
            raise KeyError(name)
        return {unit: observe(members, reading) for unit, members in in_group(report, group).items()}

    def compare(
        self, before: Report, after: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> Compared:
        """Compare one metric that both reports have; raises NothingPairedError if they share no observation."""
        first = self.observations(before, name, reading, group)
        second = self.observations(after, name, reading, group)
        was, now, moved = paired(first, second, after)
        return Compared(name=name, reading=reading, group=group, before=was, after=now, difference=moved)

    def compare_readings(self, report: Report, name: str) -> Difference:
        """Return how much higher the careful value is than the official one; raises NothingPairedError."""
        official, careful = (self.observations(report, name, reading) for reading in READINGS)
        return paired(official, careful, report)[2]

    def would_have(self, report: Report, name: str, group: str | None) -> bool:
        """Whether a report would have this metric if all its samples had been scored."""
        return report.metric(name) is not None or report.metric(name, "careful") is not None

    def how_to_get(self, name: str, report: Report) -> str:
        """Return advice on how to get a metric that the report does not have; empty if it cannot be had."""
        return ""

    # --- what reports show ----------------------------------------------------------------------------------------

    def summary(self, report: Report) -> Summary:
        """Return what reports show of a whole run in addition to its metrics; InputError for a damaged report."""
        return Summary()

    def made_with(self, report: Report) -> dict[str, Any]:
        """Return what reports show under "How it was made" in addition to the provenance."""
        return {}

    def marks(self, sample: SampleResult) -> Marks:
        """Return what reports show of a sample in addition to its readings; raises InputError for a damaged report."""
        return Marks()

    def unit_outcome(self, members: Sequence[SampleResult], reading: ReadingName) -> Outcome | None:
        """Return the outcome of one round of a unit's tasks; None: each sample has its own outcome."""
        return None

    def read_own_file(self, report: Report, path: Path) -> OwnFile:
        """Read the scorer's own file of a run."""
        return OwnFile()


def named(*columns: str | None) -> list[str]:
    """Return the columns that have a name, each once."""
    return list(dict.fromkeys(filter(None, columns)))


def paired(
    before: Mapping[str, float | None], after: Mapping[str, float | None], report: Report
) -> tuple[float, float, Difference]:
    """Return the means of the items that both sides have, in percent, and their difference; NothingPairedError."""
    pairs = {item: (a, b) for item, a in before.items() if a is not None and (b := after.get(item)) is not None}
    if not pairs:
        raise NothingPairedError
    families = {sample.cluster: sample.independent_unit for sample in report.samples}
    first, second = zip(*pairs.values(), strict=True)
    moved = difference(first, second, [families[item] for item in pairs])
    return 100 * sum(first) / len(pairs), 100 * sum(second) / len(pairs), moved


def in_group(report: Report, group: str | None) -> dict[str, list[SampleResult]]:
    """Return the samples of each observation, of those in a group (`field=value`; None: all samples)."""
    return by_observation(sample for sample in report.samples if group is None or group in sample.labels())


def mean_credit(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
    """Return the mean credit of the scored samples; None if none is scored."""
    credits_ = [r.points for s in members if (r := s.reading(reading)).is_scored]
    return sum(credits_) / len(credits_) if credits_ else None


BASELINES = "Baselines: "
"""Beginning of a note on what answers without thought would get."""
JUDGED = "A judge decided "
"""Beginning of a note on what each reading has from a judge."""
WHY_DIFFERENT = "Why the readings differ: "
"""Beginning of a note that counts the kinds of differences."""
OFFICIAL_MARK = "\N{DAGGER}"
"""Beginning of a note on the official values; reports put it beside them, too."""


def official_notes(report: Report) -> list[str]:
    """Return the notes on the official values of a report."""
    return [note for note in report.notes if note.startswith(OFFICIAL_MARK)]


MISSING_RULE = "missing"
"""The rule of a reading without a prediction."""


def missing_reading(outcome: Outcome) -> Reading:
    """Return the reading of a missing prediction, under `--missing wrong`."""
    return Reading(outcome=outcome, credit=0, detail="there is no prediction", rule=MISSING_RULE)


def no_results(stem: Path, path: Path) -> UsageError:
    """Return the error for `--score-only` without the files of an earlier run."""
    return UsageError(
        f"--score-only: there is no {stem.name}_results.json beside {path.name}; grade it once without --score-only."
    )
