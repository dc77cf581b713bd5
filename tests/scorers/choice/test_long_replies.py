"""Long replies: a careful reading copies each part of the text a few times, however many letters it names."""

from __future__ import annotations

from typing import ClassVar, SupportsIndex

import pytest

from grader.scorers.choice.careful.options import Options
from grader.scorers.choice.careful.resolve import read_page
from grader.scorers.choice.careful.text import Page

OPTIONS = Options({"A": "rubber", "B": "cotton", "C": "kevlar", "D": "leather"})


class Counted(str):
    """A text that counts the characters that are copied from it."""

    __slots__ = ()
    copied: ClassVar[int] = 0

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        found = super().__getitem__(key)
        Counted.copied += len(found)
        return found


@pytest.mark.parametrize(
    "part",
    [
        "I think the answer ",
        "A or B, ",
        "A) or B: ",
        "A. no\n",
        "A\nB\n\n",
        "option A is rubber, ",
        "So the answer is A. But wait, maybe B. ",
        "The answer is A, the answer is B, ",
        "I will choose:\nA\n",
        "(A) " + " " * 100,
    ],
)
def test_the_work_grows_with_the_length_of_the_reply_and_not_with_its_square(part: str) -> None:
    text = part * (200_000 // len(part))
    page = Page(Counted(text))
    page.low = Counted(page.low)
    Counted.copied = 0
    read_page(page, OPTIONS, [])
    assert Counted.copied < 20 * len(text)


def test_what_is_next_to_a_place_is_found_at_any_distance() -> None:
    for length in (0, 1, 63, 64, 65, 600, 5_000):
        page = Page("x" + "-" * length + "A" + "-" * length + "y")
        at = length + 1
        assert page.only_before(1, at, "-")
        assert page.only_after(at + 1, at + 1 + length, "-")
        assert not page.only_before(0, at, "-")
        assert not page.only_after(at + 1, at + 2 + length, "-")
