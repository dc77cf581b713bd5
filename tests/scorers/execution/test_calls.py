"""Which calls of a task count: where both recordings agree, or where a known solution decides."""

import json

import msgspec

from grader.sandbox.answer import Recorded, Recording
from grader.scorers.execution.calls import DIFFERENT, CallList, NotJudged, agreed_calls, possible_calls


def call(number: int) -> str:
    return json.dumps({"target": ["name", "solution"], "arguments": [number]}, separators=(",", ":"))


def recording(truthy: list[str] | None, falsy: list[str] | None, refused: str = "") -> Recording:
    return Recording(
        truthy=Recorded(calls=truthy, names=["N"], reads=["x"], refused=refused),
        falsy=Recorded(calls=falsy, names=["N"], reads=["y"]),
    )


def test_calls_that_both_recordings_agree_on_count() -> None:
    found = agreed_calls(recording([call(1)], [call(1)]))
    assert found == CallList(calls=(call(1),), names=("N",), reads=("x", "y"))


def test_without_a_known_solution_two_different_recordings_are_none() -> None:
    found = agreed_calls(recording([call(1), call(2)], [call(1), call(3)]))
    assert found == NotJudged(why=DIFFERENT)


def test_without_a_known_solution_the_longer_recording_counts_where_the_tests_end_the_other_with_an_exception() -> None:
    """`if solution(x) != expected: raise ValueError` is an assertion in other words."""
    all_ = [call(1), call(2)]
    ended = recording(None, all_, "ValueError without a candidate: ")
    begun = msgspec.structs.replace(ended, truthy=msgspec.structs.replace(ended.truthy, begun=[call(1)]))
    found = agreed_calls(begun)
    assert isinstance(found, CallList)
    assert list(found.calls) == all_
    assert isinstance(agreed_calls(ended), NotJudged)


def test_without_a_known_solution_a_shorter_recording_is_the_beginning_of_the_longer_one() -> None:
    """`assert solution(1) == 1 and solution(2) == 4`."""
    all_ = [call(1), call(2)]
    for both in (recording([call(1)], all_), recording(all_, [call(1)])):
        found = agreed_calls(both)
        assert isinstance(found, CallList)
        assert list(found.calls) == all_


def test_a_known_solution_may_choose_either_of_two_recordings() -> None:
    both = recording([call(1), call(2)], [call(1)])
    assert [list(calls.calls) for calls in possible_calls(both)] == [[call(1), call(2)], [call(1), call(2)], [call(1)]]
    assert [list(calls.calls) for calls in possible_calls(recording([call(1)], [call(1)]))] == [[call(1)]]
