"""Write and read `<stem>_executed.json` in the official layout, which the official score-only mode can read.

It has the verdicts of a run, for scoring again, and its programs, for reports.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any

import msgspec

from grader.files import compact_json
from grader.files.replacing import replacing
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.interface import ExecutedProgram, ScorerFile

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from grader.predictions.file import PredictionRecord
    from grader.results import Report
    from grader.scorers.execution.declaration import ExecutionProtocol

Record = dict[str, Any]


def record(
    source: PredictionRecord,
    completions: list[str],
    programs: list[str],
    results: list[tuple[bool, str]],
    protocol: ExecutionProtocol,
) -> Record:
    """Return one record; `results`: whether each sample passes, and its official result text."""
    rows: list[Record] = []
    for number, (passed, text) in enumerate(results):
        # The official file has 0, and not False, for a program that the linter rejects.
        row: Record = {"task_id": number, "passed": 0 if _is_lint_failure(text, protocol) else passed, "result": text}
        rows.append({"qid": source.qid, **row} if protocol.executed_layout == "v2" else row)
    program_fields = {"processed_predictions": completions, "concatenated_predictions": programs}
    if protocol.executed_layout == "v2":
        prompts = source.prompts or [None] * len(source.predictions)
        fields = {"prompts": prompts, "predictions": source.predictions}
        return {"qid": source.qid, **fields, **program_fields, "results": rows}
    fields = {key: value for key, value in source.fields.items() if key not in {*program_fields, "results"}}
    return {"qid": source.qid, **fields, "predictions": source.predictions, "results": rows, **program_fields}


def write(path: Path, records: Iterable[Record]) -> None:
    """Write the file record by record; a partly written file never replaces a complete one."""
    with replacing(path) as file:
        file.write(b"[")
        for number, item in enumerate(records):
            text = _indented_json(item).replace("\n", "\n    ")
            file.write(f"{',' if number else ''}\n    {text}".encode())
        file.write(b"\n]\n")


def _indented_json(item: Record) -> str:
    """Return what `json.dumps(item, indent=4)` does: json indents in pure Python, several times as slowly."""
    try:
        return msgspec.json.format(json.dumps(item), indent=4)
    except msgspec.DecodeError:
        # It has half a character, which is not valid JSON.
        return json.dumps(item, indent=4)


def read_records(path: Path) -> list[Record]:
    """Return the records of an executed file; raises OSError, ValueError or RecursionError. Nothing is checked."""
    records: list[Record] = compact_json.decode(path.read_bytes(), replace_lone_surrogates=True)
    return records


def read_samples(records: list[Record], protocol: ExecutionProtocol) -> list[SampleResult]:
    """Return the samples of an executed file, written by grade or by the official evaluator.

    It has official verdicts only, so the careful reading equals the official one. All records of a qid count, as in
    predictions. Raises KeyError or TypeError if a record does not have this layout.
    """
    samples, counts = list[SampleResult](), Counter[str]()
    for item in records:
        for row in item["results"]:
            if row["passed"] not in (0, 1):
                raise TypeError(f"passed is {row['passed']!r}")
            qid, reading = str(item["qid"]), _reading(bool(row["passed"]), str(row["result"]), protocol)
            samples.append(SampleResult(qid=qid, sample=counts[qid], official=reading, careful=reading))
            counts[qid] += 1
    return samples


def _is_lint_failure(text: str, protocol: ExecutionProtocol) -> bool:
    """Whether an official result is the linter's: it has its prefix, if the protocol has one."""
    prefix = protocol.lint_prefix.rstrip("\n")
    return bool(prefix) and text.startswith(prefix)


def _reading(passed: bool, text: str, protocol: ExecutionProtocol) -> Reading:
    """Return the reading of a stored verdict; `text`: the official result."""
    if passed:
        return Reading(outcome=Outcome.PASSED, credit=1)
    if _is_lint_failure(text, protocol):
        return Reading(outcome=Outcome.LINT_FAILED, credit=0, detail=text.removeprefix(protocol.lint_prefix))
    if text == protocol.timed_out:
        return Reading(outcome=Outcome.TIMEOUT, credit=0, detail="from the executed file")
    return Reading(outcome=Outcome.ERROR, credit=0, detail=text.removeprefix(protocol.failed_prefix))


def read_programs(report: Report, path: Path) -> ScorerFile:
    """Return the programs of a report's run; only a problem if it cannot be read, or belongs to another run."""
    programs, predictions = defaultdict[str, list[ExecutedProgram]](list), defaultdict[str, list[str]](list)
    try:
        for item in read_records(path):
            programs[str(item["qid"])] += _programs(item)
            predictions[str(item["qid"])] += map(str, item.get("predictions", []))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return ScorerFile(problem=f"{path.name} cannot be read ({type(error).__name__}).")
    if not _is_same_run(report, programs):
        return ScorerFile(problem=f"{path.name} does not belong to this run: its verdicts differ.")
    return ScorerFile(programs=programs, predictions=predictions)


def _programs(item: dict[str, Any]) -> list[ExecutedProgram]:
    completions, programs = item.get("processed_predictions", []), item.get("concatenated_predictions", [])
    return [
        ExecutedProgram(
            completion=_text_at(completions, number), program=_text_at(programs, number), result=str(row["result"])
        )
        for number, row in enumerate(item["results"])
    ]


def _text_at(texts: list[Any], number: int) -> str:
    """Return one of the texts of a record; empty if an official file lacks it."""
    return str(texts[number]) if number < len(texts) else ""


def _is_same_run(report: Report, programs: dict[str, list[ExecutedProgram]]) -> bool:
    """Whether the file's verdicts equal the report's official ones wherever both have one."""
    for sample in report.samples:
        task_programs = programs.get(sample.qid, [])
        if sample.sample < len(task_programs) and sample.official.outcome is not Outcome.UNSCORED:
            is_pass = task_programs[sample.sample].result == "passed"
            if is_pass != (sample.official.outcome is Outcome.PASSED):
                return False
    return True
