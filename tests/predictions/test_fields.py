"""Files that no known tool wrote: their fields are named by the user, and proposed from what is there."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import json
from pathlib import Path

import openpyxl
import pytest

import grader
from grader.benchmark import Fields
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.predictions.fields import parse_fields
from grader.predictions.file import PredictionFile
from grader.predictions.read import read_predictions
from tests.own import HEAD, TEXTS, own
from tests.tables import each


def read(folder: Path, content: object, fields: str) -> PredictionFile:
    path = folder / "p.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return read_predictions(path, parse_fields(fields) if fields else None)


def lines(*records: object) -> str:
    return "\n".join(json.dumps(record) for record in records)


FENCED = "```python\nx\n```"


@pytest.mark.parametrize(
    ("content", "fields", "texts"),
    [
        pytest.param([{"n": 7, "said": "A"}], "id=n,reply=said", {"7": ["A"]}, id="array"),
        pytest.param(lines({"n": "a", "said": ["A", "B"]}), "id=n,reply=said", {"a": ["A", "B"]}, id="one line"),
        pytest.param("n,said\na,A\nb,B\n", "id=n,reply=said", {"a": ["A"], "b": ["B"]}, id="columns of a table"),
        pytest.param(lines({"said": "A"}, {"said": "B"}), "reply=said", {"0": ["A"], "1": ["B"]}, id="positions"),
        pytest.param([{"id": "x", "said": "A"}], "id=#,reply=said", {"0": ["A"]}, id="positions, forced"),
        pytest.param({"x": {"said": "A"}}, "reply=said", {"x": ["A"]}, id="names of an object"),
        pytest.param({"x": {"said": "A"}}, "id=#,reply=said", {"0": ["A"]}, id="positions in an object"),
        pytest.param({"run": {"out": {"x": "A", "y": ["B"]}}}, "at=run.out", {"x": ["A"], "y": ["B"]}, id="map"),
        pytest.param({"n": 1, "out": [{"q": {"id": "x"}, "a": {"text": "A"}}]}, "at=out,id=q.id,reply=a.text",
                     {"x": ["A"]}, id="paths"),
        pytest.param([{"id": "x", "choices": [{"text": "A"}, {"text": "B"}]}], "id=id,reply=choices.*.text",
                     {"x": ["A", "B"]}, id="each of a list"),
        pytest.param([{"id": "x", "a.b": "A"}], "id=id,reply=a.b", {"x": ["A"]}, id="a name with a dot"),
        pytest.param("Task Id,Model Response\na,A\n", "id=Task Id,reply=Model Response", {"a": ["A"]}, id="names with blanks"),
        pytest.param(["A", "B"], "id=#", {"0": ["A"], "1": ["B"]}, id="texts"),
        pytest.param([{"id": "x", "src": "x"}], "id=id,code=src", {"x": [FENCED]}, id="programs"),
        pytest.param([{"qid": "q", "predictions": ["A"], "better": "B"}], "id=qid,reply=better", {"q": ["B"]},
                     id="named fields go before a known format"),
        pytest.param([{"id": "x", "said": None}, {"id": "x", "said": 4}], "id=id,reply=said", {"x": ["", "4"]},
                     id="null and numbers"),
    ],
)  # fmt: skip
def test_named_fields_are_read(tmp_path: Path, content: object, fields: str, texts: dict[str, list[str]]) -> None:
    file = read(tmp_path, content, fields)
    assert {record.qid: record.predictions for record in file.records} == texts
    assert (file.format, file.field_options) == ("fields", parse_fields(fields))


def test_columns_of_a_workbook_are_named_too(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in (["n", "said"], [1, "A"], [2, None]):
        book.active.append(row)
    book.save(tmp_path / "p.xlsx")
    file = read_predictions(tmp_path / "p.xlsx", parse_fields("id=n,reply=said"))
    assert {record.qid: record.predictions for record in file.records} == {"1": ["A"], "2": [""]}


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ([{"id": 1, "response_text": "x", "completion": "A"}], "--fields id=id,reply=completion"),
        ([{"question": "?", "answer": "A"}], "--fields reply=answer"),
        ([{"name": "x", "program": "p"}], "--fields id=name,code=program"),
        ([{"a": 1, "b": 2}], "--fields id=FIELD,reply=FIELD"),
        ({"n": 1, "results": {"x": {"output": "A"}}}, "--fields at=results,reply=output"),
        ({"n": 1, "results": {"x": "A"}}, "--fields at=results"),
        ({"config": {"model": "m"}, "results": [{"name": "x", "response": "A"}]}, "--fields at=results,id=name,reply=response"),
        ({"config": {"model": "m"}, "states": [{"result": {"texts": ["A"]}}]}, "name its fields with --fields"),
        ("problem,generation\n1,A\n", "--fields reply=generation"),
        ('id,question,model_output,gold\n1,?,"A\nB, C",2\n', "--fields id=id,reply=model_output"),
        (',id,ref_answer,answer\n0,0,yes,"[No]\n\nIt is not, of course."\n', "--fields id=id,reply=answer"),
        ([{"qid": 1, "prediction_text": "A"}], "--fields id=qid,reply=prediction_text"),
        ([{"question_id": 1, "gold_answer": "B", "model_answer": "A"}], "--fields id=question_id,reply=model_answer"),
        ([{"idx": 1, "answer": "(A)", "full_prediction": "It is (A).", "prediction": "(A)"}], "--fields id=idx,reply=full_prediction"),
        ([{"question": "?", "generated_prediction": "A", "answer": "B"}], "--fields reply=generated_prediction"),
        ({"accuracy": 1, "details": {"0": {"origin_prediction": "It is 4.", "predictions": "4", "references": "4"}}},
         "--fields at=details,reply=origin_prediction"),
        ({"results": {}, "configs": {}, "versions": {}}, "grade the samples_*.jsonl of --log_samples"),
        ([{"solution": "Count them: there are 4."}], "--fields reply=solution"),
        ([{"solution": "def f(): pass"}], "--fields code=solution"),
        ({"model": "m", "predictions": [{"qid": "1", "predictions": ["A"]}]}, "--fields at=predictions,id=qid,reply=predictions"),
        (["A", "B"], "--fields id=#"),
    ],
)  # fmt: skip
def test_a_file_of_an_unknown_tool_is_answered_with_the_line_that_probably_reads_it(
    tmp_path: Path, content: object, line: str
) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, "")
    (problem,) = caught.value.problems
    assert problem.endswith(line)
    if line.startswith("--fields ") and "FIELD," not in line:
        assert read(tmp_path, content, line.removeprefix("--fields ")).records


@pytest.mark.parametrize(
    ("content", "fields", "message"),
    [
        ([{"id": 1, "out": "A"}], "id=id,reply=said", 'the first record has "id", "out", but --fields names "id" and "said"'),
        ("id,out\n1,A\n", "id=id,reply=said", 'the table has the columns "id", "out", but --fields names "id" and "said"'),
        ([{"id": 1, "out": "A"}], "id=id", 'has "id", "out", but --fields names no reply and "id": add reply=FIELD, or code=FIELD for programs'),
        ({"rows": []}, "at=results,reply=x", 'no list or object of records at "results" in the object with the keys "rows"'),
        ([{"id": 1, "out": "A"}, {"id": 2}], "id=id,reply=out", '$[1]: no "out" in this record, but the first record has it'),
        ([{"id": 1, "out": {"a": 1}}], "id=id,reply=out", "$[0].out: expected a text or a list of texts, found an object"),
    ],
)  # fmt: skip
def test_fields_that_are_not_there_are_named(tmp_path: Path, content: object, fields: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        read(tmp_path, content, fields)
    assert message in str(caught.value)


@each("text", ["id", "id=", "question=q", "id=a,reply=b,code=c", ""])
def test_fields_that_are_not_written_so_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="--fields"):
        parse_fields(text)


def test_a_benchmark_declares_the_fields_of_its_files_and_a_run_names_others(tmp_path: Path) -> None:
    row = {"id": "1", "question": "?", "answer": "yes"}
    own(tmp_path, TEXTS + '[predictions]\nid = "n"\nreply = "said"\n', [row], {})
    file = tmp_path / "p.jsonl"
    file.write_text(lines({"n": 1, "said": "yes", "other": "no"}))
    declared = grader.grade(file, benchmark=tmp_path, write=True)
    named = grader.grade(file, benchmark=tmp_path, fields={"id": "n", "reply": "other"})
    accuracies = [report.metric("accuracy", "official").value for report in (declared, named)]  # type: ignore[union-attr]
    assert accuracies == [100, 0]
    assert declared.provenance.fields == Fields(id="n", reply="said")
    again = grader.grade(file, benchmark=tmp_path, score_only=True)
    assert again.metric("accuracy", "official").value == 100  # type: ignore[union-attr]


def test_without_data_a_file_with_named_fields_is_offered_as_its_own(tmp_path: Path) -> None:
    place = 'splits.t = { url = "https://nowhere.invalid/q.tsv", md5 = "00000000000000000000000000000000" }'
    own(tmp_path, TEXTS, [], {}, HEAD.replace('splits.t.data = "rows.jsonl"', place))
    file, fields = tmp_path / "p.jsonl", {"id": "id", "reply": "said"}
    file.write_text(lines({"id": "1", "said": "yes", "question": "?", "answer": "yes"}))
    with pytest.raises(DataUnavailableError, match=f"can be its own data: --data {file}"):
        grader.grade(file, benchmark=tmp_path, fields=fields)
    assert grader.grade(file, benchmark=tmp_path, fields=fields, data=file).metric("accuracy").value == 100  # type: ignore[union-attr]


@each(
    "record", [{"n": "1", "said": "yes", "question": "?", "answer": "yes"}, {"id": "1", "said": "yes", "answer": "yes"}]
)
def test_a_file_without_the_columns_of_the_data_is_not_offered(tmp_path: Path, record: dict[str, str]) -> None:
    own(tmp_path, TEXTS, [], {}, HEAD.replace('splits.t.data = "rows.jsonl"', "splits.t = {}"))
    file = tmp_path / "p.jsonl"
    file.write_text(lines(record))
    with pytest.raises(DataUnavailableError, match=r"Give a local copy with --data FILE\.$"):
        grader.grade(file, benchmark=tmp_path, fields={"id": next(iter(record)), "reply": "said"})
