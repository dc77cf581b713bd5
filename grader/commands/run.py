"""`grade PREDICTIONS`: parse, grade, show, write, decide."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from grader.commands import ci, options, output_files
from grader.commands.console import say, write, writing
from grader.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.asked import FailUnder, MaxDrop
    from grader.decisions.gate import GateResult
    from grader.files.destination import Destination
    from grader.grading import Graded
    from grader.observer import Observer
    from grader.options import Options
    from grader.results import ReadingName, Report

EXIT_CODES = (
    "Exit codes: 0 graded, and every gate met; 1 a gate not met; 2 bad input; 3 no trustworthy result; "
    "4 gate inconclusive; 130 interrupted."
)


@click.command("run", epilog=EXIT_CODES)
@click.argument("predictions", type=options.FILE, metavar="PREDICTIONS")
@options.benchmark_options
@options.sandbox_options
@options.judge_options
@click.option("--score-only", is_flag=True, help="Score again from the files of an earlier run; execute nothing.")
@options.gate_options
@click.option("--allow-part", is_flag=True, help="Let a gate decide on a part (--limit, --id).")
@click.option("--require-selftest", is_flag=True,
              help="Decide nothing (exit 3) unless `grade selftest` has passed on this machine.")  # fmt: skip
@click.option("--second-opinion", type=click.FloatRange(0, 100), is_flag=False, flag_value=1.0, metavar="PERCENT",
              help="Reach that share of the verdicts again in fresh sandboxes (default 1; at least 20, and every "
              "timeout). No verdict changes; `grade flakes` shows what differs.")  # fmt: skip
@options.output_option
@click.option("--output-dir", type=options.PATH, metavar="DIR", help="Write all files there, not beside PREDICTIONS.")
@click.option("--force", is_flag=True, help="Let results without a judge replace judged ones.")
@click.option("-q", "--quiet", is_flag=True, help="Only errors, and a gate's verdict.")
@click.option("-v", "--verbose", is_flag=True, help="Also say what every sample's verdict rests on.")
def run_command(
    predictions: str,
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
    """Grade PREDICTIONS (a file, or `-` for standard input)."""
    from grader.files.destination import Destination
    from grader.options import Options

    asked = Options(**given)
    earlier = _baseline(baseline, drops, asked)
    _check(outputs, predictions, baseline, asked)
    if require_selftest and not asked.score_only:
        _check_selftest(asked)
    gated = bool(lines) or baseline is not None
    inputs = () if baseline is None else (baseline,)
    with Destination(force=asked.force, needs_whole=gated and not allow_part, inputs=inputs) as destination:
        return _run(
            predictions,
            asked,
            destination,
            _Wanted(lines, earlier, drops, reading, outputs, quiet, verbose, require_selftest, second_opinion),
        )


class _Wanted(NamedTuple):
    """What is to be made of a run, beside the files that every run writes."""

    lines: Sequence[FailUnder]
    baseline: Report | None
    drops: Sequence[MaxDrop]
    reading: ReadingName
    outputs: tuple[str, ...]
    quiet: bool
    verbose: bool
    require_selftest: bool
    second_opinion: float | None


def _run(predictions: str, asked: Options, destination: Destination, wanted: _Wanted) -> int:
    """Grade, show, write and decide; return the exit code."""
    from grader.commands.progress import watcher
    from grader.grading import grade
    from grader.selftest.required import problem

    lines, earlier, drops, reading, outputs, quiet, verbose, require_selftest, percent = wanted
    with watcher(quiet=quiet) as observer:
        graded = grade(predictions, asked, observer, destination=destination)
        if percent is not None:
            graded = _second_opinion(graded, asked, observer, percent)
    # Shown before it is written: a full disk costs the files, not the figures.
    if not quiet:
        _show(graded.report, verbose=verbose)
    unproven = problem(graded.report) if require_selftest else ""
    gates = _judge(graded, lines, earlier, drops, reading) if not unproven else []
    material = _material(graded, predictions, asked)
    unwritten = _write(
        graded.write, lambda: output_files.write(outputs, graded.report, material, gates, reading=reading), quiet=quiet
    )
    ci.summarise(graded.report, gates)
    if unproven:
        raise InfrastructureError(unproven)
    return _decide(graded.report, gates, unwritten)


def _baseline(path: Path | None, drops: Sequence[MaxDrop], asked: Options) -> Report | None:
    """Read the baseline now: what is wrong with it is said before anything runs, and before a run replaces it."""
    if path is None:
        if drops:
            raise UsageError("--max-drop needs a --baseline to drop from.")
        return None
    from grader.files.results_file import read_report
    from grader.scorers import declarations

    report, declared = read_report(path), declarations.load(asked.benchmark)
    will_be = declared.id, declared.split(asked.split)[0], declared.check_protocol(asked.protocol)
    if (report.benchmark, report.split, report.protocol) != will_be:
        raise UsageError(
            f"{path} is no baseline for this run: it is {report.benchmark}, {report.split}, {report.protocol}; this "
            f"run is {', '.join(will_be)}."
        )
    return report


def _check(names: tuple[str, ...], predictions: str, baseline: Path | None, asked: Options) -> None:
    """Refuse what cannot end well before anything runs; `Destination` refuses what only the data tells."""
    from grader.files.destination import stem_in
    from grader.files.run_files import results_path

    if not Path(predictions).name:
        raise UsageError(f"{predictions}: is a folder" if predictions else "The name of the prediction file is empty.")
    stem = stem_in(asked.output_dir, None if predictions == "-" else Path(predictions))
    written = [] if stem is None else [_own_path(stem, asked)]
    inputs = [Path(predictions), *written, baseline, asked.data, asked.judge_replies, asked.judge_prompt]
    output_files.check(names, inputs)
    is_whole = asked.limit is None and not asked.ids
    if is_whole and baseline is not None and stem is not None and baseline.resolve() == results_path(stem).resolve():
        raise UsageError(
            f"--baseline {baseline}: this run writes its own results there, and the next run would be held against "
            f"them. Give the baseline a name of its own: mv {baseline} {baseline.with_name('baseline_results.json')}"
        )


def _second_opinion(graded: Graded, asked: Options, observer: Observer, percent: float) -> Graded:
    """Return the run with a note on what a second opinion said: the note is all that it adds."""
    import msgspec

    from grader.selftest import second_opinion

    observer.message("Second opinion: some verdicts are reached again in fresh sandboxes")
    try:
        said = second_opinion.in_words(second_opinion.ask(graded, asked, observer, percent=percent))
    except InfrastructureError as error:
        said = f"There is no second opinion: {error}"
    notes = [*graded.report.notes, said]
    return msgspec.structs.replace(graded, report=msgspec.structs.replace(graded.report, notes=notes))


def _check_selftest(asked: Options) -> None:
    """Raise InfrastructureError where `--require-selftest` cannot be met, before anything runs."""
    from grader.scorers import declarations
    from grader.selftest.required import check_before

    declared = declarations.load(asked.benchmark)
    check_before(declared, declared.check_protocol(asked.protocol))


def _judge(
    graded: Graded,
    lines: Sequence[FailUnder],
    baseline: Report | None,
    drops: Sequence[MaxDrop],
    reading: ReadingName,
) -> list[GateResult]:
    if not lines and baseline is None:
        return []
    from grader.decisions.gate import judge

    try:
        return judge(graded.report, lines=lines, baseline=baseline, drops=drops, reading=reading)
    except UsageError:
        # The gate asked for something that is not there; what was graded is not lost for that.
        writing(graded.write)
        raise


def _material(graded: Graded, predictions: str, asked: Options) -> Callable[[], Any]:
    """Return what gathers the prompts, images and outputs that a report shows."""

    def material() -> Any:
        from grader.reports import material

        own = _own_path(graded.stem, asked) if graded.stem is not None else None
        there = own if own is not None and own.is_file() else None
        return material.load(
            graded.report, graded.file or Path(predictions), asked.data, there, benchmark=asked.benchmark
        )

    return material


def _show(report: Report, *, verbose: bool) -> None:
    import shutil
    from datetime import UTC, datetime

    from grader.reports import table
    from grader.reports.text import clean

    width = max(60, shutil.get_terminal_size((100, 24)).columns)
    text = table.render(report, width=width, colour=sys.stderr.isatty(), now=datetime.now(UTC))
    write(text.rstrip("\n"))
    if verbose:
        for sample in report.samples:
            careful = sample.careful
            say(f"{clean(sample.qid)} #{sample.sample} {sample.official.outcome} {careful.outcome} "
                f"{clean(careful.detail)[:200]}")  # fmt: skip


def _write(*steps: Callable[[], list[Path]], quiet: bool) -> InfrastructureError | None:
    """Write all that can be written, and say what; return the first thing that could not be."""
    failed = None
    for step in steps:
        try:
            written = writing(step)
        except InfrastructureError as error:
            failed = failed or error
        else:
            for path in () if quiet else written:
                say(f"Wrote {path}")
    return failed


def _decide(report: Report, gates: Sequence[GateResult], unwritten: InfrastructureError | None) -> int:
    """Say last, and loudly, what became of the gates; return the exit code."""
    lost = bool(report.samples) and report.unscored == len(report.samples)
    if silent := _silent_judge(report):
        lost = True
        say(f"error: the judge answered none of its {silent} questions; the same command asks again.")
    if not gates:
        if unwritten is not None:
            raise unwritten
        return InfrastructureError.exit_code if lost else 0
    from grader.decisions.gate import exit_code

    code = exit_code(gates, complete=unwritten is None)
    if unwritten is not None and code != InfrastructureError.exit_code:
        say(f"error: {unwritten}")
    for gate in gates:
        ci.annotate(gate)
    words = {"met": "GATE MET", "failed": "GATE NOT MET", "inconclusive": "GATE INCONCLUSIVE", "unscored": "GATE OPEN"}
    for gate in sorted(gates, key=lambda gate: ("met", "unscored", "inconclusive", "failed").index(gate.state)):
        say(f"{words[gate.state]}: {gate.gate}: {gate.reason}")
    if unwritten is not None and code == InfrastructureError.exit_code:
        raise unwritten
    return code


def _silent_judge(report: Report) -> int:
    """Return how many questions a judge had that answered none of them; 0 where there is no such judge."""
    judge = report.provenance.judge
    return judge.questions if judge is not None and judge.questions == judge.failed else 0


def _own_path(stem: Path, asked: Options) -> Path | None:
    """Return the path of the file that the benchmark's scorer writes of its own; None: it writes none."""
    from grader.files.run_files import beside
    from grader.scorers import declarations, registry

    ending = registry.scorer(declarations.load(asked.benchmark).scoring).own_file
    return beside(stem, ending) if ending else None
