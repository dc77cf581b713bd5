"""The files named with -o: checked before anything runs, written at the end."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands import github
from grader.commands.console import AGAIN, emit, say, show_table, writing
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grader.grading.report import Graded
    from grader.reports.document import Document
    from grader.results import Report
    from grader.results.outputs import Outputs


def check_outputs(
    outputs: Sequence[str],
    inputs: Iterable[Path | None],
    *,
    baseline: Path | None = None,
    folder: Path | None = None,
) -> Outputs:
    """Return what a command is going to write; raises UsageError, also for an output that has no report format."""
    from grader.reports.formats import format_of
    from grader.results.outputs import Outputs

    for name in outputs:
        format_of(name)
    return Outputs(outputs, inputs, baseline=baseline, folder=folder)


def protect_inputs(outputs: Outputs, runs: Iterable[tuple[Path, Report]]) -> None:
    """Raise UsageError for a report that would replace a file beside the results of a run: what was graded."""
    from grader.reports.material import files_for_results

    for results, report in runs:
        files = files_for_results(results, report)
        outputs.protect([files.predictions, files.scorer_file])


def write(outputs: Sequence[str], document: Document, *, again: Callable[[], str] = lambda: AGAIN) -> list[Path]:
    """Write every output and return the paths; `-` is JSON on standard output. `again`: see `put`."""
    from grader.reports.formats import format_of

    written: list[Path] = []
    for name in outputs:
        written += put(name, format_of(name)(document), again)
    return written


def write_run(
    graded: Graded, view: Callable[[], Document], outputs: Sequence[str], again: Callable[[str], str], *, quiet: bool
) -> InfrastructureError | None:
    """Write all files of a run that can be written, and print their paths; return the first error.

    `again`: name of an output -> the end of its error; see `put`.
    """
    steps = [functools.partial(_write_results, graded)]
    steps += [functools.partial(write, (name,), view(), again=functools.partial(again, name)) for name in outputs]
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


def _write_results(graded: Graded) -> list[Path]:
    """Write the files of one run, and tell the CI the name of its results file; return the paths."""
    written = graded.write()
    if written:
        github.name_results(written[-1])
    return written


def folder_of_page(outputs: Sequence[str]) -> Path | None:
    """Return the folder of the first HTML output, or None."""
    return next((Path(name).parent for name in outputs if name.lower().endswith(".html")), None)


def show_and_put(document: Document, outputs: Sequence[str], *, quiet: bool, verbose: bool = False) -> None:
    """Print a document, unless `quiet`, and write it to files. `verbose`: see `show`."""
    from grader.reports.formats import format_of

    made = [(name, format_of(name)(document)) for name in outputs]
    if not quiet:
        show(document, verbose=verbose)
    put_all(made, quiet=quiet)


def show(document: Document, *, verbose: bool = False) -> None:
    """Print a document; see `terminal.render`."""
    from grader.reports.formats import terminal

    show_table(functools.partial(terminal.render, document, verbose=verbose))


def put_all(outputs: Iterable[tuple[str, bytes]], *, quiet: bool) -> None:
    """Write outputs, given as (name, content), and say where they are. Raises InfrastructureError; see `put`."""
    for name, data in outputs:
        for path in put(name, data):
            if not quiet:
                say(f"Wrote {path}")


def put(name: str, data: bytes, again: Callable[[], str] = lambda: AGAIN) -> list[Path]:
    """Write one output; return its path, or an empty list for `-` (standard output).

    Raises InfrastructureError. `again` returns the end of its message: what is kept, and how to write the output again.
    """
    from grader.files.replacing import replacing

    try:
        if name == "-":
            emit(data)
            return []
        with replacing(Path(name)) as file:
            file.write(data)
    except OSError as error:
        called = "on standard output" if name == "-" else name
        raise InfrastructureError(
            f"The report {called} could not be written: {error.strerror or error}. {again()}"
        ) from error
    return [Path(name)]
