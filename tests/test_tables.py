"""The tables of these tests: every row is run, and those that fail are named."""

import pytest

from tests.tables import each


def test_every_row_is_run_and_each_that_fails_is_raised_with_its_name() -> None:
    seen = []

    @each(("one", "other"), {"alike": (1, 1), "unlike": (1, 2), "other kinds": (1, "1")})
    def compare(one: object, other: object, more: list[object]) -> None:
        more.append(other)
        assert one == other

    with pytest.raises(ExceptionGroup, match="2 of 3 rows") as caught:
        compare(more=seen)
    assert seen == [1, 2, "1"]
    assert [error.__notes__ for error in caught.value.exceptions] == [["in the row unlike"], ["in the row other kinds"]]
