"""The table of formats: a row for each way in which a tool writes predictions. Everything that reads a file asks it.

A path such as `response.body.choices` leads through objects; a number in it is a place in a list, `*` is each part.
To add a format: a row here, and a file of the tool in `tests/predictions/test_every_format.py`.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from grader.predictions import layouts
from grader.predictions.layouts import ABSENT, RECORD_KEY, WHOLE_RECORD, Contents, Row, value_at


class Format(msgspec.Struct, frozen=True, kw_only=True):
    """How one tool writes its predictions. All places in a record are paths."""

    name: str
    signatures: tuple[str, ...] = ()
    """Each is one or more paths, with commas between them. The first record of a file has all paths of one of these."""
    id: tuple[str, ...] = (RECORD_KEY,)
    """The places of the id; the first in a record counts. RECORD_KEY: its name in an object, else its position."""
    row_number: str = ""
    """The place of the row number in the tool's data; it is the id of a record that has no other."""
    texts: tuple[str, ...] = ()
    """The places of the model's outputs, in any shape that `texts_of` reads; the first that a record has counts."""
    code: tuple[str, ...] = ()
    """Those of them that have programs, not replies about them."""
    continuations: tuple[str, ...] = ()
    """Those of them that have code which continues the task's prompt; only the scorer knows the prompt."""
    raw_texts: str = ""
    """The place of the model's outputs, if `texts` is what the tool's filter made of them."""
    filter: str = ""
    """The place of this filter's name."""
    model: str = ""
    finish: str = ""
    """The place of the reasons why the model stopped."""
    error: tuple[str, ...] = ("error",)
    """The places of a request's error."""
    task: str = ""
    """The place of the task's own row in a record; empty: the record is the row."""
    question: str = ""
    options: str = ""
    gold: str = ""
    """The places of the parts of the task, if the record has them in places of its own."""
    has_task: bool = True
    """Whether a record has the question and the gold answer of its task, under names that data sets use."""
    is_data: bool = True
    """Whether data can have this form too."""
    is_positional: bool = False
    """Whether an id is the position of the task in the data."""
    is_strict: bool = False
    """Whether ids and texts have to have the type that is documented."""
    ignored_fields: tuple[str, ...] = ()
    """Fields that are not read: they are large, or made from the outputs."""
    may_be_unanswered: bool = False
    """Whether a record without a text is a question that was never asked."""
    convert: Callable[[object], Contents | None] | None = None
    """For a format that needs more than places: turns the decoded file (an object, or the list of its rows) into
    records. It returns None for a file of another format."""

    def matches(self, row: Row) -> bool:
        """Whether a record is of this format."""
        signatures = (signature.split(",") for signature in self.signatures)
        return any(all(value_at(row, path) is not ABSENT for path in paths) for paths in signatures)


_LOGGED = ("question_id", "index", "qid", "task_id")
_IDS = tuple(f"{place}.{name}" for place in ("doc", "*") for name in _LOGGED)
"""Harnesses log the data's own row as `doc`, or the id with the task's metric."""
_METADATA_IDS = tuple(f"metadata.{name}" for name in (*_LOGGED, "id"))

GRADE = Format(
    name="grade", signatures=("qid,predictions",), id=("qid",), texts=("predictions",), has_task=False, is_strict=True
)
FORMATS = (
    # The official evaluator of HumanEval-V.
    Format(
        name="executed", signatures=("predictions,results,processed_predictions,concatenated_predictions",),
        id=("qid",), texts=("predictions",), has_task=False, is_strict=True,
        ignored_fields=("results", "processed_predictions", "concatenated_predictions"),
    ),
    GRADE,
    Format(name="csv", signatures=("qid,prediction",), id=("qid",), texts=("prediction",), has_task=False),
    Format(
        name="inspect_ai", signatures=("id,inspect_completions",), id=("id",), texts=("inspect_completions",),
        task="doc", is_data=False, convert=layouts.inspect_log,
    ),
    Format(name="mr-ben", signatures=("qid,mr_ben_response", "uuid,question_type,model_output_steps"), id=("qid",),
           texts=("mr_ben_response",), has_task=False, convert=layouts.mr_ben),
    # BIG-Bench Hard: a row's number is its id.
    Format(name="bbh", signatures=("input,prediction,target",), texts=("prediction",), is_data=False,
           convert=layouts.bbh),
    # Batches of OpenAI and vLLM; a failed request has an error in place of a response.
    Format(
        name="openai-batch", signatures=("custom_id,response",), id=("custom_id",),
        texts=("response.body.choices", "response.body.output"), model="response.body.model",
        finish="response.body.choices.*.finish_reason", error=("error", "response.body.error"), has_task=False,
    ),
    # evalscope's predictions (1.14, ModelResult of api/evaluator/cache.py): a sample's place in its subset.
    Format(
        name="evalscope", signatures=("index,model_output",), id=_METADATA_IDS, row_number="index",
        texts=("model_output.choices",), finish="model_output.choices.*.stop_reason", error=("model_output.error",),
        has_task=False, ignored_fields=("messages",),
    ),
    # verifiers' results.jsonl (0.1.14, utils/save_utils.py): a line for each rollout.
    Format(name="verifiers", signatures=("example_id,completion",), id=("example_id",), texts=("completion",),
           has_task=False, ignored_fields=("prompt",)),
    # byob_predictions.jsonl of NeMo Evaluator (0.2.8, contrib/byob/eval_logic.py); metadata is the task's row.
    Format(name="nemo-evaluator", signatures=("sample_id,response,status",), id=_METADATA_IDS, row_number="sample_id",
           texts=("response",), task="metadata"),
    # output*.jsonl of NeMo-Skills (inference/generate.py): the data's own row, and what was generated for it.
    Format(name="nemo-skills", signatures=("generation,expected_answer", "generation,num_generated_tokens"),
           id=("id", "task_id", RECORD_KEY), texts=("generation",)),
    # Details of lighteval (0.13, logging/info_loggers.py), a parquet file for each task.
    Format(name="lighteval", signatures=("doc,model_response",), texts=("model_response.text",), question="doc.query",
           is_data=False, ignored_fields=("doc", "metric")),
    # Samples of Every Eval Ever (instance_level_eval.schema.json, 0.2.1): one turn, or a conversation.
    Format(name="every-eval-ever", signatures=("evaluation_id,sample_id",), id=("sample_id",),
           texts=("output.raw", "messages"), model="model_id", question="input.raw", options="input.choices",
           gold="input.reference", ignored_fields=("input",)),
    Format(name="mmlu-pro", signatures=("question_id,model_outputs", "question_id,generated_text"), id=("question_id",),
           texts=("model_outputs", "generated_text")),
    Format(name="mathvista", signatures=(f"{RECORD_KEY},response", "pid,response"), id=("pid", RECORD_KEY),
           texts=("response",), is_data=False, may_be_unanswered=True),
    Format(name="mmmu-pro", signatures=("id,response",), id=("id",), texts=("response",)),
    Format(name="livecodebench", signatures=("question_id,output_list", "question_id,code_list"), id=("question_id",),
           texts=("output_list", "code_list"), code=("code_list",)),
    Format(name="opencompass", signatures=(f"{RECORD_KEY},prediction",), texts=("prediction",), is_positional=True),
    # lm-evaluation-harness names the filter, or logs the arguments of each request; lmms-eval logs neither.
    Format(
        name="lm-evaluation-harness",
        signatures=tuple(f"doc_id,{texts},{mark}" for texts in ("resps", "filtered_resps")
                  for mark in ("filter", "prompt_hash", "target_hash", "arguments.gen_args_0", "arguments.0.0")),
        id=_IDS, row_number="doc_id", texts=("filtered_resps", "resps"), raw_texts="resps", filter="filter", task="doc",
        is_data=False,
    ),
    Format(name="lmms-eval", signatures=("doc_id,resps", "doc_id,filtered_resps"), id=_IDS, row_number="doc_id",
           texts=("resps", "filtered_resps"), task="doc", is_data=False),
    Format(name="vlmevalkit", signatures=("index,prediction",), id=("index",), texts=("prediction",),
           ignored_fields=("image",)),
    Format(name="evalplus", signatures=("task_id,solution", "task_id,completion"), id=("task_id",),
           texts=("solution", "completion"), code=("solution",), continuations=("completion",), has_task=False),
    Format(name="evalplus-results", id=("task_id",), texts=("solution",), code=("solution",), has_task=False,
           convert=layouts.evalplus_results),
    # Scripts, and ZeroEval
    Format(name="records", signatures=("id,output", "id,messages"), id=("id",), texts=("output", "messages"),
           has_task=False),
    # {id: text} or {id: [text, ...]}
    Format(name="map", signatures=(f"{RECORD_KEY},{WHOLE_RECORD}",), texts=(WHOLE_RECORD,), has_task=False),
    # generations.json of bigcode-evaluation-harness: a list of programs for each task
    Format(name="bigcode", signatures=(WHOLE_RECORD,), texts=(WHOLE_RECORD,), code=(WHOLE_RECORD,), is_positional=True),
)  # fmt: skip


def format_of(row: Row) -> Format | None:
    """Return the format of a record; None if no row of the table knows it."""
    return next((item for item in FORMATS if item.matches(row)), None)


def format_named(name: str) -> Format:
    """Return the format of this name. A file whose fields the user named (`--fields`) has that of grade."""
    return next((item for item in FORMATS if item.name == name), GRADE)
