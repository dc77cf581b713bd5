"""What a client makes of the samples of a call."""

from typing import Any

import pytest

from grader.pool.exchange import Exchange


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"outputs": [float("nan")]}, "Out of range float values"),
        ({"outputs": [{1: 2}]}, "the key 1 is not a text"),
        ({"outputs": [{3}]}, "a value of type set"),
        ({"inputs": ["\ud800"]}, "surrogates not allowed"),
        ({"outputs": [10**5000]}, "Exceeds the limit"),
    ],
)
def test_a_row_that_json_would_change_is_no_task_and_the_others_are(row: dict[str, Any], why: str) -> None:
    given = Exchange([(row, "x"), ({"outputs": [[1, (2,)]]}, "y")], added={})
    assert list(given.refused) == [0]
    assert why in given.refused[0]
    assert [bytes(data) for data in given.rows.values()] == [b'{"outputs":[[1,[2]]]}']
