"""The JSON report of several files: a list of runs, each with its file's name, its gates and its report."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.files.results_file import encode_report

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.together import GradedFile
    from grader.results import ReadingName


def make(files: Sequence[GradedFile], /, *, reading: ReadingName) -> bytes:
    """Return the file; see `grader.reports.together.Format`."""
    del reading
    runs = [
        {
            "file": one.file,
            "exit_code": one.exit_code,
            "problem": one.problem,
            "gates": [{"gate": gate.gate, "state": gate.state, "reason": gate.reason} for gate in one.gates],
            "report": None if one.report is None else msgspec.Raw(encode_report(one.report)),
        }
        for one in files
    ]
    return msgspec.json.encode({"runs": runs}) + b"\n"
