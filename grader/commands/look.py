"""`grade list`, `grade show` and `grade check`: commands that look at data and grade nothing."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.errors import UsageError

if TYPE_CHECKING:
    from grader.options import Options


@click.command("list")
@click.argument("names", nargs=-1, metavar="")
def list_command(names: tuple[str, ...]) -> None:
    """List the benchmarks, their splits and protocols."""
    from grader.scorers import declarations, registry

    if names:
        raise UsageError(
            f"`grade list` lists all benchmarks. To see the settings and the ids of one, run `grade show {names[0]}`."
        )
    for name in declarations.names():
        declared = declarations.load(name)
        click.echo(f"{name:12} {declared.name}: splits {', '.join(declared.splits)}; "
                   f"protocols {', '.join(declared.protocols)}")  # fmt: skip
    click.echo(f"\nScorers, for `scoring` in your own benchmark.toml: {', '.join(registry.names())}")


@click.command("show", short_help="Show a task, or the settings of a benchmark.")
@click.argument("benchmark", metavar="[ID|DIR]", required=False)
@click.argument("qid", metavar="[QID]", required=False)
@click.option("--split", metavar="S", help="Split of the benchmark.")
@click.option("--data", type=options.PATH, metavar="PATH", help="Local copy of the data.")
@click.option("--protocol", metavar="P", help="Version of the official scorer.")
@click.option("--as-asked", is_flag=True, help="Show the first request that `grade infer` sends, instead of the data.")
@click.option("--mode", default="", metavar="MODE", help="With --as-asked: HumanEval-V's v2c, v2c-cot, v2t2c or t2c.")
@click.option("--image", type=options.PATH, metavar="FILE", help="Also write the image that is sent to this file.")
def show_command(
    benchmark: str | None, qid: str | None, *, as_asked: bool, mode: str, image: Path | None, **given: Any
) -> None:
    """Show the data of a task; without a QID, show the benchmark's settings and the ids of its tasks.

    With --as-asked, show the task as a model sees it: the prompt, and the image on terminals that can show images.

    Without an ID, the benchmark is read from the config file. Its split, data and protocol are read from there too.
    """
    from grader.commands.task_text import describe, show
    from grader.options import Options
    from grader.reports.text import clean

    table = _table()
    usual = table.pop("benchmark", None)
    benchmark = benchmark or usual
    if benchmark is None:
        raise UsageError("No benchmark given. Name one (`grade list` shows them), or a folder with a benchmark.toml.")
    # The config file's data belong to its own benchmark only.
    if usual is None or Path(benchmark).resolve() == Path(usual).resolve():
        given |= {name: table[name] for name, value in given.items() if value is None and name in table}
    asked = Options(benchmark=benchmark, **given)
    if qid is None:
        for line in describe(asked):
            click.echo(clean(line))
        return
    if as_asked or image is not None:
        _show_asked(asked, qid, mode, image)
        return
    for name, text in show(asked, qid):
        shown = "\n".join(clean(line) for line in text.splitlines()) if "\n" in text else clean(text)
        click.echo(f"{clean(name)}:\n{shown}\n" if "\n" in text else f"{clean(name)}: {shown}")


def _show_asked(asked: Options, qid: str, mode: str, file: Path | None) -> None:
    from grader.commands import picture
    from grader.commands.task_text import as_asked
    from grader.reports.text import clean

    request = as_asked(asked, qid, mode)
    for line in request.prompt.splitlines():
        click.echo(clean(line))
    if request.stages > 1:
        click.echo(f"\nThis is the first of {request.stages} requests ({request.stage}).")
    if request.image is None:
        click.echo("\nNo image is sent.")
        return
    click.echo(f"\nimage: {picture.described(request.image)}")
    picture.draw(request.image)
    if file is not None:
        picture.save(request.image, file)


def _table() -> dict[str, Any]:
    """Return the config file's settings for the benchmark and its data: the defaults of `grade check`."""
    found = dict((click.get_current_context().find_root().default_map or {}).get("check", {}))
    return found | ({"data": Path(found["data"])} if "data" in found else {})


@click.command("check", short_help="Check prediction files without grading them.")
@click.argument("predictions", type=options.FILE, metavar="PREDICTIONS...", nargs=-1, required=True)
@options.benchmark_options
def check_command(predictions: tuple[str, ...], **given: Any) -> None:
    """Check prediction files against their benchmark, without grading them."""
    from grader.errors import InputError
    from grader.grading import check
    from grader.options import Options

    problems: list[str] = []
    for path in predictions:
        try:
            for line in check(path, Options(**given)):
                click.echo(line)
        except InputError as error:
            problems += error.problems
    if problems:
        raise InputError(problems)
