"""The Python interface of the package: `grade`, `compare` and `read_report`."""

from __future__ import annotations

import difflib
import io
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.comparison import Comparison
    from grader.grading import Graded
    from grader.observer import Observer
    from grader.options import Options
    from grader.results import ReadingName, Report
    from grader.results.destination import Destination

# Each function imports what takes long to import when it is called.


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
    other files may be given as strings. With `write`, also write the files that the command writes beside them.

    Raises a `grader.errors.GradeError`: `UsageError` (also for an unknown option), `InputError`,
    `DataUnavailableError` or `InfrastructureError`; TypeError for predictions of another type. Prints nothing.
    """
    from grader import grading
    from grader.observer import Silent
    from grader.options import from_arguments
    from grader.results.destination import Destination

    _check_names(options)
    asked = from_arguments(options)
    with Destination(force=asked.force) as destination:
        taken = destination if write else None
        if isinstance(predictions, str | Path):
            graded = grading.grade(predictions, asked, observer or Silent(), destination=taken)
        else:
            graded = _grade_texts(predictions, asked, observer or Silent(), taken)
        if write:
            graded.write()
    return graded.report


_ELSEWHERE = {
    "id": "it is `ids` here, a list",
    "weight": "it is `weights` here: {part: value}",
    "no_cache": "it is `cache=False`",
    "set": "it is `settings` here: {name: value}",
    "fail_under": "gates are the command's; look at report.metric(name, reading).value",
    "baseline": "gates are the command's; grader.compare(before, after) pairs two reports",
    "max_drop": "gates are the command's; grader.compare(before, after) pairs two reports",
    "reading": "the report has both; report.metric(name, reading) takes one",
    "output": "reports are the command's: write=True writes the results file, and `grade report` turns it into reports",
}
"""Options that the command has and `grade()` does not, with what to do instead."""


def _check_names(options: Mapping[str, object]) -> None:
    """Raise UsageError for an unknown keyword; the message suggests a known one."""
    from grader.options import Options

    known = Options.__struct_fields__
    for name in options.keys() - set(known):
        near = difflib.get_close_matches(name, known, 3)
        meant = f"did you mean {' or '.join(near)}?" if near else f"it has {', '.join(known)}"
        raise UsageError(f"grade() has no option {name!r}; {_ELSEWHERE.get(name, meant)}")


def _grade_texts(
    predictions: Mapping[str, Sequence[str]], asked: Options, observer: Observer, destination: Destination | None
) -> Graded:
    """Grade strings as if they were a prediction file; error messages name the argument, not a file."""
    from grader import grading

    try:
        return grading.grade("-", asked, observer, stdin=io.BytesIO(_records(predictions)), destination=destination)
    except InputError as error:
        qids = list(map(str, predictions))
        raise InputError([_of_argument(problem, qids) for problem in error.problems]) from error


def _of_argument(problem: str, qids: list[str]) -> str:
    """Return a problem of the file as a problem of the argument: the caller passed no file."""
    place = r"<stdin>(?::\d+)?: \$(?:\[(?P<at>\d+)\])?(?:\.(?:qid|predictions))?(?P<sample>(?:\[\d+\])?): "
    found = re.match(place, problem)
    if found is None:
        return problem
    item = f"[{qids[int(found['at'])]!r}]" if found["at"] else ""
    return f"predictions{item}{found['sample']}: {problem[found.end() :]}"


def _records(predictions: Mapping[str, Sequence[str]]) -> bytes:
    """Return these strings as the content of a prediction file. Raises TypeError, InputError."""
    import msgspec

    from grader.files.json_text import shown

    if not isinstance(predictions, Mapping):
        raise TypeError(f"grade() takes a file's path or {{qid: [raw output, ...]}}, not {type(predictions).__name__}")
    records: list[dict[str, object]] = []
    problems: list[str] = []
    for qid, texts in predictions.items():
        # A string is also a sequence of strings; without this check each character would be graded.
        given = list(texts) if isinstance(texts, Iterable) and not isinstance(texts, str | bytes | Mapping) else None
        if not isinstance(qid, str | int) or given is None or not all(isinstance(text, str) for text in given):
            problems.append(f"{qid!r}: expected a list of strings, not {texts!r:.60}")
        elif any(_is_broken(text) for text in (str(qid), *given)):
            problems.append(f"{qid!r}: holds a lone surrogate, which is not a valid character; replace it")
        records.append({"qid": str(qid), "predictions": given})
    if problems or not records:
        raise InputError(shown(problems) or ["there are no predictions; expected {qid: [raw output, ...]}"])
    return msgspec.json.encode(records)


def _is_broken(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def compare(before: Report, after: Report, *, reading: ReadingName = "careful") -> Comparison:
    """Compare two reports of one benchmark, item by item. Raises `grader.errors.UsageError` if that is impossible."""
    from grader.decisions import comparison
    from grader.results import READINGS, Report

    for report in (before, after):
        if not isinstance(report, Report):
            raise TypeError(f"compare() takes two reports, not {report!r:.60}; read_report(path) reads one")
    if reading not in READINGS:
        raise UsageError(f"compare(): reading: expected {' or '.join(map(repr, READINGS))}, not {reading!r}")
    return comparison.compare(before, after, reading=reading)


def read_report(path: str | Path) -> Report:
    """Read a `<stem>_results.json`. Raises `grader.errors.InputError`."""
    from grader.scorers import earlier

    return earlier.read_report(Path(path))
