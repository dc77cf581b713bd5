"""Functions that tests pass: those of libraries reach the program, by name; no others do."""

import phases

from tests.tables import each

pytestmark = phases.MARKS

HELPERS = "class Pair:\n    a = 1\n\ndef half(x):\n    return x / 2\n\n"
SIGNATURE = f"{HELPERS}def solution(f, xs):\n    '''Apply.'''\n"
HONEST = "def solution(f, xs):\n    return [f(x) for x in xs]"


@each("test", ["assert solution(abs, [-1, 2]) == [1, 2]", "import math\nassert solution(math.sqrt, [4]) == [2]"])
def test_a_function_of_a_library_can_be_called_by_the_program(test: str) -> None:
    assert phases.beside(HONEST, test, SIGNATURE, HONEST) == phases.CONFIRMED


@each(
    "test",
    [
        "solution(lambda x: x + 1, [1, 2])",
        "def add(x):\n    return x\nsolution([add], [1])",
        "seen = []\nsolution(seen.append, [1, 2])",
        "import functools\nsolution(functools.partial(half), [1])",
        "solution(half, [1])",
        "class A:\n    def m(self):\n        return 1\nsolution(A().m, [])",
        "class A:\n    pass\nsolution(A, [])",
        "from unittest import mock\nsolution(mock.Mock(), [])",
        "solution(str.upper, ['a'])",
    ],
)
def test_the_calls_of_tests_that_pass_code_of_their_own_are_not_recorded(test: str) -> None:
    said = phases.record(phases.task(test, SIGNATURE), "def solution(f, xs):\n    pass")["refused"]
    assert said.startswith("the tests pass a value that cannot be serialized: ")
