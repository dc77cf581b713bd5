"""Some samples of a run, graded again as any prediction file is, each beside its first result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader import grading
from grader.errors import InputError
from grader.options import LEAST_MEMORY, Options
from grader.results import Outcome, Report, SampleResult
from grader.scorers.capabilities import RunsPrograms
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from grader.observer import Observer
    from grader.predictions.file import PredictionFile, PredictionRecord

MOST_SECONDS, MOST_MEMORY = 3600, 1 << 40
"""The largest limits that a run can have had."""
Key = tuple[str, int]
"""The id of a sample's task, and its position among the task's predictions."""


class Again(msgspec.Struct, frozen=True, kw_only=True):
    """Samples with their first and second results."""

    pairs: dict[Key, tuple[SampleResult, SampleResult]]
    """In the order of the keys. A sample that infrastructure lost the second time is unscored there."""
    report: Report
    """The report of the second run; its samples may have other positions."""


def key_of(sample: SampleResult) -> Key:
    """Return what names a sample within its run."""
    return sample.qid, sample.sample


def is_scored(sample: SampleResult) -> bool:
    """Whether a sample has a verdict in both readings."""
    return Outcome.UNSCORED not in {sample.official.outcome, sample.careful.outcome}


def options_of(report: Report, **given: Any) -> Options:
    """Return the options of a report that decide verdicts, together with the `given` ones.

    Raises InputError if the report has impossible limits.
    """
    made: dict[str, Any] = {"benchmark": report.benchmark, "split": report.split, "protocol": report.protocol}
    sandbox = report.provenance.sandbox
    if sandbox is not None:
        # The file comes from a user, so its limits are checked like options.
        is_possible = 0 < sandbox.cpu_seconds <= MOST_SECONDS
        if not (is_possible and LEAST_MEMORY <= sandbox.memory_bytes <= MOST_MEMORY):
            limits = f"{sandbox.cpu_seconds:g} s of CPU time and {sandbox.memory_bytes:,} bytes"
            raise InputError(
                [f"The results name impossible limits for their programs: {limits}. The file was probably changed."]
            )
        made |= {"timeout": sandbox.cpu_seconds, "memory": sandbox.memory_bytes}
    return Options(**made | {"settings": report.provenance.settings} | given)


def prepared(report: Report, file: PredictionFile, options: Options) -> grading.Opened:
    """Return a report's data and predictions. Raises InputError if the data are other data."""
    opened = grading.prepare(file, msgspec.structs.replace(options, missing="wrong"))
    made_of = report.provenance.data_digest
    if made_of is not None and opened.rows.digest != made_of:
        found = f"{opened.rows.origin} has the digest {opened.rows.digest}, the data that was graded {made_of}"
        raise InputError([f"{found}: it is other data of the benchmark. Give the graded data with --data PATH."])
    return opened


def grade_again(
    first: Report, file: PredictionFile, keys: Collection[Key], options: Options, observer: Observer
) -> Again:
    """Grade samples of a run again, without cached verdicts; every program is executed. Raises GradeError."""
    chosen: dict[str, list[int]] = {}
    for qid, sample in keys:
        chosen.setdefault(qid, []).append(sample)
    if not isinstance(scorer_of(first), RunsPrograms):
        # Nothing is executed, so the other samples cost little, and recorded judge replies keep their numbers.
        chosen = {record.qid: list(range(len(record.predictions))) for record in file.records}
    records = [_with(record, chosen[record.qid]) for record in file.records if record.qid in chosen]
    again = msgspec.structs.replace(
        options, cache=False, k=(), limit=None, since="", until="", ids=tuple(dict.fromkeys(qid for qid, _ in keys)),
        missing="wrong", score_only=False, executor="local",
    )  # fmt: skip
    report = grading.grade(msgspec.structs.replace(file, records=records), again, observer).report
    before = {key_of(sample): sample for sample in first.samples}
    # A task without predictions has a sample too, if the others have: it has no position in the first run.
    numbered = (sample for sample in report.samples if sample.sample < len(chosen.get(sample.qid, ())))
    after = {(sample.qid, chosen[sample.qid][sample.sample]): sample for sample in numbered}
    return Again(pairs={key: (before[key], after[key]) for key in keys if key in after}, report=report)


def _with(record: PredictionRecord, numbers: list[int]) -> PredictionRecord:
    """Return a record with some of its predictions."""
    lists = {name: getattr(record, name) for name in ("predictions", "prompts", "endings")}
    kept = {name: [values[number] for number in numbers] for name, values in lists.items() if values is not None}
    return msgspec.structs.replace(record, **kept)
