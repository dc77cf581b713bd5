"""What is graded for the golden verdicts: the bundled samples, and real programs and answers that lie beside the clone.

To add a corpus, add it to `CORPORA` and run `make golden`.
"""

import gzip
import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "benchmarks"
SHARED = ROOT.parent / "shared" / "data"
"""Other people's data, too large and not ours to distribute: a clone of one's own does not have it."""
LETTERS = "ABCDEFGHIJKL"


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """Predictions, and how they are graded."""

    name: str
    write: Callable[[Path], list[str]]
    """Write predictions.json into an empty folder, and what else it needs; return the options of the command."""
    shared: bool = True
    every: int = 1
    """The tests grade one of so many tasks, where all of them take long; `make golden` grades all."""
    slow: bool = False
    """Left out of `make test`, because another corpus is of the same kind."""


def as_it_is(predictions: Path, *options: object) -> Callable[[Path], list[str]]:
    """Return what grades a file of predictions."""

    def write(folder: Path) -> list[str]:
        shutil.copy(predictions, folder / "predictions.json")
        return list(map(str, options))

    return write


def sample(benchmark: str, data: str, *options: str, judge: bool = False, slow: bool = False) -> Corpus:
    """Describe a bundled sample, with the recorded replies of a judge or without."""
    folder = SAMPLES / benchmark / "sample"
    replies = ("--judge-replies", folder / "judge_replies.json") if judge else ()
    graded = as_it_is(folder / "predictions.json", "-b", benchmark, "--data", folder / data, *replies, *options)
    return Corpus(name=f"sample-{benchmark}{'-judged' if judge else ''}", write=graded, shared=False, slow=slow)


def choice(file: Path, step: int, folder: Path, *, reader: str = "vlmevalkit-2026-06") -> list[str]:
    """Write one of `step` replies to questions of multiple choice as a benchmark of its own."""
    rows = [row for row in _rows(file) if len(row["options"]) > 1][::step]
    tasks = [{name: row[name] for name in ("id", "question", "options")} | {"answer": _gold(row)} for row in rows]
    _write_lines(folder / "questions.jsonl", [task | {"question": task["question"] or "?"} for task in tasks])
    _write_lines(folder / "predictions.json", [{"qid": row["id"], "predictions": [row["reply"]]} for row in rows])
    declaration = f"""id = "golden"
name = "Golden"
scoring = "multiple_choice"
letters = "{LETTERS}"
default_split = "all"
default_protocol = "rules"
[columns]
id = "id"
question = "question"
options = "options"
answer = "answer"
[splits.all]
data = "questions.jsonl"
[protocols.rules]
reader = "{reader}"
"""
    (folder / "benchmark.toml").write_text(declaration, encoding="utf-8")
    return ["-b", str(folder)]


def programs(file: Path, solved: bool, folder: Path) -> list[str]:
    """Write tasks of one program each, either those with a reference solution or those without."""
    rows = [row for row in _rows(file) if bool(row["solution"]) == solved]
    columns = {"qid": "name", "function_signature": "signature", "test_script": "test_script"}
    columns |= {"ground_truth_solution": "solution"} if solved else {}
    _write_lines(folder / "tasks.jsonl", [{ours: row[theirs] for ours, theirs in columns.items()} for row in rows])
    answers = [{"qid": row["name"], "predictions": [row["prediction"]]} for row in rows]
    _write_lines(folder / "predictions.json", answers)
    return ["--data", str(folder / "tasks.jsonl"), "--protocol", "v1", "-k", "1", "--timeout", "6"]


def _rows(file: Path) -> list[dict[str, Any]]:
    text = gzip.decompress(file.read_bytes()).decode() if file.suffix == ".gz" else file.read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _write_lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _gold(row: dict[str, Any]) -> str:
    gold = str(row.get("answer", row.get("label")))
    return gold if gold in LETTERS[: len(row["options"])] else "A"


_HUMANEVAL = SHARED / "humaneval/gpt-3.5-turbo.json"
_HUMANEVAL_TASKS = SHARED / "humaneval/tasks.jsonl"
_HUMANEVAL_V_TASKS = Path(__file__).parent / "humaneval_v_tasks.jsonl"
_VSTAR_QUESTIONS = ("--data", SHARED / "vstar/questions.jsonl")
_VSTAR = (
    "kimi_noreason_cot_original",
    "kimi_original",
    "llama4mav_original",
    "opus47_original",
    "qwen36plus_original",
    "qwen3vl8b_cot_orig",
)

CORPORA = [
    sample("humaneval-v", "tasks.jsonl", "-k", "1,3"),
    sample("humaneval", "tasks.jsonl", slow=True),
    sample("vstar", "questions.jsonl"),
    sample("mmbench", "questions.tsv"),
    sample("mmbench", "questions.tsv", judge=True),
    sample("mr-ben", "data"),
    sample("mr-ben", "data", judge=True),
    Corpus(
        name="humaneval-as-humaneval-v",
        write=as_it_is(_HUMANEVAL, "--data", _HUMANEVAL_TASKS, "--protocol", "v1", "-k", "1,10"),
        every=16,
        slow=True,
    ),
    Corpus(
        name="humaneval",
        write=as_it_is(_HUMANEVAL, "-b", "humaneval", "--data", _HUMANEVAL_TASKS, "-k", "1,10"),
        every=16,
    ),
    # The tests of these two tasks are not public; these were written here, without a reference solution.
    *(
        Corpus(
            name=f"humaneval-v-{version}",
            write=as_it_is(
                SHARED / f"humaneval_v/{version}_example_pred_sample_{n}.json",
                *("--data", _HUMANEVAL_V_TASKS, "--id", qid, "--protocol", version, "-k", "1"),
            ),
            slow=True,
        )
        for version, qid, n in (("v1", "q2", 20), ("v2", "q1", 6))
    ),
    *(
        Corpus(
            name=f"vstar-{model}",
            write=as_it_is(SHARED / f"vstar/{model}.json", "-b", "vstar", *_VSTAR_QUESTIONS),
            slow=model != _VSTAR[0],
        )
        for model in _VSTAR
    ),
    *(
        Corpus(
            name=f"mmbench-{name}",
            write=as_it_is(
                SHARED / f"mmbench/{name}.json", "-b", "mmbench", "--data", SHARED / "mmbench/questions.tsv"
            ),
            slow=name == "llava15_13b",
        )
        for name in ("llava15_13b", "llava15_13b_styled")
    ),
    Corpus(
        name="mr-ben",
        write=as_it_is(
            SHARED / "mr_ben/responses_a.json",
            *("-b", "mr-ben", "--data", SHARED / "mr_ben"),
            *("--judge-replies", SHARED / "mr_ben/responses_a.judge_replies.json"),
        ),
    ),
    Corpus(name="labelled", write=partial(choice, SHARED / "mcq_real/labelled.jsonl", 1)),
    Corpus(name="written", write=partial(choice, SHARED / "mcq_written/cases.jsonl", 1)),
    Corpus(name="mmlu-pro", write=partial(choice, SHARED / "mcq_real/mmlu_pro.jsonl.gz", 4), slow=True),
    Corpus(name="mmmu-pro", write=partial(choice, SHARED / "mcq_real/mmmu_pro_gpt-4o.jsonl.gz", 4)),
    *(
        Corpus(
            name=f"{kind}-with{'' if solved else 'out'}-a-reference",
            write=partial(programs, SHARED / f"verdicts/{kind}.jsonl", solved),
            every=8,
            slow=not solved,
        )
        for kind in ("attacks", "honest")
        for solved in (True, False)
    ),
]
