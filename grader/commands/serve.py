"""`grade serve`: a grading pool over HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from grader.commands import options
from grader.commands.console import say
from grader.errors import UsageError
from grader.files.user_files import read_user_file

TOKEN = "GRADE_SERVE_TOKEN"  # noqa: S105 - the name of a variable


@click.command("serve", short_help="Grade samples that are sent over HTTP.")
@options.serve_options
@click.option("--host", default="127.0.0.1", show_default=True, metavar="ADDRESS",
              help="Address to listen on; one that other machines can reach needs a token.")  # fmt: skip
@click.option("--port", type=click.IntRange(0, 65535), default=8817, show_default=True, metavar="P",
              help="Port to listen on; 0: any free port.")  # fmt: skip
@click.option("--token-file", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help=f"File with the bearer token that requests must send; or set {TOKEN}.")  # fmt: skip
@click.option("--wait", type=options.Seconds(0, 86400, min_open=True), default=600.0, show_default=True, metavar="S",
              help="Seconds that a request may take.")  # fmt: skip
@click.option("--max-body", "body", default="16m", show_default=True, metavar="SIZE",
              help="Maximum size of a request, such as 16m or 1g.")  # fmt: skip
@click.option("--max-waiting", type=click.IntRange(min=1), default=8192, show_default=True, metavar="N",
              help="Maximum number of samples at a time; above it, requests get HTTP 429.")  # fmt: skip
def serve_command(
    *, host: str, port: int, token_file: Path | None, wait: float, body: str, max_waiting: int, **settings: Any
) -> None:
    """Grade samples that are sent over HTTP, for example as rewards in a training loop.

    POST /grade takes {"qid", "text"}, POST /grade/batch {"samples": [...]}; /health and /metrics report its state.
    """
    from grader.pool.samples import Samples
    from grader.pool.settings import settings_of
    from grader.serving.requests import ServerLimits
    from grader.serving.server import check_access, serve

    token = _read_token(token_file)
    check_access(host, token)
    limits = ServerLimits(body_bytes=_parse_body_size(body), max_samples=max_waiting, wait=wait)
    samples = Samples(settings_of({name: value for name, value in settings.items() if value is not None}).options)
    serve(samples, host, port, limits=limits, token=token, say=lambda address: say(f"Listening on {address}"))
    say("Stopped.")


def _read_token(file: Path | None) -> str:
    if file is None:
        return os.environ.get(TOKEN, "").strip()
    try:
        return read_user_file(file).decode().strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise UsageError(f"--token-file {file}: {why}") from error


def _parse_body_size(text: str) -> int:
    """Return the maximum size of a request in bytes; raises UsageError."""
    from grader.options import bytes_of

    try:
        size = bytes_of(text)
    except (ValueError, OverflowError):
        size = 0
    if not 1 <= size <= 1 << 31:
        raise UsageError(f"--max-body {text}: expected a size such as 512k or 16m, at most 2g.")
    return size
