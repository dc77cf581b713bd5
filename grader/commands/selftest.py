"""`grade selftest`: check that this machine grades correctly."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options, output_files
from grader.commands.console import say, show_table
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.options import Options

EXIT_CODES = "Exit codes: 0 this machine grades correctly; 1 it misgrades; 2 bad input; 3 no sandbox."


@click.command("selftest", short_help="Check that this machine grades correctly.", epilog=EXIT_CODES)
@options.selftest_options
@click.option("--repeat", type=click.IntRange(1, 100), default=1, show_default=True, metavar="N",
              help="Grade everything N times; report a verdict that changes as a problem.")  # fmt: skip
@click.option("--under-load", is_flag=True, help="Keep every CPU core busy during the self-test.")
@click.option("-o", "--output", type=options.FILE, metavar="FILE", help="Also write JSON here, or to `-`.")
@click.option("-q", "--quiet", is_flag=True, help="Only one line with the result.")
def selftest_command(
    benchmarks: tuple[str, ...], *, repeat: int, under_load: bool, output: str | None, quiet: bool, **given: Any
) -> int:
    """Check that this machine grades correctly, with predictions whose verdicts are known.

    Reference solutions must pass, hostile programs must get no credit, and correct answers must be read in every
    wording. The self-test uses the built-in samples, or those of -b, or --data. Later reports name its result.
    """
    from grader.commands.progress import watcher
    from grader.selftest import summary
    from grader.selftest.run import selftest

    asked = _asked(benchmarks, given)
    output_files.check_places([] if output is None else [output], [given["data"]])
    with watcher(quiet=quiet) as observer:
        outcome = selftest(asked, observer, repeats=repeat, under_load=under_load)
    if not quiet:
        show_table(functools.partial(summary.render, outcome), least=60)
    say(summary.headline(outcome))
    if output is not None:
        import msgspec

        output_files.put_all([(output, msgspec.json.format(msgspec.json.encode(outcome)) + b"\n")], quiet=quiet)
    return 0 if outcome.passed else 1


def _asked(benchmarks: tuple[str, ...], given: dict[str, Any]) -> list[Options]:
    """Return the options for each benchmark; raises UsageError."""
    from grader.options import Options
    from grader.scorers import declarations

    if given["data"] is not None and len(benchmarks) != 1:
        raise UsageError("--data belongs to one benchmark: name exactly one with -b.")
    return [Options(benchmark=name, **given) for name in benchmarks or declarations.names()]
