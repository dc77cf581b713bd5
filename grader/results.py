"""The records every scorer produces and every report reads: `<stem>_results.json`, schema 1."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = 1
ReadingName = Literal["official", "careful"]
READINGS: tuple[ReadingName, ReadingName] = ("official", "careful")


class Outcome(StrEnum):
    """What one reading concluded about one sample."""

    PASSED = "passed"
    FAILED = "failed"
    """A test's assertion failed."""
    ERROR = "error"
    """The program raised something other than a failed assertion."""
    TIMEOUT = "timeout"
    OUT_OF_MEMORY = "out_of_memory"
    CRASHED = "crashed"
    """The process was ended by a signal of its own making."""
    LINT_FAILED = "lint_failed"
    SUSPECT = "suspect"
    """Passed officially, not confirmed by the split harness."""
    CORRECT = "correct"
    WRONG = "wrong"
    NO_ANSWER = "no_answer"
    AMBIGUOUS = "ambiguous"
    UNSCORED = "unscored"
    """Infrastructure failed; says nothing about the sample."""


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """One reading of one sample."""

    outcome: Outcome
    credit: float
    """What the sample earns: 1 or 0 (a float only where a benchmark gives parts)."""
    answer: str | None = None
    """Multiple choice: the letter read, or None."""
    detail: str = ""
    """For people: the error's text, the evidence, the reason."""
    rule: str | msgspec.UnsetType = msgspec.UNSET
    """The name of the rule that decided."""
    span: tuple[int, int] | msgspec.UnsetType = msgspec.UNSET
    """Characters [start, end) of the raw prediction that the reading rests on."""


class SampleResult(msgspec.Struct, frozen=True, kw_only=True):
    """Both readings of one sample."""

    qid: str
    sample: int
    """Position among the qid's predictions, from 0."""
    seconds: float = 0.0
    """CPU seconds the program used (0 where nothing was executed)."""
    official: Reading
    careful: Reading
    unit: str | msgspec.UnsetType = msgspec.UNSET
    """What counts as one observation (task, question, circular group) where that is not the qid."""
    groups: dict[str, str | list[str]] | msgspec.UnsetType = msgspec.UNSET
    """Category field -> value(s), for breakdowns made later."""
    extra: dict[str, object] | msgspec.UnsetType = msgspec.UNSET
    """Facts a report shows for this kind of benchmark (parsed fields, judge reply, ...)."""

    def reading(self, name: ReadingName) -> Reading:
        """Return the named reading."""
        return self.official if name == "official" else self.careful

    @property
    def cluster(self) -> str:
        """The observation this sample belongs to."""
        return self.qid if self.unit is msgspec.UNSET else self.unit


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """One figure in one reading, in percent, unrounded."""

    name: str
    reading: ReadingName
    group: str | None = None
    """None for the overall figure, else `field=value`."""
    value: float
    ci95: tuple[float, float] | None = None
    stderr: float | None = None
    n: int
    """Observations (tasks, questions, groups) behind the value."""
    bounds: tuple[float, float] | msgspec.UnsetType = msgspec.UNSET
    """With unscored samples: the value if all of them were wrong, and if all were right."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """Everything one grading run concluded."""

    schema: int = SCHEMA
    benchmark: str
    split: str
    protocol: str
    metrics: list[Metric]
    samples: list[SampleResult]
    unscored: int = 0
    environment: dict[str, object] = {}
    """How the figures were made: versions, sandbox, image, limits, data fingerprint, judge calls."""
    notes: list[str] = []
    """What a reader of the figures must know (missing passes, baselines, ...)."""

    def metric(self, name: str, reading: ReadingName = "official", group: str | None = None) -> Metric | None:
        """Return the named figure, or None if this report has none of that name."""
        for row in self.metrics:
            if (row.name, row.reading, row.group) == (name, reading, group):
                return row
        return None

    def differences(self) -> list[SampleResult]:
        """Return the samples where official and careful disagree on outcome or answer."""
        return [
            s
            for s in self.samples
            if (s.official.outcome, s.official.answer, s.official.credit)
            != (s.careful.outcome, s.careful.answer, s.careful.credit)
        ]


def encode_report(report: Report) -> bytes:
    """Return the results file's bytes (UTF-8 JSON, indented, newline-terminated)."""
    return msgspec.json.format(msgspec.json.encode(report), indent=1) + b"\n"


def decode_report(data: bytes) -> Report:
    """Read a results file; raises `msgspec.ValidationError` with a `$.path` where it is not one."""
    return msgspec.json.decode(data, type=Report)


def read_report(path: Path) -> Report:
    """Read a results file; raises InputError with its name where it is none, or one that grading did not write."""
    try:
        data = path.read_bytes()
        report = decode_report(data)
    except OSError as error:
        raise InputError([f"{path}: {error.strerror or error}"]) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        if _schema(data) not in (None, SCHEMA):
            raise _another_schema(path, _schema(data)) from error
        hint = "; give the `_results.json` that grading wrote" if "_results" not in path.name else ""
        raise InputError([f"{path}: not a results file ({error}){hint}"]) from error
    if report.schema != SCHEMA:
        raise _another_schema(path, report.schema)
    problems = _contradictions(report)
    if problems:
        shown = [f"{path}: {problem}" for problem in problems[:20]]
        raise InputError([*shown, "Grading does not write this: the file was changed. Grade the predictions again."])
    return report


def _schema(data: bytes) -> int | None:
    class Head(msgspec.Struct):
        schema: int

    try:
        return msgspec.json.decode(data, type=Head).schema
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None


def _another_schema(path: Path, schema: int | None) -> InputError:
    return InputError([f"{path}: $.schema: {schema}; this version of grade reads {SCHEMA}"])


def _contradictions(report: Report) -> list[str]:
    """Return what no scorer concludes, and what would make a comparison or a gate decide on nonsense."""
    problems = []
    places = Counter((sample.qid, sample.sample) for sample in report.samples)
    for at, sample in enumerate(report.samples):
        if sample.sample < 0:
            problems.append(f"$.samples[{at}].sample: {sample.sample} is no position")
        if places[sample.qid, sample.sample] > 1:
            problems.append(f"$.samples[{at}]: {sample.qid!r} sample {sample.sample} stands here more than once")
        problems += [
            f"$.samples[{at}].{name}.credit: {sample.reading(name).credit} is not between 0 and 1"
            for name in READINGS
            if not 0 <= sample.reading(name).credit <= 1
        ]
    lost = sum(Outcome.UNSCORED in (sample.official.outcome, sample.careful.outcome) for sample in report.samples)
    if report.unscored != lost:
        problems.append(f"$.unscored: {report.unscored}, but {lost} samples are")
    return problems
