"""Files that a report becomes, on request: checked before anything runs, written at the end."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.commands.console import emit, writing
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.gate import GateResult
    from grader.results import ReadingName, Report


def check(outputs: Sequence[str], inputs: Sequence[Path | None]) -> None:
    """Refuse an output that cannot be written, or that would replace an input; raises UsageError."""
    from grader.reports import format_of

    kept = {path.resolve() for path in inputs if path is not None}
    for name in outputs:
        if name == "-":
            continue
        format_of(name)
        if Path(name).resolve() in kept:
            raise UsageError(f"-o {name}: that is an input of this run; name another file.")
        if not Path(name).resolve().parent.is_dir():
            raise UsageError(f"-o {name}: there is no such folder.")


def write(
    outputs: Sequence[str],
    report: Report,
    material: Callable[[], Any],
    gates: Sequence[GateResult] = (),
    *,
    reading: ReadingName = "careful",
) -> list[Path]:
    """Write every output and return the paths; `-` is JSON on standard output."""
    from grader.files import replacing
    from grader.reports import format_of
    from grader.results import encode_report

    written: list[Path] = []
    for name in outputs:
        if name == "-":
            emit(encode_report(report))
            continue
        data = format_of(name)(report, material, gates, reading=reading)

        def replace(path: Path = Path(name), data: bytes = data) -> list[Path]:
            with replacing(path) as file:
                file.write(data)
            return [path]

        written += writing(replace)
    return written
