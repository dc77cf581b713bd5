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
        source = io.BytesIO(_records(predictions))
        graded = grading.grade("-", asked, observer or Silent(), stdin=source)
    if write:
        graded.write()
    return graded.report


def _records(predictions: Mapping[str, Sequence[str]]) -> bytes:
    """Return the prediction file that these texts would be; raises TypeError, InputError."""
    from collections.abc import Iterable, Mapping

    import msgspec

    from grader.errors import InputError

    if not isinstance(predictions, Mapping):
        raise TypeError(f"grade() takes a file's path or {{qid: [raw output, ...]}}, not {type(predictions).__name__}")
    records: list[dict[str, object]] = []
    problems: list[str] = []
    for qid, texts in predictions.items():
        # A text is a sequence of texts as well, and each of its characters would be graded.
        given = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, str | bytes | Mapping) else None
        if not isinstance(qid, str | int) or given is None or not all(isinstance(text, str) for text in given):
            problems.append(f"{qid!r}: expected a list of texts, not {texts!r:.60}")
        elif any(_is_broken(text) for text in (str(qid), *given)):
            problems.append(f"{qid!r}: half of a surrogate pair is no character; replace it")
        records.append({"qid": str(qid), "predictions": given})
    if problems or not records:
        raise InputError(problems[:50] or ["there are no predictions; expected {qid: [raw output, ...]}"])
    return msgspec.json.encode(records)


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def compare(before: Report, after: Report, *, reading: ReadingName = "careful") -> Comparison:
    """Pair two reports of one benchmark by item; raises `grader.errors.UsageError` where they cannot be compared."""
    from grader import comparison
    from grader.errors import UsageError
    from grader.results import READINGS, Report

    for report in (before, after):
        if not isinstance(report, Report):
            raise TypeError(f"compare() takes two reports, not {report!r:.60}; read_report(path) reads one")
    if reading not in READINGS:
        raise UsageError(f"compare(): reading: expected {' or '.join(map(repr, READINGS))}, not {reading!r}")
    return comparison.compare(before, after, reading=reading)


def read_report(path: str | Path) -> Report:
    """Read a `<stem>_results.json`; raises `grader.errors.InputError`."""
    from grader import results

    return results.read_report(Path(path))
