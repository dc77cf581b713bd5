"""Prediction files of other tools are recognised by content and read without losing or inventing an answer."""

# ruff: noqa: E501 - a whole message on one line is easier to compare with what a user sees

import contextlib
import gzip
import io
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import grader
from grader.errors import InputError
from grader.files.workbook import CELL_LIMIT
from grader.predictions.file import PredictionFile
from grader.predictions.read import read_predictions
from grader.scorers.execution.assembly import assemble
from grader.scorers.execution.extraction import Rules
from tests.tables import each


@pytest.fixture(autouse=True)
def _inside_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(content: bytes, name: str = "model_MMBench_DEV_EN.xlsx") -> PredictionFile:
    Path(name).write_bytes(content)
    return read_predictions(name)


def refusal(content: bytes, name: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(content, name)
    return caught.value.problems


def workbook(*sheets: list[list[object]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for rows in sheets:
        sheet = book.create_sheet()
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


# VLMEvalKit

HEADER: list[object] = ["index", "question", "A", "B", "answer", "prediction"]


def test_a_workbook_of_vlmevalkit_is_read_cell_by_cell() -> None:
    rows: list[list[object]] = [
        HEADER,
        [241, "Which?", "None", None, "A", "A"],
        [1000241.0, "Which?", None, "NA", "B", None],
        ["2000241.0", "How many?", 3, 4.5, "A", 3],
        [3, "Which?", "x", "y", "A", "None"],
        [4, "Which?", "x", "y", "A", "nan"],
        [5, "Which?", "x", "y", "A", "=A"],
        [None, None, None, None, None, None],
        [6, "Which?", "x", "y", "A", True],
        [7, "Which?", "x", "y", "A", "B_x000D_\nbecause"],
        [8, "Which?", "x", "y", "A", 2.5],
    ]
    file = read(workbook(rows))
    assert file.predictions_by_qid == {
        "241": ["A"],
        "1000241": [""],
        "2000241": ["3"],
        "3": ["None"],
        "4": ["nan"],
        "5": ["=A"],
        "6": ["True"],
        "7": ["B\r\nbecause"],
        "8": ["2.5"],
    }
    assert (file.format, file.warnings) == ("vlmevalkit", [])
    assert file.records[0].fields == {"question": "Which?", "A": "None", "B": None, "answer": "A"}
    assert file.records[6].position == "model_MMBench_DEV_EN.xlsx:9"


def test_a_workbook_needs_no_suffix_and_no_file() -> None:
    data = workbook([["index", "prediction"], [1, "B"]])
    assert read(data, "table").predictions_by_qid == {"1": ["B"]}
    assert read_predictions("-", stdin=io.BytesIO(data)).predictions_by_qid == {"1": ["B"]}


def test_each_sample_that_excel_cut_is_counted() -> None:
    rows = [[1, "x" * CELL_LIMIT], [1, "y" * CELL_LIMIT], [2, "B"]]
    file = read(workbook([["index", "prediction"], *rows]))
    assert file.warnings[0] == '2 predictions cut off at Excel\'s 32767 characters a cell: "1".'


def test_a_workbook_that_is_none_says_why() -> None:
    whole = workbook([["index", "prediction"], [1, "B"]])
    assert refusal(whole[:300], "cut.xlsx") == [
        "cut.xlsx:1: $: not a readable .xlsx workbook (File is not a zip file); was it cut off?"
    ]
    assert refusal(workbook([["id", "answer"], [1, "B"]], [[]]), "a.xlsx") == [
        'a.xlsx:1: $: the table has the columns "id", "answer", which no known tool writes; name them: --fields id=id,reply=answer'
    ]


def test_a_workbook_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.files.workbook.UNPACKED_LIMIT", 1 << 10)
    assert refusal(workbook([["index", "prediction"], [1, "B"]]), "bomb.xlsx") == [
        "bomb.xlsx:1: $: the workbook unpacks to more than 1,024 bytes"
    ]


def test_rows_without_an_index_are_named() -> None:
    rows: list[list[object]] = [["index", "prediction"], [None, "A"], [2.5, "B"], [True, "C"], [1, "D"]]
    assert refusal(workbook(rows), "a.xlsx") == [
        "a.xlsx:2: $.index: expected an id, found null",
        "a.xlsx:3: $.index: expected an id, found the number 2.5",
        "a.xlsx:4: $.index: expected an id, found true",
    ]


def test_a_tab_separated_table_is_read_with_its_quoted_cells() -> None:
    content = (
        '\ufeff"index"\t"question"\t"image"\t"prediction"\r\n'
        '"241.0"\t"Which\tone?"\t"aGk="\t"B\nbecause ""it"" is"\r\n'
        "\r\n"
        '7\tplain\t\tNA\r\n"8"\t""\t""\t""\r\n'
    )
    file = read(content.encode(), "a.tsv")
    assert file.predictions_by_qid == {"241": ['B\nbecause "it" is'], "7": ["NA"], "8": [""]}
    assert [record.position for record in file.records] == ["a.tsv:2", "a.tsv:5", "a.tsv:6"]
    assert file.records[0].fields == {"question": "Which\tone?"}
    assert file.format == "vlmevalkit"


def test_a_broken_table_says_on_which_line() -> None:
    assert refusal(b"index\tprediction\n1\tA\n2\n", "a.tsv") == [
        'a.tsv:3: $: no "prediction" in this record, but the first record has it'
    ]
    assert refusal(b'index\tprediction\n1\tA\n2\t"B is cu\nt', "a.tsv") == [
        "a.tsv:3: $: a quote is opened here and never closed (was the file cut off inside a quoted cell?)"
    ]
    assert refusal(b"index\tprediction\n1\tA\n\t\xe9\n", "a.tsv") == [
        "a.tsv:3: $: byte 22 of the file (0xe9) is not UTF-8; if Excel or Windows wrote it, convert it: iconv -f cp1252 -t UTF-8"
    ]
    assert refusal(b"index\tprediction\n1\tA\n\tB\n", "a.tsv") == ["a.tsv:3: $.index: expected an id, found null"]


def test_json_rows_are_read_with_the_nan_that_pandas_writes() -> None:
    content = b'[\n{"index": 241.0, "hint": NaN, "prediction": "A"},\n{"index": "7", "hint": "h", "prediction": NaN},\n{"index": 8, "prediction": 3}]'
    file = read(content, "a.json")
    assert file.predictions_by_qid == {"241": ["A"], "7": [""], "8": ["3"]}
    assert (file.format, file.records[0].fields, file.records[2].position) == (
        "vlmevalkit",
        {"hint": None},
        "a.json:4: $[2]",
    )


_TABLES = {
    "workbook": workbook([["index", "prediction"], [1, "A"], [2, "B"]]),
    "tsv": b'"index"\t"prediction"\n"1"\t"A"\n',
}


@given(st.sampled_from(sorted(_TABLES)), st.data())
def test_a_damaged_table_is_an_input_error_or_harmless(kind: str, data: st.DataObject) -> None:
    damaged = bytearray(_TABLES[kind])
    for place in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=4)):
        damaged[place] = data.draw(st.integers(0, 255))
    with contextlib.suppress(InputError):
        read_predictions("-", stdin=io.BytesIO(bytes(damaged)))


def repacked(data: bytes, sheet: Callable[[str], str], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a workbook with another text of its first sheet, and packed in another way."""
    whole, out = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as other:
        for name in whole.namelist():
            text = whole.read(name).decode()
            other.writestr(name, sheet(text) if name.endswith("sheet1.xml") else text)
    return out.getvalue()


TABLE = workbook([["index", "prediction"], [1, "B"], [2, None]])


def test_a_workbook_says_nothing_of_its_own_size() -> None:
    """A row may have any number, and a sheet any dimension: openpyxl fills all rows and columns before."""
    endless = repacked(
        TABLE, lambda text: text.replace('r="2"', 'r="99999999999"').replace('r="A2"', 'r="A99999999999"')
    )
    assert refusal(endless, "a.xlsx") == ["a.xlsx:1048577: $: a sheet has at most 1,048,576 rows"]
    for dimension in ("A1", "A1:ZZZ99999999999"):
        told = repacked(
            TABLE, lambda text, it=dimension: re.sub('<dimension ref="[^"]*"', f'<dimension ref="{it}"', text)
        )  # type: ignore[misc]
        assert read(told).predictions_by_qid == {"1": ["B"], "2": [""]}


def test_a_workbook_packed_as_none_is_is_refused_before_anything_is_unpacked() -> None:
    """Python unpacks a piece of these without a limit: 40 kB of bzip2 have 50 GB."""
    [problem] = refusal(repacked(TABLE, str, zipfile.ZIP_BZIP2), "a.xlsx")
    assert problem == "a.xlsx:1: $: the workbook is compressed in a way that workbooks never are"


def test_a_table_separated_by_commas_has_a_qid_and_a_prediction_a_row() -> None:
    content = '\ufeff"qid",model,prediction\r\nq1,m,"B, because\nit ""is"""\nq2,m,\nq1,m,A\n7,m,C\n'
    file = read(content.encode(), "a.csv")
    assert file.predictions_by_qid == {"q1": ['B, because\nit "is"', "A"], "q2": [""], "7": ["C"]}
    assert [record.position for record in file.records] == ["a.csv:2", "a.csv:4", "a.csv:6"]
    assert (file.format, file.records[0].fields) == ("csv", {"model": "m"})
    assert read(b"index,prediction\n241.0,B\n", "b.csv").predictions_by_qid == {"241": ["B"]}
    assert read(b"qid\tprediction\nq1\tA, B\n", "c.tsv").predictions_by_qid == {"q1": ["A, B"]}
    assert read(b"qid;prediction\nq1;A, B\n", "d.csv").predictions_by_qid == {"q1": ["A, B"]}


def test_a_broken_table_separated_by_commas_says_on_which_line() -> None:
    assert refusal(b"qid,prediction\nq1,A\nq2,B, because\n", "a.csv") == [
        "a.csv:3: $: 3 cells, the header has 2 (a comma or a line break outside quotes?)"
    ]
    assert refusal(b"id,answer\n1,A\n", "a.csv") == [
        'a.csv:1: $: the file cannot be read: the table has the columns "id", "answer", which no known tool writes; name them: --fields id=id,reply=answer'
    ]
    assert "begins with" in refusal(b"Dear reader, hello!\nThis is prose.\n", "a.csv")[0]


# EvalPlus


def test_samples_of_evalplus_are_programs_or_continue_a_prompt() -> None:
    body, program = "    return 1\n", "def solution(x):\n    return 1\n"
    file = read(
        lines(
            {"task_id": "HumanEval/0", "completion": body},
            {"task_id": "HumanEval/0", "solution": program, "_identifier": "HumanEval/0 (line 2)"},
            {"task_id": 7, "solution": "Sure:\n```python\nx\n```"},
            {"task_id": "q3", "completion": "ignored", "solution": ""},
        ),
        "samples.jsonl",
    )
    assert file.predictions_by_qid == {
        "HumanEval/0": [body, f"```python\n{program}\n```"],
        "7": ["````python\nSure:\n```python\nx\n```\n````"],
        "q3": ["```python\n\n```"],
    }
    assert [record.continued for record in file.records] == [[True, False], None, None]
    assert file.format == "evalplus"


@each("rules", ["humaneval-v-v1", "humaneval-v-v2", "plain"])
@each("code", ["    return x + 1\n", "def solution(x):\n    return x + 1\n"])
def test_a_sample_of_evalplus_becomes_the_program_that_it_is(code: str, rules: Rules) -> None:
    file = read(lines({"task_id": "q1", "solution": code}), "samples.jsonl")
    program = assemble(file.records[0].predictions[0], "def solution(x):\n", rules)
    assert program.completion.strip() == "def solution(x):\n    return x + 1"


# gzip


@each(
    ("name", "content"),
    [
        ("a.jsonl.gz", b'{"qid": "1", "predictions": ["A"]}\n'),
        ("a.xlsx.gz", workbook([["index", "prediction"], [1, "A"]])),
    ],
)
def test_gzip_of_any_format_is_unpacked(name: str, content: bytes) -> None:
    assert read(gzip.compress(content), name).predictions_by_qid == {"1": ["A"]}
    half = len(content) // 2
    assert read(gzip.compress(content[:half]) + gzip.compress(content[half:]), name).predictions_by_qid == {"1": ["A"]}
    assert read_predictions("-", stdin=io.BytesIO(gzip.compress(content))).predictions_by_qid == {"1": ["A"]}


def test_gzip_that_unpacks_without_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.files.user_files.UNPACKED_LIMIT", 1 << 20)
    bomb = gzip.compress(b" " * (1 << 23))
    assert refusal(bomb, "bomb.gz") == ["bomb.gz:1: $: the file unpacks to more than 1,048,576 bytes"]


# lmms-eval


def lines(*records: object) -> bytes:
    return "\n".join(json.dumps(record) for record in records).encode()


def test_samples_of_lmms_eval_before_0_4_name_their_question_in_doc() -> None:
    sample = {
        "doc_id": 0,
        "doc": {"question_id": "17", "text": "Which?", "category": "direct_attributes"},
        "target": "A",
        "resps": [["<think>B?</think>A"]],
        "filtered_resps": ["A"],
        "doc_hash": "0",
    }
    file = read(lines(sample, {**sample, "doc_id": 1, "doc": {"index": 241.0}}), "x_samples_vstar_bench.jsonl")
    assert file.predictions_by_qid == {"17": ["<think>B?</think>A"], "241": ["<think>B?</think>A"]}
    assert (file.format, file.warnings) == ("lmms-eval", [])
    assert "target" in file.records[0].fields


def lm_eval(name: str, number: int, **more: object) -> dict[str, object]:
    doc = {"task_id": f"HumanEval/{number}"}
    return {"doc_id": number, "doc": doc, "resps": [["    return 1"]], "filter": name, **more}


def test_the_text_that_lm_evaluation_harness_judged_is_graded_and_its_filter_is_named() -> None:
    logged = [lm_eval("create_test", number, filtered_resps=[[f"def f{number}(): ..."]]) for number in (0, 1)]
    file = read(lines(*logged))
    assert file.predictions_by_qid == {"HumanEval/0": ["def f0(): ..."], "HumanEval/1": ["def f1(): ..."]}
    assert file.format == "lm-evaluation-harness"
    assert file.warnings == [
        'The log has the text that its filter "create_test" made of each reply: the official reading and programs are graded by this text.'
    ]


def test_of_several_filters_each_has_its_sample() -> None:
    logged = [lm_eval(name, number, filtered_resps=[name]) for name in ("strict", "flexible") for number in (0, 1)]
    file = read(lines(*logged))
    assert file.predictions_by_qid == {"HumanEval/0": ["strict", "flexible"], "HumanEval/1": ["strict", "flexible"]}
    assert [record.filters for record in file.records] == [["strict", "flexible"]] * 2
    (note,) = file.warnings
    assert '2 filters made: each is graded as a sample of its own, in this order: "strict", "flexible"' in note


def test_an_output_without_a_judged_text_is_read_once_for_all_filters() -> None:
    logged = [lm_eval(name, number) for name in ("create_test", "other") for number in (0, 1)]
    file = read(lines(*logged))
    assert file.predictions_by_qid == {"HumanEval/0": ["    return 1"], "HumanEval/1": ["    return 1"]}
    assert file.warnings == []


# benchmarks' own scripts

OWN = {
    "mmlu-pro": [{"question_id": 70, "question": "Which?", "options": ["x", "y"], "answer": "A", "pred": "A",
                  "model_outputs": "The answer is (A)."}],
    "mmmu-pro": [{"id": "test_Art_1", "question": "Which?", "options": "['x', 'y']", "answer": "B", "response": "B"}],
    "mathvista": {"1": {"question": "How many?", "pid": "1", "answer": "2", "response": "Two.", "extraction": "2"},
                  "2": {"question": "How many?", "pid": "2", "answer": "3"}},
    "bbh": {"canary": "...", "outputs": [{"input": "Q: a?\nA: 1\n\nQ: b?\nA: Let's think step by step.",
                                          "prediction": "So the answer is 2.", "target": "2"}]},
}  # fmt: skip


@each(
    ("name", "texts"),
    [("mmlu-pro", {"70": ["The answer is (A)."]}), ("mmmu-pro", {"test_Art_1": ["B"]}), ("mathvista", {"1": ["Two."]}),
     ("bbh", {"0": ["So the answer is 2."]})],
)  # fmt: skip
def test_outputs_of_benchmarks_own_scripts_are_read(name: str, texts: dict[str, list[str]]) -> None:
    content = json.dumps(OWN[name]).encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("outputs.json", content)
    for written in (content, gzip.compress(content), packed.getvalue()):
        file = read(written, "outputs.json")
        assert (file.format, file.predictions_by_qid) == (name, texts)
    if name == "bbh":
        assert file.records[0].fields["question"] == "b?"


def test_an_output_that_is_null_is_empty_and_another_object_is_an_error() -> None:
    row = {"question_id": 1, "generated_text": None}
    assert read(lines(row, {**row, "question_id": 2, "generated_text": "x"})).predictions_by_qid == {
        "1": [""],
        "2": ["x"],
    }
    assert refusal(lines(row, {**row, "question_id": 2.5}, {"question_id": 3, "generated_text": {}}), "a.jsonl") == [
        "a.jsonl:2: $.question_id: expected an id, found the number 2.5",
        "a.jsonl:3: $.generated_text: expected a text or a list of texts, found an object",
    ]


def test_samples_without_an_own_id_take_the_row_number_and_say_so() -> None:
    file = read(lines({"doc_id": 0, "filtered_resps": ["A"]}, {"doc_id": "1", "filtered_resps": ["B"]}), "a.jsonl")
    assert file.predictions_by_qid == {"0": ["A"], "1": ["B"]}
    assert file.warnings == ["The log's row numbers (doc_id) are used as qids, because it does not name the questions."]


def test_log_likelihoods_are_no_answers() -> None:
    sample = {"doc_id": 0, "resps": [[["-1.5", "False"]], [["-0.2", "True"]]], "filtered_resps": [["-1.5", "False"]]}
    assert refusal(
        lines(sample, {"doc_id": 1, "resps": []}, {"doc_id": None, "resps": "A"}, {"doc": {}}), "a.jsonl"
    ) == [
        "a.jsonl:1: $.resps: expected generated text; found log-likelihoods or nothing, from which no answer can be "
        "read: run a task that generates text (output_type: generate_until) (also at line 2: $.resps)",
        "a.jsonl:3: $.doc_id: expected an id, found null",
        'a.jsonl:4: $: no "doc_id" in this record, but the first record has it',
        'a.jsonl:4: $: no "resps" in this record, but the first record has it',
    ]


@each("resps", [{"resps": [[["-1.5", "False"]], [["-0.2", "True"]]]}, {}])
def test_filtered_log_likelihoods_are_no_texts(resps: dict[str, object]) -> None:
    filtered = [["-1.5", "False"], ["-0.2", "True"]]
    row = {"doc_id": 0, "filter": "none", "filtered_resps": filtered, **resps}
    (problem,) = refusal(lines(row), "a.jsonl")
    assert "found log-likelihoods" in problem
    assert read(lines(row | {"filtered_resps": [["-1.5", "(A)"]]}), "a.jsonl").predictions_by_qid == {
        "0": ["-1.5", "(A)"]
    }


def test_ids_that_several_questions_of_a_log_have_give_way_to_its_row_numbers() -> None:
    rows = [
        {"doc_id": n, "resps": [[str(n)]], "input": f"Is there a {thing}?", "pope_accuracy": {"question_id": "1"}}
        for n, thing in enumerate(("dog", "cat", "lamp"))
    ]
    file = read(lines(*rows), "a.jsonl")
    assert file.predictions_by_qid == {"0": ["0"], "1": ["1"], "2": ["2"]}
    assert file.is_numbered
    assert "several of its questions have the same id" in file.warnings[0]


# HumanEval-V


def test_an_executed_file_gives_its_predictions_to_be_graded_again() -> None:
    computed = {
        "processed_predictions": ["def f(): ..."] * 2,
        "concatenated_predictions": ["program"] * 2,
        "results": [{"qid": "q1", "task_id": n, "passed": 1, "result": "passed"} for n in range(2)],
    }
    second = {"qid": "q1", "prompts": ["p", "r"], "predictions": ["a", "b"], **computed}
    first = {"qid": "q2", "prompt": "p", "predictions": ["c", "d"], **computed}
    file = read(json.dumps([second, first]).encode(), "preds_executed.json")
    assert file.format == "executed"
    assert [(r.qid, r.predictions, r.prompts, r.fields) for r in file.records] == [
        ("q1", ["a", "b"], ["p", "r"], {"prompts": ["p", "r"]}),
        ("q2", ["c", "d"], ["p", "p"], {"prompt": "p"}),
    ]


# Mr-Ben


def test_a_scored_file_of_mr_ben_gives_predictions_judge_replies_and_questions() -> None:
    row = {"Question_UUID": "u", "Sampled_Model": "m", "Model_Solution_Correctness": "incorrect"}
    answered = {"Evaluation_Result": {"evaluated_model": "e", "evaluation_raw_response": "text", "error_reason": ""}}
    failed = {"Evaluation_Result": {"evaluated_model": "e", "evaluation_raw_response": ""}}
    judged = {"Error_Reason_Correctness_Analysis": {"scoring_model": "j", "scoring_raw_response": "reply"}}
    more = {"Need_Error_Reason_Review": True, "Query_Prompt": "p"}
    unanswered = {**row, "Sampled_Model": "other"}
    scored = {"math": [row | answered | judged | more, row | failed], "physics": [unanswered], "coding": []}
    file = read(json.dumps(scored, indent=2).encode(), "scored.json")
    assert (file.format, file.judge_replies, file.benchmark_rows) == (
        "mr-ben",
        {"u/m": "reply"},
        {"math": [row, row], "physics": [unanswered], "coding": []},
    )
    assert file.predictions_by_qid == {"u/m": ["text"], "u/m#2": [""]}


def test_mr_gsm8k_s_results_are_read_as_mr_ben_s(tmp_path: Path) -> None:
    """A list of rows with the response and GPT-4's judgement; "wrong" is Mr-Ben's "incorrect"."""
    row = {
        "uuid": "u",
        "question": "2 + 2?",
        "model_output_steps": ["Step 1: 5"],
        "model_output_solution_correctness": "wrong",
        "model_output_solution_first_error_step": 1,
        "model_output_solution_first_error_reason": "It is 4.",
        "question_type": "original",
        "gpt_eval_output": {"response": "Final Judgement: wrong\nFirst Error Step: 1\nError Analysis: It is 4."},
        "gpt4_error_reason_correctness_analysis": {
            "response": "1. Step-by-Step Reasoning: -\n2. Student Error Reason Analysis: -\n3. Final Decision: Correct"
        },
    }
    path = tmp_path / "results.json"
    path.write_text(json.dumps([row, {**row, "uuid": "v", "gpt4_error_reason_correctness_analysis": None}]))
    report = grader.grade(path, benchmark="mr-ben", protocol="mr-gsm8k")
    assert [(s.qid, s.official.outcome.value) for s in report.samples] == [
        ("u/original", "correct"),
        ("v/original", "unscored"),
    ]


# answers of APIs


def batch(number: int, response: object, error: object = None) -> dict[str, object]:
    return {"id": f"batch_req_{number}", "custom_id": f"t{number}", "response": response, "error": error}


def test_batches_of_openai_and_vllm_have_choices_and_errors() -> None:
    choices = [
        {"index": 0, "message": {"role": "assistant", "content": "A"}, "finish_reason": "stop"},
        {"index": 1, "message": {"role": "assistant", "content": None}, "finish_reason": "length"},
    ]
    output = [{"type": "reasoning"}, {"role": "assistant", "content": [{"type": "output_text", "text": "B"}]}]
    refused = {"status_code": 429, "body": {"error": {"message": "Rate limit reached", "code": "429"}}}
    file = read(
        lines(
            batch(1, {"status_code": 200, "body": {"model": "m", "choices": choices}}),
            batch(2, {"status_code": 200, "body": {"choices": [{"text": "D", "finish_reason": "stop"}]}}),
            batch(3, {"status_code": 200, "body": {"output": output}}),
            batch(4, refused),
            batch(5, None, {"code": "batch_expired", "message": "This request expired."}),
        ),
        "batch_output.jsonl",
    )
    assert (file.format, file.predictions_by_qid) == (
        "openai-batch",
        {"t1": ["A", ""], "t2": ["D"], "t3": ["B"], "t4": [""], "t5": [""]},
    )
    ended = {record.qid: record.endings or [] for record in file.records}
    assert [ending.is_cut for ending in ended["t1"]] == [False, True]
    assert [ended[qid][0].error for qid in ("t4", "t5")] == ["Rate limit reached", "This request expired."]
    assert file.records[0].fields["model"] == "m"


def test_the_last_message_of_the_model_is_its_reply() -> None:
    asked = [{"role": "system", "content": "s"}, {"role": "user", "content": "?"}]
    said = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "C"}]
    file = read(
        lines(
            {"id": 1, "messages": [*asked, {"role": "assistant", "content": "A"}]},
            {"id": 2, "messages": [*asked, {"role": "assistant", "content": said}, {"role": "tool", "content": "x"}]},
            {"id": "x", "output": ["D", "E"], "messages": asked},
        ),
        "chat.jsonl",
    )
    assert file.predictions_by_qid == {"1": ["A"], "2": ["C"], "x": ["D", "E"]}
    (problem,) = refusal(lines({"id": 1, "messages": asked}), "chat.jsonl")
    assert problem == "chat.jsonl:1: $.messages: expected a text or a list of texts, found a list"
