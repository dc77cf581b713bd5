"""`grade compare` and `grade report`: what is made of results files later."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from grader.commands import options, output_files
from grader.commands.console import say, write

if TYPE_CHECKING:
    from grader.reports.gaps import Gap
    from grader.reports.material import Material
    from grader.results import ReadingName

_RESULTS = click.Path(path_type=Path, exists=True, dir_okay=False)


@click.command("compare")
@click.argument("before", type=_RESULTS, metavar="A_RESULTS")
@click.argument("after", type=_RESULTS, metavar="B_RESULTS")
@options.reading_option
@click.option("-o", "--output", "outputs", multiple=True, metavar="FILE",
              help="Also write the comparison here: .json, .md, .csv, or `-` (JSON on standard output).")  # fmt: skip
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
def compare_command(before: Path, after: Path, reading: ReadingName, outputs: tuple[str, ...], quiet: bool) -> None:
    """Pair two runs of a benchmark item by item: what moved from A to B, and whether it is more than noise."""
    from grader.decisions.comparison import compare
    from grader.files.results_file import read_report
    from grader.reports import comparison_files

    formats = [comparison_files.format_of(name) for name in outputs]
    output_files.check_places(outputs, [before, after])
    compared = compare(read_report(before), read_report(after), reading=reading, files=(str(before), str(after)))
    if not quiet:
        import shutil

        from grader.reports import comparison

        width = max(80, shutil.get_terminal_size((100, 24)).columns)
        write(comparison.render(compared, width=width, colour=sys.stderr.isatty()).rstrip("\n"))
    for name, made in zip(outputs, formats, strict=True):
        for path in output_files.put(name, made(compared)):
            if not quiet:
                say(f"Wrote {path}")


@click.command("report")
@click.argument("results", type=_RESULTS, metavar="RESULTS")
@click.option("-o", "--output", "outputs", multiple=True, required=True, metavar="FILE",
              help="The report to write: .json, .csv, .md, .xml (JUnit), .html, or `-`; repeatable.")  # fmt: skip
@click.option("-b", "--benchmark", metavar="ID|DIR", help="The benchmark's folder, where the run had one of its own.")
@click.option("--data", type=click.Path(path_type=Path, exists=True), metavar="PATH",
              help="The data that was graded against: the HTML report shows questions and images. "
                   "By default it is looked for beside RESULTS.")  # fmt: skip
@click.option("--predictions", type=_RESULTS, metavar="FILE",
              help="The prediction file, where it is not beside the results.")  # fmt: skip
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
    """Write reports of an earlier run from its RESULTS (`<stem>_results.json`); nothing is graded again."""
    from grader.files.results_file import read_report
    from grader.scorers import declarations

    output_files.check(outputs, [results, data, predictions])
    report = read_report(results)
    if benchmark is not None:
        declarations.load(benchmark)
    gaps: list[Gap] = []

    def material() -> Material:
        from grader.reports import material

        files = material.beside(results, report)
        folders = files.folders if predictions is None else [predictions.parent, *files.folders]
        given = predictions or files.predictions
        found = material.load(report, given, data, files.own, benchmark=benchmark, folders=folders)
        gaps[:] = found.gaps
        return found

    written = output_files.write(outputs, report, material, reading=reading)
    for path in () if quiet else written:
        say(f"Wrote {path}")
    # What is wrong with a file that was named is said under --quiet as well.
    named = {"questions": data, "predictions": predictions}
    for gap in gaps:
        if not quiet or named.get(gap.what) is not None:
            say(f"Not all can be shown: {gap.why}")
