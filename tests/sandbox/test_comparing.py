"""Answers to inputs in the data, compared with expected ones: the rules, EvalPlus', checkers, and hostile answers."""

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import inside
import numpy
import phases

from grader.scorers.execution.comparison_names import PLAIN, TOLERANT, VALUES
from tests.tables import each

pytestmark = phases.MARKS

comparing = inside.load("judging.comparing")
comparisons = inside.load("judging.comparisons")
differences = inside.load("judging.differences")
evalplus = inside.load("judging.evalplus")

values = inside.load("values")
ARRAY = numpy.array


def reply(value: Any, how: str = "returned") -> str:
    return str(values.write((how, value)))


def forged(*nodes: Any) -> str:
    """Return a reply whose value is the first of these nodes, from number 2."""
    return json.dumps([["tuple", [1, 2]], ["str", "returned"], *nodes])


# --- rules --------------------------------------------------------------------------------------------------------


@each(
    ("name", "expected", "printed", "is_right"),
    [
        ("lines", "1 2\n3\n", " 1.0 2 \n3\n\n", True),
        ("lines", "1 2\n3\n", "1\n2 3\n", False),
        ("lines", "1.68040", "1.6804000000000001", False),
        ("numbers", "1 2\n3\n", "1\n2 3.0\n", True),
        ("numbers", "12", "١٢", False),
        ("numbers", "0101", "101", False),
        ("numbers", "101", "0101", False),
        ("numbers", "1e2", "100", False),
        ("numbers", "100", "1e2", False),
        ("numbers", "-0", "0", True),
        ("numbers", "5", "5.0", True),
        ("numbers", "0.00001", "1e-05", True),
        ("numbers", "1e-05", "0.00001", True),
        ("near:1e-6", "007", "7", False),
        ("float:1e-6", "1e-5", "0.00001", True),
        ("float:1e-6", "1e400", "1e401", False),
        ("tokens", "1 2", "1\n2", True),
        ("exact", "1\n", "1", False),
        ("trimmed", "1\n", "1", True),
        ("float:1e-6", "3", "3.0000001", True),
        ("near:1e-6", "3", "3.0000001", False),
        ("near:1e-6", "3.0", "3.0000001", True),
        ("near:1e-6", "3.0", "3.0 4.0", False),
        ("lines", "NaN", "sNaN", False),
    ],
)
def test_a_comparison(name: str, expected: str, printed: str, is_right: bool) -> None:
    assert comparisons.rule(name)(expected, printed) is is_right


@each("name", [*PLAIN, *VALUES, *(f"{kind}:1e-6" for kind in TOLERANT)])
def test_every_comparison_that_a_protocol_may_name_exists(name: str) -> None:
    assert comparisons.rule(name)("1", "1")


def both(expected: Any, given: Any, *, function: str = "f", is_mbpp: bool = False) -> tuple[bool, bool]:
    """Return whether an answer is right by EvalPlus' rule (official), and part by part (careful)."""
    found: tuple[bool, bool] = evalplus.EvalPlus(function, 0.0, is_mbpp=is_mbpp).verdicts([], expected, given)
    return found


@each(
    ("expected", "given", "right"),
    {
        "near": ([1.0, 1.0], [1.0000001, 1], (True, True)),
        "near, deeper": ([[1.0, 2.0]], [[1.0, 2.0000001]], (False, True)),
        "arrays of equal shape": (ARRAY([[1.0], [2.0]]), ARRAY([[1.0000001], [2.0]]), (False, True)),
        "an array with the items of a list": ([1.0, 2.0], ARRAY([1.0, 2.0]), (False, True)),
        "arrays of other shapes": (ARRAY([1.0, 1.0]), ARRAY([[1.0, 1.0]] * 3), (False, False)),
        "another number": ([1.0, 2.0], [1.0, 3.0], (False, False)),
    },
)
def test_what_is_near_is_right(expected: Any, given: Any, right: tuple[bool, bool]) -> None:
    assert both(expected, given) == right


@each(("expected", "given", "right"), [(2e-9, 0.0, False), (2e-9, 2.000001e-9, True), (0.0, 2e-9, True)])
def test_a_small_number_is_near_those_of_its_size(expected: float, given: float, right: bool) -> None:
    assert comparisons.near_values(expected, given) is right


def test_what_evalplus_compares_as_sets_is_right_in_both_readings() -> None:
    assert both([1, 2], (2, 1, 1), function="similar_elements", is_mbpp=True) == (True, True)


def test_a_scalar_of_numpy_is_compared_as_a_number_in_evalplus_special_cases() -> None:
    """Comparisons with it give NumPy's `True`, which no message can have: then the other verdicts were lost too."""
    found = evalplus.EvalPlus("digit_distance_nums", 0.0, is_mbpp=True).verdicts([1, 1], 7, numpy.int64(0))
    assert json.dumps(found) == "[true, true]"


@each("function", ["sum_div", "are_equivalent"])
def test_a_constant_that_evalplus_accepts_everywhere_is_right_only_officially(function: str) -> None:
    compared = evalplus.EvalPlus(function, 0.0, is_mbpp=True)
    assert compared.verdicts([1, 1], 7, 0) == (True, False)
    assert compared.verdicts([1, 1], 7, 7) == (True, True)


def test_a_named_tuple_is_a_tuple() -> None:
    given = comparing.parse_answer(
        forged(["record", [["", "P", "x", "y"], [3, 4]]], ["int", 1], ["list", [5]], ["int", 2])
    )
    assert comparisons.same_values([1, [2]], given)
    assert comparisons.near_values([1, [2]], given)


def test_one_is_true_as_in_python() -> None:
    assert comparisons.near_values([True, False], [1, 0])
    assert comparisons.near_values(True, 1)
    assert not comparisons.near_values(True, 2)


@each(("expected", "given"), [(("a", "b"), ["a", "b"]), ([("a",)], [["a"]])])
def test_a_list_is_no_tuple_where_tests_compare_with_one(expected: Any, given: Any) -> None:
    """As in the tests of HumanEval/148."""
    assert both(expected, given) == (False, False)
    assert comparisons.near_values(expected, given)


def test_an_array_is_not_the_list_that_livecodebench_expects() -> None:
    given = comparing.parse_answer(reply(ARRAY([1, 2])))
    assert not comparisons.same_values([1, 2], given)
    assert comparisons.near_values([1, 2], given)


ODD = [
    1, 1.5, [1, 1], 10**400, Decimal("sNaN"), Decimal("1e999999"), numpy.int64(1), numpy.float64(1), ARRAY([1, 2]),
    ARRAY(5), float("nan"), {"a": Decimal("sNaN")}, {1: 10**400}, "a", None, 1j,
]  # fmt: skip


def test_values_that_python_cannot_compare_are_not_right_and_end_no_run() -> None:
    rules = comparisons.same_values, comparisons.near_values
    for expected in ODD:
        for given in ODD:
            assert {type(compare(expected, given)) for compare in rules} == {bool}
    assert not comparisons.near_values([1, 1], numpy.int64(1))


# --- answers ------------------------------------------------------------------------------------------------------


def test_plain_answers_are_read() -> None:
    for value in ({-1, -2}, Fraction(-3, 4), [1.5, (None, "a")]):
        assert comparing.parse_answer(reply(value)) == value
    assert comparing.parse_answer(reply(math.nan)) != comparing.parse_answer(reply(math.nan))


@each(
    "given",
    {
        "objects in bytes": forged(["scalar", ["i8,O", "AAAA"]]),
        "an object": forged(["tree", ["P", [], [], None]]),
        "no data": forged(["list", [3]], ["function", 0]),
        "a fraction by zero": forged(["fraction", [1, 0]]),
        "no node": forged(7),
        "an iterator": reply(iter([1])),
    },
)
def test_what_is_no_plain_data_equals_nothing(given: str) -> None:
    assert isinstance(comparing.parse_answer(given), comparing.Opaque)


def test_large_answers_are_equal_if_their_digests_are() -> None:
    one, other = (json.dumps({"digest": digest, "length": 9_000_000}) for digest in ("a", "b"))
    assert comparing.parse_answer(one) == comparing.parse_answer(one)
    assert comparing.parse_answer(one) != comparing.parse_answer(other)


def compare(*pairs: dict[str, Any], function: str = "f", **more: Any) -> dict[str, Any]:
    """Compare answers in a real sandbox."""
    rules = ["same values", "near values"] if function else ["lines", "numbers"]
    numbered = [{"number": number, **pair} for number, pair in enumerate(pairs)]
    spec = {"function": function, "rules": rules, "pairs": numbered, **more}
    return phases.do("compare", spec, cpu=1.0)


def test_answers_are_compared_in_a_process_with_limits() -> None:
    one, other, error = reply(1), reply(2), reply(ValueError("no"), "raised")
    made = compare(
        {"expected": one, "answer": one},
        {"expected": one, "answer": other},
        {"expected": one, "answer": error},
        {"expected": one, "answer": "not a message"},
        {"expected": one},
    )["compared"]
    assert made["verdicts"] == [[True, True, ""], *([False, False, text] for text in ("", "ValueError: no", "", ""))]
    why = "the answer is `2`, expected `1`"
    assert made["shown"] == {"1": {"expected": "1", "returned": "2", "why": why}}


_AGAIN = [["list", [number + 3] * 2] for number in range(60)] + [["list", []]]
_EQUAL_HASHES = [["int", hex(((1 << 61) - 1) * number)] for number in range(1, 40000)]


@each(
    "bomb",
    {
        "lists that share their items": forged(*_AGAIN),
        "a set of equal hashes": forged(["set", [*range(3, 40002)]], *_EQUAL_HASHES),
        "a list in itself": forged(["list", [2]]),
        "a long range": reply(range(1 << 62)),
    },
)
def test_a_bomb_is_never_right_and_ends_no_more_than_its_comparison(bomb: str) -> None:
    made = compare({"expected": bomb, "answer": bomb.replace(" ", "")}, {"expected": reply([]), "answer": bomb})
    assert made.get("compared", {}).get("verdicts", [[], [False]])[1][0] is False
    again = compare({"expected": reply(1), "answer": reply(1.0)})
    assert again["compared"]["verdicts"] == [[True, True, ""]]


def left(given: list[Any], after: list[Any], printed: str = "", value: Any = None) -> tuple[str, str]:
    """Return a call with an argument, and a reply that tells what became of it and what was printed."""
    call = values.write((("name", "f"), (given,), {}, {}))
    return call, values.write(("returned", value, (after,), {}, printed, 0, ()))


def test_where_a_function_returns_nothing_its_changed_arguments_and_what_it_prints_are_compared() -> None:
    """Officially only what it returns is: a program that does nothing is right there."""
    call, expected = left([2, 1], [1, 2], "done\n")
    told = (([1, 2], "done \n"), ([2, 1], "done\n"), ([1, 2], ""), ([1, 2], "done\n", 7))
    answers = [left([2, 1], *one) for one in told]
    pairs = [{"expected": expected, "answer": given, "input": call} for _, given in answers]
    found = compare(*pairs, with_arguments=True)["compared"]["verdicts"]
    assert [tuple(one[:2]) for one in found] == [(True, True), (True, False), (True, False), (False, True)]


@each(("after", "printed", "has_none"), [([2, 1], "", True), ([1, 2], "", False), ([2, 1], "x", False)])
def test_a_reference_that_changes_and_prints_nothing_is_noted(after: list[int], printed: str, has_none: bool) -> None:
    call, expected = left([2, 1], after, printed)
    pair = {"expected": expected, "answer": expected, "input": call}
    assert compare(pair, with_arguments=True, is_reference=True)["compared"]["has_no_side_effect"] is has_none


# --- checkers -----------------------------------------------------------------------------------------------------

CHECKER = """
def check(given, output, expected):
    print("noise")
    if output == "boom":
        raise ValueError("boom")
    if output == "exit":
        raise SystemExit
    return sorted(output.split()) == sorted(expected.split())
"""


def checked(*answers: str, expected: str = "1 2", checker: str = CHECKER) -> dict[str, Any]:
    pairs = [{"expected": expected, "answer": answer, "input": ""} for answer in answers]
    return dict(compare(*pairs, function="", checker=checker)["compared"])


def test_a_checker_accepts_other_right_outputs_and_one_that_raises_has_found_a_wrong_one() -> None:
    found = checked("1 2", "2 1", "boom", "exit", "3")["verdicts"]
    assert [right for right, _, _ in found] == [True, True, False, False, False]
    assert checked("1", expected="boom")["verdicts"] == [[False, False, ""]]
    assert checked("boom", expected="boom")["failed"] == [0, "ValueError: boom"]
    assert checked("1", checker="import none\ndef check(*given): return True")["failed"][0] == 0


@each(
    ("judgement", "right", "weak"),
    [
        ("not abs(float(output) - float(expected)) > 1e-6", "0.2500001", "nan"),
        ("all(map(str.__eq__, output.split(), expected.split()))", "0.25", ""),
        ("eval(output) == eval(expected)", "0.25", "expected.__class__(0.25)"),
    ],
)
def test_a_checker_is_believed_if_it_rejects_outputs_that_say_nothing(judgement: str, right: str, weak: str) -> None:
    checker = f"def check(given, output, expected):\n    return {judgement}\n"
    found = checked(right, weak, expected="0.25", checker=checker)["verdicts"]
    assert [careful for _, careful, _ in found] == [True, False]


def test_a_checker_that_returns_no_truth_value_gives_no_verdict_unless_it_accepts_what_is_expected() -> None:
    """Otherwise assertions alone would reject every right answer, and words would accept every wrong one."""
    asserts = "def check(given, output, expected):\n    assert output == expected\n"
    assert checked("1 2", checker=asserts)["failed"] == [0, "TypeError: it returns None, not True or False"]
    words = "def check(given, output, expected):\n    return 'ok' if output == expected else 'wrong'\n"
    assert checked("3", checker=words)["failed"] == [0, "TypeError: it returns 'wrong', not True or False"]
    implicit = "def check(given, output, expected):\n    if output == expected:\n        return 1\n"
    assert [right for right, _, _ in checked("1 2", "3", checker=implicit)["verdicts"]] == [True, False]


# --- what people see ----------------------------------------------------------------------------------------------


def test_of_long_texts_the_part_around_the_first_difference_is_shown() -> None:
    found = differences.describe_difference("x\n" * 5000 + "right" + "y" * 9000, "x\n" * 5000 + "wrong")
    start = "[9,750 equal characters] ..." + "x\n" * 125
    assert found["returned"] == f"{start}wrong"
    assert found["expected"].startswith(f"{start}right")
    assert len(found["expected"]) < 1100


def test_a_text_that_looks_like_the_expected_value_is_named_with_its_type() -> None:
    why = differences.describe_difference(None, "None")["why"]
    assert why == "the answer is `None` of type str, expected `None` of type NoneType"


def test_an_answer_that_is_written_as_the_expected_one_is_not_said_to_have_other_blanks() -> None:
    nan = float("nan")
    assert (
        differences.describe_difference(nan, nan)["why"] == "the answer is `nan`, and does not equal the expected `nan`"
    )


def test_what_was_not_sent_whole_is_named_in_plain_words() -> None:
    assert repr(comparing.parse_answer(reply(iter([1])))) == "<a value of type iterator>"
    for what in ("a value of more than 32 MB", "a value with more than 2,000,000 parts", "the class Thread"):
        assert repr(comparing.parse_answer(reply(what, "unsent"))) == f"<{what}>"
    assert repr(comparing.parse_answer(reply("threading.Thread", "unsent"))) == "<a value of type threading.Thread>"


def test_the_line_that_is_named_has_another_value_not_only_another_form() -> None:
    assert (
        differences.describe_difference("5\n0.5\n7\n", "5.0\n0.5000000001\n8\n")["why"] == "line 3 is `8`, expected `7`"
    )
    assert differences.describe_difference("5\n6\n", "5\n6.0\n")["why"] == "line 2 is `6.0`, expected `6`"


def test_a_comparison_without_line_breaks_names_a_token_where_the_lines_are_others() -> None:
    answers = {"expected": "1 2\n3\n", "answer": "1\n2\n4\n"}
    why = {name: compare(answers, function="", rules=[name] * 2)["compared"]["shown"]["0"]["why"] for name in PLAIN}
    by_lines, by_tokens = "line 1 is `1`, expected `1 2`", "token 3 is `4`, expected `3`"
    assert why == dict.fromkeys(PLAIN, by_tokens) | dict.fromkeys(["exact", "lines", "trimmed"], by_lines)
    assert differences.describe_difference("1\n2\n3", "1\n2", by_tokens=True)["why"] == "2 tokens instead of 3"
