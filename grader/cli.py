"""The command: parse, build, run, render. The only place that prints."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click_default_group import DefaultGroup

import grader
from grader.errors import GradeError, InfrastructureError, InterruptedRunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.options import Options
    from grader.results import Report

EXIT_CODES = "Exit codes: 0 graded; 2 bad input; 3 no trustworthy result; 130 interrupted."


def run(arguments: list[str]) -> int:  # noqa: PLR0911 - one return a way to end
    """Run the command line; return its exit code."""
    try:
        return int(main.main(arguments, prog_name="grade", standalone_mode=False) or 0)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        say("Interrupted. What was finished is kept; the same command resumes.")
        return InterruptedRunError.exit_code
    except click.ClickException as error:
        say(error.format_message() if error.exit_code != 2 else f"error: {error.format_message()}")
        return 2
    except GradeError as error:
        say(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
        return 0
    except SystemExit:
        # click's way to say that the reader of the output has gone.
        return 0
    except OSError as error:
        say(f"error: {error}")
        return InfrastructureError.exit_code


def say(text: str) -> None:
    """Print prose to standard error, whatever characters it has: none of them reaches a terminal as a command."""
    _write("".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text))


def _write(text: str) -> None:
    data = (text + "\n").encode(sys.stderr.encoding or "utf-8", errors="backslashreplace")
    sys.stderr.buffer.write(data)
    sys.stderr.flush()


@click.group(
    cls=cast("type[click.Group]", DefaultGroup),
    default="run",
    default_if_no_args=False,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "GRADE", "max_content_width": 100},
    epilog=EXIT_CODES,
)
@click.version_option(grader.__version__, prog_name="grade")
def main() -> None:
    """Turn a file of model outputs into scores that can be trusted.

    `grade PREDICTIONS [OPTIONS]` grades a prediction file; `grade run --help` lists its options.
    """


def _k(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    if not value:
        return ()
    try:
        ks = tuple(int(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list like 1,10") from None
    if min(ks) < 1:
        raise click.BadParameter("k is at least 1")
    return ks


def _size(_context: click.Context, _parameter: click.Parameter, value: str) -> int:
    from grader.options import parse_size

    try:
        return parse_size(value)
    except UsageError as error:
        raise click.BadParameter(str(error)) from None


def _finite(_context: click.Context, _parameter: click.Parameter, value: float) -> float:
    if not math.isfinite(value):
        raise click.BadParameter("not a number of seconds")
    return value


def _weights(_context: click.Context, _parameter: click.Parameter, value: tuple[str, ...]) -> dict[str, float]:
    try:
        return {name: float(number) for name, _, number in (part.partition("=") for part in value)}
    except ValueError:
        raise click.BadParameter("write it like reason=0.5") from None


_Command = Any


def benchmark_options(command: _Command) -> _Command:
    """Add the options that say what is graded."""
    for option in reversed(
        [
            click.option("-b", "--benchmark", default="humaneval-v", show_default=True, metavar="ID|DIR",
                         help="Benchmark, or a folder with a benchmark.toml."),
            click.option("--split", metavar="S", help="Split of the benchmark."),
            click.option("--data", type=click.Path(path_type=Path), metavar="PATH",
                         help="Local copy of the data (JSON Lines, JSON, TSV, parquet, `datasets` folder)."),
            click.option("--protocol", metavar="P", help="Version of the official scorer."),
            click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks."),
            click.option("--id", "ids", multiple=True, metavar="QID", help="Only this task; repeatable."),
            click.option("--missing", type=click.Choice(["error", "wrong"]), default="error", show_default=True,
                         help="What a task without a prediction is."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def sandbox_options(command: _Command) -> _Command:
    """Add the options of execution."""
    for option in reversed(
        [
            click.option("-k", "k", callback=_k, metavar="1,10", help="Report pass@k for these k."),
            click.option("--sandbox", type=click.Choice(["auto", "docker", "bubblewrap"]), default="auto",
                         show_default=True, help="Where untrusted code runs."),
            click.option("--isolation", type=click.Choice(["warm", "container"]), default="warm", show_default=True,
                         help="A fresh process a program, or a fresh sandbox."),
            click.option("--runtime", metavar="NAME", help="OCI runtime of the Docker engine, e.g. runsc."),
            click.option("--workers", type=click.IntRange(min=1, max=256), metavar="N", help="Supervisors at a time."),
            click.option("--timeout", type=click.FloatRange(min=0.1, max=3600), default=2.0, show_default=True,
                         callback=_finite, metavar="S", help="CPU seconds a program may use."),
            click.option("--memory", default="1g", show_default=True, metavar="SIZE", callback=_size,
                         help="Memory a program may use."),
            click.option("--cache/--no-cache", default=True, help="Use verdicts of identical programs."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


def judge_options(command: _Command) -> _Command:
    """Add the options of the judge."""
    for option in reversed(
        [
            click.option("--judge-model", metavar="M", help="Model that reads what the rules cannot."),
            click.option("--judge-base-url", metavar="U", help="Its OpenAI-compatible endpoint."),
            click.option("--judge-replies", type=click.Path(path_type=Path), metavar="FILE",
                         help="Recorded replies ({qid: text}) instead of a judge."),
            click.option("--judge-prompt", type=click.Path(path_type=Path), metavar="FILE",
                         help="A template instead of our wording."),
            click.option("--weight", "weights", multiple=True, metavar="PART=V", callback=_weights,
                         help="Mr-Ben: weight of mcc, step or reason in MR-Score."),
        ]
    ):  # fmt: skip
        command = option(command)
    return command


@main.command("run", epilog=EXIT_CODES)
@click.argument("predictions", metavar="PREDICTIONS")
@benchmark_options
@sandbox_options
@judge_options
@click.option("--score-only", is_flag=True, help="Score again from the files of an earlier run; execute nothing.")
@click.option(
    "-o", "--output", "outputs", multiple=True, metavar="FILE", help="Also write the report here (.json, `-`)."
)
@click.option("-q", "--quiet", is_flag=True, help="Only errors.")
@click.option("-v", "--verbose", is_flag=True, help="Also say what every sample's verdict rests on.")
def run_command(
    predictions: str,
    outputs: tuple[str, ...],
    quiet: bool,
    verbose: bool,
    **given: Any,
) -> int:
    """Grade PREDICTIONS (a file, or `-` for standard input)."""
    from grader.grading import grade
    from grader.options import Options
    from grader.progress import watcher

    options = Options(**given)
    _check_outputs(outputs, predictions, [options.data, options.judge_replies, options.judge_prompt])
    _check_rescoring(options)
    with watcher(quiet=quiet) as observer:
        graded = grade(predictions, options, observer)
    # Shown before it is written: a full disk costs the files, not the figures.
    _show(graded.report, quiet=quiet, verbose=verbose)
    written = _writing(graded.write)
    for name in outputs:
        _output(name, graded.report)
    if not quiet:
        for path in written:
            say(f"Wrote {path}")
    return 3 if graded.report.samples and graded.report.unscored == len(graded.report.samples) else 0


def _writing(write: Callable[[], list[Path]]) -> list[Path]:
    try:
        return write()
    except OSError as error:
        raise InfrastructureError(
            f"The results could not be written: {error}. Make room, or copy the predictions to another folder, and run "
            "it again: executed programs come from the cache (unless --no-cache was given)."
        ) from error


def _check_outputs(outputs: tuple[str, ...], predictions: str, inputs: list[Path | None]) -> None:
    """Refuse an output that cannot be written, or that would replace an input, before anything runs."""
    kept = {path.resolve() for path in (Path(predictions), *inputs) if path is not None}
    for name in outputs:
        if name == "-":
            continue
        if not name.endswith(".json"):
            raise UsageError(f"-o {name}: not a format this version writes (.json, or `-` for standard output).")
        if Path(name).resolve() in kept:
            raise UsageError(f"-o {name}: that is an input of this run; name another file.")
        if not Path(name).resolve().parent.is_dir():
            raise UsageError(f"-o {name}: there is no such folder.")


def _check_rescoring(options: Options) -> None:
    """Refuse what --score-only cannot do: it scores the samples that were graded."""
    if options.score_only and (options.limit is not None or options.ids):
        raise UsageError("--score-only scores all that was graded; --limit and --id need a run of their own.")


def _output(name: str, report: Report) -> None:
    from grader.results import encode_report

    if name == "-":
        sys.stdout.buffer.write(encode_report(report))
        sys.stdout.flush()
    else:
        _writing(lambda: _write_report(Path(name), encode_report(report)))


def _write_report(path: Path, data: bytes) -> list[Path]:
    from grader.files import replacing

    with replacing(path) as file:
        file.write(data)
    return [path]


def _show(report: Report, *, quiet: bool, verbose: bool) -> None:
    if quiet:
        return
    import shutil

    from grader.reports import table

    text = table.render(report, width=max(60, shutil.get_terminal_size((100, 24)).columns), colour=sys.stderr.isatty())
    _write(text.rstrip("\n"))
    if verbose:
        for sample in report.samples:
            careful = sample.careful
            say(f"{table.clean(sample.qid)} #{sample.sample} {sample.official.outcome} {careful.outcome} "
                f"{table.clean(careful.detail)[:200]}")  # fmt: skip


@main.command("list")
def list_command() -> None:
    """List the benchmarks, their splits and protocols."""
    from grader import benchmark

    for name in benchmark.names():
        declared = benchmark.load(name)
        click.echo(f"{name:12} {declared.name}: splits {', '.join(declared.splits)}; "
                   f"protocols {', '.join(declared.protocols)}")  # fmt: skip


@main.command("check")
@click.argument("predictions", metavar="PREDICTIONS")
@benchmark_options
def check_command(predictions: str, **given: Any) -> None:
    """Check a prediction file against its benchmark; grade nothing."""
    from grader.grading import check
    from grader.options import Options

    for line in check(predictions, Options(**given)):
        click.echo(line)


@main.command("fetch")
@click.argument("benchmark", metavar="ID|DIR")
@click.option("--split", metavar="S", help="Split of the benchmark.")
def fetch_command(benchmark: str, split: str | None) -> None:
    """Fetch a benchmark's data once, for grading without --data."""
    from grader import benchmark as declarations
    from grader.fetch import fetch
    from grader.progress import watcher

    declared = declarations.load(benchmark)
    with watcher(quiet=False) as observer:
        path = fetch(declared, declared.split(split)[0], observer)
    click.echo(path)


@main.command("doctor")
@click.option("--sandbox", type=click.Choice(["auto", "docker", "bubblewrap"]), default="auto", show_default=True)
def doctor_command(sandbox: str) -> int:
    """Tell what would run untrusted code here, and how to mend what is missing."""
    from grader.sandbox.doctor import examine

    examination = examine(sandbox)
    for line in examination.lines:
        click.echo(line)
    return 0 if examination.usable else 3


@main.group("image")
def image_group() -> None:
    """Build or remove what untrusted code runs in."""


@image_group.command("build")
@click.option("--base", type=click.Choice(["auto", "official", "debian"]), default="auto", show_default=True,
              help="The pinned official Python image, or one made from a Debian mirror.")  # fmt: skip
@click.option("--sandbox", type=click.Choice(["auto", "docker", "bubblewrap"]), default="auto", show_default=True)
def image_build(base: Any, sandbox: str) -> None:
    """Build the sandbox image now (grading does it on first use)."""
    from grader.progress import Lines
    from grader.sandbox import choice, docker, image, packages

    observer = Lines(quiet=False)
    if choice.choose(sandbox) == "docker":
        image.build(docker.connect(), observer, base)
    else:
        folder = packages.prepare((sys.version_info[0], sys.version_info[1]), observer)
        say(f"Ready: {folder.name}")


@image_group.command("clean")
@click.option("--all", "everything", is_flag=True, help="The base made here, and the fetched packages, as well.")
def image_clean(everything: bool) -> None:
    """Remove the sandbox images."""
    from grader.sandbox import docker, image, packages

    removed = image.clean(docker.connect(), bases=everything) if docker.available() else []
    removed += packages.clean() if everything else []
    for name in removed:
        click.echo(f"removed {name}")
    click.echo(f"{len(removed)} removed")


@main.command("cache")
@click.option("--clear", is_flag=True, help="Forget every verdict.")
def cache_command(clear: bool) -> None:
    """Show the cache of verdicts, or clear it."""
    from grader import cache

    verdicts = cache.VerdictCache(cache.default_path())
    if clear:
        click.echo(f"{verdicts.clear()} verdicts forgotten")
    else:
        size = cache.default_path().stat().st_size / 1e6 if cache.default_path().exists() else 0.0
        click.echo(f"{cache.default_path()}: {verdicts.size()} verdicts, {size:.1f} MB")
    verdicts.close()
