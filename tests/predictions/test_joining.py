"""Several files that are one run: shards, and the logs of a task's subjects."""

import json
from pathlib import Path

import pytest

from grader.errors import InputError
from grader.predictions.joining import read_files


def write(path: Path, *records: object) -> str:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return str(path)


def own(qid: str, text: str) -> dict[str, object]:
    return {"qid": qid, "predictions": [text]}


def logged(number: int, text: str) -> dict[str, object]:
    return {"doc_id": number, "doc": {"question": f"{text} {number}?"}, "resps": [[text]], "filter": "none"}


def test_shards_are_one_run_and_the_samples_of_a_task_are_joined_in_their_order(tmp_path: Path) -> None:
    files = [
        write(tmp_path / "part-1.jsonl", own("a", "A"), own("b", "B")),
        write(tmp_path / "part-2.jsonl", own("c", "C"), own("a", "D")),
    ]
    file = read_files(files)
    assert {record.qid: record.predictions for record in file.records} == {"a": ["A", "D"], "b": ["B"], "c": ["C"]}
    assert file.path == tmp_path / "part-1_joined.jsonl"
    assert file.warnings[0] == "2 files are one run: part-1.jsonl, part-2.jsonl."
    assert file.records[2].position == f"{tmp_path / 'part-2.jsonl'}:1"


def test_row_numbers_that_begin_again_in_each_log_get_the_name_of_its_task(tmp_path: Path) -> None:
    logs = [
        write(tmp_path / f"samples_mmlu_{subject}_2025-01-01T00-00-00.000000.jsonl", logged(0, subject), logged(1, "x"))
        for subject in ("anatomy", "world_history")
    ]
    assert [record.qid for record in read_files(logs).records] == [
        "mmlu_anatomy/0", "mmlu_anatomy/1", "mmlu_world_history/0", "mmlu_world_history/1",
    ]  # fmt: skip


def test_row_numbers_that_go_on_from_shard_to_shard_stay(tmp_path: Path) -> None:
    logs = [write(tmp_path / f"{n}.jsonl", logged(n, "x")) for n in range(3)]
    assert [record.qid for record in read_files(logs).records] == ["0", "1", "2"]


def test_positions_in_several_files_are_those_of_their_file(tmp_path: Path) -> None:
    files = []
    for name in ("easy", "hard"):
        (tmp_path / f"{name}.json").write_text(json.dumps([["x = 1"], ["x = 2"]]))
        files.append(str(tmp_path / f"{name}.json"))
    assert [record.qid for record in read_files(files).records] == ["easy/0", "easy/1", "hard/0", "hard/1"]


def question(name: str, text: str) -> dict[str, object]:
    return {"doc_id": 0, "doc": {"question_id": name, "question": text}, "resps": [["A"]], "filter": "none"}


def test_an_id_that_stands_for_different_questions_in_any_of_the_files_or_between_them_is_a_conflict(
    tmp_path: Path,
) -> None:
    names = ("a", "b", "c", "d")
    first = write(tmp_path / "first.jsonl", *(question(name, f"{name} first?") for name in names))
    same = write(tmp_path / "same.jsonl", *(question(name, f"{name} first?") for name in names))
    second = write(tmp_path / "second.jsonl", *(question(name, f"{name} first?") for name in names), question("a", "x"))
    other = write(tmp_path / "other.jsonl", question("b", "other?"))
    assert read_files([first, same]).conflicts == {}
    assert [*read_files([first, second]).conflicts] == [*read_files([second, first]).conflicts] == ["a"]
    assert sorted(read_files([first, second, other]).conflicts) == ["a", "b"]
    others = write(tmp_path / "others.jsonl", *(question(name, f"{name} other?") for name in names))
    with pytest.raises(InputError) as error:
        read_files([first, others])
    assert "first.jsonl + others.jsonl: $: 4 of 4 ids stand for different tasks" in str(error.value.problems)


def test_the_problems_of_all_files_are_reported_and_formats_are_not_mixed(tmp_path: Path) -> None:
    bad = [write(tmp_path / f"{n}.jsonl", {"qid": n, "predictions": []}) for n in range(2)]
    with pytest.raises(InputError) as caught:
        read_files(bad)
    assert len(caught.value.problems) == 2
    mixed = [write(tmp_path / "a.jsonl", own("a", "A")), write(tmp_path / "b.jsonl", {"id": "b", "output": "B"})]
    with pytest.raises(InputError, match="different formats: grade, records"):
        read_files(mixed)


def scored(path: Path, **subjects: list[dict[str, object]]) -> str:
    path.write_text(json.dumps(subjects))
    return str(path)


def scored_row(uuid: str, text: str, judge_reply: str, correctness: str = "incorrect") -> dict[str, object]:
    return {
        "Question_UUID": uuid,
        "Sampled_Model": "m",
        "Model_Solution_Correctness": correctness,
        "Evaluation_Result": {"evaluation_raw_response": text},
        "Error_Reason_Correctness_Analysis": {"scoring_raw_response": judge_reply},
    }


def test_scored_files_of_mr_ben_keep_the_rows_and_judge_replies_of_every_file(tmp_path: Path) -> None:
    files = [
        scored(tmp_path / "1.json", math=[scored_row("a", "A", "right")]),
        scored(tmp_path / "2.json", math=[scored_row("a", "B", "wrong"), scored_row("b", "C", "wrong")]),
        scored(tmp_path / "3.json", physics=[scored_row("c", "D", "right")]),
    ]
    file = read_files(files)
    assert file.predictions_by_qid == {"a/m": ["A", "B"], "b/m": ["C"], "c/m": ["D"]}
    assert file.judge_replies == {"a/m": "right", "a/m@1": "wrong", "b/m": "wrong", "c/m": "right"}
    rows = {subject: [row["Question_UUID"] for row in table] for subject, table in (file.benchmark_rows or {}).items()}
    assert rows == {"math": ["a", "b"], "physics": ["c"]}


def test_scored_files_of_mr_ben_on_different_data_are_refused(tmp_path: Path) -> None:
    files = [
        scored(tmp_path / "1.json", math=[scored_row("a", "A", "right")]),
        scored(tmp_path / "2.json", math=[scored_row("a", "B", "right", correctness="correct")]),
    ]
    with pytest.raises(InputError) as error:
        read_files(files)
    assert error.value.problems == [
        "1.json + 2.json: a/m has different rows of the benchmark in two of these files. Join only results on the same "
        "data."
    ]
