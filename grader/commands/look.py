"""`grade list`, `grade show` and `grade check`: looking without grading."""

from __future__ import annotations

from typing import Any

import click

from grader.commands import options


@click.command("list")
def list_command() -> None:
    """List the benchmarks, their splits and protocols."""
    from grader import benchmark

    for name in benchmark.names():
        declared = benchmark.load(name)
        click.echo(f"{name:12} {declared.name}: splits {', '.join(declared.splits)}; "
                   f"protocols {', '.join(declared.protocols)}")  # fmt: skip


@click.command("show")
@click.argument("benchmark", metavar="ID|DIR")
@click.argument("qid", metavar="QID", required=False)
@click.option("--split", metavar="S", help="Split of the benchmark.")
@click.option("--data", type=options.PATH, metavar="PATH", help="Local copy of the data.")
@click.option("--protocol", metavar="P", help="Version of the official scorer.")
def show_command(benchmark: str, qid: str | None, **given: Any) -> None:
    """Show a task as its data has it; without a QID, what the benchmark declares and the ids of its tasks."""
    from grader.grading import describe, show
    from grader.options import Options
    from grader.reports.table import clean

    asked = Options(benchmark=benchmark, **given)
    if qid is None:
        for line in describe(asked):
            click.echo(clean(line))
        return
    for name, text in show(asked, qid):
        shown = "\n".join(clean(line) for line in text.splitlines()) if "\n" in text else clean(text)
        click.echo(f"{clean(name)}:\n{shown}\n" if "\n" in text else f"{clean(name)}: {shown}")


@click.command("check")
@click.argument("predictions", type=options.FILE, metavar="PREDICTIONS")
@options.benchmark_options
def check_command(predictions: str, **given: Any) -> None:
    """Check a prediction file against its benchmark; grade nothing."""
    from grader.grading import check
    from grader.options import Options

    for line in check(predictions, Options(**given)):
        click.echo(line)
