"""Reading and checking of results files, also before a run replaces one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError, UsageError
from grader.files.json_text import LISTED_PROBLEMS
from grader.files.user_files import read_input
from grader.results import READINGS, SCHEMA, Facts, Outcome, Report, SampleResult, count_unscored
from grader.results.provenance import Provenance

if TYPE_CHECKING:
    from pathlib import Path

FactTypes = Callable[[str], tuple[type[Facts], type[Facts]]]
"""Return the types of facts of the scorer with this name: of a sample, and of a run. Raises UsageError."""
_AGAIN = "; grade the predictions again"
_FULL_CREDIT = (Outcome.PASSED, Outcome.CORRECT)
"""The outcomes with full credit; others have none, or a part."""


class _ResultsHead(msgspec.Struct):
    """What is read of a results file before its samples."""

    schema: int
    scorer: str = ""
    provenance: Any = None


def read_report(path: Path, types: FactTypes) -> Report:
    """Read a results file, with the facts that its scorer keeps. Raises InputError if it is invalid or inconsistent.

    Raises UsageError if the scorer is not installed.
    """
    head, data = _read_head(path)
    try:
        sample_facts, run_facts = types(head.scorer) if head.scorer else (Facts, Facts)
        report: Report = msgspec.json.decode(data, type=Report[sample_facts, run_facts])  # type: ignore[valid-type]
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error
    except msgspec.DecodeError as error:
        raise _format_error(path, error) from error
    problems = _contradictions(report) + _missing_facts(report, sample_facts)
    if problems:
        lines = [f"{path}: {problem}" for problem in problems[:LISTED_PROBLEMS]]
        raise InputError([*lines, "Grading never writes this: the file was changed. Grade the predictions again."])
    return report


def refuse_to_lose(path: Path, source: str, *, judged: bool) -> None:
    """Raise UsageError if a run would replace the results of another prediction file, or judged ones by unjudged ones.

    `source` is the name of the run's prediction file; `judged`: whether it has a judge.
    """
    if not path.is_file():
        return
    try:
        head, _ = _read_head(path)
        earlier = msgspec.convert(head.provenance or {}, Provenance)
    except (InputError, msgspec.ValidationError):
        return  # the file is not a results file, so no results would be lost
    if earlier.predictions not in ("", source):
        raise UsageError(
            f"{path.name} has the results of {earlier.predictions}, and would be replaced by those of {source}. Rename "
            "one of the two prediction files, give another --output-dir, or remove the results."
        )
    judge = earlier.judge
    if judged or judge is None:
        return
    # Without a model, the judge was recorded replies. A model answered nothing if it was never asked or always failed.
    has_answered = not judge.model or judge.questions > judge.failed
    if has_answered:
        raise UsageError(
            f"{path.name} was judged ({judge.model or judge.source}), but this run has no judge: it would replace "
            "judged results by unjudged ones. Give the same judge again, another --output-dir, or remove the results."
        )


def _read_head(path: Path) -> tuple[_ResultsHead, bytes]:
    """Return the head and the bytes of a results file; raises InputError for another kind of file or another schema."""
    try:
        data = read_input(path)
        head = msgspec.json.decode(data, type=_ResultsHead)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _format_error(path, error) from error
    if head.schema != SCHEMA:
        raise InputError([f"{path}: $.schema: {head.schema}; this version of grade reads schema {SCHEMA}{_AGAIN}"])
    return head, data


def _format_error(path: Path, error: Exception) -> InputError:
    hint = _AGAIN if "_results" in path.name else "; give the `_results.json` that grading wrote"
    return InputError([f"{path}: not a results file ({error}){hint}"])


def _contradictions(report: Report) -> list[str]:
    """Return contradictions that no scorer produces, and that would make comparisons and gates meaningless."""
    problems = []
    counts = Counter((sample.qid, sample.sample) for sample in report.samples)
    for index, sample in enumerate(report.samples):
        path = f"$.samples[{index}]"
        if sample.sample < 0:
            problems.append(f"{path}.sample: {sample.sample} is not a valid position; positions begin at 0")
        if counts[sample.qid, sample.sample] > 1:
            problems.append(f"{path}: {sample.qid!r} sample {sample.sample} is a duplicate")
        problems += credit_problems(path, sample)
    unscored, by_reading = count_unscored(report.samples)
    if report.unscored != unscored:
        problems.append(f"$.unscored: {report.unscored}, but {unscored} samples are unscored")
    elif report.unscored_by_reading != by_reading:
        problems.append(
            f"$.unscored_by_reading: official {by_reading.official} and careful {by_reading.careful} are unscored"
        )
    return problems


def _missing_facts(report: Report, facts_type: type[Facts]) -> list[str]:
    """Return the samples without the facts (`extra` in the file) that their metrics are computed from."""
    metrics_need_facts = any(field.required for field in msgspec.structs.fields(facts_type))
    if not metrics_need_facts:
        return []
    indexes = (index for index, sample in enumerate(report.samples) if sample.facts is msgspec.UNSET)
    return [f"$.samples[{index}].extra: missing" for index in indexes]


def credit_problems(path: str, sample: SampleResult) -> list[str]:
    """Return the readings whose credit does not fit their outcome. `path`: what names the sample.

    Partial credit (between 0 and 1) fits every scored outcome.
    """
    problems = []
    for name in READINGS:
        reading = sample.reading(name)
        has_credit, is_partial = reading.credit is not None, 0 < reading.points < 1
        has_full_credit, needs_full_credit = reading.points == 1, reading.outcome in _FULL_CREDIT
        if has_credit != reading.is_scored:
            problems.append(f"{path}.{name}: {reading.outcome.value} with credit {reading.credit}")
        elif not 0 <= reading.points <= 1:
            problems.append(f"{path}.{name}.credit: {reading.credit} is not between 0 and 1")
        elif has_credit and not is_partial and has_full_credit != needs_full_credit:
            problems.append(f"{path}.{name}: {reading.outcome.value} with credit {reading.points:g}")
    return problems
