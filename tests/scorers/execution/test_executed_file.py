"""`<stem>_executed.json`: written as the official evaluator writes it, read back from ours and from theirs."""

import json
from pathlib import Path
from typing import Any

import pytest

from grader.predictions.read import read_predictions
from grader.results import Outcome, Provenance, Reading, Report, SampleResult
from grader.scorers import declarations
from grader.scorers.execution import executed_file
from grader.scorers.execution.declaration import ExecutionProtocol
from tests.tables import each


def of_protocol(protocol: str, timeout: float = 2.0) -> ExecutionProtocol:
    declared: Any = declarations.load("humaneval-v")
    return declared.protocols[protocol].with_timeout(timeout)


# One task as the official evaluator of each version writes it (field order included).
V1: dict[str, Any] = {
    "qid": "q1",
    "prompt": "Complete it.",
    "predictions": ["a", "b", "c", "d"],
    "results": [
        {"task_id": 0, "passed": True, "result": "passed"},
        {"task_id": 1, "passed": False, "result": "timed out"},
        {"task_id": 2, "passed": False, "result": "failed: boom"},
        {"task_id": 3, "passed": 0, "result": "pylint fail:\nUndefined variable 'x'\nUndefined variable 'y'"},
    ],
    "processed_predictions": ["A", "B", "C", "D"],
    "concatenated_predictions": ["pA", "pB", "pC", "pD"],
}
V2: dict[str, Any] = {
    "qid": "q1",
    "prompts": ["Complete it."] * 4,
    "predictions": ["a", "b", "c", "d"],
    "processed_predictions": ["A", "B", "C", "D"],
    "concatenated_predictions": ["pA", "pB", "pC", "pD"],
    "results": [
        {"qid": "q1", "task_id": 0, "passed": True, "result": "passed"},
        {"qid": "q1", "task_id": 1, "passed": False, "result": "Test Case Execution Time Out (> 2 seconds)"},
        {"qid": "q1", "task_id": 2, "passed": False, "result": "boom"},
        {
            "qid": "q1",
            "task_id": 3,
            "passed": 0,
            "result": "Pylint syntax check failed:\nUndefined variable 'x'\nUndefined variable 'y'",
        },
    ],
}
LAYOUTS = {"v1": V1, "v2": V2}


@pytest.mark.parametrize("protocol", LAYOUTS)
def test_a_record_is_written_in_the_official_layout(protocol: str, tmp_path: Path) -> None:
    official = LAYOUTS[protocol]
    source = tmp_path / "predictions.json"
    source.write_text(json.dumps([{"qid": "q1", "prompt": "Complete it.", "predictions": list("abcd")}]))
    results = [(bool(row["passed"]), row["result"]) for row in official["results"]]
    record = read_predictions(source).records[0]
    made = executed_file.record(record, list("ABCD"), ["pA", "pB", "pC", "pD"], results, of_protocol(protocol))
    assert json.dumps(made) == json.dumps(official)


@each("protocol", list(LAYOUTS))
def test_the_officials_own_file_is_read(protocol: str) -> None:
    outcomes = [
        (Outcome.PASSED, 1, ""),
        (Outcome.TIMEOUT, 0, "from the executed file"),
        (Outcome.ERROR, 0, "boom"),
        (Outcome.LINT_FAILED, 0, "Undefined variable 'x'\nUndefined variable 'y'"),
    ]
    readings = [Reading(outcome=outcome, credit=credit, detail=detail) for outcome, credit, detail in outcomes]
    assert executed_file.read_samples([LAYOUTS[protocol]], of_protocol(protocol)) == [
        SampleResult(qid="q1", sample=number, official=reading, careful=reading)
        for number, reading in enumerate(readings)
    ]


@pytest.mark.parametrize("protocol", LAYOUTS)
def test_the_written_file_reads_back_the_same(protocol: str, tmp_path: Path) -> None:
    path = tmp_path / "p_executed.json"
    records = [LAYOUTS[protocol], LAYOUTS[protocol] | {"qid": "q2", "note": "\ud800 é \u2028"}]
    executed_file.write(path, records)
    assert json.loads(path.read_bytes()) == records
    assert [item.name for item in tmp_path.iterdir()] == ["p_executed.json"]


def test_an_official_file_may_have_half_a_character_and_several_records_of_a_task(tmp_path: Path) -> None:
    path = tmp_path / "p_executed.json"
    again = V2 | {"results": [V2["results"][2] | {"result": "\ud800"}], "predictions": ["e"]}
    path.write_text(json.dumps([V2, again]))
    samples = executed_file.read_samples(executed_file.read_records(path), of_protocol("v2"))
    assert [sample.sample for sample in samples] == [0, 1, 2, 3, 4]
    assert samples[-1].official.detail == "\ufffd"
    report = Report(
        benchmark="humaneval-v", scorer="execution", split="test", protocol="v2", metrics=[], samples=samples,
        provenance=Provenance(predictions="p.json"),
    )  # fmt: skip
    file = executed_file.read_programs(report, path)
    assert (file.problem, file.predictions) == ("", {"q1": list("abcde")})
    assert [program.result for program in file.programs["q1"]][3:] == [V2["results"][3]["result"], "\ufffd"]


def test_without_a_linter_a_pass_and_a_timeout_are_written_and_read_as_such(tmp_path: Path) -> None:
    declared: Any = declarations.load("humaneval")
    protocol = next(iter(declared.protocols.values()))
    source = tmp_path / "predictions.json"
    source.write_text(json.dumps([{"qid": "q1", "predictions": ["a", "b"]}]))
    results = [(True, "passed"), (False, "timed out")]
    record = executed_file.record(read_predictions(source).records[0], ["A", "B"], ["pA", "pB"], results, protocol)
    assert [row["passed"] for row in record["results"]] == [True, False]
    outcomes = [sample.official.outcome for sample in executed_file.read_samples([record], protocol)]
    assert outcomes == [Outcome.PASSED, Outcome.TIMEOUT]


def test_a_half_written_file_does_not_replace_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "p_executed.json"
    path.write_text("[]")

    def records() -> Any:
        yield V2
        raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        executed_file.write(path, records())
    assert path.read_text() == "[]"
    assert [item.name for item in tmp_path.iterdir()] == ["p_executed.json"]
