"""The commands in the documents, and the files that they name."""

import gzip
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

from openpyxl import Workbook

from tests.conftest import ROOT

DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "benchmarks").glob("*/README.md")),
]
DATA = {
    "gsm8k": "questions.jsonl",
    "humaneval": "tasks.jsonl",
    "humaneval-plus": "tasks.jsonl",
    "humaneval-v": "tasks.jsonl",
    "livecodebench": "problems.jsonl",
    "mbpp": "tasks.jsonl",
    "mbpp-plus": "tasks.jsonl",
    "mmbench": "questions.tsv",
    "mmlu-pro": "questions.jsonl",
    "mmmu": "questions.tsv",
    "mmstar": "questions.tsv",
    "mr-ben": "data",
    "pope": "questions.tsv",
    "vstar": "questions.jsonl",
}
"""Benchmark -> data of its bundled sample."""
SERVER = "http://localhost:8000/v1"
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LANGUAGES = {"", "console", "bash"}
"""The languages of blocks with commands; the others are matched so that their ends are not taken for beginnings."""
_COMMAND = re.compile(r"^(?:\$ )?(grade(?: .*)?)$", re.MULTILINE)


class Command(NamedTuple):
    """A command line of `grade` in a document."""

    document: str
    line: str

    @property
    def words(self) -> list[str]:
        return shlex.split(self.line, comments=True)[1:]

    @property
    def benchmark(self) -> str:
        return self.words[self.words.index("-b") + 1] if "-b" in self.words else "humaneval-v"

    @property
    def samples(self) -> int:
        """How many samples of a task it needs at least."""
        asked = self.words[self.words.index("-k") + 1] if "-k" in self.words else "1"
        return max(map(int, asked.split(",")))


def commands_of(path: Path) -> list[Command]:
    """Return the commands in the blocks of a document; a line that ends in a backslash goes on."""
    found = _BLOCK.findall(path.read_text(encoding="utf-8"))
    blocks = (block.replace("\\\n", " ") for language, block in found if language in _LANGUAGES)
    document = str(path.relative_to(ROOT))
    return [Command(document, line) for block in blocks for line in _COMMAND.findall(block)]


def sample_of(benchmark: str) -> Path:
    return ROOT / "benchmarks" / benchmark / "sample"


def write_predictions(path: Path, benchmark: str, samples: int = 1) -> None:
    """Write the first prediction of every task of a bundled sample, as often as asked, in the format of the name."""
    records = json.loads((sample_of(benchmark) / "predictions.json").read_text(encoding="utf-8"))
    for record in records:
        record["predictions"] = record["predictions"][:1] * samples
    if path.suffix == ".xlsx":
        book = Workbook()
        book.active.append(["index", "prediction"])
        for record in records:
            book.active.append([int(record["qid"]), record["predictions"][0]])
        book.save(path)
    elif "_samples_" in path.name:
        rows = [{"doc_id": r["qid"], "doc": {"question_id": r["qid"]}, "resps": [r["predictions"]]} for r in records]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    else:
        path.write_text(json.dumps(records), encoding="utf-8")


def copy(source: Path, target: Path) -> None:
    """Copy a file or a folder, as its new name says: compressed, or with the test split of MMBench in its rows."""
    if source.is_dir():
        shutil.copytree(source, target)
    elif target.suffix == ".gz":
        target.write_bytes(gzip.compress(source.read_bytes()))
    elif "_TEST_" in target.name:
        rows = source.read_text(encoding="utf-8").splitlines()
        target.write_text("\n".join(re.sub(r"\tdev(?=\t|$)", "\ttest", row) for row in rows) + "\n", encoding="utf-8")
    else:
        shutil.copy(source, target)
