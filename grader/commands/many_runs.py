"""`grade leaderboard`, `grade history` and `grade plan`: what several runs show together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.console import say
from grader.commands.options import NAMED_FILE, NamedFile, read
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.decisions.thresholds import FailUnder
    from grader.results import ReadingName, Report


@click.command("history", short_help="Show a metric over the checkpoints of a training run.")
@click.argument("folder", type=click.Path(path_type=Path, exists=True), metavar="FOLDER")
@click.option("-b", "--benchmark", metavar="ID", help="The benchmark, if the folder has results of several.")
@click.option("--metric", metavar="METRIC", default="", help="The metric; default: the benchmark's first one.")
@click.option("--fail-under", "line", metavar="METRIC=V", callback=options.parsed(options.metric_line),
              help="Draw this gate's threshold; METRIC:FIELD=LABEL=V for a group.")  # fmt: skip
@options.reading_option
@click.option("-o", "--output", "outputs", type=options.FILE, multiple=True, metavar="FILE",
              help="Also write the history here: .json, .csv, .md, .tex, .html, or `-` (JSON on standard output); "
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
    from grader.reports import format_of_runs
    from grader.reports.runs import history as view

    formats = {name: format_of_runs(name, "a history is") for name in outputs}
    reports = _reports(folder, benchmark)
    output_files.check_places(outputs, list(reports))
    output_files.check_beside(outputs, reports.items())
    if line is not None and metric not in ("", line.name):
        raise UsageError(f"--metric {metric} and --fail-under {line.name}: name the same metric.")
    made = history(
        [(step, named(reports[path], str(path)), reports[path]) for step, path in in_order(list(reports))],
        metric=line.name if line else metric,
        group=line.group if line else None,
        reading=reading,
        line=line.value if line else None,
    )
    document = view.document(made, output_files.folder_of_page(outputs))
    output_files.show_and_put(document, formats.items(), quiet=quiet)


def _reports(folder: Path, benchmark: str | None) -> dict[Path, Report]:
    """Return the whole runs in a folder. Raises UsageError if there are none, or if they are of several benchmarks."""
    from grader.decisions.history import ENDING
    from grader.scorers.earlier import read_report

    if not folder.is_dir():
        raise UsageError(f"{folder} is a file. Name the folder that has the results files of the checkpoints.")
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


@click.command("leaderboard", short_help="Rank runs of one or several benchmarks.")
@click.argument("runs", type=NAMED_FILE, nargs=-1, required=True, metavar="[NAME=]RESULTS...")
@options.reading_option
@click.option("-o", "--output", "outputs", type=options.FILE, multiple=True, metavar="FILE",
              help="Also write the leaderboard here: .json, .csv, .md, .tex, .html, or `-` (JSON on standard "
                   "output); repeatable.")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def leaderboard_command(
    runs: tuple[NamedFile, ...], reading: ReadingName, outputs: tuple[str, ...], *, quiet: bool
) -> None:
    """Rank runs of one or several benchmarks, and show which differences are not significant.

    RESULTS is a `<stem>_results.json`. NAME is the name of its model in the table.
    """
    from grader.decisions.leaderboard import leaderboard
    from grader.reports import format_of_runs
    from grader.reports.runs import leaderboard as view

    formats = {name: format_of_runs(name, "a leaderboard is") for name in outputs}
    output_files.check_places(outputs, [run.path for run in runs])
    ranked = read(runs)
    output_files.check_beside(outputs, [(Path(name.results), report) for name, report in ranked])
    document = view.document(leaderboard(ranked, reading=reading), output_files.folder_of_page(outputs))
    output_files.show_and_put(document, formats.items(), quiet=quiet)


@click.command("plan", short_help="Say how many tasks and samples would show a change.")
@click.argument("results", type=NAMED_FILE, metavar="RESULTS")
@click.argument("other", type=NAMED_FILE, required=False, metavar="[OTHER_RESULTS]")
@click.option("--detect", type=click.FloatRange(min=0, max=100, min_open=True), required=True, metavar="V",
              help="The change to show, in points.")  # fmt: skip
@click.option("--metric", metavar="METRIC", default="", help="The metric; default: the benchmark's first one.")
@options.reading_option
def plan_command(
    results: NamedFile, other: NamedFile | None, *, detect: float, metric: str, reading: ReadingName
) -> None:
    """Say how many tasks and samples would show a change of V points (80 % power, 5 % level).

    The variance is that of RESULTS, an earlier run. With OTHER_RESULTS, a second run of the same tasks, the variance of
    the tasks' differences is measured as well.
    """
    from grader.decisions.plan import in_words, make

    (_, first), *more = read([results, *([other] if other is not None else [])], twice=True)
    made = make(first, detect, other=more[0][1] if more else None, metric=metric, reading=reading)
    for line in in_words(made):
        say(line)
