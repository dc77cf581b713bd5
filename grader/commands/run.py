"""`grade PREDICTIONS`: read, grade, show, decide, report and write."""

from __future__ import annotations

import dataclasses
import functools
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import github, options, output_files, run_steps
from grader.commands.console import say, show_table
from grader.commands.run_steps import Wanted, check_files, decide, judge_gates, write_files
from grader.errors import InfrastructureError, InputError, InterruptedRunError, UsageError
from grader.files.given import real
from grader.reports import format_of_runs
from grader.reports.document import GradedFile

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.gate import GateResult
    from grader.grading import Graded
    from grader.observer import Observer
    from grader.reports.document import Document
    from grader.reports.questions import Gap
    from grader.results import Report
    from grader.results.destination import Destination

EXIT_CODES = (
    "Exit codes: 0 graded, and every gate met; 1 a gate not met; 2 bad input; 3 no trustworthy result; "
    "4 gate inconclusive; 130 interrupted."
)

UNCACHED = "Interrupted. With --no-cache nothing was kept: the same command starts over."
UNCACHED_FILES = (
    "Interrupted. With --no-cache only the results of finished files were kept: the same command starts over."
)


@click.command("run", short_help="Grade PREDICTIONS; `run` can be left out.", epilog=EXIT_CODES)
@click.argument("predictions", type=options.FILE, metavar="PREDICTIONS...", nargs=-1, required=True)
@options.benchmark_options
@options.sandbox_options
@options.judge_options
@click.option("--score-only", is_flag=True, help="Score again from an earlier run's files, without sandbox or judge.")
@options.gate_options
@click.option("--allow-part", is_flag=True, help="Allow gates on a part of the tasks (--limit, --id, --since).")
@click.option("--require-selftest", is_flag=True,
              help="Refuse to decide gates (exit 3) unless `grade selftest` has passed on this machine.")  # fmt: skip
@click.option("--second-opinion", type=click.FloatRange(0, 100), is_flag=False, flag_value=1.0, metavar="[PERCENT]",
              help="Grade PERCENT of the samples again in fresh sandboxes (default 1; at least 20 samples, and every "
              "timeout). No verdict is replaced; a note says how many changed.")  # fmt: skip
@options.output_option
@click.option("--output-dir", type=options.PATH, metavar="DIR", help="Write all files to DIR, not beside PREDICTIONS.")
@click.option("--force", is_flag=True, help="Replace earlier judged results even if this run has no judge.")
@click.option("-q", "--quiet", is_flag=True, help="Only errors and gate decisions.")
@options.GROUPS
@click.option("-v", "--verbose", is_flag=True, help="Also show the evidence for every sample's verdict.")
def run_command(predictions: tuple[str, ...], **given: Any) -> int:
    """Grade PREDICTIONS (a file, or `-` for standard input).

    Several files are graded one after the other, in the same sandboxes. They share one table at the end and one
    report (-o). Gates are decided for each file. The exit code is that of the worst file: 3 is the
    worst, then 1, then 4; it is 0 only if all files have 0.
    """
    from grader.options import Options

    run_options = Options(**{name: given.pop(name) for name in Options.__struct_fields__ if name in given})
    if given["confident"] and not given["lines"]:
        raise UsageError("--confident needs --fail-under.")
    earlier = run_steps.read_baseline(given["baseline"], given["drops"], given["reading"], run_options)
    wanted = Wanted(options=run_options, earlier=earlier, **given)
    run_steps.check_second_opinion(wanted)
    try:
        if len(predictions) == 1:
            return _run(predictions[0], wanted)
        _check_several(predictions, wanted)
        run_steps.check_selftest(wanted)
        return _run_several(predictions, wanted)
    except KeyboardInterrupt:
        if run_options.cache:
            raise
        raise InterruptedRunError(UNCACHED_FILES if len(predictions) > 1 else UNCACHED) from None


def _run(predictions: str, wanted: Wanted) -> int:
    """Read and grade one file, show, decide, report and write; return the exit code."""
    from grader.commands.progress import watcher

    output_files.check_formats(wanted.outputs)
    run_steps.check_files(predictions, wanted)
    run_steps.check_selftest(wanted)
    with wanted.destination() as destination:
        with watcher(quiet=wanted.quiet) as observer:
            graded = grade_file(predictions, wanted, destination, observer)
        # The table is shown before files are written: on a full disk the files are lost, but not the metrics.
        if not wanted.quiet:
            run_steps.show(graded.report, wanted)
        unproven, gates = run_steps.judge_gates(graded, wanted)
        gaps: list[Gap] = []
        material = run_steps.material_of(graded, predictions, wanted.options, gaps)
        steps = [lambda: run_steps.write_results(graded), *run_steps.report_steps(graded, wanted, material, gates)]
        unwritten = run_steps.write_files(*steps, quiet=wanted.quiet)
        for gap in () if wanted.quiet else dict.fromkeys(gap.in_words() for gap in gaps):
            say(gap)
        summarise(graded.report, gates)
        if unproven:
            raise InfrastructureError(unproven)
        return run_steps.decide(graded.report, gates, unwritten)


GRAVEST = (3, 1, 4, 0)
"""Exit codes, the most severe first."""
_AGAIN = (
    "The results of the files are kept. Make room, and run the same command with --score-only: it grades nothing again."
)


def _check_several(files: Sequence[str], wanted: Wanted) -> None:
    """Check options and files before anything is graded. Raises UsageError; InputError with all files' problems."""
    from grader import grading
    from grader.results.destination import stem_in

    if "-" in files:
        raise UsageError("Standard input (-) cannot be graded together with other files; name files only.")
    stems: dict[Path | None, str] = {}
    for file in files:
        stem = stem_in(wanted.options.output_dir, Path(file))
        resolved = None if stem is None else real(stem)
        if resolved in stems:
            raise UsageError(
                f"{stems[resolved]} and {file} would write the same {stem}_results.json; grade them one by one, with "
                "different folders for --output-dir."
            )
        stems[resolved] = file
    for name in wanted.outputs:
        _format(name)
    for file in files:
        check_files(file, wanted)
    problems: list[str] = []
    for file in () if wanted.options.score_only else files:
        try:
            grading.check(file, wanted.options)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)


def _run_several(files: Sequence[str], wanted: Wanted) -> int:
    """Grade the files, show and write what they have in common; return the most severe exit code."""
    from grader.commands.progress import watcher
    from grader.executors.choice import executors_kept
    from grader.reports import terminal
    from grader.reports.runs import files as together

    graded: list[GradedFile] = []
    with watcher(quiet=wanted.quiet) as observer, executors_kept():
        for number, file in enumerate(files, 1):
            observer.message(f"{file} ({number} of {len(files)})")
            graded.append(_grade_one_of_several(file, wanted, observer))
    if not wanted.quiet:
        show_table(functools.partial(terminal.render, together.document(graded)))
    github.name_results([each.written[-1] for each in graded if each.written])
    for path in () if wanted.quiet else (path for each in graded for path in each.written):
        say(f"Wrote {path}")
    decided = [_decided(each) for each in graded]
    unwritten = write_files(lambda: _reports(decided, wanted), quiet=wanted.quiet)
    if unwritten is not None:
        raise unwritten
    codes = {each.exit_code for each in decided}
    return next(code for code in GRAVEST if code in codes)


def _grade_one_of_several(file: str, wanted: Wanted, observer: Observer) -> GradedFile:
    """Grade one file, write its files and judge its gates. An infrastructure error ends only this file's run."""
    written: list[Path] = []
    try:
        with wanted.destination() as destination:
            graded = grade_file(file, wanted, destination, observer)
            unproven, gates = judge_gates(graded, wanted)
            unwritten = write_files(lambda: _write(graded, written), quiet=True)
    except InfrastructureError as error:
        return GradedFile(file=file, problem=str(error), exit_code=error.exit_code)
    problem = unproven or (str(unwritten) if unwritten is not None else "")
    code = InfrastructureError.exit_code if problem else 0
    summarise(graded.report, gates)
    return GradedFile(
        file=file, report=graded.report, gates=gates, problem=problem, exit_code=code, written=tuple(written)
    )


def _write(graded: Graded, written: list[Path]) -> list[Path]:
    """Write a run's files, and add their paths to `written`."""
    written += graded.write()
    return written


def _decided(graded: GradedFile) -> GradedFile:
    """Print why a file's exit code is not 0; return the file with its exit code."""
    if graded.problem:
        say(f"error: {graded.file}: {graded.problem}")
    if graded.report is None:
        return graded
    code = decide(graded.report, graded.gates, None, of=f"{graded.file}: ")
    return graded if graded.exit_code else dataclasses.replace(graded, exit_code=code)


def _reports(decided: list[GradedFile], wanted: Wanted) -> list[Path]:
    from grader.reports.runs import files

    document = files.document(decided, reading=wanted.reading)
    return [path for name in wanted.outputs for path in output_files.put(name, _format(name)(document), _AGAIN)]


def _format(name: str) -> Callable[[Document], bytes]:
    if name.lower().endswith(".html"):
        raise UsageError(
            f"-o {name}: several files have no page of their own. `grade report A_results.json B_results.json "
            f"-o {name}` shows their runs side by side, `grade leaderboard` ranks them."
        )
    return format_of_runs(name, "the report of several files is", without=(".html",))


def grade_file(predictions: str, wanted: Wanted, destination: Destination, observer: Observer) -> Graded:
    """Grade one file, then some of its samples once more if that is wanted. Raises GradeError."""
    from grader.decisions import thresholds
    from grader.grading import grade

    before = functools.partial(thresholds.check, lines=wanted.lines, drops=wanted.drops)
    graded = grade(predictions, wanted.options, observer, destination=destination, before=before)
    return graded if wanted.second_opinion is None else _with_second_opinion(graded, wanted, observer)


def _with_second_opinion(graded: Graded, wanted: Wanted, observer: Observer) -> Graded:
    """Return the run with a note about samples that were executed again. No verdict changes."""
    import msgspec

    from grader.regrading import second_opinion

    observer.message("Second opinion: some samples are graded again in fresh sandboxes")
    try:
        opinion = second_opinion.ask(graded, wanted.options, observer, percent=wanted.second_opinion or 0.0)
        note = second_opinion.in_words(opinion)
    except InfrastructureError as error:
        note = f"The second opinion failed: {error}"
    report = msgspec.structs.replace(graded.report, notes=[*graded.report.notes, note])
    return msgspec.structs.replace(graded, report=report)


def summarise(report: Report, gates: Sequence[GateResult]) -> None:
    """Append the report to the step summary, if the CI has one."""
    if os.environ.get("GITHUB_STEP_SUMMARY"):
        from grader.reports import markdown

        github.append("GITHUB_STEP_SUMMARY", markdown.render(report, gates) + b"\n")
