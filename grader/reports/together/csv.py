"""One CSV table of the samples of several files: a column with the file's name, then the columns of one file."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from grader.reports.csv import guarded, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.together import GradedFile
    from grader.results import ReadingName


def make(files: Sequence[GradedFile], /, *, reading: ReadingName) -> bytes:
    """Return the file; see `grader.reports.together.Format`."""
    del reading
    tables = {
        one.file: csv.DictReader(io.StringIO(render(one.report).decode(), newline=""))
        for one in files
        if one.report is not None
    }
    columns = list(dict.fromkeys(name for table in tables.values() for name in table.fieldnames or ()))
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, ["file", *columns], restval="", lineterminator="\r\n")
    writer.writeheader()
    for file, table in tables.items():
        writer.writerows({"file": guarded(file), **row} for row in table)
    return text.getvalue().encode()
