"""`make reproduce` on a made run: its row, items that agree, and the error if a value is not the published one."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.reproduce.__main__ import HERE, PAGE, README, cells, replaced, rows_of

ROWS = [
    {"id": "1", "input": "Q?", "prediction": "So the answer is Yes.", "target": "Yes", "by": {"them": True}},
    {"id": "2", "input": "Q?", "prediction": "The answer is No.", "target": "Yes", "by": {"them": True}},
]


def run(folder: Path, **fields: Any) -> dict[str, Any]:
    (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    given = {"name": "made", "source": "here", "file": "made.jsonl", "data": "made.jsonl", "reply": "prediction"}
    given["benchmark"] = str(ROOT / "examples/benchmarks/bbh")
    return given | {"decided": {"fields": ["by.them"]}, "why": "-"} | fields


def test_a_run_is_graded_and_its_items_are_compared(tmp_path: Path) -> None:
    found = cells(run(tmp_path, published={"accuracy": 50.0}), {}, tmp_path)
    assert found == ["made", "here", "2", "50.00", "50.00", "1 of 2", "50.00", "0", "-"]


def test_a_value_that_is_not_the_published_one_needs_a_reason(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nothing says why"):
        cells(run(tmp_path, published={"accuracy": 50.1}), {}, tmp_path)
    found = cells(run(tmp_path, published={"accuracy": 60.0}, differs="drawn"), {}, tmp_path)
    assert found[4] == "50.00 (drawn)"


def test_a_run_in_parts_has_their_means_and_each_is_held_to_its_published_value(tmp_path: Path) -> None:
    part = {"published": {"accuracy": 50.0}}
    found = cells(run(tmp_path, parts=[part, part]), {}, tmp_path)
    assert found[2:5] == ["4", "50.00", "50.00"]
    with pytest.raises(SystemExit, match="nothing says why"):
        cells(run(tmp_path, parts=[{"published": {"accuracy": 49.0}}, {"published": {"accuracy": 51.0}}]), {}, tmp_path)


def test_files_of_rows_are_read_in_their_published_shapes(tmp_path: Path) -> None:
    for at, content in (("", ROWS), ("eval", {"eval": {"1": [ROWS[0]], "2": ROWS[1]}}), ("x", {"x": ROWS})):
        (tmp_path / "rows.json").write_text(json.dumps(content))
        assert [row["id"] for row in rows_of(tmp_path / "rows.json", at)] == ["1", "2"]


def test_the_tables_of_both_documents_have_only_listed_runs() -> None:
    runs = tomllib.loads((HERE / "runs.toml").read_text())["runs"]
    names = [run["name"] for run in runs]
    assert len(set(names)) == len(names)
    for page, listed in ((PAGE, names), (README, [run["name"] for run in runs if run.get("front")])):
        text = page.read_text()
        inside = text.partition("<!-- published runs -->")[2].partition("<!-- end of")[0]
        shown = [line.split(" | ")[0][2:] for line in inside.splitlines() if line.startswith("| ")][1:]
        assert shown == [name for name in listed if name in shown]
        assert replaced(replaced(text, ["x"]), inside.strip("\n").splitlines()) == text
