"""Functions that tests pass: those of libraries and of the signature reach the program, by name; no others do."""

import phases
import pytest

pytestmark = phases.MARKS

HELPERS = "class Pair:\n    a = 1\n\ndef half(x):\n    return x / 2\n\n"
SIGNATURE = f"{HELPERS}def solution(f, xs):\n    '''Apply.'''\n"
HONEST = "def solution(f, xs):\n    return [f(x) for x in xs]"


@pytest.mark.parametrize(
    "test",
    [
        "assert solution(abs, [-1, 2]) == [1, 2]",
        "import math\nassert solution(math.sqrt, [4]) == [2]",
        "assert solution(str.upper, ['a']) == ['A']",
        "assert solution(half, [4]) == [2]",
    ],
)
def test_a_function_of_a_library_or_of_the_signature_can_be_called_by_the_program(test: str) -> None:
    assert phases.beside(HONEST, test, SIGNATURE, HONEST) == phases.CONFIRMED


def test_a_class_of_the_signature_can_be_passed() -> None:
    source = "def solution(f, xs):\n    return [getattr(f, x) for x in xs]"
    assert phases.beside(source, "assert solution(Pair, ['a']) == [1]", SIGNATURE, source) == phases.CONFIRMED


def test_a_helper_of_the_signature_is_the_signatures_whatever_the_program_defines() -> None:
    source = f"{HONEST}\ndef half(x):\n    return 0"
    assert phases.beside(source, "assert solution(half, [4]) == [2]", SIGNATURE, HONEST) == phases.CONFIRMED


@pytest.mark.parametrize(
    ("test", "what"),
    [
        ("solution(lambda x: x + 1, [1, 2])", "function"),
        ("def add(x):\n    return x\nsolution([add], [1])", "function"),
        ("seen = []\nsolution(seen.append, [1, 2])", "builtin_function_or_method"),
        ("import functools\nsolution(functools.partial(half), [1])", "functools.partial"),
        ("class A:\n    def m(self):\n        return 1\nsolution(A(), [])", "A, whose class has methods"),
        ("class A:\n    def m(self):\n        return 1\nsolution(A().m, [])", "method"),
        ("class A:\n    def __lt__(self, other):\n        return 1\nsolution([A()], [])", "A, whose class has methods"),
        ("class A:\n    limit = 3\nsolution(A(), [])", "A, whose class has methods"),
        ("class A:\n    pass\nsolution(A, [])", "type"),
        ("from unittest import mock\nsolution(mock.Mock(), [])", "unittest.mock.Mock"),
    ],
)
def test_the_calls_of_tests_that_pass_code_of_their_own_are_not_recorded(test: str, what: str) -> None:
    said = phases.record(phases.task(test, SIGNATURE))["truthy"]["refused"]
    assert said == f"the tests pass a value that cannot be serialized: {what}"


def test_an_object_of_the_tests_that_is_only_attributes_is_sent() -> None:
    made = "class Node:\n    def __init__(self, value, next=None):\n        self.value, self.next = value, next\n"
    source = "def solution(a):\n    return a.value + (a.next.value if a.next else 0)"
    assert phases.beside(source, f"{made}assert solution(Node(1, Node(2))) == 3", reference=source) == phases.CONFIRMED


def test_a_context_manager_is_entered_and_left_where_it_is() -> None:
    body = "    log.append(1)\n    yield len(log)\n    log.append(2)"
    source = f"import contextlib\nlog = []\n@contextlib.contextmanager\ndef solution(a):\n{body}"
    test = "with solution(0) as n:\n    assert n == 1\nwith solution(0) as n:\n    assert n == 3"
    assert phases.beside(source, test, reference=source) == phases.CONFIRMED
    other = phases.beside(source.replace("log.append(2)", "pass"), test, reference=source)
    assert (other["confirmed"], other["kind"]) == (False, "assertion")
