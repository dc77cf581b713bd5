"""What the options of a run choose: the benchmark, its scorer, the split and the protocol; and the tasks of these.

Whoever needs a benchmark without predictions (`infer`, a pool, `grade show`) takes it from here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.benchmark import Benchmark
from grader.data.tables import ColumnSet, Rows
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.options import Options
from grader.scorers import declarations, registry
from grader.scorers.registry import AnyScorer
from grader.scorers.rows import rows_of, tasks_of

if TYPE_CHECKING:
    from pathlib import Path

    from grader.task import Task

SCORER_SPECIFIC_OPTIONS = ("k", "judge_model", "judge_base_url", "judge_replies")
"""Options that not every scorer supports. If a scorer does not, giving them is an error."""


class Setup(msgspec.Struct, frozen=True, kw_only=True):
    """What the options of a run choose."""

    options: Options
    declared: Benchmark
    scorer: AnyScorer
    split: str
    protocol: str

    def rows(self, wanted: ColumnSet | None = None) -> Rows:
        """Read the rows, with the columns that scoring reads, or with those that are `wanted`. Raises a GradeError."""
        return rows_of(self.declared, self.split, self.protocol, self.options.data, self.scorer, wanted=wanted)

    def has_tasks_in(self, path: Path) -> bool:
        """Whether a file can be given as `--data`."""
        try:
            rows = rows_of(self.declared, self.split, self.protocol, path, self.scorer)
            tasks_of(self.scorer, self.declared, self.split, rows.scoring_rows())
        except (InputError, UsageError, DataUnavailableError):
            return False
        return True


def make_setup(options: Options) -> Setup:
    """Return what options choose; raises UsageError, InputError. The only place where a run's declaration is parsed."""
    declared = declarations.load(options.benchmark)
    scorer = registry.scorer(declared.scoring)
    _check_options(options, declared, scorer)
    split, _ = declared.split(options.split)
    protocol = declared.resolve_protocol(options.protocol)
    return Setup(options=options, declared=declared, scorer=scorer, split=split, protocol=protocol)


def accepted_options(scorer: AnyScorer, declared: Benchmark) -> frozenset[str]:
    """Return the options of `SCORER_SPECIFIC_OPTIONS` (and of `grade infer`) that this benchmark takes.

    If the declaration can have a prompt for a judge and has none, the options of a judge are not among them.
    """
    options = scorer.options
    lacks_prompt = getattr(declared, "judge_prompt", "") is None
    return frozenset(name for name in options if not name.startswith("judge_")) if lacks_prompt else options


def _check_options(options: Options, declared: Benchmark, scorer: AnyScorer) -> None:
    """Raise UsageError for options that the benchmark does not use, instead of ignoring them."""
    for name in SCORER_SPECIFIC_OPTIONS:
        if getattr(options, name) and name not in accepted_options(scorer, declared):
            spelled = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{spelled}: the benchmark {declared.id} (-b) does not use it; leave it out.")


def load_tasks(setup: Setup, *, with_generated: bool = False) -> dict[str, Task]:
    """Return a benchmark's tasks, with all columns except the image; raises a GradeError.

    `with_generated`: also those that the scorer derives from rows and the data need not have, such as the passes of
    MMBench with the options in other orders.
    """
    rows = setup.rows(ColumnSet(None, setup.declared.columns.image))
    tasks = tasks_of(setup.scorer, setup.declared, setup.split, rows)
    if with_generated:
        tasks, _ = setup.scorer.complete(setup.declared, rows, tasks, None)
    return tasks
