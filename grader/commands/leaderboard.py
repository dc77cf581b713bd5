"""`grade leaderboard`: runs of one or several benchmarks, ranked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from grader.commands import options, output_files
from grader.commands.options import NAMED_FILE, NamedFile, read_runs
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.results import ReadingName


@click.command("leaderboard", short_help="Rank runs of one or several benchmarks.")
@click.argument("runs", type=NAMED_FILE, nargs=-1, required=True, metavar="[NAME=]RESULTS...")
@click.option("--published", is_flag=True,
              help="Also show the benchmark's published models; all are ordered by the official reading.")  # fmt: skip
@options.reading_option
@options.report_option("Also write the leaderboard", excluded=".xml")
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def leaderboard_command(
    runs: tuple[NamedFile, ...],
    *,
    published: bool,
    reading: ReadingName,
    outputs: tuple[str, ...],
    quiet: bool,
) -> None:
    """Rank runs of one or several benchmarks: the ranks that paired tests of their differences allow.

    RESULTS is a `<stem>_results.json`. NAME is the name of its model in the table.
    """
    from grader.decisions.leaderboard import leaderboard
    from grader.reports.material import files_of_results
    from grader.reports.views import leaderboard as view

    if published:
        _refuse_careful_reading(reading)
    ranking_reading: ReadingName = "official" if published else reading
    reports = read_runs(runs)
    run_files = [path for run, report in reports for path in files_of_results(Path(run.results), report).paths]
    output_files.check_outputs(outputs, run_files)
    folder = output_files.folder_of_page(outputs)
    document = view.document(leaderboard(reports, reading=ranking_reading, with_published=published), folder)
    output_files.emit(document, outputs, quiet=quiet)


def _refuse_careful_reading(reading: ReadingName) -> None:
    """Raise UsageError if the user, and not the default, asks for another reading than that of published values."""
    source = click.get_current_context().get_parameter_source("reading")
    if reading != "official" and source is not ParameterSource.DEFAULT:
        raise UsageError("--published needs --reading official: published values are of the official reading.")
