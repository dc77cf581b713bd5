"""The Python interface of the package: `grade`, `compare` and `read_report`."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.decisions.comparison import Comparison
    from grader.observer import Observer
    from grader.predictions.file import PredictionFile
    from grader.results import ReadingName, Report

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
    other files may be given as strings. With `write`, also write the files that the command writes beside them
    (outputs in a mapping have the name `stdin`).

    Raises a `grader.errors.GradeError`: `UsageError` (also for an unknown option), `InputError`,
    `DataUnavailableError` or `InfrastructureError`; TypeError for predictions of another type. Prints nothing.
    """
    from grader import grading
    from grader.observer import Silent
    from grader.options import from_arguments
    from grader.results.outputs import Outputs

    _check_names(options)
    parsed_options = from_arguments(options)
    source = predictions if isinstance(predictions, str | Path) else _file_of(predictions)
    with Outputs() as outputs:
        try:
            graded = grading.grade(source, parsed_options, observer or Silent(), outputs=outputs if write else None)
        except InputError as error:
            if source is predictions:
                raise
            # The predictions are an argument, so a problem has no path in a JSON file.
            raise InputError([_JSON_PATH.sub("", problem, count=1) for problem in error.problems]) from error
        if write:
            graded.write()
    return graded.report


_JSON_PATH = re.compile(r" \$(?:\.qid)?:")
_COMMAND_OPTIONS = {
    "id": "it is `ids` here, a list",
    "no_cache": "it is `cache=False`",
    "fail_under": "only the command has gates; look at report.metric(name, reading).value",
    "baseline": "only the command has gates; grader.compare(before, after) pairs two reports",
    "max_drop": "only the command has gates; grader.compare(before, after) pairs two reports",
    "reading": "the report has both; report.metric(name, reading) takes one",
    "output": "only the command writes reports: write=True writes the results file, for `grade report`",
}
"""Options that the command has and `grade()` does not, with what to do instead."""


def _check_names(options: Mapping[str, object]) -> None:
    """Raise UsageError for an unknown keyword; the message suggests a known one."""
    from grader.options import Options

    known = Options.__struct_fields__
    for name in options.keys() - set(known):
        similar = difflib.get_close_matches(name, known, 3)
        hint = f"did you mean {' or '.join(similar)}?" if similar else f"it has {', '.join(known)}"
        raise UsageError(f"grade() has no option {name!r}; {_COMMAND_OPTIONS.get(name, hint)}")


def _file_of(predictions: Mapping[str, Sequence[str]]) -> PredictionFile:
    """Return these strings as a prediction file with the argument's name. Raises TypeError, InputError."""
    from grader.files.compact_json import without_surrogates
    from grader.files.json_text import problem_lines
    from grader.predictions.file import PredictionFile

    if not isinstance(predictions, Mapping):
        raise TypeError(f"grade() takes a file's path or {{qid: [raw output, ...]}}, not {type(predictions).__name__}")
    outputs_of: dict[str, list[str]] = {}
    problems: list[str] = []
    for qid, value in predictions.items():
        # A string is also a sequence of strings; without this check each character would be graded.
        is_list = isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
        outputs = list(value) if is_list else None
        if not isinstance(qid, str | int) or outputs is None or not all(isinstance(text, str) for text in outputs):
            problem = f"expected a list of strings, not {value!r:.60}"
        elif not outputs or not str(qid):
            problem = f"{'the qid' if outputs else 'the list'} is empty; leave it out"
        elif any(without_surrogates(text) != text for text in (str(qid), *outputs)):
            problem = "holds a lone surrogate, which is not a valid character; replace it"
        else:
            outputs_of.setdefault(str(qid), []).extend(outputs)
            continue
        problems.append(f"predictions[{qid!r}]: {problem}")
    if problems or not outputs_of:
        raise InputError(problem_lines(problems) or ["there are no predictions; expected {qid: [raw output, ...]}"])
    return PredictionFile.of(outputs_of, "predictions")


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
    from grader.scorers import report_check

    return report_check.read_report(Path(path))
