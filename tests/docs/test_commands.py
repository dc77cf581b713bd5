"""Every command of `grade` in README.md, docs/ and the benchmarks' pages runs as it is written.

What the commands name is made beforehand from the bundled samples: prediction files, data, earlier results. Two things
stand in for what a test machine does not have: the sample's data where a command would load data from the hub, and a
small server where a command asks a model.
"""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.acceptance.command import grade
from tests.conftest import ROOT, Once
from tests.docs.commands import DATA, DOCUMENTS, SERVER, Command, commands_of, copy, sample_of, write_predictions
from tests.models.server import ModelServer, say

COMMANDS = [command for path in DOCUMENTS for command in commands_of(path)]
ELSEWHERE = {
    "grade selftest": "tests/test_selftest.py",
    "grade serve": "tests/serving/test_serve.py",
    "grade predictions.json --executor ray": "tests/executors/test_ray.py",
    "grade gate policy.toml": "tests/acceptance/test_gate_policy.py",
    "grade show floorplans": "tests/docs/test_own_benchmark.py",
    "grade answers.json -b floorplans": "tests/docs/test_own_benchmark.py",
    "grade programs.json -b doubling": "tests/docs/test_own_benchmark.py",
    "grade outputs.jsonl -b gsm8k --fields": "tests/predictions/test_fields.py",
    "grade results.json -b humaneval --fields": "tests/predictions/test_fields.py",
    "grade sums.json -b sums": "tests/scorers/test_plugin.py",
}
"""Commands that take minutes, do not end, need a cluster or files of their page -> the tests that run them."""
HERE = [command for command in COMMANDS if not command.line.startswith(tuple(ELSEWHERE))]
GATES = {"--fail-under", "--baseline"}
DATA_COMMANDS = ("infer", "show")
"""Subcommands that load data; without a subcommand, `grade` does too."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model that answers everything with one letter."""
    with ModelServer(lambda asked: say("A")) as served:
        monkeypatch.setenv("OPENAI_API_KEY", "of-a-test")
        monkeypatch.setenv("OPENAI_BASE_URL", served.url)
        yield served


@pytest.fixture
def earlier(once: Once) -> Path:
    """Results of an earlier run of the bundled V* sample."""

    def fill(folder: Path) -> None:
        write_predictions(folder / "answers.json", "vstar")
        made = grade("answers.json", "-b", "vstar", "--data", sample_of("vstar") / DATA["vstar"], cwd=folder)
        assert made.returncode == 0, made.stderr

    return once("earlier-results", fill) / "answers_results.json"


def test_the_documents_have_commands() -> None:
    assert {command.document for command in COMMANDS} >= {
        "README.md",
        "docs/inference.md",
        "benchmarks/vstar/README.md",
    }
    assert all((ROOT / test).is_file() for test in ELSEWHERE.values())


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("documents")
@pytest.mark.parametrize("command", HERE, ids=lambda c: f"{c.document}: {c.line}")
def test_a_command_runs(command: Command, tmp_path: Path, server: ModelServer, earlier: Path) -> None:
    words = prepared(command, tmp_path, earlier)
    done = grade(*(word.replace(SERVER, server.url) for word in words), cwd=tmp_path)
    allowed = {0, 1, 3, 4} if GATES & set(words) else {0}
    assert done.returncode in allowed, done.stderr
    assert "Traceback" not in done.stderr
    for at, word in enumerate(words[:-1]):
        if word == "-o" and "--dry-run" not in words:
            assert (tmp_path / words[at + 1]).is_file()


def test_the_python_of_the_documents_runs(earlier: Path, tmp_path: Path) -> None:
    (block,) = re.findall(
        r"^```python\n(.*?)^```", (ROOT / "docs/python.md").read_text("utf-8"), re.MULTILINE | re.DOTALL
    )
    write_predictions(tmp_path / "answers.json", "vstar")
    copy(sample_of("vstar") / DATA["vstar"], tmp_path / "questions.jsonl")
    copy(earlier, tmp_path / "baseline_results.json")
    done = subprocess.run([sys.executable, "-c", block], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def prepared(command: Command, folder: Path, earlier: Path) -> list[str]:
    """Make the files that a command names, and return its words."""
    words = command.words
    if "benchmarks/" in command.line:
        copy(ROOT / "benchmarks", folder / "benchmarks")  # a command may write beside what it reads
    for at, word in enumerate(words):
        before = words[at - 1] if at else ""
        path = folder / word
        if before == "--baseline" or word.endswith("_results.json"):
            copy(earlier, path)
        elif before == "--data" and not path.exists():
            copy(sample_of(command.benchmark) / DATA[command.benchmark], path)
        elif at == 0 and path.suffix in {".json", ".jsonl", ".xlsx"} and not path.exists():
            write_predictions(path, command.benchmark, command.samples)
    if "--score-only" in words:
        made = grade(words[0], *of_the_hub(command.benchmark), cwd=folder)
        assert made.returncode == 0, made.stderr
    loads = words[:1] and ("." in words[0] or words[0] in DATA_COMMANDS)
    return [*words, *of_the_hub(command.benchmark)] if loads and "--data" not in words else words


def of_the_hub(benchmark: str) -> list[str]:
    """What stands in for data that a command would load from the hub."""
    return ["--data", str(sample_of(benchmark) / DATA[benchmark])]
