"""Both examples of docs/own-benchmark.md work: their files are written as the page shows them, and its commands run."""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING

import msgspec
import pytest

from grader.scorers import declarations
from tests.acceptance.command import grade
from tests.conftest import ROOT
from tests.docs.commands import commands_of

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "own-benchmark.md"
_FILE = re.compile(r"^`([\w./-]+)`[^\n`]*:\n\n```\w+\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMANDS = [command for command in commands_of(PAGE) if not command.line.startswith("grade selftest")]


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
    assert len(COMMANDS) == 3
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
    choice, code = (declarations.load(str(folder / name)) for name in ("floorplans", "doubling"))
    protocols = [next(iter(declared.protocols.values())) for declared in (choice, code)]
    records = [choice, code, choice.columns, code.columns, *protocols, choice.splits["test"]]
    known = {field for record in records for field in msgspec.structs.asdict(record)}
    rows = re.findall(r"^\| ((?:`[^`|]+`(?:, )?)+) \|", text, re.MULTILINE)
    named = [name.rpartition(".")[2] for row in rows for name in re.findall(r"`([^`]+)`", row)]
    assert set(named) - known == {"NAME"}
    (inference,) = re.findall(r"^```toml\n(\[inference\].*?)^```", text, re.MULTILINE | re.DOTALL)
    assert set(tomllib.loads(inference)["inference"]) <= set(msgspec.structs.asdict(choice.inference))
