"""The files named with -o: checked before anything runs, written at the end."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands import github
from grader.commands.console import cause_of, say, show_rendered, write_to_stdout
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from grader.grading.report import Graded
    from grader.reports.document import Document
    from grader.reports.questions import Gap
    from grader.results.outputs import Outputs

RETRY_HINT = "Make room, or write to another folder, and run the command again."


def check_outputs(
    outputs: Sequence[str],
    inputs: Iterable[Path | None],
    *,
    baseline: Path | None = None,
    folder: Path | None = None,
) -> Outputs:
    """Return what a command is going to write; raises UsageError, also for an output that has no report format.

    `baseline`: the file of `--baseline`, which is not replaced. `folder`: that of `--output-dir`, which is created.
    """
    from grader.reports.formats import format_of
    from grader.results.outputs import Outputs

    for name in outputs:
        format_of(name)
    return Outputs(outputs, inputs, baseline=baseline, folder=folder)


def write_run(
    graded: Graded,
    document: Callable[[], Document],
    outputs: Sequence[str],
    retry_hint: Callable[[str], str],
    *,
    quiet: bool,
) -> InfrastructureError | None:
    """Write all files of a run that can be written, and print their paths; return the first error.

    `retry_hint`: name of an output -> what is kept, and how to write it after all; the end of an error's message.
    """
    steps = [functools.partial(_write_results, graded)]
    for name in outputs:
        steps.append(functools.partial(_write_report, name, document(), functools.partial(retry_hint, name)))
    first_error = None
    for step in steps:
        try:
            say_written(step(), quiet=quiet)
        except InfrastructureError as error:
            first_error = first_error or error
        except OSError as error:
            message = f"The results could not be written: {cause_of(error)}. {RETRY_HINT}"
            first_error = first_error or InfrastructureError(message)
    return first_error


def _write_results(graded: Graded) -> list[Path]:
    """Write the files of one run, and tell the CI the name of its results file; return the paths."""
    paths = graded.write()
    if paths:
        *_, results = paths
        github.set_results_output(results)
    return paths


def _write_report(name: str, document: Document, retry_hint: Callable[[], str]) -> list[Path]:
    """Write a document to one output; return its path, or an empty list for `-`. `retry_hint()` ends an error."""
    from grader.reports.formats import format_of

    return _write_output(name, format_of(name)(document), retry_hint)


def say_written(paths: Iterable[Path], *, quiet: bool) -> None:
    """Print the paths of files that were written, unless `quiet`."""
    if quiet:
        return
    for path in paths:
        say(f"Wrote {path}")


def say_gaps(gaps: Iterable[Gap]) -> None:
    """Print what reports do not show, each once."""
    for sentence in dict.fromkeys(gap.in_words() for gap in gaps):
        say(sentence)


def folder_of_page(outputs: Sequence[str]) -> Path | None:
    """Return the folder of the first HTML output, or None."""
    return next((Path(name).parent for name in outputs if name.lower().endswith(".html")), None)


def emit(
    document: Document,
    outputs: Sequence[str],
    *,
    quiet: bool,
    shows: bool = True,
    verbose: bool = False,
    gaps: Callable[[], Iterable[Gap]] = tuple,
) -> None:
    """Print a document, and write it to files.

    `quiet`: print neither the document nor the names of the files. `shows`: whether the document is printed otherwise.
    `verbose`: see `show`. `gaps` returns what the files do not show; it is called after they are written.
    """
    from grader.reports.formats import format_of

    # A document that a format refuses is not printed either.
    contents = [(name, format_of(name)(document)) for name in outputs]
    if shows and not quiet:
        show(document, verbose=verbose)
    for name, content in contents:
        say_written(_write_output(name, content), quiet=quiet)
    say_gaps(gaps())


def show(document: Document, *, verbose: bool = False) -> None:
    """Print a document on standard error. `verbose`: with the evidence for every verdict, and with all groups."""
    from grader.reports.formats import terminal

    show_rendered(functools.partial(terminal.render, document, verbose=verbose))


def _write_output(name: str, data: bytes, retry_hint: Callable[[], str] = lambda: RETRY_HINT) -> list[Path]:
    """Write one output; return its path, or an empty list for `-` (standard output).

    Raises InfrastructureError. `retry_hint` returns the end of its message: what is kept, and how to write the output
    after all.
    """
    from grader.files.replacing import replacing

    try:
        if name == "-":
            write_to_stdout(data)
            return []
        with replacing(Path(name)) as file:
            file.write(data)
    except OSError as error:
        where = "on standard output" if name == "-" else name
        raise InfrastructureError(
            f"The report {where} could not be written: {error.strerror or error}. {retry_hint()}"
        ) from error
    return [Path(name)]
