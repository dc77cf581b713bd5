"""`grade compare` and `grade report`: comparisons and reports from existing results files."""

from __future__ import annotations

import functools
from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files, run_names
from grader.commands.console import say, show_table
from grader.commands.run_names import NAMED_FILE, NamedFile
from grader.errors import UsageError
from grader.reports.gaps import in_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.comparison import RunName
    from grader.reports.gaps import Gap
    from grader.reports.material import Material
    from grader.results import ReadingName, Report

_RESULTS = click.Path(path_type=Path, exists=True, dir_okay=False)
_data_options = (
    click.option("-b", "--benchmark", metavar="ID|DIR",
                 help="The benchmark's folder, if it is not a built-in benchmark."),
    click.option("--data", type=click.Path(path_type=Path, exists=True), metavar="PATH",
                 help="The benchmark's data, to show questions and images in the HTML report. "
                      "Default: data found beside RESULTS."),
)  # fmt: skip


@click.command("compare", short_help="Compare two runs of a benchmark, item by item.")
@click.argument("before", type=NAMED_FILE, metavar="[A=]A_RESULTS")
@click.argument("after", type=NAMED_FILE, metavar="[B=]B_RESULTS")
@options.reading_option
@options.group(*_data_options)
@click.option("-o", "--output", "outputs", multiple=True, metavar="FILE",
              help="Also write the comparison here: .json, .md, .csv, .html (every item with both outputs), or `-` "
                   "(JSON on standard output).")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def compare_command(
    before: NamedFile,
    after: NamedFile,
    *,
    reading: ReadingName,
    outputs: tuple[str, ...],
    benchmark: str | None,
    data: Path | None,
    quiet: bool,
) -> None:
    """Compare two runs of a benchmark, item by item: show what changed, and whether it is more than noise.

    A and B are optional names for the two runs, as in `base=old_results.json`.
    """
    from grader.decisions.comparison import compare
    from grader.reports.comparison import format_of

    formats = [None if _is_page(name) else format_of(name) for name in outputs]
    output_files.check_places(outputs, [before.path, after.path, data])
    runs = run_names.read([before, after], twice=True)
    (a, first), (b, second) = runs
    compared = compare(first, second, reading=reading, files=(a.results, b.results), names=(a.name, b.name))
    if not quiet:
        from grader.reports.comparison.table import render

        show_table(functools.partial(render, compared), least=80)
    contents = (_page(runs, benchmark, data, quiet=quiet) if make is None else make(compared) for make in formats)
    output_files.put_all(zip(outputs, contents, strict=True), quiet=quiet)


@click.command("report", short_help="Write reports of earlier runs, without grading again.")
@click.argument("runs", type=NAMED_FILE, nargs=-1, required=True, metavar="[NAME=]RESULTS...")
@click.option("-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
              help="The report to write: .json, .csv, .md, .xml (JUnit), .html, or `-`; repeatable. Several RESULTS: "
                   "one .html, side by side.")  # fmt: skip
@options.group(*_data_options)
@click.option("--predictions", type=_RESULTS, metavar="FILE",
              help="The prediction file, if it is not beside the results.")  # fmt: skip
@options.reading_option
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def report_command(
    runs: tuple[NamedFile, ...],
    *,
    outputs: tuple[str, ...],
    benchmark: str | None,
    data: Path | None,
    predictions: Path | None,
    reading: ReadingName,
    quiet: bool,
) -> None:
    """Write reports of earlier runs from their RESULTS (`<stem>_results.json`), without grading again.

    Several RESULTS of one benchmark become one page that shows the runs side by side, paired by item.
    """
    from grader.files.results_file import read_report
    from grader.scorers import declarations

    if benchmark is not None:
        declarations.load(benchmark)
    if len(runs) > 1:
        _side_by_side(runs, outputs, benchmark, data, predictions, quiet=quiet)
        return
    results = runs[0].path
    output_files.check(outputs, [results, data, predictions])
    report = read_report(results)
    gaps: list[Gap] = []

    def material() -> Material:
        found = _material(report, results, benchmark, data, predictions)
        gaps[:] = found.gaps
        return found

    written = output_files.write(outputs, report, material, reading=reading)
    for path in () if quiet else written:
        say(f"Wrote {path}")
    # A problem with a file that the user named is printed with --quiet as well.
    named = {"questions": data, "predictions": predictions}
    for gap in gaps:
        if not quiet or named.get(gap.what) is not None:
            say(in_words(gap))


def _material(
    report: Report, results: Path, benchmark: str | None, data: Path | None, predictions: Path | None = None
) -> Material:
    from grader.reports import material

    files = material.beside(results, report)
    folders = files.folders if predictions is None else [predictions.parent, *files.folders]
    given = predictions or files.predictions
    return material.load(report, given, data, files.own, benchmark=benchmark, folders=folders)


# --- several runs -------------------------------------------------------------------------------------------------


def _is_page(name: str) -> bool:
    return PurePath(name).suffix.lower() == ".html"


def _side_by_side(
    runs: Sequence[NamedFile],
    outputs: Sequence[str],
    benchmark: str | None,
    data: Path | None,
    predictions: Path | None,
    *,
    quiet: bool,
) -> None:
    """Write the page of several runs. Raises UsageError for options that need a single run."""
    for name in outputs:
        if not _is_page(name):
            raise UsageError(
                f"-o {name}: several runs become one .html. For tables of several runs, use `grade leaderboard`."
            )
    if predictions is not None:
        raise UsageError("--predictions is for one run. Put the prediction files beside their results.")
    output_files.check_places(outputs, [*(run.path for run in runs), data])
    page = _page(run_names.read(runs), benchmark, data, quiet=quiet)
    output_files.put_all(((name, page) for name in outputs), quiet=quiet)


def _page(runs: Sequence[tuple[RunName, Report]], benchmark: str | None, data: Path | None, *, quiet: bool) -> bytes:
    from grader.reports import side_by_side
    from grader.reports.web.sides import Side

    sides = [
        Side(name=name, report=report, material=_material(report, Path(name.results), benchmark, data))
        for name, report in runs
    ]
    page = side_by_side.render(sides)
    for gap in dict.fromkeys(in_words(gap) for side in sides for gap in side.material.gaps):
        if not quiet:
            say(gap)
    return page
