"""What the text of a reply shows, so that nobody has to decode it."""

from typing import Any

import pytest

from grader.sandbox import messages
from grader.scorers.execution.inputs import values

TEXTS = values.reply(["NaN", "list"])


@pytest.mark.parametrize("value", [1, 1.5, "text", True, None, [1, 2.5], (1, [2]), {1: 2}, float("inf")])
def test_a_plain_value_equals_itself(value: Any) -> None:
    assert messages.is_plain(values.reply(value))


@pytest.mark.parametrize(
    "message",
    [values.reply(float("nan")), values.reply([float("nan")]), values.reply({1}), TEXTS,
     '{"raised":{"node":0},"nodes":[["exception","ValueError",[]]]}', '{"unsent":"function"}', "no message",
     messages.returned({"node": 0}, [["instance", "A", []]]), messages.returned({"node": 0}, [["array", "<f8", [2]]])],
)  # fmt: skip
def test_another_value_may_differ_from_itself(message: str) -> None:
    assert not messages.is_plain(message)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1, False), ("1.5", False), (True, False), (None, False), ([1, 2.5], False), ((), False), (["a"], False),
        ([[1.5]], False), (10**30, False), (1.5, True), (1e300, True), (float("nan"), True), ([1.5, 2.5], True),
        ((float("inf"),), True), (-1.5, True), ([1e16], True),
    ],
)  # fmt: skip
def test_only_floats_set_a_tolerance(value: Any, expected: bool) -> None:
    assert messages.may_be_floats(values.reply(value)) is expected
