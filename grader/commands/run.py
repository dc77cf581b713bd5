"""`grade PREDICTIONS`: grade files, show the results, and write them."""

from __future__ import annotations

import dataclasses
import functools
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from grader.commands import github, options, output_files
from grader.commands.console import say
from grader.commands.gates import Gates, finish
from grader.errors import DataUnavailableError, GradeError, InterruptedRunError, UsageError
from grader.files.user_files import real_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.commands.gates import GateDecisions
    from grader.grading.report import Graded
    from grader.grading.setup import Setup
    from grader.reports.document import Document
    from grader.reports.questions import Gap
    from grader.results.outputs import Outputs

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
@options.run_report_option
@options.JOIN
@click.option("--output-dir", type=options.PATH, metavar="DIR", help="Write all files to DIR, not beside PREDICTIONS.")
@click.option("-q", "--quiet", is_flag=True, help="Only errors and gate decisions.")
@click.option("-v", "--verbose", is_flag=True, help="Also show all groups, and the evidence for every verdict.")
def run_command(predictions: tuple[str, ...], *, join: bool, **values: Any) -> int:
    """Grade PREDICTIONS (a file, or `-` for standard input).

    Several files are graded one after the other, as a loop in a shell would do it. The exit code is then that of the
    worst file (130 is the worst, then 2, 3, 1, 4, 0). With --join, they are one run.
    """
    try:
        return grade_files(predictions, join=join, **values)
    except DataUnavailableError as error:
        if click.get_current_context().get_parameter_source("benchmark") is not ParameterSource.DEFAULT:
            raise
        raise DataUnavailableError(
            f"{error}\n{values['benchmark']} is the default; -b names another benchmark."
        ) from error


def grade_files(predictions: Sequence[str], *, join: bool = False, **values: Any) -> int:
    """Grade files with the parsed options of the command; return the exit code. Raises a GradeError."""
    from grader.grading.setup import make_setup
    from grader.options import Options

    run_options = Options(**{name: values.pop(name) for name in Options.__struct_fields__ if name in values})
    output_options = {name: values.pop(name) for name in ("outputs", "quiet", "verbose")}
    setup = make_setup(run_options)
    # The other values are those of the gates' options.
    command = Command(setup=setup, gates=Gates.from_options(setup, **values), **output_options)
    try:
        if join or len(predictions) == 1:
            return _grade_run(predictions, command)
        return _grade_several(predictions, command)
    except KeyboardInterrupt:
        if run_options.cache:
            raise  # what the cache has is kept, as the message of the command line says
        raise InterruptedRunError(UNCACHED) from None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """The options of the command: how runs are graded, their gates, their reports, and how much is printed."""

    setup: Setup
    gates: Gates
    outputs: tuple[str, ...]
    quiet: bool
    verbose: bool

    def files_to_write(self, predictions: Sequence[str]) -> Outputs:
        """Return the files that a run is going to write. Raises UsageError for bad files, before anything runs."""
        for name in predictions:
            if not Path(name).name:
                raise UsageError(f"{name}: is a folder" if name else "The name of the prediction file is empty.")
        inputs = [*map(Path, predictions), self.setup.options.data, self.setup.options.judge_replies]
        folder = self.setup.options.output_dir
        return output_files.check_outputs(self.outputs, inputs, baseline=self.gates.baseline, folder=folder)


def _grade_run(predictions: Sequence[str], command: Command) -> int:
    """Read and grade one file, or several that are one run, show the results, and write them; return the exit code."""
    from grader.commands.progress import progress_reporter
    from grader.grading import grade

    gates, has_page = command.gates, output_files.folder_of_page(command.outputs) is not None
    source = predictions[0] if len(predictions) == 1 else predictions
    with command.files_to_write(predictions) as files:
        with progress_reporter(quiet=command.quiet) as observer:
            graded = grade(source, command.setup, observer, outputs=files, check_run=gates.check, every_column=has_page)
        decisions = gates.decide(graded.report)
        # What the document cannot show is in `gaps` only after it was made.
        document, gaps = _lazy_document(graded, Path(predictions[0]), decisions, command, has_page=has_page)
        # The table is shown before files are written: on a full disk the files are lost, but not the metrics.
        if not command.quiet:
            output_files.show(document(), verbose=command.verbose)
        retry_hint = functools.partial(_retry_hint, graded=graded, command=command)
        write_error = output_files.write_run(graded, document, command.outputs, retry_hint, quiet=command.quiet)
        if not command.quiet:
            output_files.say_gaps(gaps)
        github.append_step_summary(document)
        return finish(graded.report, decisions, write_error)


def _lazy_document(
    graded: Graded, path: Path, decisions: GateDecisions, command: Command, *, has_page: bool
) -> tuple[Callable[[], Document], list[Gap]]:
    """Return a function that returns a run's document, and a list for what the document cannot show.

    The document is made at the first call, which also fills the list: a quiet run without reports never needs it.
    """
    from grader.reports.material import RunFiles
    from grader.reports.views import run
    from grader.results.names import path_beside

    ending = command.setup.scorer.file_ending
    files = RunFiles(
        report=graded.report,
        predictions=graded.file or path,
        scorer_file=path_beside(graded.stem, ending) if ending and graded.stem is not None else None,
        data=command.setup.options.data,
        benchmark=command.setup.declared,
        # A run that is scored again need not have read its data.
        folders=[path.parent, Path()],
        # Without a page, the graded rows do not have every column.
        rows=graded.rows if has_page else None,
    )
    make = functools.partial(
        run.document,
        graded.report,
        files.material,
        decisions.results,
        replies=files.replies,
        reading=command.gates.reading,
    )
    return functools.cache(make), files.gaps


def _retry_hint(name: str, *, graded: Graded, command: Command) -> str:
    """Return where the results are, and the command that writes the report `name` from them."""
    from grader.results.names import results_path

    options, reading = command.setup.options, command.gates.reading
    # Predictions from standard input without --output-dir: no results are written.
    if graded.stem is None:
        return output_files.RETRY_HINT
    results = results_path(graded.stem)
    arguments = ["grade", "report", str(results), "-o", name]
    if options.benchmark != graded.report.benchmark:
        arguments += ["-b", options.benchmark]
    if options.data is not None:
        arguments += ["--data", str(options.data)]
    # With --output-dir, the predictions are not beside the results.
    if options.output_dir is not None and graded.file is not None and graded.file.path is not None:
        arguments += ["--predictions", str(graded.file.path)]
    if reading != "careful":
        arguments += ["--reading", reading]
    return f"The results are in {results}. Make room, or name another file, and run `{shlex.join(arguments)}`."


MOST_SEVERE_FIRST = (2, 3, 1, 4, 0)
"""Exit codes. An interruption (130) is even worse: it ends the command."""


def _grade_several(files: Sequence[str], command: Command) -> int:
    """Grade one file after the other, as a loop in a shell would; return the most severe exit code."""
    _check_distinct_results(files, command)
    codes = {_grade_one_of_several(file, command) for file in files}
    return next(code for code in MOST_SEVERE_FIRST if code in codes)


def _grade_one_of_several(file: str, command: Command) -> int:
    """Grade one file. An error ends only the run of this file."""
    # A quiet run without a gate says nothing, unless it fails.
    is_silent = command.quiet and not command.gates
    if not is_silent:
        say(f"{file}:")
    try:
        return _grade_run([file], command)
    except InterruptedRunError:
        raise
    except GradeError as error:
        say(f"{file}:\nerror: {error}" if is_silent else f"error: {error}")
        return error.exit_code


def _check_distinct_results(files: Sequence[str], command: Command) -> None:
    """Raise UsageError if one file's run would replace what another one's wrote."""
    from grader.results.names import stem_in

    if command.outputs:
        raise UsageError(
            "-o names one report, but there are several prediction files. Grade them one by one, or leave it out and "
            "write the reports later: grade report RESULTS -o FILE."
        )
    folder = command.setup.options.output_dir
    stems = [stem_in(folder, Path(file)) for file in files]
    real_stems = [real_path(stem) for stem in stems]
    for file, stem, real_stem in zip(files, stems, real_stems, strict=True):
        if real_stems.count(real_stem) > 1:
            raise UsageError(
                f"{file} and another file would write the same {stem}_results.json. Grade them one by one, with "
                "different folders for --output-dir."
            )
