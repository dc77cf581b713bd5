"""A table of all files, then the report of each file, in GitHub's Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.markdown import render
from grader.reports.markdown_text import code
from grader.reports.together.table import HEAD, rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.together import GradedFile
    from grader.results import ReadingName

MOST_BYTES = 60_000
"""A comment on GitHub can have little more. Reports that do not fit are left out, and counted."""


def make(files: Sequence[GradedFile], /, *, reading: ReadingName) -> bytes:
    """Return the file; see `grader.reports.together.Format`."""
    del reading
    lines = ["| " + " | ".join(HEAD) + " |", "|---|---|---:|---:|---:|---:|---|"]
    lines += ["| " + " | ".join(f"{code(cell)}" if cell else "" for cell in row) + " |" for row in rows(files)]
    made = "\n".join(lines).encode() + b"\n"
    left_out = 0
    for one in files:
        part = f"\n# {code(one.file)}\n\n".encode()
        part += render(one.report, one.gates) if one.report is not None else f"{code(one.problem)}\n".encode()
        if len(made) + len(part) > MOST_BYTES:
            left_out += 1
        else:
            made += part
    if left_out:
        made += f"\nThe reports of {left_out} more files are left out here; their results files have them.\n".encode()
    return made
