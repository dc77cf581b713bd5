"""`grade serve`: a pool over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from grader.commands import options
from grader.commands.console import say
from grader.errors import UsageError

TOKEN = "GRADE_SERVE_TOKEN"  # noqa: S105 - the name of a variable
EXTRA = (
    "`grade serve` needs packages that are not installed ({missing} is missing): pip install 'grade-predictions[serve]'"
)


@click.command("serve")
@options.place_options
@options.pool_options
@options.judge_options
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="Address to listen on; another than this machine's own needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8817, show_default=True, metavar="P",
              help="Port to listen on; 0: any that is free.")  # fmt: skip
@click.option("--token-file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help=f"File with the token that requests have to bear; or set {TOKEN}.")  # fmt: skip
@click.option("--wait", type=click.FloatRange(0, 86400, min_open=True), default=600.0, show_default=True, metavar="S",
              help="Seconds that a request takes at most.")  # fmt: skip
@click.option("--max-body", "body", default="16m", show_default=True, metavar="SIZE",
              help="Longest request, as 16m or 1g.")  # fmt: skip
@click.option("--max-samples", type=click.IntRange(min=1), default=1024, show_default=True, metavar="N",
              help="Samples of one request.")  # fmt: skip
@click.option("--max-waiting", type=click.IntRange(min=1), default=8192, show_default=True, metavar="N",
              help="Samples of all requests at a time; beyond it the answer is 429.")  # fmt: skip
@click.option("--interactive/--no-interactive", default=True,
              help="Whether programs may run beside their tests where a task allows no other way.")  # fmt: skip
def serve_command(
    *, host: str, port: int, token_file: Path | None, wait: float, body: str, max_samples: int, max_waiting: int,
    interactive: bool, **given: Any,
) -> None:  # fmt: skip
    """Grade samples that are sent over HTTP, as rewards for a training loop.

    POST /grade takes {"qid", "text"}, POST /grade/batch {"samples": [...]}; /health and /metrics tell how it is.
    """
    try:
        from grader.serving.requests import Limits
        from grader.serving.server import check_access, serve
    except ImportError as error:
        raise UsageError(EXTRA.format(missing=error.name)) from error
    from grader.pool.client import Pool

    token = _token(token_file)
    check_access(host, token)
    limits = Limits(body_bytes=_size(body), samples=max_samples, waiting=max_waiting)
    with Pool(wait=wait, interactive=interactive, **{k: v for k, v in given.items() if v is not None}) as pool:
        serve(pool, host, port, limits=limits, token=token, listening=lambda address: say(f"Listening on {address}"))
    say("Stopped.")


def _token(file: Path | None) -> str:
    if file is None:
        return os.environ.get(TOKEN, "").strip()
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"--token-file {file}: {error}") from error


def _size(text: str) -> int:
    """Return the bytes of a size; unlike a program's memory it may be small."""
    units = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
    number, unit = (text[:-1], units[text[-1:].lower()]) if text[-1:].lower() in units else (text, 1)
    if not number.isdecimal() or not 1 <= int(number) * unit <= 1 << 31:
        raise UsageError(f"--max-body {text}: expected a size such as 512k or 16m, at most 2g.")
    return int(number) * unit
