"""Which tasks are graded: all, or those that --id and --limit leave; and what is said of those without predictions."""

import hashlib
from typing import Any

import msgspec
import pytest

from grader.errors import InputError, UsageError
from grader.options import Options
from grader.predictions.file import PredictionFile, PredictionRecord
from grader.predictions.select import fingerprint, select, selected_ids
from grader.task import Task
from tests.tables import each

TASKS = {task.id: task for task in (Task(id="1"), Task(id="11", unit="1"), Task(id="2"), Task(id="12", unit="2"))}


def file(**texts: str) -> PredictionFile:
    records = [
        PredictionRecord(
            qid=qid.removeprefix("q"), predictions=[text], fields={}, prompts=None, position=f"p.json:{line}"
        )
        for line, (qid, text) in enumerate(texts.items(), 1)
    ]
    return PredictionFile(name="p.json", path=None, format="grade", records=records)


def selected(
    of: PredictionFile, *, whole_units: bool = False, **options: Any
) -> tuple[dict[str, list[str]], list[str]]:
    return select(TASKS, of, Options(**options), "question", whole_units=whole_units)


WHOLE = file(q12="d", q2="c", q11="b", q1="a")


def test_predictions_come_in_the_benchmarks_order() -> None:
    predictions, notes = selected(WHOLE)
    assert (list(predictions.items()), notes) == ([("1", ["a"]), ("11", ["b"]), ("2", ["c"]), ("12", ["d"])], [])


@each(
    ("options", "apart", "together"),
    [
        ({"limit": 1}, ["1"], ["1", "11"]),
        ({"limit": 9}, ["1", "11", "2", "12"], ["1", "11", "2", "12"]),
        ({"ids": ("12",)}, ["12"], ["2", "12"]),
        ({"ids": ("2", "11")}, ["11", "2"], ["1", "11", "2", "12"]),
        ({"ids": ("2", "11"), "limit": 1}, ["11"], ["1", "11"]),
    ],
)
def test_id_and_limit_choose_tasks_or_whole_units(
    options: dict[str, Any], apart: list[str], together: list[str]
) -> None:
    assert list(selected_ids(TASKS, Options(**options), "question", whole_units=False)) == apart
    assert list(selected_ids(TASKS, Options(**options), "question", whole_units=True)) == together


def test_a_part_is_noted() -> None:
    assert selected(WHOLE, limit=1)[1] == ["Partial run: --limit or --id selects 1 of 4 qids."]


def test_an_id_that_the_benchmark_does_not_have_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^--id 9: the benchmark has no such question\. `grade show vstar` lists"):
        selected(WHOLE, ids=("1", "9"), benchmark="vstar")


def test_a_missing_prediction_is_an_error_or_counts_as_wrong() -> None:
    with pytest.raises(InputError, match=r'1 of 4 questions without a prediction: "2"; --missing wrong'):
        selected(file(q1="a", q11="b", q12="d"))
    predictions, notes = selected(file(q1="a", q11="b", q12="d"), missing="wrong")
    assert predictions == {"1": ["a"], "11": ["b"], "2": [], "12": ["d"]}
    assert notes == ["1 of 4 questions have no prediction and count as wrong."]


def test_tasks_without_predictions_are_left_out_and_units_of_them_whole() -> None:
    some = file(q1="a", q11="b", q12="d")
    predictions, notes = selected(some, missing="skip")
    assert predictions == {"1": ["a"], "11": ["b"], "12": ["d"]}
    assert notes == ["1 of 4 questions have no prediction and are left out (--missing skip)."]
    predictions, _ = selected(some, missing="skip", whole_units=True)
    assert predictions == {"1": ["a"], "11": ["b"]}
    with pytest.raises(InputError, match="no question has all its predictions"):
        selected(file(q1="a", q12="d"), missing="skip", whole_units=True)


def test_a_file_for_another_version_of_the_data_names_the_version() -> None:
    more = file(q1="a", q11="b", q2="c", q12="d", q13="e", q14="f")
    with pytest.raises(InputError) as caught:
        select(
            TASKS, more, Options(), "task", whole_units=False, versions={"T 0.1": ["13", "14", "15"], "T 0.3": ["7"]}
        )
    assert caught.value.problems[-1] == (
        "2 tasks of T 0.1 are not in this data: the file answers T 0.1, so give its data with --data, or leave these "
        "records out."
    )


def test_a_fingerprint_tells_predictions_apart() -> None:
    prints = {fingerprint(p) for p in ({"1": ["a"]}, {"1": ["b"]}, {"2": ["a"]}, {"1": ["a", "a"]}, {"1": []})}
    assert len(prints) == 5
    assert fingerprint({"1": ["a"]}) == fingerprint({"1": ["a"]})
    whole = {"1": ["é", '"'], "2": ["b"]}
    assert fingerprint(whole | {"3": []}) == hashlib.sha256(msgspec.json.encode(whole)).hexdigest()[:16]
