"""Functions that tests pass reach the program with what they name, and with nothing else of the tests."""

from typing import Any

import inside
import phases
import pytest

pytestmark = phases.MARKS

plain_forms = inside.load("values.plain_forms")
sending = inside.load("values.sending")

SIGNATURE = "def solution(f, xs):\n    '''Apply.'''\n"
HONEST = "def solution(f, xs):\n    return [f(x) for x in xs]"


@pytest.mark.parametrize(
    "test",
    [
        "assert solution(lambda x: x + 1, [1, 2]) == [2, 3]",
        "k = 3\ndef add(x, more=1):\n    return x + k + more\nassert solution(add, [1]) == [5]",
        "def fact(n):\n    return 1 if n < 2 else n * fact(n - 1)\nassert solution(fact, [4]) == [24]",
        "seen = []\nassert solution(seen.append, [1, 2]) == [None, None] and seen == [1, 2]",
        "def twice(x):\n    return 2 * x\ndef four(x):\n    return twice(twice(x))\nassert solution(four, [1]) == [4]",
    ],
)
def test_a_function_of_the_tests_can_be_called_by_the_program(test: str) -> None:
    assert phases.beside(HONEST, test, SIGNATURE, HONEST) == phases.CONFIRMED


@pytest.mark.parametrize(
    "made", ["import random\nr, s = random.Random(3), random.Random(3)",
             "import numpy as np\nr, s = np.random.default_rng(3), np.random.default_rng(3)"]
)  # fmt: skip
def test_a_generator_of_random_numbers_goes_on_where_the_program_left_it(made: str) -> None:
    test = f"{made}\nassert solution(r) == s.random()\nassert r.random() == s.random()"
    source = "def solution(a):\n    return a.random()"
    assert phases.beside(source, test, reference=source) == phases.CONFIRMED


def test_a_decorated_function_has_its_name_and_description() -> None:
    source = (
        "import functools\ndef solution(a):\n    @functools.wraps(a)\n    def twice(x):\n        return 2 * a(x)\n"
        "    return twice"
    )
    named = "def f(x):\n    'Add.'\n    return x + 1\ng = solution(f)"
    test = f"{named}\nassert (g(1), g.__name__, g.__doc__) == (4, 'f', 'Add.')"
    assert phases.beside(source, test, reference=source) == phases.CONFIRMED


def test_a_context_manager_is_entered_and_left_where_it_is() -> None:
    body = "    a.append(1)\n    yield len(a)\n    a.append(2)"
    source = f"import contextlib\n@contextlib.contextmanager\ndef solution(a):\n{body}"
    test = "x = []\nwith solution(x) as n:\n    assert (n, x) == (1, [1])\nassert x == [1, 2]"
    assert phases.beside(source, test, reference=source) == phases.CONFIRMED
    other = phases.beside(source.replace("append(2)", "append(3)"), test, reference=source)
    assert (other["confirmed"], other["kind"]) == (False, "assertion")


KEPT = "kept = []\ndef solution(f, xs):\n    if f not in kept:\n        kept.append(f)\n    return [len(kept), f(xs)]"


@pytest.mark.parametrize(
    "test",
    [
        "f, g = (lambda x: x), abs\nassert [solution(h, 7) for h in (f, g, f)] == [[1, 7], [2, 7], [2, 7]]",
        "k = 1\ndef f(x, n=5):\n    return x + k + n\nassert solution(f, 1) == [1, 7]\nk = 2\n"
        "f.__defaults__ = (6,)\nassert solution(f, 1) == [1, 9]",
        "def outer():\n    k = 1\n    def f(x):\n        return x + k\n    assert solution(f, 1) == [1, 2]\n    k = 2\n"
        "    assert solution(f, 1) == [1, 3]\nouter()",
    ],
)
def test_the_same_function_is_the_same_object_for_the_program_with_what_it_holds_now(test: str) -> None:
    assert phases.beside(KEPT, test, SIGNATURE, KEPT) == phases.CONFIRMED


def test_another_function_than_the_recorded_one_gets_no_answer() -> None:
    test = "f, g = (lambda x: 1), (lambda x: 2)\nassert solution(f, [1]) == [1]\nassert solution(g, [1]) == [2]"
    found = phases.beside("def solution(f, xs):\n    return [1]", test, SIGNATURE, HONEST)
    assert not found["confirmed"]


def _sent(source: str) -> list[Any]:
    space: dict[str, Any] = {"cases": [7392], "k": 3}
    exec(source, space)
    sent: list[Any] = plain_forms._code(sending.Encoder({}), space["f"])
    return sent


def test_only_the_globals_that_a_function_reads_are_sent() -> None:
    assert [name for name, _ in _sent("def f(p):\n    return p.cases + k")[7]] == ["k"]


def test_a_module_of_the_tests_own_is_not_sent() -> None:
    with pytest.raises(sending.UncrossableError, match="module pytest"):
        _sent("import pytest\ndef f(x):\n    return pytest.approx(x)")
