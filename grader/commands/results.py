"""`grade compare` and `grade report`: comparisons and reports from existing results files."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.console import say
from grader.commands.options import NAMED_FILE, NamedFile
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.decisions.comparison import RunName
    from grader.reports.document import Document
    from grader.reports.material import Material
    from grader.reports.questions import Gap
    from grader.results import ReadingName, Report

_RESULTS = click.Path(path_type=Path, exists=True, dir_okay=False)
_data_options = (
    options.BENCHMARK,
    click.option("--data", type=click.Path(path_type=Path, exists=True), metavar="PATH",
                 help="The benchmark's data, to show questions and images in the HTML report. "
                      "Default: data found beside RESULTS."),
)  # fmt: skip


@click.command("compare", short_help="Compare two runs of a benchmark, item by item.")
@click.argument("before", type=NAMED_FILE, metavar="[A=]A_RESULTS")
@click.argument("after", type=NAMED_FILE, metavar="[B=]B_RESULTS", required=False)
@options.reading_option
@options.GROUPS
@options.group(*_data_options)
@click.option("-o", "--output", "outputs", multiple=True, metavar="FILE",
              help="Also write the comparison here: .json, .csv, .md, .tex, .html (every item with both outputs), or "
                   "`-` (JSON on standard output).")  # fmt: skip
@click.option(
    "--readings",
    is_flag=True,
    help="The only file is a prediction file: compare all published readings of it. Needs -b.",
)
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def compare_command(
    before: NamedFile,
    after: NamedFile | None,
    *,
    readings: bool,
    reading: ReadingName,
    groups: bool,
    outputs: tuple[str, ...],
    benchmark: str | None,
    data: Path | None,
    quiet: bool,
) -> None:
    """Compare two runs of a benchmark, item by item: show what changed, and whether it is more than noise.

    A and B are optional names for the two runs, as in `base=old_results.json`.

    With --readings and one prediction file of a multiple-choice benchmark: show the same outputs under every published
    reading and the careful one.
    """
    if readings != (after is None):
        raise UsageError("Name two results files, or one prediction file and --readings.")
    if after is None:
        _compare_readings(before.path, benchmark, data, outputs, quiet=quiet)
        return
    from grader.decisions.comparison import compare
    from grader.reports import format_of_runs
    from grader.reports.runs import comparison as view

    formats = {name: None if _is_page(name) else format_of_runs(name, "a comparison is") for name in outputs}
    output_files.check_places(outputs, [before.path, after.path, data])
    runs = options.read([before, after], twice=True)
    output_files.check_beside(outputs, [(Path(name.results), report) for name, report in runs])
    (a, first), (b, second) = runs
    compared = compare(first, second, reading=reading, files=(a.results, b.results), names=(a.name, b.name))

    def page(_: Document) -> bytes:
        return _page(runs, benchmark, data, quiet=quiet)

    made = ((name, make or page) for name, make in formats.items())
    output_files.show_and_put(view.document(compared), made, quiet=quiet, groups=groups)


@click.command("report", short_help="Write reports of earlier runs, without grading again.")
@click.argument("runs", type=NAMED_FILE, nargs=-1, required=True, metavar="[NAME=]RESULTS...")
@click.option("-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
              help="The report to write: .json, .csv, .md, .xml (JUnit), .html (with decision in its name: one "
                   "printed sheet), or `-`; repeatable. Several RESULTS: one .html, side by side.")  # fmt: skip
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
    from grader.reports.material import load_beside
    from grader.scorers import declarations
    from grader.scorers.earlier import read_report

    if benchmark is not None:
        declarations.load(benchmark)
    if len(runs) > 1:
        _side_by_side(runs, outputs, benchmark, data, predictions, quiet=quiet)
        return
    results = runs[0].path
    output_files.check_formats(outputs)
    output_files.check_places(outputs, [results, data, predictions])
    report = read_report(results)
    output_files.check_beside(outputs, [(results, report)])
    gaps: list[Gap] = []

    def material() -> Material:
        found = load_beside(results, report, data, benchmark=benchmark, predictions=predictions)
        gaps[:] = found.gaps
        return found

    written = output_files.write(outputs, report, material, reading=reading)
    for path in () if quiet else written:
        say(f"Wrote {path}")
    # A problem with a file that the user named is printed with --quiet as well.
    named = {"questions": data, "predictions": predictions}
    for gap in gaps:
        if not quiet or named.get(gap.what) is not None:
            say(gap.in_words())


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
    page = _page(options.read(runs), benchmark, data, quiet=quiet)
    output_files.put_all(((name, page) for name in outputs), quiet=quiet)


def _page(
    runs: Sequence[tuple[RunName, Report]],
    benchmark: str | None,
    data: Path | None,
    *,
    predictions: Path | None = None,
    quiet: bool,
) -> bytes:
    """Return the page of several runs side by side; `predictions`: the file of which they are the readings."""
    from grader.decisions.comparison import told_apart
    from grader.reports import html
    from grader.reports.material import load_beside
    from grader.reports.web.sides import Side

    sides = [
        Side(
            name=name,
            report=report,
            material=load_beside(
                predictions or Path(name.results), report, data, benchmark=benchmark, predictions=predictions
            ),
        )
        for name, (_, report) in zip(told_apart([name for name, _ in runs]), runs, strict=True)
    ]
    page = html.side_by_side(sides, unit="run" if predictions is None else "reading")
    for gap in dict.fromkeys(gap.in_words() for side in sides for gap in side.material.gaps):
        if not quiet:
            say(gap)
    return page


def _compare_readings(
    predictions: Path, benchmark: str | None, data: Path | None, outputs: Sequence[str], *, quiet: bool
) -> None:
    """Show the readings of a prediction file, and write them to `outputs` (.json, .html, or `-`)."""
    from grader.decisions.comparison import RunName
    from grader.decisions.readings import readings_of
    from grader.grading import every_reading
    from grader.observer import Silent
    from grader.options import Options
    from grader.reports import html, json
    from grader.reports.runs import readings

    for name in outputs:
        if name != "-" and PurePath(name).suffix.lower() not in (".json", ".html"):
            raise UsageError(f"-o {name}: readings are written as .json or .html, or `-` for standard output.")
    if benchmark is None:
        raise UsageError("--readings: name the benchmark of the predictions with -b.")
    output_files.check_places(outputs, [predictions, data])
    reports = every_reading(predictions, Options(benchmark=benchmark, data=data), Silent())
    alike = _alike(reports)
    named = {" = ".join(names): reports[first] for first, names in alike.items()}
    runs = [(RunName(name=name, predictions=predictions.name), report) for name, report in named.items()]

    def page(_: Document) -> bytes:
        if left_out := [*named][html.MOST_SIDES :]:
            say(f"The page has room for {html.MOST_SIDES} readings; it is without {', '.join(left_out)}.")
        return _page(runs[: html.MOST_SIDES], benchmark, data, predictions=predictions, quiet=True)

    made = ((name, page if _is_page(name) else json.of_runs) for name in outputs)
    output_files.show_and_put(readings.document(readings_of(reports), alike), made, quiet=quiet)


def _alike(reports: Mapping[str, Report]) -> dict[str, list[str]]:
    """Return first name -> names of the readings that read every sample alike."""
    from grader.results import grouped

    alike = grouped(reports, lambda name: tuple(sample.official.answer for sample in reports[name].samples))
    return {names[0]: names for names in alike.values()}
