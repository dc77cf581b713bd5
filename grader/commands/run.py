"""`grade PREDICTIONS`: parse the options, grade, show the report, write files, decide the gates."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import ci, options, output_files
from grader.commands.console import say, show_table
from grader.commands.run_steps import (
    Wanted,
    check_files,
    check_selftest,
    decide,
    destination,
    inputs_of,
    judge_gates,
    own_path,
    read_baseline,
    report_steps,
    show,
    write_files,
)
from grader.errors import InfrastructureError, InputError, InterruptedRunError, UsageError
from grader.reports.together import GradedFile, format_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.asked import FailUnder, MaxDrop
    from grader.files.destination import Destination
    from grader.grading import Graded
    from grader.observer import Observer
    from grader.options import Options
    from grader.results import ReadingName

    Places = Callable[[Options], Destination]
    """Returns the destination of a run's files."""

EXIT_CODES = (
    "Exit codes: 0 graded, and every gate met; 1 a gate not met; 2 bad input; 3 no trustworthy result; "
    "4 gate inconclusive; 130 interrupted."
)

UNCACHED = "Interrupted. With --no-cache nothing was kept: the same command starts over."
UNCACHED_FILES = (
    "Interrupted. With --no-cache only the results of finished files were kept: the same command starts over."
)

GRAVEST = (3, 1, 4, 0)
"""Exit codes, the most severe first."""


@click.command("run", short_help="Grade PREDICTIONS; `run` can be left out.", epilog=EXIT_CODES)
@click.argument("predictions", type=options.FILE, metavar="PREDICTIONS...", nargs=-1, required=True)
@options.benchmark_options
@options.sandbox_options
@options.judge_options
@click.option("--score-only", is_flag=True, help="Score again from an earlier run's files, without sandbox or judge.")
@options.gate_options
@click.option("--allow-part", is_flag=True, help="Allow gates on a part of the tasks (--limit, --id).")
@click.option("--require-selftest", is_flag=True,
              help="Refuse to decide gates (exit 3) unless `grade selftest` has passed on this machine.")  # fmt: skip
@click.option("--second-opinion", type=click.FloatRange(0, 100), is_flag=False, flag_value=1.0, metavar="[PERCENT]",
              help="Grade PERCENT of the samples again in fresh sandboxes (default 1; at least 20 samples, and every "
              "timeout). No verdict is replaced; `grade flakes` shows the differences.")  # fmt: skip
@options.output_option
@click.option("--output-dir", type=options.PATH, metavar="DIR", help="Write all files to DIR, not beside PREDICTIONS.")
@click.option("--force", is_flag=True, help="Replace earlier judged results even if this run has no judge.")
@click.option("-q", "--quiet", is_flag=True, help="Only errors and gate decisions.")
@click.option("-v", "--verbose", is_flag=True, help="Also show the evidence for every sample's verdict.")
def run_command(
    predictions: tuple[str, ...],
    *,
    lines: Sequence[FailUnder],
    baseline: Path | None,
    drops: Sequence[MaxDrop],
    reading: ReadingName,
    allow_part: bool,
    require_selftest: bool,
    second_opinion: float | None,
    outputs: tuple[str, ...],
    quiet: bool,
    verbose: bool,
    **given: Any,
) -> int:
    """Grade PREDICTIONS (a file, or `-` for standard input).

    Several files are graded one after the other, in the same sandboxes. They share one table at the end and one
    report (-o). Gates are decided for each file. The exit code is that of the worst file: 3 is the
    worst, then 1, then 4; it is 0 only if all files have 0.
    """
    from grader.options import Options

    asked = Options(**given)
    earlier = read_baseline(baseline, drops, asked)
    wanted = Wanted(lines, earlier, drops, reading, outputs, quiet, verbose, require_selftest, second_opinion)
    needs_whole = (bool(lines) or baseline is not None) and not allow_part
    inputs = () if baseline is None else (baseline,)
    places = functools.partial(destination, needs_whole=needs_whole, inputs=inputs)
    try:
        return _checked_and_run(predictions, baseline, asked, wanted, places)
    except KeyboardInterrupt:
        if asked.cache:
            raise
        raise InterruptedRunError(UNCACHED_FILES if len(predictions) > 1 else UNCACHED) from None


def _checked_and_run(
    predictions: tuple[str, ...], baseline: Path | None, asked: Options, wanted: Wanted, places: Places
) -> int:
    """Check the files and the self-test, then grade; return the exit code."""
    if len(predictions) > 1:
        _check_several(predictions, wanted.outputs, baseline, asked)
    else:
        check_files(wanted.outputs, predictions[0], baseline, asked)
    if wanted.require_selftest and not asked.score_only:
        check_selftest(asked)
    if len(predictions) > 1:
        return _run_several(predictions, asked, wanted, places)
    with places(asked) as place:
        return _run(predictions[0], asked, place, wanted)


def _run(predictions: str, asked: Options, destination: Destination, wanted: Wanted) -> int:
    """Grade, show, write and decide; return the exit code."""
    from grader.commands.progress import watcher

    with watcher(quiet=wanted.quiet) as observer:
        graded = grade_file(predictions, asked, observer, destination, wanted)
    # The table is shown before files are written: on a full disk the files are lost, but not the metrics.
    if not wanted.quiet:
        show(graded.report, verbose=wanted.verbose)
    unproven, gates = judge_gates(graded, wanted)
    material = material_of(graded, predictions, asked)
    unwritten = write_files(
        graded.write,
        *report_steps(graded, wanted, material, gates, asked),
        quiet=wanted.quiet,
    )
    ci.summarise(graded.report, gates)
    if unproven:
        raise InfrastructureError(unproven)
    return decide(graded.report, gates, unwritten)


def grade_file(predictions: str, asked: Options, observer: Observer, place: Destination, wanted: Wanted) -> Graded:
    """Grade one file, then some of its samples once more if that is wanted. Raises GradeError."""
    from grader.decisions import names
    from grader.grading import grade

    before = functools.partial(names.check, lines=wanted.lines, drops=wanted.drops)
    graded = grade(predictions, asked, observer, destination=place, before=before)
    return graded if wanted.percent is None else second_opinion_on(graded, asked, observer, wanted.percent)


def second_opinion_on(graded: Graded, asked: Options, observer: Observer, percent: float) -> Graded:
    """Return the run with a second opinion: a note, and ranges from the updated ledger. No verdict changes."""
    import msgspec

    from grader.selftest import flake_ranges, second_opinion

    observer.message("Second opinion: some samples are graded again in fresh sandboxes")
    try:
        said = second_opinion.in_words(second_opinion.ask(graded, asked, observer, percent=percent))
    except InfrastructureError as error:
        said = f"The second opinion failed: {error}"
    report = msgspec.structs.replace(graded.report, notes=[*graded.report.notes, said])
    return msgspec.structs.replace(graded, report=flake_ranges.from_ledger(report))


def material_of(graded: Graded, predictions: str, asked: Options) -> Callable[[], Any]:
    """Return a function that collects the prompts, images and outputs that a report shows."""

    def material() -> Any:
        from grader.reports import material

        own = own_path(graded.stem, asked) if graded.stem is not None else None
        there = own if own is not None and own.is_file() else None
        return material.load(
            graded.report, graded.file or Path(predictions), asked.data, there, benchmark=asked.benchmark
        )

    return material


# --- several files ---------------------------------------------------------------------------------------------


def _check_several(files: Sequence[str], outputs: tuple[str, ...], baseline: Path | None, asked: Options) -> None:
    """Check options and files before anything is graded. Raises UsageError; InputError with all files' problems."""
    from grader.files.destination import stem_in

    if "-" in files:
        raise UsageError("Standard input (-) cannot be graded together with other files; name files only.")
    stems: dict[Path | None, str] = {}
    for file in files:
        stem = stem_in(asked.output_dir, Path(file))
        resolved = None if stem is None else stem.resolve()
        if resolved in stems:
            raise UsageError(
                f"{stems[resolved]} and {file} would write the same {stem}_results.json; grade them one by one, with "
                "different folders for --output-dir."
            )
        stems[resolved] = file
    for name in outputs:
        format_of(name)
    for file in files:
        check_files((), file, baseline, asked)
        output_files.check_places(outputs, inputs_of(file, baseline, asked))
    if not asked.score_only:
        _check_predictions(files, asked)


def _check_predictions(files: Sequence[str], asked: Options) -> None:
    """Raise InputError with the problems of all the files, before any of them is graded."""
    from grader import grading

    problems: list[str] = []
    for file in files:
        try:
            grading.check(file, asked)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)


def _run_several(files: Sequence[str], asked: Options, wanted: Wanted, places: Places) -> int:
    """Grade the files one after the other; return the most severe exit code."""
    from grader.commands.progress import watcher
    from grader.executors.choice import executors_kept

    graded: list[GradedFile] = []
    with watcher(quiet=wanted.quiet) as observer, executors_kept():
        for number, file in enumerate(files, 1):
            observer.message(f"{file} ({number} of {len(files)})")
            graded.append(_one(file, asked, observer, wanted, places))
    return _finish(graded, wanted)


def _one(file: str, asked: Options, observer: Observer, wanted: Wanted, places: Places) -> GradedFile:
    """Grade one file, write its files and decide its gates. An infrastructure error ends only this file's run."""
    try:
        with places(asked) as place:
            graded = grade_file(file, asked, observer, place, wanted)
            unproven, gates = judge_gates(graded, wanted)
            unwritten = write_files(graded.write, quiet=True)
    except InfrastructureError as error:
        return GradedFile(file=file, problem=str(error), exit_code=error.exit_code)
    problem = unproven or (str(unwritten) if unwritten is not None else "")
    code = InfrastructureError.exit_code if problem else 0
    ci.summarise(graded.report, gates)
    return GradedFile(file=file, report=graded.report, gates=gates, problem=problem, exit_code=code)


def _finish(graded: list[GradedFile], wanted: Wanted) -> int:
    """Show the table and the gates' decisions, write the reports; return the exit code."""
    from grader.reports.together import table

    if not wanted.quiet:
        show_table(functools.partial(table.render, graded), least=60)
    decided = [_decided(one) for one in graded]
    unwritten = write_files(lambda: _reports(decided, wanted), quiet=wanted.quiet)
    if unwritten is not None:
        raise unwritten
    codes = {one.exit_code for one in decided}
    return next(code for code in GRAVEST if code in codes)


def _decided(one: GradedFile) -> GradedFile:
    """Print why a file's exit code is not 0; return the file with its exit code."""
    if one.problem:
        say(f"error: {one.file}: {one.problem}")
    if one.report is None:
        return one
    code = decide(one.report, one.gates, None, of=f"{one.file}: ")
    return one if one.exit_code else dataclasses.replace(one, exit_code=code)


_TOGETHER_AGAIN = (
    "The results of the files are kept. Make room, and run the same command with --score-only: it grades nothing again."
)


def _reports(decided: list[GradedFile], wanted: Wanted) -> list[Path]:
    written: list[Path] = []
    for name in wanted.outputs:
        made = format_of(name)(decided, reading=wanted.reading)
        written += output_files.put(name, made, _TOGETHER_AGAIN)
    return written
