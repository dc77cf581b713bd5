"""Turns a file of model outputs into scores that can be trusted.

`grade` is the command's grading as a function; `compare` pairs two of its reports; `read_report` reads a results file.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from grader.comparison import Comparison
    from grader.observer import Observer
    from grader.results import ReadingName, Report

__version__ = "0.1.0"
__all__ = ["compare", "grade", "read_report"]

# The functions import what they need when they are called: `grade --help` waits for none of it.


def grade(
    predictions: str | Path | Mapping[str, Sequence[str]],
    *,
    write: bool = False,
    observer: Observer | None = None,
    **options: Any,
) -> Report:
    """Grade a prediction file, or {qid: [raw output, ...]}, and return the report.

    The options are the fields of `grader.options.Options`: `benchmark`, `split`, `data`, `protocol`, `k`, `sandbox`,
    `timeout` (CPU seconds), `memory` (bytes), `judge_model` and so on, with the command's defaults; `data` and the
    other files may be given as text. `write` also writes the files that the command writes beside a prediction file.

    Raises a `grader.errors.GradeError`: `UsageError`, `InputError`, `DataUnavailableError` or `InfrastructureError`;
    TypeError for an option that does not exist. Prints nothing.
    """
    import io

    from grader import grading
    from grader.observer import Silent
    from grader.options import from_arguments

    asked = from_arguments(options)
    if isinstance(predictions, str | Path):
        graded = grading.grade(predictions, asked, observer or Silent())
    else:
        import msgspec

        records = [{"qid": qid, "predictions": list(texts)} for qid, texts in predictions.items()]
        source = io.BytesIO(msgspec.json.encode(records))
        graded = grading.grade("-", asked, observer or Silent(), stdin=source)
    if write:
        graded.write()
    return graded.report


def compare(before: Report, after: Report, *, reading: ReadingName = "careful") -> Comparison:
    """Pair two reports of one benchmark by item; raises `grader.errors.UsageError` where they cannot be compared."""
    from grader import comparison

    return comparison.compare(before, after, reading=reading)


def read_report(path: str | Path) -> Report:
    """Read a `<stem>_results.json`; raises `grader.errors.InputError`."""
    from grader import results

    return results.read_report(Path(path))
