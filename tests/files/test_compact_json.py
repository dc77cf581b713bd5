"""JSON of messages and caches: compact, and safe for half characters."""

from __future__ import annotations

import msgspec
import pytest

from grader.files import compact_json


class Pair(msgspec.Struct):
    text: str
    number: int = 1


@pytest.mark.parametrize("text", ["plain", "é 漢 😀", '"\\\n', "half \ud83d", "\ude00\ud83d"])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert compact_json.decode(compact_json.encode({"a": [text, None, 1.5, True]})) == {"a": [text, None, 1.5, True]}
    assert compact_json.decode(compact_json.encode(Pair(text))) == {"text": text, "number": 1}


def test_the_order_of_keys_changes_nothing_where_they_are_sorted() -> None:
    one, other = {"b": 1, "a": {"d": "x", "c": 2}}, {"a": {"c": 2, "d": "x"}, "b": 1}
    assert compact_json.encode(one, in_order=True) == compact_json.encode(other, in_order=True)
    assert compact_json.encode(one) != compact_json.encode(other)
    half = [{**value, "e": "\ud83d"} for value in (one, other)]
    assert compact_json.encode(half[0], in_order=True) == compact_json.encode(half[1], in_order=True)


def test_half_characters_are_replaced_where_a_text_is_shown() -> None:
    data = rb'{"text": "a\ud83dz \ud83d\ude00"}'
    assert compact_json.decode(data, whole=True) == {"text": "a\ufffdz 😀"}
    assert compact_json.decode(data) == {"text": "a\ud83dz 😀"}


@pytest.mark.parametrize("data", [b"", b"{", b"\xff", b'"\x00"', b"[1,2"])
def test_what_is_not_json_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):
        compact_json.decode(data)
