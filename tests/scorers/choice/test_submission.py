"""The submission table: official columns in the data's order, cells as they are."""

from pathlib import Path
from typing import Any

import openpyxl
import pytest

from grader.predictions.tables import read_table
from grader.scorers.choice.tables import columns_of, write_submission
from tests.tables import each


def cells(path: Path) -> list[tuple[object, ...]]:
    sheet = openpyxl.load_workbook(path).active
    return list(sheet.iter_rows(values_only=True))


def test_the_prediction_is_the_last_column_and_the_index_a_number(tmp_path: Path) -> None:
    rows = [{"prediction": "B", "index": "7", "A": "12", "n": 2.5}, {"index": "1000007", "A": None, "prediction": ""}]
    path = write_submission(tmp_path / "s.xlsx", rows)
    assert cells(path) == [("index", "A", "n", "prediction"), (7, "12", 2.5, "B"), (1000007, None, None, None)]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("text", "kept"), [("None", "None"), ("01", "01"), ("a\nb\x07 \x00", "a\nb "), ("x" * 40_000, "x" * 32_767)]
)
def test_a_prediction_is_text_whatever_it_looks_like(tmp_path: Path, text: str, kept: str) -> None:
    path = write_submission(tmp_path / "s.xlsx", [{"index": "1", "prediction": text}])
    assert cells(path)[1] == (1, kept)
    assert [
        cells_by_name["prediction"] for _, cells_by_name in read_table(path.read_bytes(), lambda columns: True)
    ] == [kept]


@each(
    ("rows", "columns"),
    [
        ([["index", "A", "B"], ["index", "hint", "A", "B", "C"]], ["index", "hint", "A", "B", "C"]),
        ([["index", "split"], ["index", "D", "split"], ["index", "C", "D"]], ["index", "C", "D", "split"]),
        ([["a", "b"], ["b", "a", "c"]], ["a", "b", "c"]),
        ([[]], []),
    ],
)
def test_the_order_of_columns_is_that_of_rows_that_lack_their_empty_cells(
    rows: list[list[str]], columns: list[str]
) -> None:
    tables: list[dict[str, Any]] = [dict.fromkeys(names, "x") | {"prediction": "p"} for names in rows]
    assert columns_of(tables) == columns
