"""`grade PREDICTIONS`: grade files, show the results, and write them."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import github, options, output_files, run_steps
from grader.commands.console import say
from grader.commands.run_steps import Wanted
from grader.errors import GradeError, InterruptedRunError, UsageError
from grader.files.given import real

if TYPE_CHECKING:
    from collections.abc import Sequence


EXIT_CODES = (
    "Exit codes: 0 = graded, and every gate met; 1 = a gate not met; 2 = bad input; 3 = no trustworthy result; "
    "4 = a gate is inconclusive; 130 = interrupted."
)

UNCACHED = "Interrupted. With --no-cache, nothing is kept of a file that is not finished: grading it again starts over."


@click.command("run", short_help="Grade PREDICTIONS; `run` can be left out.", epilog=EXIT_CODES)
@click.argument("predictions", type=options.FILE, metavar="PREDICTIONS...", nargs=-1, required=True)
@options.benchmark_options
@options.sandbox_options
@options.judge_options
@click.option("--score-only", is_flag=True, help="Score again from an earlier run's files, without sandbox or judge.")
@options.gate_options
@options.output_option
@options.JOIN
@click.option("--output-dir", type=options.PATH, metavar="DIR", help="Write all files to DIR, not beside PREDICTIONS.")
@click.option("-q", "--quiet", is_flag=True, help="Only errors and gate decisions.")
@click.option("-v", "--verbose", is_flag=True, help="Also show all groups, and the evidence for every verdict.")
def run_command(predictions: tuple[str, ...], *, join: bool, **given: Any) -> int:
    """Grade PREDICTIONS (a file, or `-` for standard input).

    Several files are graded one after the other, as a loop in a shell would do it. The exit code is then that of the
    worst file (130 is the worst, then 2, 3, 1, 4, 0). With --join, they are one run.
    """
    return grade_files(predictions, join=join, **given)


def grade_files(predictions: Sequence[str], *, join: bool = False, **given: Any) -> int:
    """Grade files with the parsed options of the command; return the exit code. Raises a GradeError."""
    from grader.grading.inputs import choose
    from grader.options import Options

    run_options = Options(**{name: given.pop(name) for name in Options.__struct_fields__ if name in given})
    if given["confident"] and not given["lines"]:
        raise UsageError("--confident needs --fail-under.")
    setup = choose(run_options)
    earlier = run_steps.read_baseline(given["baseline"], given["drops"], given["reading"], setup)
    wanted = Wanted(setup=setup, earlier=earlier, **given)
    try:
        if join or len(predictions) == 1:
            return _run(predictions, wanted)
        return _run_several(predictions, wanted)
    except KeyboardInterrupt:
        if run_options.cache:
            raise
        raise InterruptedRunError(UNCACHED) from None


def _run(predictions: Sequence[str], wanted: Wanted) -> int:
    """Read and grade one file, or several that are one run, show the results, and write them; return the exit code."""
    from grader.commands.progress import watcher
    from grader.decisions import thresholds
    from grader.grading import grade
    from grader.reports.material import Sources
    from grader.reports.views import run

    shows_items = output_files.folder_of_page(wanted.outputs) is not None
    source = predictions[0] if len(predictions) == 1 else predictions
    before = functools.partial(thresholds.check, lines=wanted.lines, drops=wanted.drops)
    with run_steps.outputs_of(predictions, wanted) as outputs:
        with watcher(quiet=wanted.quiet) as observer:
            graded = grade(
                source,
                wanted.setup,
                observer,
                outputs=outputs,
                before=before,
                every_column=shows_items,
            )
        gates = run_steps.judge_gates(graded.report, wanted)
        sources = Sources(
            predictions=graded.file or Path(predictions[0]),
            data=wanted.options.data,
            stem=graded.stem,
            declared=wanted.setup.declared,
            rows=graded.rows if shows_items else None,
        )
        # The document is made when it is needed first, and kept: a quiet run without reports never needs it.
        view = functools.cache(
            lambda: run.document(
                graded.report, sources.load, gates.results, outputs=sources.outputs, reading=wanted.reading
            )
        )
        # The table is shown before files are written: on a full disk the files are lost, but not the metrics.
        if not wanted.quiet:
            output_files.show(view(), verbose=wanted.verbose)
        unwritten = run_steps.write_files(graded, view, wanted)
        for gap in () if wanted.quiet else dict.fromkeys(gap.in_words() for gap in sources.gaps):
            say(gap)
        github.summarise(view)
        return run_steps.decide(graded.report, gates, unwritten)


GRAVEST = (2, 3, 1, 4, 0)
"""Exit codes, the most severe first. An interruption (130) is even worse: it ends the command."""


def _run_several(files: Sequence[str], wanted: Wanted) -> int:
    """Grade one file after the other, as a loop in a shell would; return the most severe exit code."""
    _check_several(files, wanted)
    codes = {_one_of_several(file, wanted) for file in files}
    return next(code for code in GRAVEST if code in codes)


def _one_of_several(file: str, wanted: Wanted) -> int:
    """Grade one file. An error ends only the run of this file."""
    # A quiet run without a gate says nothing, unless it fails.
    is_silent = wanted.quiet and not wanted.lines and not wanted.drops
    if not is_silent:
        say(f"{file}:")
    try:
        return _run([file], wanted)
    except InterruptedRunError:
        raise
    except GradeError as error:
        say(f"{file}:\nerror: {error}" if is_silent else f"error: {error}")
        return error.exit_code


def _check_several(files: Sequence[str], wanted: Wanted) -> None:
    """Raise UsageError if one file's run would replace what another one's wrote."""
    from grader.results.outputs import stem_in

    if wanted.outputs:
        raise UsageError(
            "-o names one report, but there are several prediction files. Grade them one by one, or leave it out and "
            "write the reports later: grade report RESULTS -o FILE."
        )
    stems = [stem_in(wanted.options.output_dir, Path(file)) for file in files]
    places = [stem and real(stem) for stem in stems]
    for file, stem, place in zip(files, stems, places, strict=True):
        if places.count(place) > 1:
            raise UsageError(
                f"{file} and another file would write the same {stem}_results.json. Grade them one by one, with "
                "different folders for --output-dir."
            )
