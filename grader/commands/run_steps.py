"""The steps of `grade PREDICTIONS`, for one file and for several: check, grade, show, write, decide."""

from __future__ import annotations

import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.commands import annotate, output_files
from grader.commands.console import AGAIN, say, show_table, writing
from grader.errors import InfrastructureError, UsageError
from grader.predictions.record import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.asked import FailUnder, MaxDrop
    from grader.decisions.gate import GateResult
    from grader.files.destination import Destination
    from grader.grading import Graded
    from grader.options import Options
    from grader.results import ReadingName, Report


class Wanted(NamedTuple):
    """What the user wants from a run: gates, reports, and how much is printed."""

    lines: Sequence[FailUnder]
    baseline: Report | None
    drops: Sequence[MaxDrop]
    reading: ReadingName
    outputs: tuple[str, ...]
    quiet: bool
    verbose: bool
    require_selftest: bool
    percent: float | None
    """Percentage of the samples to grade again; None: none."""


def read_baseline(path: Path | None, drops: Sequence[MaxDrop], asked: Options) -> Report | None:
    """Read and check the baseline before anything runs, and before a run can replace the file."""
    if path is None:
        if drops:
            raise UsageError("--max-drop needs --baseline.")
        return None
    from grader.files.results_file import read_report
    from grader.scorers import declarations

    report, declared = read_report(path), declarations.load(asked.benchmark)
    will_be = declared.id, declared.split(asked.split)[0], declared.check_protocol(asked.protocol)
    if (report.benchmark, report.split, report.protocol) != will_be:
        raise UsageError(
            f"{path} cannot be the baseline of this run: it has {report.benchmark}, {report.split}, "
            f"{report.protocol}; this run has {', '.join(will_be)}."
        )
    return report


def check_files(names: tuple[str, ...], predictions: str, baseline: Path | None, asked: Options) -> None:
    """Raise UsageError for bad files before anything runs. `Destination` makes the checks that need the data."""
    from grader.files.destination import stem_in
    from grader.files.run_files import results_path

    if not Path(predictions).name:
        raise UsageError(f"{predictions}: is a folder" if predictions else "The name of the prediction file is empty.")
    stem = stem_in(asked.output_dir, None if predictions == "-" else Path(predictions))
    output_files.check(names, inputs_of(predictions, baseline, asked))
    is_whole = asked.limit is None and not asked.ids
    if is_whole and baseline is not None and stem is not None and baseline.resolve() == results_path(stem).resolve():
        raise UsageError(
            f"--baseline {baseline}: this run writes its own results there, and the next run would be compared with "
            f"them. Rename the baseline: mv {baseline} {baseline.with_name('baseline_results.json')}"
        )


def inputs_of(predictions: str, baseline: Path | None, asked: Options) -> list[Path | None]:
    """Return the files that a run itself reads or writes: no report may replace them."""
    from grader.files.destination import stem_in

    stem = stem_in(asked.output_dir, None if predictions == "-" else Path(predictions))
    written = [] if stem is None else [own_path(stem, asked)]
    return [Path(predictions), *written, baseline, asked.data, asked.judge_replies, asked.judge_prompt]


def check_selftest(asked: Options) -> None:
    """Raise InfrastructureError before anything runs, if `--require-selftest` cannot be met."""
    from grader.scorers import declarations
    from grader.selftest.required import check_before

    if asked.executor != "local":
        raise UsageError(
            "--require-selftest: a self-test is valid for the machine that it ran on, but programs would run on a "
            "cluster. Grade on one machine, or remove the option."
        )
    declared = declarations.load(asked.benchmark)
    check_before(declared, declared.check_protocol(asked.protocol))


def destination(asked: Options, *, needs_whole: bool, inputs: tuple[Path, ...]) -> Destination:
    """Return the destination of a run's files. `needs_whole`: a gate uses the run; `inputs`: results that it reads."""
    from grader.files.destination import Destination

    return Destination(force=asked.force, needs_whole=needs_whole, inputs=inputs)


def judge_gates(graded: Graded, wanted: Wanted) -> tuple[str, list[GateResult]]:
    """Return why gates cannot be decided (empty: they can), and the gates' decisions."""
    from grader.selftest.required import problem

    unproven = problem(graded.report) if wanted.require_selftest else ""
    if unproven or (not wanted.lines and wanted.baseline is None):
        return unproven, []
    from grader.decisions.gate import judge

    try:
        return "", judge(
            graded.report,
            lines=wanted.lines,
            baseline=wanted.baseline,
            drops=wanted.drops,
            reading=wanted.reading,
        )
    except UsageError as error:
        # The gate names something that does not exist; the graded results are saved all the same.
        unwritten = write_files(graded.write, quiet=wanted.quiet)
        if unwritten is not None:
            raise unwritten from error
        raise


def show(report: Report, *, verbose: bool) -> None:
    """Show the table; with `verbose` also one line per sample."""
    from datetime import UTC, datetime

    from grader.reports import table
    from grader.reports.text import clean

    show_table(functools.partial(table.render, report, now=datetime.now(UTC)), least=60)
    if verbose:
        for sample in report.samples:
            careful = sample.careful
            say(f"{clean(sample.qid)} #{sample.sample} {sample.official.outcome} {careful.outcome} "
                f"{clean(careful.detail)[:200]}")  # fmt: skip


def write_files(*steps: Callable[[], list[Path]], quiet: bool) -> InfrastructureError | None:
    """Write all files that can be written, and print their paths; return the first error."""
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


def report_steps(
    graded: Graded, wanted: Wanted, material: Callable[[], Any], gates: Sequence[GateResult], asked: Options
) -> list[Callable[[], list[Path]]]:
    """Return one step for each report, so that one that cannot be written does not prevent the others."""
    return [
        functools.partial(
            output_files.write,
            (name,),
            graded.report,
            material,
            gates,
            reading=wanted.reading,
            again=_report_again(name, graded, wanted, asked),
        )
        for name in wanted.outputs
    ]


def _report_again(name: str, graded: Graded, wanted: Wanted, asked: Options) -> str:
    """Return where the results are, and the command that writes a report from them."""
    from grader.files.run_files import results_path

    if graded.stem is None:
        return AGAIN
    results = results_path(graded.stem)
    command = ["grade", "report", str(results), "-o", name]
    command += ["-b", asked.benchmark] if asked.benchmark != graded.report.benchmark else []
    command += ["--data", str(asked.data)] if asked.data is not None else []
    moved = asked.output_dir is not None and graded.file is not None and graded.file.path is not None
    command += ["--predictions", str(graded.file.path)] if moved and graded.file is not None else []
    command += ["--reading", wanted.reading] if wanted.reading != "careful" else []
    return f"The results are in {results}. Make room, or name another file, and run `{shlex.join(command)}`."


def decide(report: Report, gates: Sequence[GateResult], unwritten: InfrastructureError | None, *, of: str = "") -> int:
    """Print the gates' decisions, as the last output; return the exit code. `of`: the file, if there are several."""
    lost = bool(report.samples) and report.unscored == len(report.samples)
    if silent := _silent_judge(report):
        lost = True
        say(f"error: {of}{silent}")
    if not gates:
        if unwritten is not None:
            raise unwritten
        return InfrastructureError.exit_code if lost else 0
    from grader.decisions.gate import exit_code

    code = exit_code(gates, complete=unwritten is None)
    if unwritten is not None and code != InfrastructureError.exit_code:
        say(f"error: {unwritten}")
    for gate in gates:
        annotate.on_top(gate)
    words = {"met": "GATE MET", "failed": "GATE NOT MET", "inconclusive": "GATE INCONCLUSIVE", "unscored": "GATE OPEN"}
    for gate in sorted(gates, key=lambda gate: ("met", "unscored", "inconclusive", "failed").index(gate.state)):
        say(f"{words[gate.state]}: {of}{gate.gate}: {gate.reason}")
    if unwritten is not None and code == InfrastructureError.exit_code:
        raise unwritten
    return code


def _silent_judge(report: Report) -> str:
    """Return what happened if a judge answered none of its questions, with the last reason; else an empty text."""
    judge = report.provenance.judge
    if judge is None or judge.questions == 0 or judge.questions > judge.failed:
        return ""
    silent = judge.failed - judge.unreadable
    if not judge.unreadable:
        what = "there was no reply"
    elif not silent:
        what = "it replied, but no reply could be read"
    else:
        what = f"{silent} got no reply, and {judge.unreadable} got replies that could not be read"
    why = f" Last reason: {judge.last_error.rstrip('. ')}." if judge.last_error else ""
    of = counted(judge.questions, "question")
    return f"the judge answered none of its {of}: {what}.{why} The same command asks again."


def own_path(stem: Path, asked: Options) -> Path | None:
    """Return the path of the additional file that the benchmark's scorer writes, or None."""
    from grader.files.run_files import beside
    from grader.scorers import declarations, registry

    ending = registry.scorer(declarations.load(asked.benchmark).scoring).own_file
    return beside(stem, ending) if ending else None
