"""Writing, reading and checking of results files."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.files.given import read_given
from grader.results import READINGS, SCHEMA, Outcome, Report, SampleResult, count_unscored

if TYPE_CHECKING:
    from pathlib import Path

_FULL = (Outcome.PASSED, Outcome.CORRECT)
"""The outcomes with full credit; others have none, or a part."""


def encode_report(report: Report) -> bytes:
    """Return the results file's bytes (UTF-8 JSON, indented, newline-terminated)."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def decode_report(data: bytes) -> Report:
    """Parse a results file. Raises `msgspec.ValidationError` with a `$.path` if it is invalid."""
    # Without white space, the scorers' raw facts are equal in new reports and in reports read from a file.
    return msgspec.json.decode(msgspec.json.format(data, indent=-1), type=Report)


def read_report(path: Path) -> Report:
    """Read a results file. Raises InputError if it is invalid, or inconsistent."""
    data = b""
    try:
        data = read_given(path)
        report = decode_report(data)
    except OSError as error:
        raise InputError([f"{path}: {error.strerror or error}"]) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        if _schema(data) not in (None, SCHEMA):
            raise _another_schema(path, _schema(data)) from error
        hint = "; give the `_results.json` that grading wrote" if "_results" not in path.name else ""
        raise InputError([f"{path}: not a results file ({error}){hint}"]) from error
    if report.schema != SCHEMA:
        raise _another_schema(path, report.schema)
    problems = _contradictions(report)
    if problems:
        shown = [f"{path}: {problem}" for problem in problems[:20]]
        raise InputError([*shown, "Grading never writes this: the file was changed. Grade the predictions again."])
    return report


def _schema(data: bytes) -> int | None:
    class Head(msgspec.Struct):
        schema: int

    try:
        return msgspec.json.decode(data, type=Head).schema
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _another_schema(path: Path, schema: int | None) -> InputError:
    return InputError([f"{path}: $.schema: {schema}; this version of grade reads schema {SCHEMA}"])


def _contradictions(report: Report) -> list[str]:
    """Return contradictions that no scorer produces, and that would make comparisons and gates meaningless."""
    problems = []
    places = Counter((sample.qid, sample.sample) for sample in report.samples)
    for at, sample in enumerate(report.samples):
        if sample.sample < 0:
            problems.append(f"$.samples[{at}].sample: {sample.sample} is not a valid position; positions begin at 0")
        if places[sample.qid, sample.sample] > 1:
            problems.append(f"$.samples[{at}]: {sample.qid!r} sample {sample.sample} is a duplicate")
        problems += _credit_problems(at, sample)
    either, counts = count_unscored(report.samples)
    if report.unscored != either:
        problems.append(f"$.unscored: {report.unscored}, but {either} samples are unscored")
    elif report.unscored_by_reading != counts:
        problems.append(f"$.unscored_by_reading: official {counts.official} and careful {counts.careful} are unscored")
    return problems


def _credit_problems(at: int, sample: SampleResult) -> list[str]:
    problems = []
    for name in READINGS:
        reading = sample.reading(name)
        if (reading.credit is None) == reading.is_scored:
            problems.append(f"$.samples[{at}].{name}: {reading.outcome.value} with credit {reading.credit}")
        elif not 0 <= reading.points <= 1:
            problems.append(f"$.samples[{at}].{name}.credit: {reading.credit} is not between 0 and 1")
        elif (reading.credit == 1) != (reading.outcome in _FULL) and reading.credit in (0, 1):
            problems.append(f"$.samples[{at}].{name}: {reading.outcome.value} with credit {reading.points:g}")
    return problems
