"""The steps of `grade PREDICTIONS`: check, show, decide, write."""

from __future__ import annotations

import dataclasses
import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.commands import gate_words, github, output_files
from grader.commands.console import AGAIN, say, writing
from grader.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.gate import GateResult
    from grader.decisions.thresholds import FailUnder, MaxDrop
    from grader.grading.inputs import Setup
    from grader.grading.report import Graded
    from grader.options import Options
    from grader.reports.document import Document
    from grader.results import ReadingName, Report
    from grader.results.outputs import Outputs


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """All that the user wants of a run: how it is graded, its gates, its reports, and how much is printed.

    Its fields but the first two are the options of the command that `Options` does not have.
    """

    setup: Setup
    earlier: Report | None
    """The report in `baseline`."""
    lines: Sequence[FailUnder]
    baseline: Path | None
    drops: Sequence[MaxDrop]
    confident: bool
    reading: ReadingName
    outputs: tuple[str, ...]
    quiet: bool
    verbose: bool

    @property
    def options(self) -> Options:
        """How it is graded."""
        return self.setup.options


def read_baseline(path: Path | None, drops: Sequence[MaxDrop], reading: ReadingName, setup: Setup) -> Report | None:
    """Read and check the baseline before anything runs, and before a run can replace the file."""
    if path is None:
        if drops:
            raise UsageError("--max-drop needs --baseline.")
        return None
    from grader.scorers.earlier import read_report

    report, will_be = read_report(path), (setup.declared.id, setup.split, setup.protocol)
    if (report.benchmark, report.split, report.protocol) != will_be:
        raise UsageError(
            f"{path} cannot be the baseline of this run: it has {report.benchmark}, {report.split}, "
            f"{report.protocol}; this run has {', '.join(will_be)}."
        )
    if not drops:
        from grader.decisions.gate import no_margin

        raise no_margin(report, reading)
    return report


def outputs_of(predictions: Sequence[str], wanted: Wanted) -> Outputs:
    """Return the files that a run is going to write. Raises UsageError for bad files, before anything runs."""
    for name in predictions:
        if not Path(name).name:
            raise UsageError(f"{name}: is a folder" if name else "The name of the prediction file is empty.")
    inputs = [*map(Path, predictions), wanted.options.data, wanted.options.judge_replies]
    return output_files.checked(wanted.outputs, inputs, baseline=wanted.baseline)


class Gates(NamedTuple):
    """What the gates decided."""

    results: Sequence[GateResult]
    refused: UsageError | None = None
    """Why the gates cannot be decided, for example an unknown metric. The results are saved all the same."""


def judge_gates(report: Report, wanted: Wanted) -> Gates:
    """Return the gates' decisions."""
    if not wanted.lines and wanted.earlier is None:
        return Gates([])
    from grader.decisions.gate import judge

    try:
        return Gates(
            judge(
                report,
                lines=wanted.lines,
                baseline=wanted.earlier,
                drops=wanted.drops,
                reading=wanted.reading,
                confident=wanted.confident,
            )
        )
    except UsageError as error:
        return Gates([], error)


def write_results(graded: Graded) -> list[Path]:
    """Write the files of one run, and tell the CI the name of its results file; return the paths."""
    written = graded.write()
    if written:
        github.name_results(written[-1])
    return written


def write_files(graded: Graded, view: Callable[[], Document], wanted: Wanted) -> InfrastructureError | None:
    """Write all files that can be written, and print their paths; return the first error."""
    steps = [functools.partial(write_results, graded)]
    steps += [
        functools.partial(output_files.write, (name,), view(), again=_report_again(name, graded, wanted))
        for name in wanted.outputs
    ]
    failed = None
    for step in steps:
        try:
            written = writing(step)
        except InfrastructureError as error:
            failed = failed or error
        else:
            for path in () if wanted.quiet else written:
                say(f"Wrote {path}")
    return failed


def _report_again(name: str, graded: Graded, wanted: Wanted) -> str:
    """Return where the results are, and the command that writes a report from them."""
    from grader.results.outputs import results_path

    options = wanted.options
    if graded.stem is None:
        return AGAIN
    results = results_path(graded.stem)
    command = ["grade", "report", str(results), "-o", name]
    command += ["-b", options.benchmark] if options.benchmark != graded.report.benchmark else []
    command += ["--data", str(options.data)] if options.data is not None else []
    file = None if graded.file is None else graded.file.path
    command += ["--predictions", str(file)] if options.output_dir is not None and file is not None else []
    command += ["--reading", wanted.reading] if wanted.reading != "careful" else []
    return f"The results are in {results}. Make room, or name another file, and run `{shlex.join(command)}`."


def decide(report: Report, gates: Gates, unwritten: InfrastructureError | None) -> int:
    """Print the gates' decisions, as the last output; return the exit code."""
    if gates.refused is not None:
        raise unwritten or gates.refused
    lost = bool(report.samples) and report.unscored == len(report.samples)
    if silent := _silent_judge(report):
        lost = True
        say(f"error: {silent}")
    if not gates.results:
        if unwritten is not None:
            raise unwritten
        return InfrastructureError.exit_code if lost else 0
    from grader.decisions.gate import exit_code

    code = exit_code(gates.results, complete=unwritten is None and not silent)
    if unwritten is not None and code != InfrastructureError.exit_code:
        say(f"error: {unwritten}")
    gate_words.announce(gates.results)
    if unwritten is not None and code == InfrastructureError.exit_code:
        raise unwritten
    return code


def _silent_judge(report: Report) -> str:
    """Return what happened if a judge answered none of its questions, with the last reason; else an empty text."""
    from grader.predictions.record import counted

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
