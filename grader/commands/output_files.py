"""Files that a report becomes, on request: checked before anything runs, written at the end."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.commands.console import emit, writing
from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.gate import GateResult
    from grader.results import ReadingName, Report


def check(outputs: Sequence[str], inputs: Sequence[Path | None]) -> None:
    """Refuse an output that is no report, that cannot be written, or would replace an input; raises UsageError."""
    from grader.reports import format_of

    for name in outputs:
        format_of(name)
    check_places(outputs, inputs)


def check_places(outputs: Sequence[str], inputs: Sequence[Path | None]) -> None:
    """Refuse an output that cannot be written, or that would replace an input; raises UsageError."""
    kept = {path.resolve() for path in inputs if path is not None}
    for name in outputs:
        if name == "-":
            if outputs.count(name) > 1:
                raise UsageError("-o - is given twice, and standard output has room for one report.")
            continue
        path = Path(name).resolve()
        if path in kept:
            raise UsageError(f"-o {name}: this run reads or writes that file itself; name another one.")
        if path.is_dir():
            raise UsageError(f"-o {name}: is a folder; name a file in it.")
        if not path.parent.is_dir():
            raise UsageError(f"-o {name}: there is no folder {path.parent}; make it first.")
        if not os.access(path.parent, os.W_OK):
            raise UsageError(f"-o {name}: nothing can be written to {path.parent}; name another folder.")


def write(
    outputs: Sequence[str],
    report: Report,
    material: Callable[[], Any],
    gates: Sequence[GateResult] = (),
    *,
    reading: ReadingName = "careful",
) -> list[Path]:
    """Write every output and return the paths; `-` is JSON on standard output."""
    from grader.reports import format_of

    written: list[Path] = []
    for name in outputs:
        made = format_of(name)(report, material, gates, reading=reading)
        written += put(name, made)
    return written


def put(name: str, data: bytes) -> list[Path]:
    """Write one output and return its path; none for `-`, standard output. Raises InfrastructureError."""
    from grader.files.replacing import replacing

    def write() -> list[Path]:
        if name == "-":
            emit(data)
            return []
        with replacing(Path(name)) as file:
            file.write(data)
        return [Path(name)]

    return writing(write)
