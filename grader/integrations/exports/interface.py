"""The interface of exports: a function that is a `Target`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec

from grader.errors import GradeError
from grader.results import ReadingName
from grader.scorers import declarations

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material
    from grader.results import Metric, Report


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """The user's options for an export; a target uses those that it needs."""

    model: str = ""
    """The model's id, for example `org/name`."""
    organization: str = ""
    """The organization that ran the evaluation."""
    dataset: str = ""
    """The data set's id on the hub."""
    task: str = ""
    """The task within the data set."""
    project: str = ""
    """The project, or experiment, of an experiment tracker."""
    reading: ReadingName | None = None
    """None: the target's default."""
    bundle: str = ""
    """The digest of the run's bundle; empty if there is none."""
    now: float = 0.0
    """Seconds since 1970."""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an export."""

    files: dict[str, bytes] = {}
    """Path within the output folder -> content."""
    said: str = ""
    """A message that says where the results are, if not in files."""


class Target(Protocol):
    """Exports one report."""

    def __call__(self, report: Report, name: RunName, material: Callable[[], Material], wanted: Wanted, /) -> Exported:
        """Return the files, or log the run; raises UsageError, InfrastructureError."""


def hub_of(report: Report) -> str:
    """Return the id of the benchmark's data set on the hub; empty if it is not known."""
    try:
        return declarations.load(report.benchmark).split(report.split)[1].hub
    except GradeError:
        return ""


def overall(report: Report) -> Iterator[Metric]:
    """Yield the overall metrics that have a value."""
    return (metric for metric in report.metrics if metric.group is None and metric.value is not None)


def with_value(report: Report) -> Iterator[Metric]:
    """Yield all metrics that have a value."""
    return (metric for metric in report.metrics if metric.value is not None)


def model_id(report: Report, name: RunName, wanted: Wanted) -> str:
    """Return the model's id: the given one, else that of the predictions, else the name of the run."""
    return wanted.model or report.model or name.short
