"""What chance and a constant letter would score."""

from typing import Any

from grader.data.tables import Rows
from grader.scorers import declarations
from grader.scorers.choice.items import items_from
from grader.scorers.choice.metrics import baselines

VSTAR: Any = declarations.load("vstar")


def test_baselines_are_given_for_all_and_by_group() -> None:
    rows = [
        {"question_id": "1", "text": "x (A) a (B) b", "label": "A", "category": "c"},
        {"question_id": "2", "text": "x (A) a (B) b (C) c (D) d", "label": "D", "category": "c"},
    ]
    assert baselines(items_from(Rows(rows=rows, origin="rows", digest=""), VSTAR, "test").values()) == {
        "all": {"chance": 37.5, "always_first_letter": 50.0},
        "category=c": {"chance": 37.5, "always_first_letter": 50.0},
        "options=2": {"chance": 50.0, "always_first_letter": 100.0},
        "options=4": {"chance": 25.0, "always_first_letter": 0.0},
    }
