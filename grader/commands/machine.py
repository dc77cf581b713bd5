"""`grade fetch`, `doctor`, `image`, `cache`, `selftest`: data, sandboxes and caches of this machine."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.commands.console import fit_to_stream, say
from grader.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from pathlib import Path

_SANDBOX = options.sandbox_option("Where untrusted code would run.")


@click.command("fetch", short_help="Download the data of a benchmark.")
@click.argument("benchmark", metavar="ID|DIR")
@options.SPLIT
@click.option("--protocol", metavar="P", help="Version of the official scorer: some versions have their own data set.")
def fetch_command(benchmark: str, split: str | None, protocol: str | None) -> None:
    """Download a benchmark's data, so that grading and inference need no --data.

    An interrupted download continues when the command is run again.
    """
    from grader.commands.progress import progress_reporter
    from grader.data import download
    from grader.scorers import declarations, registry
    from grader.scorers.rows import rows_of

    declared = declarations.load(benchmark)
    split_name, split_data = declared.split(split)
    protocol_name = declared.resolve_protocol(protocol)
    with progress_reporter(quiet=False) as observer:
        if split_data.hub and not download.has_address(split_data):
            # The client of the hub downloads when the rows are read.
            observer.phase(f"fetching {split_data.hub}", None)
            rows = rows_of(declared, split_name, protocol_name, None, registry.scorer(declared.scoring))
            click.echo(f"{rows.origin}: {len(rows.rows)} rows, in the cache of `datasets`")
            return
        path = download.fetch(declared, split_name, observer)
    click.echo(path)


@click.command("doctor", short_help="Show which sandbox this machine has.")
@_SANDBOX
@click.option("-v", "--verbose", is_flag=True, help="Name the system and the code inside, too.")
def doctor_command(sandbox: str, *, verbose: bool) -> int:
    """Report which sandbox would run untrusted code on this machine, and how to install what is missing."""
    from grader.sandbox.choice import examine

    examination = examine(sandbox, verbose=verbose)
    for line in examination.lines:
        click.echo(fit_to_stream(line, sys.stdout))
    return 0 if examination.usable else InfrastructureError.exit_code


@click.group("image", short_help="Build or remove the sandbox image.")
def image_group() -> None:
    """Build or remove the sandbox image, in which untrusted code runs."""


@image_group.command("build")
@click.option("--base", type=click.Choice(["auto", "official", "debian"]), default="auto", show_default=True,
              help="The pinned official Python image, or a base built from a Debian mirror.")  # fmt: skip
@click.option("--python", type=click.Choice(["3.10", "3.12"]),
              help="Build the image for protocols whose official Python is this version.")  # fmt: skip
@click.option("-b", "--benchmark", metavar="ID|DIR", help="Add the packages that this benchmark requires.")
@_SANDBOX
def image_build(base: Any, python: str | None, benchmark: str | None, sandbox: str) -> None:
    """Build the sandbox image now (grading builds it at its first use).

    With packages that a benchmark requires, only this command builds it.
    """
    from grader.commands.progress import Lines
    from grader.sandbox import choice, docker, image, interpreters, packages

    requirements = ""
    if benchmark is not None:
        requirements, python = _requirements_and_python(benchmark, python)
    observer = Lines(quiet=False)
    if choice.choose_backend(sandbox) == "docker":
        image.build(docker.connect(), observer, base, python, requirements)
    else:
        interpreter = interpreters.interpreter_for(python)
        folder = packages.prepare(interpreter.major_and_minor, observer, interpreter.path, requirements)
        say(f"Ready: {folder.name}")


def _requirements_and_python(benchmark: str, python: str | None) -> tuple[str, str | None]:
    """Return the text of a benchmark's requirements, and its Python if `python` is None."""
    from grader.scorers import declarations

    declared = declarations.load(benchmark)
    packages = declared.required_packages()
    if not packages:
        raise UsageError(f"-b {benchmark}: its benchmark.toml names no `requirements`.")
    return packages, python or declared.python or None


@image_group.command("clean")
@click.option("--all", "everything", is_flag=True, help="Also remove the base built here, and the downloaded packages.")
def image_clean(everything: bool) -> None:
    """Remove the sandbox images."""
    from grader.sandbox import docker, image, packages

    removed = image.clean(docker.connect(), with_local_bases=everything) if docker.available() else []
    removed += packages.clean() if everything else []
    for name in removed:
        click.echo(f"removed {name}")
    click.echo(f"{len(removed)} removed")


@click.command("cache", short_help="Show or clear cached verdicts and judge replies.")
@click.option("--clear", is_flag=False, flag_value="all", type=click.Choice(["verdicts", "judge", "all"]),
              help="Clear the verdicts and programs, the judge replies, or both (the default of --clear).")  # fmt: skip
def cache_command(clear: str | None) -> None:
    """Show or clear the caches of program verdicts and judge replies."""
    from grader.judge import client
    from grader.sandbox import verdict_cache

    path = verdict_cache.default_path()
    verdicts = verdict_cache.VerdictCache(path)
    if clear in {"verdicts", "all"}:
        click.echo(f"{verdicts.clear()} verdicts and programs deleted")
    elif clear is None:
        click.echo(f"{path}: {verdicts.size()} verdicts and programs, {_megabytes(path)}")
    verdicts.close()
    with client.ReplyCache() as replies:
        if clear in {"judge", "all"}:
            click.echo(f"{replies.clear()} judge replies deleted")
        elif clear is None:
            click.echo(f"{replies.path}: {replies.size()} judge replies, {_megabytes(replies.path)}")


def _megabytes(path: Path) -> str:
    size = path.stat().st_size if path.exists() else 0
    return f"{size / 1e6:.1f} MB"


EXIT_CODES = "Exit codes: 0 = every outcome is as expected; 2 = bad input; 3 = an outcome differs, or no sandbox works."
DIFFERS = (
    "This machine does not grade correctly. Stop other load and try again; `grade doctor` examines the sandbox, "
    "`grade image clean --all` and `grade image build` make it anew. If that does not help, install grade again."
)
FAILS = (
    "Reference solutions do not pass. Correct those that fail their own tests; `grade doctor` examines the sandbox, "
    "and `grade selftest` without options tells whether this machine grades correctly."
)


@click.command("selftest", short_help="Check that this machine grades correctly.", epilog=EXIT_CODES)
@click.option("-b", "--benchmark", metavar="ID|DIR", shell_complete=options.complete_benchmarks,
              help="Benchmark, or a folder with a benchmark.toml. Default: all built-in benchmarks.")  # fmt: skip
@click.option("--data", type=options.PATH, metavar="PATH",
              help="Local copy of the data: its reference solutions must pass.")  # fmt: skip
@options.sandbox_option("Where untrusted code runs; auto: in every sandbox that this machine has, in turn.")
def selftest_command(*, benchmark: str | None, data: Path | None, sandbox: Any) -> int:
    """Check that this machine grades correctly: grade the built-in samples, and compare every outcome.

    The expected outcomes of both readings are in the sample's expected.json. The official outcomes of programs are
    compared only if the sandbox has the Python of the protocol. With --data, or for a benchmark without a sample, the
    reference solutions of the data must pass.
    """
    from grader import selftest
    from grader.commands.progress import progress_reporter

    failed = []
    for run_options in selftest.plan(benchmark, data, sandbox):
        with progress_reporter(quiet=not sys.stderr.isatty()) as observer:
            result = selftest.check(run_options, observer)
        click.echo(fit_to_stream(selftest.in_words(result), sys.stdout))
        if not result.passed:
            failed.append(result)
    if not failed:
        return 0
    # All results are of one kind: a benchmark without a sample, or with --data, is tested alone.
    say(DIFFERS if failed[-1].is_of_sample else FAILS)
    return InfrastructureError.exit_code
