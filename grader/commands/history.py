"""`grade history`: the checkpoints of one training run."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.console import show_table
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.decisions.asked import FailUnder
    from grader.results import ReadingName, Report


@click.command("history", short_help="Show a metric over the checkpoints of a training run.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True, file_okay=False), metavar="FOLDER")
@click.option("-b", "--benchmark", metavar="ID", help="The benchmark, if the folder has results of several.")
@click.option("--metric", metavar="METRIC", default="", help="The metric; default: the benchmark's first one.")
@click.option("--fail-under", "line", metavar="METRIC=V", callback=options.parsed_line,
              help="Draw this gate's threshold; METRIC:FIELD=LABEL=V for a group.")  # fmt: skip
@options.reading_option
@click.option("-o", "--output", "outputs", type=options.FILE, multiple=True, metavar="FILE",
              help="Also write the history here: .json, .csv, .md, .html, or `-` (JSON on standard output); "
                   "repeatable.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def history_command(
    folder: Path,
    *,
    benchmark: str | None,
    metric: str,
    line: FailUnder | None,
    reading: ReadingName,
    outputs: tuple[str, ...],
    quiet: bool,
) -> None:
    """Show a metric over the checkpoints of a training run, and what changed from each one to the next.

    FOLDER holds the results files, or one folder per checkpoint. The step is a number in the name, as in
    `step_1000_results.json`.
    """
    from grader.decisions.comparison import named
    from grader.decisions.history import history, in_order
    from grader.reports.history import format_of

    formats = [format_of(name) for name in outputs]
    reports = _reports(folder, benchmark)
    output_files.check_places(outputs, list(reports))
    if line is not None and metric not in ("", line.name):
        raise UsageError(f"--metric {metric} and --fail-under {line.name}: name the same metric.")
    made = history(
        [(step, named(reports[path], str(path)), reports[path]) for step, path in in_order(list(reports))],
        metric=line.name if line else metric,
        group=line.group if line else None,
        reading=reading,
        line=line.value if line else None,
    )
    if not quiet:
        from grader.reports.history import table

        show_table(functools.partial(table.render, made), least=80)
    output_files.put_all(((name, make(made)) for name, make in zip(outputs, formats, strict=True)), quiet=quiet)


def _reports(folder: Path, benchmark: str | None) -> dict[Path, Report]:
    """Return the whole runs in a folder. Raises UsageError if there are none, or if they are of several benchmarks."""
    from grader.decisions.history import ENDING
    from grader.files.results_file import read_report

    paths = sorted([*folder.glob(f"*{ENDING}"), *folder.glob(f"*/*{ENDING}")])
    found = {path: report for path in paths if (report := read_report(path)).part is None}
    names = list(dict.fromkeys(report.benchmark for report in found.values()))
    if benchmark is not None:
        found = {path: report for path, report in found.items() if report.benchmark == benchmark}
    if not found:
        of = f" of {benchmark}" if benchmark else ""
        raise UsageError(f"{folder}: no results file{of} of a whole run (*{ENDING}) in it, or one folder below.")
    if benchmark is None and len(names) > 1:
        raise UsageError(f"{folder} has results of {', '.join(names)}. Choose one with -b.")
    return found
