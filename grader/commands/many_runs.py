"""`grade leaderboard`: what several runs show together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.options import NAMED_FILE, NamedFile, read

if TYPE_CHECKING:
    from grader.results import ReadingName


@click.command("leaderboard", short_help="Rank runs of one or several benchmarks.")
@click.argument("runs", type=NAMED_FILE, nargs=-1, required=True, metavar="[NAME=]RESULTS...")
@click.option("--published", is_flag=True, help="Also show where the runs stand among the published models.")
@options.reading_option
@options.output("Also write the leaderboard", without=".xml")
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def leaderboard_command(
    runs: tuple[NamedFile, ...], *, published: bool, reading: ReadingName, outputs: tuple[str, ...], quiet: bool
) -> None:
    """Rank runs of one or several benchmarks, and show which differences are not significant.

    RESULTS is a `<stem>_results.json`. NAME is the name of its model in the table.
    """
    from grader.decisions.leaderboard import leaderboard
    from grader.reports.views import leaderboard as view

    output_files.check_formats(outputs)
    output_files.check_places(outputs, [run.path for run in runs])
    ranked = read(runs)
    output_files.check_beside(outputs, [(Path(name.results), report) for name, report in ranked])
    folder = output_files.folder_of_page(outputs)
    document = view.document(leaderboard(ranked, reading=reading), folder, ranked if published else ())
    output_files.show_and_put(document, outputs, quiet=quiet)
