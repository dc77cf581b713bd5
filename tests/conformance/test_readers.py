"""The conformance suite for readers: its data are well formed, and what the table says of the careful reading holds."""

from __future__ import annotations

from collections import Counter

import pytest

from conformance import readers
from conformance.run import lines

REPLIES = lines("replies.jsonl")


def test_data_is_well_formed() -> None:
    assert len({reply["id"] for reply in REPLIES}) == len(REPLIES) > 300
    assert {reply["class"] for reply in REPLIES} == set(readers.CLASSES)
    for reply in REPLIES:
        assert reply.keys() == {"id", "class", "question", "options", "reply", "says", "why"}
        letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[: len(reply["options"])]
        assert reply["says"] in {"none", "ambiguous", *letters}, reply["id"]


def test_the_careful_reading_invents_no_letter_and_reads_most() -> None:
    answers = readers.read(REPLIES)
    kinds = Counter(readers.kind_of(reply["says"], answers["grade, careful"][reply["id"]]) for reply in REPLIES)
    assert kinds["another letter"] == kinds["invented letter"] == 0
    assert kinds["right letter"] >= 300
    assert len(answers) >= 10
    assert all(own.keys() == {reply["id"] for reply in REPLIES} for own in answers.values())


@pytest.mark.parametrize(
    ("says", "answer", "kind"),
    [
        ("A", "A", "right letter"),
        ("A", "B", "another letter"),
        ("A", None, "no letter"),
        ("none", "A", "invented letter"),
        ("none", None, ""),
    ],
)
def test_a_reading_is_of_one_kind(says: str, answer: str | None, kind: str) -> None:
    assert readers.kind_of(says, answer) == kind


def test_the_table_counts_what_was_read() -> None:
    replies = [
        {"id": "r1", "class": "real", "says": "A", "why": "bare"},
        {"id": "r2", "class": "real", "says": "none", "why": "refusal"},
    ]
    answers = {"grade, careful": {"r1": None, "r2": None}, "other (official)": {"r1": "A", "r2": "B"}}
    text = readers.report(replies, answers)
    assert "## real: 1 replies say a letter, 1 say none or several" in text
    assert "| other (official) | 1 | 0 | 0 | 1 |\n| grade, careful | 0 | 0 | 1 | 0 |" in text
    assert "| r1 | A | none | bare |" in text
