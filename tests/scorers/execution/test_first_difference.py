"""What reports show of a wrong output: the place where it begins to differ, however far down."""

from grader.results import Calls
from grader.scorers.execution.declaration import ExecutionProtocol
from grader.scorers.execution.inputs.cases import Cases
from grader.scorers.execution.inputs.judging import Output, judged

PROTOCOL = ExecutionProtocol().limited(2.0)


def first(expected: str, given: str) -> tuple[str, str]:
    cases = Cases(inputs=("1\n",), outputs=(expected,))
    made = judged(cases, [expected], [Output(given)], [[False], [False]], PROTOCOL)
    assert isinstance(made.calls, Calls)
    return made.calls.first.expected, made.calls.first.returned


def test_of_long_texts_the_part_around_the_first_difference_is_shown() -> None:
    expected, given = first("x\n" * 5000 + "right" + "y" * 9000, "x\n" * 5000 + "wrong")
    start = "[9,750 equal characters] ..." + "x\n" * 125
    assert given == f"{start}wrong"
    assert expected.startswith(f"{start}right")
    assert len(expected) < 1100


def test_a_text_that_looks_like_the_expected_value_is_named_with_its_type() -> None:
    cases = Cases(inputs=([1],), outputs=(None,), function="f")
    made = judged(cases, [None], [Output("None")], [[False], [False]], PROTOCOL)
    assert made.careful.detail == "input 1 of 1: the answer is `None` of type str, expected `None` of type NoneType"


def test_the_line_that_is_named_has_another_value_not_only_another_form() -> None:
    cases = Cases(inputs=("1\n",), outputs=("5\n0.5\n7\n",))
    made = judged(cases, ["5\n0.5\n7\n"], [Output("5.0\n0.5000000001\n8\n")], [[False], [False]], PROTOCOL)
    assert made.official.detail == "input 1 of 1: line 3 is `8`, expected `7`"
    made = judged(cases, ["5\n6\n"], [Output("5\n6.0\n")], [[False], [False]], PROTOCOL)
    assert made.official.detail == "input 1 of 1: line 2 is `6.0`, expected `6`"
