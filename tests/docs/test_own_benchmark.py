"""The examples of docs/own-benchmark.md work: files are written as the page shows them, and its commands run.

So do the declarations in examples/benchmarks.
"""

import base64
import csv
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import msgspec
import pytest

from grader.scorers import declarations
from grader.scorers.answer.official import RULES
from grader.scorers.execution.comparison_names import EVALPLUS, PLAIN, TOLERANT
from tests.acceptance.command import grade
from tests.conftest import ROOT
from tests.docs.commands import commands_of

PAGE = ROOT / "docs" / "own-benchmark.md"
_FILE = re.compile(r"^`([\w./-]+)`[^\n`]*:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = commands_of(PAGE)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with every file that the page shows."""
    for name, content in _FILE.findall(PAGE.read_text(encoding="utf-8")):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    return tmp_path


@pytest.mark.bubblewrap
def test_the_commands_of_the_page_run_in_order(folder: Path) -> None:
    assert len(COMMANDS) == 4
    for command in COMMANDS:
        done = grade(*command.words, cwd=folder)
        assert done.returncode == 0, done.stderr
    choice, code = (json.loads((folder / f"{name}_results.json").read_bytes()) for name in ("answers", "programs"))
    values = {(m["name"], m["reading"]): m["value"] for m in (*choice["metrics"], *code["metrics"]) if not m["group"]}
    assert {name: values[name, "careful"] for name in ("accuracy", "pass@1", "pass@2")} == {
        "accuracy": 100,
        "pass@1": 50,
        "pass@2": 100,
    }
    assert (folder / "floorplans.html").is_file()


def test_every_field_of_the_tables_exists(folder: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    places = (folder / "floorplans", folder / "doubling", *EXAMPLES.iterdir())
    declared = [declarations.load(str(place)) for place in places]
    parts = [part for one in declared for part in (one, one.columns, *one.protocols.values())]
    known = {field for record in (*parts, declared[0].splits["test"]) for field in msgspec.structs.asdict(record)}
    rows = re.findall(r"^\| ((?:`[^`|]+`(?:, )?)+) \|", text, re.MULTILINE)
    named = [name.rpartition(".")[2] for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert set(named) - known - set(RULES) == {"NAME"}
    (inference,) = re.findall(r"^```toml\n(\[inference\].*?)^```", text, re.MULTILINE | re.DOTALL)
    assert set(tomllib.loads(inference)["inference"]) <= set(msgspec.structs.asdict(declared[0].inference))


def test_every_official_rule_and_comparison_is_in_a_table() -> None:
    rows = [line.split("|")[1] for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
    named = {name.partition(":")[0] for row in rows for name in re.findall(r"(?:`|\*\*)([\w:.-]+)(?:`|\*\*)", row)}
    assert {*RULES, *PLAIN, *TOLERANT, EVALPLUS} - named == set()


IMAGE = base64.b64encode((ROOT / "benchmarks/vstar/sample/images").joinpath("0.png").read_bytes()).decode()
EXAMPLES = ROOT / "examples" / "benchmarks"
DECLARATIONS = {path.parent.name: path.read_text() for path in EXAMPLES.glob("*/benchmark.toml")}
# Other tables of VLMEvalKit: with hints and more letters, and with several images in a question.
_TABLE = DECLARATIONS["realworldqa"]
DECLARATIONS["scienceqa"] = _TABLE.replace("scoring", 'letters = "ABCDE"\nscoring').replace(
    "{ id", '{ hint = "hint", id'
)
DECLARATIONS["blink"] = _TABLE
LETTERS = {"A": "red", "B": "blue", "C": "green", "D": "yellow", "answer": "B", "category": "x", "hint": ""}
ROWS: dict[str, list[dict[str, object]]] = {
    "realworldqa": [LETTERS | {"image": IMAGE}, LETTERS | {"image": f"['{IMAGE}']"}],
    "scienceqa": [LETTERS | {"image": "sky.png", "E": "black"}, LETTERS | {"image": IMAGE, "hint": "Look up."}],
    "blink": [LETTERS | {"image": f"['{IMAGE}', '{IMAGE}']"}, LETTERS | {"image": "['a.png', 'b.png']"}],
    "mathvista": [
        {"answer": "3", "answer_type": "integer", "choices": "", "answer_option": "", "task": "t"},
        {"answer": "blue", "answer_type": "text", "choices": "['red', 'blue']", "answer_option": "B", "task": "t"},
        {"answer": "blue", "answer_type": "text", "choices": "['red', 'blue']", "answer_option": "", "task": "t"},
    ],
    "mmmu-open": [
        {"id": "a_1", "answer": "B", "options": "['red', 'blue']", "question_type": "multiple-choice"},
        {"id": "a_2", "answer": "['3', '3.0']", "options": "[]", "question_type": "open"},
    ],
    "mmmu-pro": [{"id": f"test_{n}", "answer": "B", "options": "['red', 'blue']", "subject": "Art"} for n in (1, 2)],
    "bbh": [{"id": 0, "input": "Is it far?", "target": "No"}, {"id": 1, "input": "(A) or (B)?", "target": "(B)"}],
    "mme": [
        {"answer": answer, "category": category, "image_path": f"{category}.png"}
        for category, answers in {"OCR": ("Yes", "Yes"), "code_reasoning": ("Yes", "Yes")}.items()
        for answer in answers
    ],
    "hallusionbench": [
        {"index": f"H_VD_x_0_0_{n}", "answer": "Yes", "category": "VD", "l2-category": "x"} for n in (0, 1)
    ],
}
REPLIES = {
    "mathvista": ["3", "So (B) blue.", "So (B) blue."],
    "mmmu-open": ["So (B).", "It is 3"],
    "bbh": ["So the answer is No.", "So the answer is (B)."],
    "mme": ["Yes."] * 4,
    "hallusionbench": ["Yes."] * 2,
}


@pytest.mark.parametrize("name", ROWS)
def test_a_declaration_of_the_examples_grades_data_in_the_shape_of_its_table(name: str, tmp_path: Path) -> None:
    text, declared = DECLARATIONS[name], tomllib.loads(DECLARATIONS[name])
    (tmp_path / name).mkdir()
    (tmp_path / name / "benchmark.toml").write_text(text)
    rows = [{"index": n, "question": "What is it?", "image": IMAGE} | row for n, row in enumerate(ROWS[name])]
    columns = list(dict.fromkeys(key for row in rows for key in row))
    with (tmp_path / "data.tsv").open("w", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)
    replies = zip(rows, REPLIES.get(name, ["It is (B)."] * 2), strict=True)
    records = [{"qid": str(row[declared["columns"]["id"]]), "predictions": [reply]} for row, reply in replies]
    (tmp_path / "answers.json").write_text(json.dumps(records))
    done = grade("answers.json", "-b", name, "--data", "data.tsv", "-o", "page.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    results = json.loads((tmp_path / "answers_results.json").read_bytes())
    assert {sample[reading]["outcome"] for sample in results["samples"] for reading in ("official", "careful")} == {
        "correct"
    }
    if name == "mme":
        command = [sys.executable, EXAMPLES / "mme" / "sums.py", "answers_results.json"]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert done.stdout == "{'perception': 200.0, 'reasoning': 200.0}\n"
