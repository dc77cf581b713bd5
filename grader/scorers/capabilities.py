"""What only some scorers can do. Each class is one capability: a scorer that has it inherits from the class.

The core calls a capability with `of`, for example `HasPrompts.of(scorer).turns(...)`. If the scorer does not have it,
`of` returns an instance of the class itself: its methods are the defaults.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar, Self

import msgspec

from grader.errors import UsageError
from grader.models.prompt import IMAGE, Asking, Sampling, Turn, render
from grader.results import READINGS
from grader.scorers import aggregates
from grader.scorers.interface import Observe, OwnFile, Scored, in_group, mean_credit
from grader.scorers.pairing import Compared, NothingPairedError, Side
from grader.statistics.paired import Difference, difference

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from grader.data.tables import Rows
    from grader.predictions.file import PredictionFile
    from grader.results import Outcome, ReadingName, Report, SampleResult
    from grader.scorers.asking import SampleScorer
    from grader.scorers.interface import AnyRun, Earlier


class Capability:
    """The base of all capabilities."""

    @classmethod
    def of(cls, scorer: object) -> Self:
        """Return the scorer if it has this capability, else an instance with the defaults."""
        return scorer if isinstance(scorer, cls) else cls()


class HasOwnData(Capability):
    """Reads data in a form that only this scorer knows, or that prediction files carry."""

    def own_rows(self, declared: Any, split: str, given: Path | None) -> Rows | None:
        """Load rows in a format that only this scorer reads; None: the rows have a common format.

        `given` is the path of `--data`. Raises InputError, UsageError, DataUnavailableError.
        """
        return None

    def carried(self, file: PredictionFile, declared: Any) -> Rows | None:
        """Return the rows that are part of the prediction file; None if it has none."""
        return None

    def notes(self, declared: Any, rows: Rows) -> list[str]:
        """Return what a reader of the report must know about the data."""
        return []


class HasUnits(Capability):
    """Judges several tasks together, as one unit: `--id`, `--limit` and reports treat them as one item."""

    def complete(
        self, declared: Any, tasks: dict[str, Any], predicted: Iterable[str]
    ) -> tuple[dict[str, Any], list[str]]:
        """Add the tasks that have predictions but are missing in the data; return all tasks, and notes."""
        return tasks, []

    def tasks_to_ask(self, declared: Any, tasks: dict[str, Any]) -> dict[str, Any]:
        """Return all tasks to ask a model about, including those that are missing in the data."""
        return tasks

    def unit_outcome(self, members: Sequence[SampleResult], reading: ReadingName) -> Outcome | None:
        """Return the outcome of one round of a unit's tasks; None: each sample has its own outcome."""
        return None


class HasPrompts(Capability):
    """Knows how a model is asked about a task; without it, the benchmark or the user must give a template."""

    modes: ClassVar[Mapping[str, str]] = {}
    """Ways to ask the model about a task: name -> description; the first is the default."""
    usual_sampling: ClassVar[Sampling] = Sampling()
    """The sampling settings of the official runs, unless the declaration gives others."""

    def turns(self, declared: Any, task: Any, asking: Asking) -> Sequence[Turn]:
        """Return the requests about a task; raises UsageError, InputError."""
        if asking.template is None and not declared.inference.prompt:
            raise UsageError(
                f"{declared.id} has no prompt for its tasks: add one under [inference] in its "
                "benchmark.toml, or give a template with --prompt FILE."
            )
        return [self.from_template(declared, task, asking, Turn(text=lambda _: ""))]

    def from_template(self, declared: Any, task: Any, asking: Asking, usual: Turn) -> Turn:
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

    def prompt_values(self, declared: Any, task: Any) -> dict[str, Any]:
        """Return the names that a prompt template can use: the row's columns and the task's own fields."""
        row = {name: value for name, value in task.row.items() if name != declared.columns.image}
        listed = "\n".join(f"{letter}. {text}" for letter, text in task.options.items())
        return {**row, "question": task.text, "options": dict(task.options), "options_text": listed, "image": IMAGE}

    def demonstrations(self, declared: Any, split: str, given: Path | None) -> Mapping[str, list[Mapping[str, Any]]]:
        """Return demonstrations for prompts, by subject; empty if the benchmark has none; raises a GradeError."""
        return {}


class HasOptions(Capability):
    """Takes options that not every scorer takes."""

    options: ClassVar[frozenset[str]] = frozenset()
    """The fields of `Options` that this scorer accepts and not every scorer does."""

    def rescore(self, earlier: Earlier[Any]) -> Scored:
        """Score an earlier run again, with the options given now; raises UsageError, InputError."""
        report = earlier.existing()
        if not report.samples:
            raise UsageError(
                f"--score-only: the data of {earlier.split} has no answers, so there is nothing to score again."
            )
        return Scored(samples=report.samples)


class HasOwnFile(Capability):
    """Writes an additional file beside the results (`Scored.write_own`), and can read it."""

    own_file: ClassVar[str] = ""
    """Ending of that file; empty: no such file."""

    def read_own_file(self, report: Report, path: Path) -> OwnFile:
        """Read the scorer's own file of a run."""
        return OwnFile()


class RunsPrograms(Capability):
    """Turns predictions into programs that are executed."""

    def sample_scorer(self, run: AnyRun) -> SampleScorer | None:
        """Return a scorer of single samples, call by call; None: `score` can be used for that.

        `run` has all tasks and no predictions.
        """
        return None

    def limited(self, task: Any, given: Mapping[str, float]) -> Any:
        """Return a task with other limits (`timeout`, `memory`, `wall`); raises UsageError."""
        raise UsageError(f"{', '.join(given)}: this benchmark executes nothing, so its tasks have no limits.")

    def references(self, declared: Any, tasks: Mapping[str, Any]) -> dict[str, str]:
        """Return task id -> a prediction that is its reference solution; the tasks have all columns."""
        return {}

    def outside_careful(self, run: AnyRun) -> list[str]:
        """Return notes on the run's tasks that the careful reading does not judge, whatever is predicted."""
        return []


class KnowsMetrics(Capability):
    """Knows its metrics before scoring, so that a gate on another one is refused at once."""

    signed_metrics: ClassVar[frozenset[str]] = frozenset()
    """The metrics that can be below 0."""

    def metric_names(self, run: AnyRun) -> Sequence[str]:
        """Return the names of the metrics that the run will have, in the groups of its tasks; empty: unknown."""
        return ()

    def why_not(self, name: str, run: AnyRun) -> str:
        """Return why a run will not have a metric, after a space; empty if the scorer has no such metric."""
        return ""

    def would_have(self, report: Report, name: str, group: str | None) -> bool:
        """Whether a report would have this metric if all its samples had been scored."""
        return report.metric(name) is not None or report.metric(name, "careful") is not None

    def how_to_get(self, name: str, report: Report) -> str:
        """Return advice on how to get a metric that the report does not have; empty if it cannot be had."""
        return ""


class Compares(Capability):
    """Knows how its metrics are compared between two runs; without it, the samples' credits are compared."""

    @classmethod
    def of(cls, scorer: object) -> Compares:
        """Return the scorer if it has this capability, else a comparison of the samples' credits."""
        return scorer if isinstance(scorer, Compares) else _ByCredit()

    def observe(self, name: str) -> Observe | None:
        """Return the function that gives an observation's value in a metric; None: the metric is not a mean."""
        return mean_credit

    def is_compared(self, name: str, report: Report) -> bool:
        """Whether a difference in this metric of a report can be tested."""
        return self.observe(name) is not None or aggregates.macro_values(name, report, "careful", None) is not None

    def observations(
        self, report: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> dict[str, float | None]:
        """Return the value of each observation, in [0, 1] and in the report's order; None if it is unscored.

        Raises KeyError for a metric that is not a mean of observations.
        """
        macro = aggregates.macro_values(name, report, reading, group)
        if macro is not None:
            return {**macro}
        observe = self.observe(name)
        if observe is None:
            raise KeyError(name)
        return {unit: observe(members, reading) for unit, members in in_group(report, group).items()}

    def compare(self, before: Side, after: Side, name: str, group: str | None = None) -> Compared:
        """Compare one metric that both sides have; raises NothingPairedError if they share no observation."""
        first, second = (self.observations(side.report, name, side.reading, group) for side in (before, after))
        was, now, moved = _paired(first, second, after.report)
        return Compared(name=name, reading=after.reading, group=group, before=was, after=now, difference=moved)


class _ByCredit(Compares):
    """Compares the credits of samples, for a scorer that does not say how its metrics are compared."""

    def is_compared(self, name: str, report: Report) -> bool:
        """Whether the metric is what is compared: the mean of the credits."""
        for reading in READINGS:
            metric = report.metric(name, reading)
            known = [value for value in self.observations(report, name, reading).values() if value is not None]
            mean = 100 * math.fsum(known) / (len(known) or 1)
            if metric is not None and metric.value is not None and not math.isclose(metric.value, mean, abs_tol=1e-6):
                return False
        return True


def _paired(
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
