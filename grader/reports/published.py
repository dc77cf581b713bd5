"""Where runs stand among the published models of their benchmark, by the official reading.

The facts are in the benchmark's `published.json`. Published values have no intervals, so a run's place is a range: the
ranks that its own 95 % interval allows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.predictions.record import counted
from grader.reports.document import NOTHING, Cell, Column, Table, interval, value
from grader.results import by_task

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.results import Metric, Report


class Published(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The published values of a benchmark."""

    source: str
    protocol: str
    tasks: int
    samples: dict[str, int]
    """Metric -> number of samples of a task from which it was computed."""
    modes: dict[str, str]
    """Prompt mode -> its published name."""
    models: dict[str, dict[str, dict[str, float]]]
    """Model -> prompt mode -> metric -> value."""

    def of(self, mode: str, metric: str) -> dict[str, float]:
        """Return model -> value."""
        values = {name: modes.get(mode, {}).get(metric) for name, modes in self.models.items()}
        return {name: number for name, number in values.items() if number is not None}


def load(benchmark: str) -> Published | None:
    """Return the published values of a bundled benchmark; None if there are none."""
    path = resources.folder("benchmarks") / benchmark / "published.json"
    if benchmark not in resources.bundled_benchmarks() or not path.is_file():
        return None
    return msgspec.json.decode(path.read_bytes(), type=Published)


def why_not(report: Report, known: Published) -> str:
    """Return why a run cannot be compared with the published values; empty if it can be."""
    if report.protocol != known.protocol:
        return f"the published values are of protocol {known.protocol}, this run is of {report.protocol}"
    tasks = len(by_task(report.samples))
    return "" if tasks == known.tasks else f"the published values are of {known.tasks} tasks, this run has {tasks}"


def beside(report: Report) -> Table | None:
    """Return the table of a run among the published models; None if there are none for it."""
    known = load(report.benchmark)
    return None if known is None or why_not(report, known) else table([(report.model or "this run", report)], known)


def table(runs: Sequence[tuple[str, Report]], known: Published) -> Table:
    """Return the table of runs that can be compared, and of the published models in the same prompt modes."""
    rows = [_run(name, report, known) for name, report in runs]
    for mode in dict.fromkeys(_mode(report, known) for _, report in runs):
        rows += [_model(name, mode, known) for name in known.models if mode in known.models[name]]
    first = next(iter(known.samples))
    columns = [Column(name="model", kind="name"), Column(name="prompt mode", kind="word")]
    for metric in known.samples:
        columns += [Column(name=metric), Column(name="95 % interval"), Column(name="rank")]
    return Table(
        title=f"Among published models, official, ordered by {first}",
        columns=columns,
        rows=[cells for _, cells in sorted(rows, key=lambda row: -row[0])],
        note=" ".join(
            [f"Published: {known.source}.", *(note for name, run in runs for note in _notes(name, run, known))]
        ),
        is_card=True,
    )


def _mode(report: Report, known: Published) -> str:
    """Return the prompt mode of a run; if its file does not say it, the mode with the most published models."""
    mode = report.provenance.inference.get("mode")
    return mode if mode in known.modes else max(known.modes, key=lambda m: sum(m in of for of in known.models.values()))


def _model(name: str, mode: str, known: Published) -> tuple[float, list[Cell]]:
    values = known.models[name][mode]
    cells = [Cell(text=name), Cell(text=known.modes[mode])]
    for metric in known.samples:
        cells += [Cell(text=f"{values[metric]:.1f}" if metric in values else NOTHING), Cell(), Cell()]
    return values.get(next(iter(known.samples)), -1.0), cells


def _run(name: str, report: Report, known: Published) -> tuple[float, list[Cell]]:
    mode = _mode(report, known)
    cells = [Cell(text=name, tone="strong"), Cell(text=known.modes[mode])]
    found = {metric: report.metric(metric, "official") for metric in known.samples}
    for name_of_metric, metric in found.items():
        rank = _rank(metric, list(known.of(mode, name_of_metric).values()))
        cells += [Cell(text=value(metric), tone="strong"), Cell(text=interval(metric)), Cell(text=rank)]
    first = next(iter(found.values()))
    return (first.value if first is not None and first.value is not None else -1.0), cells


def _rank(metric: Metric | None, others: list[float]) -> str:
    """Return the ranks that the interval allows among the others."""
    if metric is None or metric.ci95 is None:
        return ""
    best, worst = (1 + sum(other > end for other in others) for end in reversed(metric.ci95))
    return f"{best}–{worst} of {len(others) + 1}" if best != worst else f"{best} of {len(others) + 1}"


def _notes(name: str, report: Report, known: Published) -> Iterator[str]:
    """Yield the settings of a run that differ from the published ones, or are not known."""
    if report.provenance.inference.get("mode") not in known.modes:
        yield f"{name}: its file does not say the prompt mode; the rank is among {known.modes[_mode(report, known)]}."
    most = max(len(members) for members in by_task(report.samples).values())
    for metric, samples in known.samples.items():
        if report.metric(metric, "official") is not None and most != samples:
            wanted = counted(samples, "sample")
            yield f"{name}: {metric} is from {counted(most, 'sample')} of a task, the published one from {wanted}."
