"""The conformance suite for readers: its data are well formed, and what the table says of the careful reading holds."""

from collections import Counter

import pytest

from conformance import readers
from conformance.run import lines

pytestmark = pytest.mark.slow

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
    assert kinds["right letter"] >= 288
    assert len(answers) >= 10
    assert all(own.keys() == {reply["id"] for reply in REPLIES} for own in answers.values())
