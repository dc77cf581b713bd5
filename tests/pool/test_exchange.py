"""What a client makes of the samples of a call."""

from typing import Any

import pytest

from grader.errors import UsageError
from grader.pool import exchange
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
    given = Exchange([(row, "x"), ({"outputs": [[1, (2,)]]}, "y")], task_rows={})
    assert list(given.refused) == [0]
    assert why in given.refused[0]
    assert [bytes(data) for data in given.rows.values()] == [b'{"outputs":[[1,[2]]]}']


@pytest.mark.parametrize(
    "sample",
    [("\ud800", "x"), ("a", "\ud800"), {"qid": "a", "text": "x", "memory": "\ud800"}],
    ids=["qid", "text", "memory"],
)
def test_half_a_surrogate_pair_is_replaced_as_in_prediction_files_and_the_other_samples_are_sent(sample: Any) -> None:
    assert '"\ufffd"'.encode() in Exchange([sample, ("b", "y")], task_rows={}).request_body(1.0)


@pytest.mark.parametrize(
    ("sample", "qid"),
    [
        ({"qid": None, "row": {"task_id": None, "id": 5}, "text": "x"}, "5"),
        (({"qid": None, "question_id": "q"}, "x"), "q"),
        (({"qid": None}, "x"), "row"),
        ((0, "x"), "0"),
        ((None, "x"), ""),
    ],
)
def test_an_id_that_is_none_is_no_id(sample: Any, qid: str) -> None:
    given = Exchange([sample], task_rows={"None": b"{}"})
    assert [sample.qid for sample in given._samples] == [qid]
    assert list(given.refused) == ([] if qid else [0])


@pytest.mark.parametrize("line", [b'{"place":0,"result":{"qid":"a","sam', b'{"place":0}'])
def test_a_line_that_was_cut_off_is_no_result_and_can_be_asked_for_again(line: bytes) -> None:
    given = Exchange([("a", "x")], task_rows={})
    body = given.request_body(1.0)
    with pytest.raises(ConnectionError, match="has closed the connection"):
        given.receive_line(line)
    assert not given.is_complete
    assert given.request_body(1.0) == body


def test_samples_that_are_too_long_together_are_an_error_before_they_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "REQUEST_BYTES", 1000)
    with pytest.raises(UsageError, match="more than 1000 bytes together; send fewer"):
        Exchange([("a", "x" * 600), ("b", "y" * 600)], task_rows={}).request_body(1.0)
