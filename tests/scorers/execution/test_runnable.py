"""Scripts that only define tests are run as their framework runs them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from grader.scorers.execution.inputs.cases import BadRowError
from grader.scorers.execution.runnable import runnable_script
from tests.tables import each

UNITTEST = """import unittest

class Cases(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.expected = 4

    def setUp(self):
        self.given = 2

    def test_twice(self):
        self.assertEqual(twice(self.given), self.expected)
"""
FORMS = {
    "unittest": UNITTEST,
    "unittest, prepared": "import random\ntry:\n    import numpy\nexcept ImportError:\n    numpy = None\n"
    "random.seed(0)\nLIMIT: int = 3\n" + UNITTEST,
    "unittest, started": UNITTEST + "\nunittest.main()\n",
    "unittest, started if it is the main module": UNITTEST + "\nif __name__ == '__main__':\n    unittest.main()\n",
    "unittest, derived": UNITTEST.replace("test_", "check_")
    + "\nclass More(Cases):\n    def test_twice(self):\n        self.check_twice()\n",
    "pytest": "import pytest\nfrom solution import twice\ndef test_twice():\n    assert twice(2) == 4\n",
    "coroutines": "async def test_twice():\n    assert twice(2) == 4\n",
    "a patch gives the parameters": "from unittest.mock import patch\n\n@patch('builtins.print')\n"
    "def test_twice(print):\n    assert twice(2) == 4\n",
    "check": "def check(candidate):\n    assert candidate(2) == 4\n",
    "only if it is the main module": "def run():\n    assert twice(2) == 4\n\nif __name__ == '__main__':\n    run()\n",
    "another name for the program": "from solution import twice as t\ndef test_twice():\n    assert t(2) == 4\n",
    "an import inside a test": "def test_twice():\n    from solution import twice\n    assert twice(2) == 4\n",
    "check, and an import": "from solution import twice as t\ndef check(candidate):\n    assert candidate(2) == 4\n",
    "a script": "from solution import twice\nassert twice(2) == 4\n",
}


@each("form", list(FORMS))
@each("signature", ["def twice(x):\n", "def twice(x):\n    return 2 * x\n"])
def test_a_right_program_passes_and_a_wrong_one_fails(form: str, signature: str) -> None:
    tests = compile(runnable_script(FORMS[form], "", signature), "<tests>", "exec")
    # In a thread, which has no event loop yet.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(exec, tests, {"twice": lambda x: 2 * x, "__name__": "tests"}).result()
        with pytest.raises(AssertionError):
            thread.submit(exec, tests, {"twice": lambda x: 2 * x + 1, "__name__": "tests"}).result()


@each(
    "tests",
    [
        "# comment\nassert  twice(2) == 4",
        "def test_twice():\n    assert twice(2) == 4\n\ntest_twice()",
        "import pytest\nwith pytest.raises(TypeError):\n    twice()",
        "def run():\n    assert twice(2) == 4\n\ndone = run()",
        "assert twice(",
        "for x in range(3):\n    if twice(x) != 2 * x:\n        raise SystemExit(1)",
        "if twice(2) != 4:\n    raise SystemExit(1)",
        UNITTEST + "\nunittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Cases))\n",
    ],
)
def test_a_script_that_runs_its_tests_stays_as_it_is(tests: str) -> None:
    assert runnable_script(tests, "", "def twice(x):\n") == tests


def test_what_python_cannot_write_stays_as_it_is() -> None:
    tests = f"from solution import twice\nTOTAL = {' + '.join(['1'] * 2000)}\nassert twice(2) == 4"
    assert runnable_script(tests, "", "def twice(x):\n") == tests


def test_check_is_called_with_the_entry_point_as_humaneval_does_it() -> None:
    tests = "METADATA = {}\n\n\ndef check(candidate):\n    assert candidate(2) == 4\n\n"
    assert runnable_script(tests, "twice", "") == f"{tests.rstrip()}\n\n\ncheck(twice)\n"
    assert runnable_script("assert twice(2) == 4\n", "twice", "") == "assert twice(2) == 4\n"


def test_long_tests_are_called_too() -> None:
    """EvalPlus' data has tests of 500,000 characters: without the call, every program passes them."""
    tests = f"def check(candidate):\n    inputs = {[0] * 200_000}\n    assert candidate(2) == 4"
    assert runnable_script(tests, "twice", "").endswith("check(twice)\n")


@each(
    ("tests", "why"),
    [
        ("def test_it(tmp_path): pass", "test test_it needs pytest"),
        ("import pytest\n@pytest.mark.parametrize('x', [1])\ndef test_it(x): pass", "test test_it needs pytest"),
        ("def check(candidate): pass", "entry_point"),
        ("class TestTwice:\n    def test_it(self):\n        assert twice(2) == 4", "class TestTwice needs pytest"),
        ("def test_it(): pass\nclass TestTwice:\n    def test_it(self): pass", "class TestTwice needs pytest"),
        ("import math\nX = 1\ndef run(): pass", "call nothing"),
        ("from solution import twice", "call nothing"),
        ("# the tests are elsewhere", "call nothing"),
    ],
)
def test_tests_that_cannot_run_are_refused_with_the_reason(tests: str, why: str) -> None:
    with pytest.raises(BadRowError, match=why):
        runnable_script(tests, "", "def one(): pass\ndef two(): pass\n")
