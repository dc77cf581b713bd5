"""`grade compare` and `grade report`: comparisons and reports from existing results files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.console import say
from grader.commands.options import NAMED_FILE, NamedFile

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.comparison import RunName
    from grader.reports.material import Material, RawOutputs
    from grader.reports.questions import Gap
    from grader.reports.web.items import PageRun
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
@click.argument("after", type=NAMED_FILE, metavar="[B=]B_RESULTS")
@options.reading_option
@click.option("-v", "--verbose", is_flag=True, help="Show all groups of tasks.")
@options.group(*_data_options)
@options.output("Also write the comparison", without=".xml")
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def compare_command(
    before: NamedFile,
    after: NamedFile,
    *,
    reading: ReadingName,
    verbose: bool,
    outputs: tuple[str, ...],
    benchmark: str | None,
    data: Path | None,
    quiet: bool,
) -> None:
    """Compare two runs of a benchmark, item by item: show what changed, and whether it is more than noise.

    A and B are optional names for the two runs, as in `base=old_results.json`.
    """
    from grader.decisions.comparison import compare
    from grader.reports.views import comparison as view

    files = output_files.check_outputs(outputs, [before.path, after.path, data])
    runs = options.read_runs([before, after], may_repeat=True)
    output_files.protect_inputs(files, [(Path(name.results), report) for name, report in runs])
    (a, first), (b, second) = runs
    comparison = compare(first, second, reading=reading, files=(a.results, b.results), names=(a.name, b.name))

    def sides() -> tuple[PageRun, PageRun]:
        return _page_runs(runs, benchmark, data, quiet=quiet)

    output_files.show_and_write(view.document(comparison, sides), outputs, quiet=quiet, verbose=verbose)


@click.command("report", short_help="Write reports of an earlier run, without grading again.")
@click.argument("results", type=_RESULTS, metavar="RESULTS")
@options.output("Write a report", required=True)
@options.group(*_data_options)
@click.option("--predictions", type=_RESULTS, metavar="FILE",
              help="The prediction file, if it is not beside the results.")  # fmt: skip
@options.reading_option
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def report_command(
    results: Path,
    *,
    outputs: tuple[str, ...],
    benchmark: str | None,
    data: Path | None,
    predictions: Path | None,
    reading: ReadingName,
    quiet: bool,
) -> None:
    """Write reports of an earlier run from its RESULTS (`<stem>_results.json`), without grading again."""
    from grader.reports.material import load_for_results, outputs_for_results
    from grader.reports.views import run as view
    from grader.scorers import declarations
    from grader.scorers.report_check import read_report

    if benchmark is not None:
        declarations.load(benchmark)
    files = output_files.check_outputs(outputs, [results, data, predictions])
    report = read_report(results)
    output_files.protect_inputs(files, [(results, report)])
    gaps: list[Gap] = []

    def load_material(report: Report) -> Material:
        material = load_for_results(results, report, data, benchmark=benchmark, predictions=predictions)
        gaps[:] = material.gaps
        return material

    def load_outputs(report: Report) -> RawOutputs:
        return outputs_for_results(results, report, predictions)

    document = view.document(report, load_material, outputs=load_outputs, reading=reading)
    paths = output_files.write(outputs, document)
    for path in () if quiet else paths:
        say(f"Wrote {path}")
    # A problem with a file that the user named is printed with --quiet as well.
    user_files = {"questions": data, "predictions": predictions}
    for gap in gaps:
        if not quiet or user_files.get(gap.what) is not None:
            say(gap.in_words())


def _page_runs(
    runs: Sequence[tuple[RunName, Report]], benchmark: str | None, data: Path | None, *, quiet: bool
) -> tuple[PageRun, PageRun]:
    """Load the material of both runs, and print what is missing."""
    from grader.decisions.comparison import distinct_names
    from grader.reports.findings import findings_of
    from grader.reports.material import load_for_results
    from grader.reports.web.items import PageRun

    page_runs = [
        PageRun(
            name=name.short,
            findings=findings_of(report),
            material=load_for_results(Path(name.results), report, data, benchmark=benchmark),
        )
        for name, (_, report) in zip(distinct_names([name for name, _ in runs]), runs, strict=True)
    ]
    for gap in dict.fromkeys(gap.in_words() for run in page_runs for gap in run.material.gaps):
        if not quiet:
            say(gap)
    before, after = page_runs
    return before, after
