"""The programs of an earlier run, read from its `_executed.json` for reports."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from grader.results import Outcome
from grader.scorers.interface import OwnFile, Program

if TYPE_CHECKING:
    from pathlib import Path

    from grader.results import Report


def read(report: Report, path: Path) -> OwnFile:
    """Return the file's content; none of it if it belongs to another run."""
    try:
        records = json.loads(path.read_bytes())
        programs = {str(item["qid"]): _programs(item) for item in records}
        carried = {str(item["qid"]): [str(text) for text in item.get("predictions", [])] for item in records}
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        return OwnFile(problem=f"{path.name} cannot be read ({type(error).__name__}).")
    if not _is_same_run(report, programs):
        return OwnFile(problem=f"{path.name} does not belong to this run: its verdicts differ.")
    return OwnFile(programs=programs, predictions=carried)


def _programs(item: dict[str, Any]) -> list[Program]:
    completions, programs = item.get("processed_predictions", []), item.get("concatenated_predictions", [])
    return [
        Program(
            completion=str(completions[at]) if at < len(completions) else "",
            program=str(programs[at]) if at < len(programs) else "",
            result=str(row["result"]),
        )
        for at, row in enumerate(item["results"])
    ]


def _is_same_run(report: Report, programs: dict[str, list[Program]]) -> bool:
    """Whether the file's verdicts equal the report's official ones wherever both have one."""
    for sample in report.samples:
        of_task = programs.get(sample.qid, [])
        if sample.sample < len(of_task) and sample.official.outcome is not Outcome.UNSCORED:
            passed = of_task[sample.sample].result == "passed"
            if passed != (sample.official.outcome is Outcome.PASSED):
                return False
    return True
