"""Every row of the table of formats: a file as the tool writes it is graded at the first try, with no option."""

# ruff: noqa: E501 - a record on one line is easier to compare with what a tool writes

import io
import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

import grader
from grader.errors import InputError
from grader.grading import check
from grader.options import Options
from grader.predictions.formats import FORMATS
from grader.predictions.read import read_predictions
from grader.predictions.record import fenced
from tests.own import TEXTS, own
from tests.predictions.test_formats import lines

REPLIES = {"0": ["The answer is 4."], "1": ["#### 7"]}
"""What the files of replies have, by id; in those of programs these are programs."""
FIRST, SECOND = (texts[0] for texts in REPLIES.values())


def array(*records: object) -> bytes:
    return json.dumps(records, indent=1).encode()


def each(**record: object) -> list[dict[str, object]]:
    """Return two records: `ID` and `TEXT` stand for theirs."""

    def filled(value: object, qid: str, text: str) -> object:
        if isinstance(value, dict):
            return {name: filled(part, qid, text) for name, part in value.items()}
        if isinstance(value, list):
            return [filled(part, qid, text) for part in value]
        return {"ID": qid, "INT": int(qid), "TEXT": text}.get(value, value) if isinstance(value, str) else value

    return [filled(record, qid, texts[0]) for qid, texts in REPLIES.items()]  # type: ignore[misc]


def table(*rows: dict[str, object]) -> bytes:
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(list(rows)), out)
    return out.getvalue()


INSPECT = {
    "version": 2,
    "status": "success",
    "eval": {"model": "m"},
    "samples": each(id="INT", epoch=1, input="?", target="", output={"completion": "TEXT", "choices": [{"message": {"role": "assistant", "content": "TEXT"}, "stop_reason": "stop"}]}),
}  # fmt: skip
CHOICE = {"index": 0, "message": {"role": "assistant", "content": "TEXT"}, "finish_reason": "stop"}
MR_BEN = {
    "Question_UUID": "0",
    "Sampled_Model": "m",
    "Model_Solution_Correctness": "correct",
    "Evaluation_Result": {"evaluation_raw_response": FIRST},
}
FILES = {
    "executed": array(*each(qid="ID", predictions=["TEXT"], processed_predictions=[""], concatenated_predictions=[""], results=[{"passed": 1}])),
    "grade": array(*each(qid="ID", predictions=["TEXT"])),
    "csv": f"qid,model,prediction\n0,m,{FIRST}\n1,m,{SECOND}\n".encode(),
    "inspect_ai": json.dumps(INSPECT).encode(),
    "mr-ben": json.dumps({"math": [MR_BEN, {**MR_BEN, "Question_UUID": "1", "Evaluation_Result": {"evaluation_raw_response": SECOND}}]}).encode(),
    "bbh": json.dumps({"canary": "", "outputs": each(input="Q: ?\nA:", prediction="TEXT", target="TEXT")}).encode(),
    "openai-batch": lines(*each(id="batch_req_1", custom_id="ID", response={"status_code": 200, "request_id": "r", "body": {"id": "c", "object": "chat.completion", "model": "m", "choices": [CHOICE]}}, error=None)),
    "evalscope": lines(*each(index="INT", model="m", model_output={"id": "", "model": "m", "choices": [{"message": {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "TEXT"}]}, "stop_reason": "stop"}], "error": None}, messages=[{"role": "user", "content": "?"}], metadata={})),
    "verifiers": lines(*each(example_id="INT", prompt=[{"role": "user", "content": "?"}], completion=[{"role": "assistant", "content": "TEXT"}], answer="4", info={}, reward=1.0, error=None, is_completed=True, is_truncated=False, metrics={})),
    # What nemo-evaluator 0.2.8 writes with --save-predictions.
    "nemo-evaluator": lines(*each(sample_id="INT", prompt="Q: ?\nA:", response="TEXT", target="", scores={"correct": True}, status="scored", error=None, metadata={})),
    "nemo-skills": lines(*each(id="ID", problem="?", expected_answer="", generation="TEXT", num_generated_tokens=5, predicted_answer="4")),
    "lighteval": table(*each(doc={"query": "?", "choices": ["4"], "gold_index": 0, "id": "ID", "task_name": "t"}, model_response={"text": ["TEXT"], "logprobs": []}, metric={"em": 1.0})),
    "every-eval-ever": lines(*each(schema_version="instance_level_eval_0.2.1", evaluation_id="e", model_id="m", evaluation_name="t", sample_id="ID", interaction_type="single_turn", input={"raw": "?", "reference": [], "choices": None}, output={"raw": ["TEXT"], "reasoning_trace": None}, answer_attribution=[], evaluation={"score": 1.0, "is_correct": True})),
    "mmlu-pro": array(*each(question_id="INT", question="?", options=[], answer="", pred="A", model_outputs="TEXT")),
    "mathvista": json.dumps({qid: {"pid": qid, "question": "?", "response": texts[0]} for qid, texts in REPLIES.items()}).encode(),
    "mmmu-pro": lines(*each(id="ID", question="?", response="TEXT")),
    "livecodebench": array(*each(question_id="ID", code_list=["TEXT"])),
    "opencompass": json.dumps({qid: {"origin_prompt": "?", "prediction": texts[0], "gold": ""} for qid, texts in REPLIES.items()}).encode(),
    "lm-evaluation-harness": lines(*each(doc_id="INT", doc={}, target="", arguments={"gen_args_0": {"arg_0": "?"}}, resps=[["TEXT"]], filtered_resps=["TEXT"], filter="none")),
    "lmms-eval": lines(*each(doc_id="INT", input="?", target="", resps=["TEXT"])),
    "vlmevalkit": f"index\tquestion\tprediction\n0\t?\t{FIRST}\n1\t?\t{SECOND}\n".encode(),
    "evalplus": lines(*each(task_id="ID", solution="TEXT")),
    "evalplus-results": json.dumps({"date": "", "hash": "", "eval": {qid: [{"task_id": qid, "solution": text, "base_status": "pass", "plus_status": "fail", "base_fail_tests": [], "plus_fail_tests": []} for text in texts] for qid, texts in REPLIES.items()}}).encode(),
    "records": array(*each(id="ID", session_id="s", output=["TEXT"], generator="m", model_input="?")),
    "map": json.dumps({qid: texts[0] for qid, texts in REPLIES.items()}).encode(),
    "bigcode": json.dumps([*REPLIES.values()]).encode(),
}  # fmt: skip
PROGRAMS = {"livecodebench", "evalplus", "evalplus-results", "bigcode"}
CODE = """
scoring = "execution"
columns = { id = "id", signature = "stub", tests = "tests" }
protocols.p.assembly = "plain"
"""


def test_a_table_without_columns_says_so(tmp_path: Path) -> None:
    path = tmp_path / "empty.parquet"
    path.write_bytes(table())
    with pytest.raises(InputError) as caught:
        read_predictions(path)
    assert caught.value.problems == [f"{path}:1: $: the table has no columns"]


def test_every_row_of_the_table_has_a_file() -> None:
    assert {form.name for form in FORMATS} == FILES.keys()


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_each_tool_is_graded_at_the_first_try(name: str, tmp_path: Path) -> None:
    """The data's gold answers are the texts themselves, so that a text that is not read whole is wrong."""
    path = tmp_path / "p"
    path.write_bytes(FILES[name])
    ids = {qid: f"{qid}/m" if name == "mr-ben" else qid for qid in REPLIES}
    file = read_predictions(path)
    texts = {ids[qid]: [*map(fenced, texts)] if name in PROGRAMS else texts for qid, texts in REPLIES.items()}
    assert (file.format, {record.qid: record.predictions for record in file.records}) == (name, texts)
    row = {"stub": "def f(x):\n    return x\n", "tests": "assert f(1) == 1\n", "question": "?"}
    rows = [{"id": ids[qid], "answer": REPLIES[qid], **row} for qid in ids]
    own(tmp_path, CODE if name in PROGRAMS else TEXTS, rows, {})
    if name in PROGRAMS:
        assert "2 questions of own, 1 sample each" in check(path, Options(benchmark=str(tmp_path)))[0]
    else:
        report = grader.grade(path, benchmark=tmp_path)
        assert report.metric("accuracy", "official").value == 100  # type: ignore[union-attr]
