"""What a scorer is: one way of judging predictions of tasks.

A scorer turns rows into tasks, predictions into samples with two readings, and samples into metrics; it pairs two runs
for a comparison, and says what reports show of a task, a sample and a run. Nothing outside `grader.scorers` asks which
scorer it has. To add one, subclass `Scorer` and register it: in `registry.py`, or as an entry point of the group
`grade.scorers` in a distribution of your own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import msgspec

from grader.benchmark import Benchmark
from grader.decisions.paired import Compared, NothingPairedError, difference
from grader.errors import UsageError
from grader.models.prompt import IMAGE, Asking, Sampling, Turn, render
from grader.observer import Observer
from grader.options import Options
from grader.predictions.file import PredictionFile
from grader.predictions.outcomes import Oddities
from grader.results import (
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
from grader.task import Task

if TYPE_CHECKING:
    from grader.data.rows import Rows
    from grader.scorers.asked import SampleScorer
    from grader.scorers.probe import Probe

B = TypeVar("B", bound=Benchmark)
T = TypeVar("T", bound=Task)

Observe = Callable[[Sequence[SampleResult], ReadingName], float | None]
"""What the samples of one observation earned, in [0, 1]; None: it is unscored."""


class Run(msgspec.Struct, Generic[B, T], frozen=True, kw_only=True):
    """What a scorer works on: the predictions of the tasks that are to be graded."""

    benchmark: B
    split: str
    protocol: str
    tasks: Mapping[str, T]
    """Those to grade, by id, in the benchmark's order."""
    predictions: Mapping[str, list[str]]
    """Task id -> raw outputs; an empty list where there is none and `--missing wrong` was given."""
    file: PredictionFile
    options: Options
    settings: msgspec.Struct
    """The scorer's own settings, of the type that it declares."""
    observer: Observer
    oddities: Oddities = Oddities()
    """Predictions that are no answers, and answers that were cut off; `grader.scorers.oddities.marked` takes them."""


class NoSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The settings of a scorer that has none."""


class Scored(msgspec.Struct, frozen=True, kw_only=True):
    """What a scorer concluded."""

    samples: list[SampleResult]
    metrics: list[Metric]
    facts: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    """What the scorer keeps of the run; see `results.write_facts`."""
    notes: list[str] | None = None
    """None where an earlier run is scored again: its notes stay."""
    intervals: IntervalMethod | None = None
    """How the intervals were made, where not as `decisions.intervals` does."""
    baselines: dict[str, dict[str, float]] = {}
    sandbox: SandboxProvenance | None = None
    judge: JudgeProvenance | None = None
    write_own: Callable[[Path], Path] | None = None
    """Writes the scorer's own file beside a path without suffix, and returns its path."""


class Earlier(msgspec.Struct, Generic[B], frozen=True, kw_only=True):
    """An earlier run that is scored again: its results file, if it has one."""

    benchmark: B
    split: str
    protocol: str
    path: Path
    """The prediction file."""
    stem: Path
    """Its path without suffix: the names of the files beside it begin so."""
    report: Report | None
    options: Options
    settings: msgspec.Struct


class TableBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A table that a report shows of a whole run."""

    title: str
    lead: str
    """One sentence on what it shows."""
    columns: list[str]
    """The first names the rows."""
    rows: list[list[str]]


class CurveBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A metric against a number, in both readings."""

    title: str
    axis: str
    """What the number is."""
    prefix: str
    """A metric's name without the number: `pass@`."""
    k: list[int]
    official: list[tuple[float | None, int]]
    """(Value in percent, observations behind it) for each number."""
    careful: list[tuple[float | None, int]]


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """What reports show of a whole run beside its metrics."""

    lines: list[str] = []
    """For the terminal."""
    tables: list[TableBlock] = []
    curve: CurveBlock | None = None


class Marks(msgspec.Struct, frozen=True, kw_only=True):
    """What reports show of one sample beside its readings."""

    kind: str = ""
    """In a word, why the readings differ."""
    facts: list[tuple[str, str]] = []
    """(Name, value); a long value is shown as text."""
    official: list[tuple[str, str | bool | None]] = []
    """(Name, value) of what the official reading found; None: not judged."""
    careful: list[tuple[str, str | bool | None]] = []
    failed_line: int | None = None
    """The line of the program, from 1, at which a test failed."""


class Program(msgspec.Struct, frozen=True, kw_only=True):
    """What was made of one prediction and executed."""

    completion: str
    """What was extracted from the output."""
    program: str
    """What was run: the completion in its task's frame, and the tests."""
    result: str
    """The official result text."""


class OwnFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a scorer's own file, beside the results, holds of a run."""

    programs: dict[str, list[Program]] = {}
    predictions: dict[str, list[str]] = {}
    problem: str = ""
    """Why nothing of it can be shown; a sentence for people."""


class Scorer(ABC, Generic[B, T]):
    """One way of judging predictions of tasks. It has no state: whatever it needs is handed to it."""

    declaration: type[B]
    """What a benchmark.toml with this scorer is read into."""
    options: ClassVar[frozenset[str]] = frozenset()
    """Those of `Options` that not every scorer takes, and this one does."""
    settings: ClassVar[type[msgspec.Struct]] = NoSettings
    """Settings of its own, given with `--set NAME=VALUE`; each field needs a default."""
    whole_units: ClassVar[bool] = False
    """Whether the tasks of a unit belong together: `--id`, `--limit` and reports take them as one item."""
    own_file: ClassVar[str] = ""
    """Ending of the file that it writes beside the results and reads again; empty: none."""
    modes: ClassVar[Mapping[str, str]] = {}
    """Ways to ask a task, each with a description; the first is the default."""
    usual_sampling: ClassVar[Sampling] = Sampling()
    """How the official runs sample, where the declaration says nothing else."""
    runs_programs: ClassVar[bool] = False
    glossary: ClassVar[Mapping[str, str]] = {}
    """Metric or rule -> what it is, in a sentence that reports show."""
    outcome_names: ClassVar[Mapping[str, str]] = {}
    """Outcome -> what reports call it, where its own name would mislead."""
    """Whether predictions become programs that are executed."""

    # --- data -----------------------------------------------------------------------------------------------------

    def check_declaration(self, declared: B) -> str:
        """Return what is wrong with a declaration; empty: nothing."""
        del declared
        return ""

    def columns(self, declared: B, split: str) -> list[str] | None:
        """Return the columns that scoring reads; None: all but the image."""
        del split
        names = (declared.columns.id, declared.columns.question, declared.columns.split, *declared.columns.groups)
        return [name for name in names if name]

    def own_rows(self, declared: B, split: str, given: Path | None) -> Rows | None:
        """Load rows that are in a format of the scorer's own; None: they are in one that everybody reads.

        `given` is the path of `--data`. Raises InputError, UsageError, DataUnavailableError.
        """
        del declared, split, given
        return None

    def carried(self, file: PredictionFile, declared: B) -> Rows | None:
        """Return the rows that came with the predictions; None: there are none."""
        del file, declared
        return None

    @abstractmethod
    def tasks(self, declared: B, split: str, rows: Rows) -> dict[str, T]:
        """Turn rows into tasks by id; raises InputError with every problem."""

    def complete(self, declared: B, tasks: dict[str, T], predicted: Iterable[str]) -> tuple[dict[str, T], list[str]]:
        """Add the tasks that the data leaves out and the predictions have; return them all, and notes."""
        del declared, predicted
        return tasks, []

    def notes(self, declared: B, rows: Rows) -> list[str]:
        """Return what a reader must know about the data."""
        del declared, rows
        return []

    # --- inference ------------------------------------------------------------------------------------------------

    def tasks_to_ask(self, declared: B, tasks: dict[str, T]) -> dict[str, T]:
        """Return all tasks that a model is to be asked, with those that the data leaves out."""
        del declared
        return tasks

    def sampling(self, declared: B) -> Sampling:
        """Return how the official runs sample."""
        return msgspec.structs.replace(self.usual_sampling, **declared.inference.given())

    def turns(self, declared: B, task: T, asking: Asking) -> Sequence[Turn]:
        """Return the requests about a task; raises UsageError, InputError."""
        if asking.template is None and not declared.inference.prompt:
            raise UsageError(
                f"{declared.id} does not say how its tasks are asked: add a prompt under [inference] in its "
                "benchmark.toml, or give a template with --prompt FILE."
            )
        return [self.from_template(declared, task, asking, Turn(text=lambda _: ""))]

    def from_template(self, declared: B, task: T, asking: Asking, usual: Turn) -> Turn:
        """Return a turn with its text from the user's template, else from the declaration's, else as it is."""
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
        """Return what a prompt template may use: the row's columns, and the task's own fields."""
        row = {name: value for name, value in task.row.items() if name != declared.columns.image}
        listed = "\n".join(f"{letter}. {text}" for letter, text in task.options.items())
        return {**row, "question": task.text, "options": dict(task.options), "options_text": listed, "image": IMAGE}

    def demonstrations(self, declared: B, split: str, given: Path | None) -> Mapping[str, list[Mapping[str, Any]]]:
        """Return demonstrations for prompts by subject, where the benchmark has some; raises a GradeError."""
        del declared, split, given
        return {}

    # --- scoring --------------------------------------------------------------------------------------------------

    @abstractmethod
    def score(self, run: Run[B, T]) -> Scored:
        """Judge the predictions of a run; raises a GradeError."""

    def sample_scorer(self, run: Run[B, T]) -> SampleScorer | None:
        """Return what scores samples one by one, call after call; None: `score` does, as it is.

        `run` has all tasks and no predictions.
        """
        del run
        return None

    @abstractmethod
    def rescore(self, earlier: Earlier[B]) -> Scored:
        """Compute the metrics of an earlier run again; raises UsageError, InputError."""

    # --- self-test ------------------------------------------------------------------------------------------------

    def probes(self, declared: B, tasks: Mapping[str, T], protocol: str) -> Iterable[Probe]:
        """Return predictions whose verdict is known; `grade selftest` grades them. The tasks have all columns."""
        del declared, tasks, protocol
        return ()

    def recount(self, report: Report) -> dict[tuple[str, ReadingName], float]:
        """Compute metrics of a whole report again from its samples, in percent, by other means than `score` does."""
        del report
        return {}

    # --- pairing for comparisons ----------------------------------------------------------------------------------

    def check_comparable(self, before: Report, after: Report) -> None:
        """Raise UsageError where a difference of these two would mean nothing."""

    def is_compared(self, name: str) -> bool:
        """Whether a difference in this metric can be tested."""
        return self.observe(name) is not None

    @abstractmethod
    def observe(self, name: str) -> Observe | None:
        """Return what gives an observation's value in a metric; None: the metric is no mean of observations."""

    def observations(
        self, report: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> dict[str, float | None]:
        """Return the value of each observation, in [0, 1] and in the report's order; None: it is unscored.

        Raises KeyError for a metric that is no mean of observations.
        """
        observe = self.observe(name)
        if observe is None:
            raise KeyError(name)
        return {unit: observe(members, reading) for unit, members in in_group(report, group).items()}

    def compare(
        self, before: Report, after: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> Compared:
        """Compare one metric that both reports have; raises NothingPairedError where no observation is in both."""
        first = self.observations(before, name, reading, group)
        second = self.observations(after, name, reading, group)
        pairs = [(a, b) for item, a in first.items() if a is not None and (b := second.get(item)) is not None]
        if not pairs:
            raise NothingPairedError
        moved = difference([a for a, _ in pairs], [b for _, b in pairs])
        means = [100 * sum(side) / len(pairs) for side in zip(*pairs, strict=True)]
        return Compared(name=name, reading=reading, group=group, before=means[0], after=means[1], difference=moved)

    def would_have(self, report: Report, name: str, group: str | None) -> bool:
        """Whether a report would have this metric if all its samples had been scored."""
        del group
        return report.metric(name) is not None or report.metric(name, "careful") is not None

    def how_to_get(self, name: str, report: Report) -> str:
        """Say how a report gets a metric that it does not have; empty: it cannot."""
        del name, report
        return ""

    # --- what reports show ----------------------------------------------------------------------------------------

    def summary(self, report: Report) -> Summary:
        """Return what reports show of a whole run beside its metrics; raises InputError for a damaged report."""
        del report
        return Summary()

    def made_with(self, report: Report) -> dict[str, Any]:
        """Return what reports show under "How it was made" beside the provenance."""
        del report
        return {}

    def marks(self, sample: SampleResult) -> Marks:
        """Return what reports show of a sample beside its readings; raises InputError for a damaged report."""
        del sample
        return Marks()

    def unit_outcome(self, members: Sequence[SampleResult], reading: ReadingName) -> Outcome | None:
        """Return what one round of a unit's tasks came to; None: the samples speak for themselves."""
        del members, reading
        return None

    def read_own_file(self, report: Report, path: Path) -> OwnFile:
        """Read the scorer's own file of a run."""
        del report, path
        return OwnFile()


def in_group(report: Report, group: str | None) -> dict[str, list[SampleResult]]:
    """Return the samples of each observation, of those in a group (`field=value`; None: all)."""
    return by_observation(sample for sample in report.samples if group is None or group in sample.labels())


def mean_credit(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
    """Return what the scored ones of these samples earned on average; None where there are none."""
    credits_ = [r.credit for s in members if (r := s.reading(reading)).outcome is not Outcome.UNSCORED]
    return sum(credits_) / len(credits_) if credits_ else None


MISSING_RULE = "missing"
"""The rule of a reading whose prediction is not there."""


def missing_reading(outcome: Outcome) -> Reading:
    """Return the reading of a prediction that is not there, under `--missing wrong`."""
    return Reading(outcome=outcome, credit=0, detail="there is no prediction", rule=MISSING_RULE)


def no_results(stem: Path, path: Path) -> UsageError:
    """Return the error for `--score-only` without the files of an earlier run."""
    return UsageError(
        f"--score-only: there is no {stem.name}_results.json beside {path.name}; grade it once without --score-only."
    )
