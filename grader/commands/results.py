"""`grade compare` and `grade report`: comparisons and reports from existing results files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.options import NAMED_FILE, NamedFile

if TYPE_CHECKING:
    from grader.decisions.comparison import RunName
    from grader.reports.material import RunFiles
    from grader.reports.questions import Gap
    from grader.reports.web.items import PageRun
    from grader.results import ReadingName

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
@options.combine(*_data_options)
@options.report_option("Also write the comparison", excluded=".xml")
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
    from grader.reports.material import files_of_results
    from grader.reports.views import comparison as view
    from grader.scorers.registry import scorer_of

    runs = options.read_runs([before, after], may_repeat=True)
    (a, a_report), (b, b_report) = runs
    a_files, b_files = (
        files_of_results(Path(run.results), report, data=data, benchmark=benchmark) for run, report in runs
    )
    output_files.check_outputs(outputs, [*a_files.paths, *b_files.paths, data])
    comparison = compare(a_report, b_report, reading=reading, names=(a, b))

    def sides() -> tuple[PageRun, PageRun]:
        """Return what an HTML page shows of both runs."""
        return _page_run(comparison.a, a_files), _page_run(comparison.b, b_files)

    def gaps() -> list[Gap]:
        """Return what an HTML page cannot show of them."""
        return [] if quiet else [*a_files.gaps, *b_files.gaps]

    document = view.document(comparison, sides, scorer_of(b_report).words.outcomes)
    output_files.emit(document, outputs, quiet=quiet, verbose=verbose, gaps=gaps)


@click.command("report", short_help="Write reports of an earlier run, without grading again.")
@click.argument("results", type=_RESULTS, metavar="RESULTS")
@options.report_option("Write a report", required=True)
@options.combine(*_data_options)
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
    from grader.reports.material import files_of_results
    from grader.reports.views import run as view
    from grader.scorers import declarations
    from grader.scorers.report_check import read_report

    # Below, a wrong name would only be something that cannot be shown.
    if benchmark is not None:
        declarations.load(benchmark)
    report = read_report(results)
    run_files = files_of_results(results, report, data=data, benchmark=benchmark, predictions=predictions)
    output_files.check_outputs(outputs, [*run_files.paths, data])

    def gaps() -> list[Gap]:
        """Return what is printed of the gaps: with --quiet, only problems with files that the user named."""
        named_files = {"questions": data, "predictions": predictions}
        return [gap for gap in run_files.gaps if not quiet or named_files.get(gap.kind) is not None]

    document = view.document(report, run_files.material, replies=run_files.replies, reading=reading)
    output_files.emit(document, outputs, quiet=quiet, shows=False, gaps=gaps)


def _page_run(name: RunName, files: RunFiles) -> PageRun:
    """Return a run with its material."""
    from grader.reports.findings import Findings
    from grader.reports.web.items import PageRun

    return PageRun(name=name.short, findings=Findings(files.report), material=files.material())
