"""From rows to tasks: their names, and names that no row has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.errors import InputError
from tests.scorers.mr_ben.made import (
    MATH,
    RIGHT,
    folder,
    metric,
    predictions,
    response,
    row,
    run,
)

if TYPE_CHECKING:
    from pathlib import Path


def test_a_second_row_of_one_key_has_its_own_name(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=[row("q1"), row("q1", "1")])
    path = predictions(tmp_path, {"q1/m": response("correct"), "q1/m#2": response("incorrect", "Step 2")})
    report = run(path, data)
    assert [(s.qid, s.careful.outcome) for s in report.samples] == [("q1/m", "correct"), ("q1/m#2", "wrong")]
    assert metric(report, "mr_score", "careful").n == 1


def test_a_row_that_the_benchmark_has_not_is_named(tmp_path: Path) -> None:
    data = folder(tmp_path / "data", math=MATH)
    path = predictions(tmp_path, RIGHT | {"q1/n": "x"})
    with pytest.raises(InputError, match=r'the benchmark has no row "q1/n"'):
        run(path, data)
