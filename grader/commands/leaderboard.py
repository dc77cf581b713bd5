"""`grade leaderboard`: models by benchmarks."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.console import show_table
from grader.commands.run_names import NAMED_FILE, NamedFile, read

if TYPE_CHECKING:
    from grader.results import ReadingName


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
    from grader.reports.leaderboard import format_of

    formats = [format_of(name) for name in outputs]
    output_files.check_places(outputs, [run.path for run in runs])
    made = leaderboard(read(runs), reading=reading)
    if not quiet:
        from grader.reports.leaderboard import table

        show_table(functools.partial(table.render, made), least=80)
    output_files.put_all(((name, make(made)) for name, make in zip(outputs, formats, strict=True)), quiet=quiet)
