"""`grade selftest`: whether this machine grades right."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.commands.console import emit, say, write, writing
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.options import Options
    from grader.selftest.outcome import Outcome

EXIT_CODES = "Exit codes: 0 this machine grades right; 1 it misgrades; 2 bad input; 3 no sandbox."


@click.command("selftest", epilog=EXIT_CODES)
@options.selftest_options
@click.option("--repeat", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
              help="Grade everything N times; a verdict that changes is a problem.")  # fmt: skip
@click.option("--under-load", is_flag=True, help="Keep every core busy meanwhile.")
@click.option("-o", "--output", type=options.FILE, metavar="FILE", help="Also write JSON here, or to `-`.")
@click.option("-q", "--quiet", is_flag=True, help="Only the one line.")
def selftest_command(
    benchmarks: tuple[str, ...], *, repeat: int, under_load: bool, output: str | None, quiet: bool, **given: Any
) -> int:
    """Grade predictions whose verdict is known, and tell whether this machine gets them right.

    Reference solutions must pass, hostile programs must be refused, right answers must be read in every wording. It
    tests the samples that came with grade, or the benchmarks of -b, or the data of --data. What it finds is kept, and
    named in the reports of later runs.
    """
    from grader.commands.progress import watcher
    from grader.selftest.run import selftest
    from grader.selftest.summary import headline

    asked = _asked(benchmarks, given)
    with watcher(quiet=quiet) as observer:
        outcome = selftest(asked, observer, repeats=repeat, under_load=under_load)
    if not quiet:
        _show(outcome)
    say(headline(outcome))
    if output is not None:
        writing(lambda: _write(outcome, output))
    return 0 if outcome.passed else 1


def _asked(benchmarks: tuple[str, ...], given: dict[str, Any]) -> list[Options]:
    """Return the options for each benchmark; raises UsageError."""
    from grader.options import Options
    from grader.scorers import declarations

    if given["data"] is not None and len(benchmarks) != 1:
        raise UsageError("--data is the data of one benchmark: name it with -b, once.")
    return [Options(benchmark=name, **given) for name in benchmarks or declarations.names()]


def _show(outcome: Outcome) -> None:
    import shutil

    from grader.selftest import summary

    width = max(60, shutil.get_terminal_size((100, 24)).columns)
    write(summary.render(outcome, width=width, colour=sys.stderr.isatty()).rstrip("\n"))


def _write(outcome: Outcome, output: str) -> list[Path]:
    import msgspec

    from grader.files.replacing import replacing

    text = msgspec.json.format(msgspec.json.encode(outcome)) + b"\n"
    if output == "-":
        emit(text)
        return []
    path = Path(output)
    with replacing(path) as file:
        file.write(text)
    return [path]
