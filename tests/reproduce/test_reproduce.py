"""`make reproduce` on a made run: its row, items that agree, and the error if a value is not the published one."""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.reproduce.__main__ import (
    HERE,
    PAGE,
    README,
    earlier,
    measure,
    replaced,
    rows_of,
    rows_of_page,
    rows_of_readme,
)

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
    found = measure(run(tmp_path, published={"accuracy": 50.0}), {}, tmp_path)
    assert [*found.values()] == ["made", "2", "50.00", "50.00", "1 of 2", "50.00", "0"]


def test_a_value_that_is_not_the_published_one_needs_a_reason(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="nothing says why"):
        measure(run(tmp_path, published={"accuracy": 50.1}), {}, tmp_path)
    explained = run(tmp_path, published={"accuracy": 60.0}, differs="drawn")
    found = measure(explained, {}, tmp_path)
    assert rows_of_page([explained], {"made": found})[-1] == "| here | made | 2 | 60.00 (official 50.00: drawn) | = |"


def test_a_run_in_parts_has_their_means_and_each_is_held_to_its_published_value(tmp_path: Path) -> None:
    part = {"published": {"accuracy": 50.0}}
    found = measure(run(tmp_path, parts=[part, part]), {}, tmp_path)
    assert [found[name] for name in ("answers", "published", "official")] == ["4", "50.00", "50.00"]
    with pytest.raises(SystemExit, match="nothing says why"):
        measure(
            run(tmp_path, parts=[{"published": {"accuracy": 49.0}}, {"published": {"accuracy": 51.0}}]), {}, tmp_path
        )


def test_files_of_rows_are_read_in_their_published_shapes(tmp_path: Path) -> None:
    for at, content in (("", ROWS), ("eval", {"eval": {"1": [ROWS[0]], "2": ROWS[1]}}), ("x", {"x": ROWS})):
        (tmp_path / "rows.json").write_text(json.dumps(content))
        assert [row["id"] for row in rows_of(tmp_path / "rows.json", at)] == ["1", "2"]


def test_the_tables_of_both_documents_are_those_of_the_measured_runs() -> None:
    runs, measured = tomllib.loads((HERE / "runs.toml").read_text())["runs"], earlier()
    assert [run["name"] for run in runs] == list(measured)
    for page, rows in ((PAGE, rows_of_page), (README, rows_of_readme)):
        assert replaced(page.read_text(), rows(runs, measured)) == page.read_text()


def test_the_page_of_readings_has_the_sum_of_replies_without_an_answer() -> None:
    numbers = (sum(int(row[name].replace(",", "")) for row in earlier().values()) for name in ("no answer", "answers"))
    assert "{:,} of {:,} replies".format(*numbers) in (ROOT / "docs/readings.md").read_text()
