"""No comparison of a test is true of two expected values at once because a candidate returned something odd."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import inside
import phases
import pytest
from comparisons import VACUOUS
from phases import CONFIRMED

SCRIPT = Path(__file__).with_name("comparisons.py")


def _tried(what: str) -> dict[str, list[Any]]:
    command = [sys.executable, "-I", str(SCRIPT), inside.FOLDER, what]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    return {comparison: found for comparison, found in json.loads(ran.stdout).items() if found}


def test_no_odd_value_satisfies_a_comparison_with_two_different_expected_values() -> None:
    assert _tried("vacuous") == {}


def test_without_the_guard_there_are_such_values() -> None:
    assert set(_tried("unguarded")) == set(VACUOUS)


def test_a_value_that_equals_the_expected_one_is_as_equal_as_ever() -> None:
    assert _tried("equal") == {}


HUGE = "def solution(a):\n    return complex(1.5e308, 1.5e308)\n"


@pytest.mark.parametrize(
    "test",
    [
        "import numpy as np\nassert np.allclose(3.25, solution(1))",
        "import numpy as np\nassert np.isclose(np.array([1, 2]), solution(1)).all()",
        "from numpy import isclose\nassert isclose(3.25, solution(1))",
        "import numpy as np\nnp.testing.assert_allclose(3.25, solution(1))",
        "from numpy.testing import assert_allclose\nassert_allclose(3.25, [solution(1)])",
        "import cmath\nassert cmath.isclose(3.25, solution(1))",
        "from cmath import isclose\nassert isclose(solution(1), 1+2j)",
    ],
)
def test_a_complex_number_too_large_for_its_absolute_value_is_close_to_nothing(test: str) -> None:
    assert phases.replayed(HUGE, test)["reason"].startswith("a complex number whose absolute value overflows")


@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("float('nan')", "assert not abs(solution(1) - 3.25) > 1e-6"),
        ("[3.25, float('nan')]", "assert max(abs(a - b) for a, b in zip(solution(1), [3.25, 7.5])) < 1e-6"),
        ("float('inf')", "r = solution(1)\nassert abs(r - 3.25) <= 1e-9 * max(r, 3.25)"),
        ("__import__('numpy').array([float('nan')])", "assert not (abs(solution(1) - 3.25) > 1e-6).any()"),
        (
            "__import__('numpy').datetime64('NaT')",
            "assert not (solution(1) < __import__('datetime').datetime(2024, 1, 2))",
        ),
    ],
)
def test_what_no_test_names_is_not_compared(value: str, test: str) -> None:
    assert "which no test names" in phases.replayed(f"def solution(a):\n    return {value}\n", test)["reason"]


@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("float('nan')", "import math\nassert math.isnan(solution(1))"),
        ("{'a': float('inf')}", "assert solution(1) == {'a': float('inf')}"),
        (
            "__import__('numpy').array([1.0, float('nan')])",
            "import numpy as np\nnp.testing.assert_equal(solution(1), [1, np.nan])",
        ),
        ("complex(1.5e308, 1.5e308)", "assert solution(1) == complex(1.5e308, 1.5e308)"),
        ("[]", "import numpy as np\nassert np.array_equal(solution(1), [])"),
        ("'NaN and Infinity'", "assert solution(1) == 'NaN ' + 'and Infinity'"),
    ],
)
def test_what_a_test_names_is_compared(value: str, test: str) -> None:
    assert phases.replayed(f"def solution(a):\n    return {value}\n", test) == CONFIRMED


UNPREPARED = """
import sys
sys.path.insert(0, sys.argv[1])
import vacuous
noted = []
guard = vacuous.refuse_empty_comparisons(lambda error: noted.append(error) or error, sys.argv[2])
assert ("numpy" in sys.modules) == (sys.argv[3] == "loaded"), "NumPy is loaded at the wrong time"
import numpy as np
try:
    exec(sys.argv[2], {"np": np, "R": guard(np.empty(0))})
except vacuous.crossing.UnconfirmedError:
    pass
print(len(noted))
"""


@pytest.mark.parametrize(
    ("test", "loaded"), [("assert np.allclose(R, 3.25)", "loaded"), ("assert (R == 3.25).all()", "not loaded")]
)
def test_the_guard_does_not_depend_on_numpy_being_loaded_before(test: str, loaded: str) -> None:
    command = [sys.executable, "-c", UNPREPARED, inside.FOLDER, test, loaded]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "1\n"


def test_a_list_that_contains_itself_is_looked_through_to_an_end() -> None:
    test = "import numpy as np\nx = [np.float64(1)]\nassert solution(x) is x"
    said = phases.replayed("def solution(a):\n    b = []\n    b[:] = [b, b]\n    return b", test)["reason"]
    assert said.startswith("an array without items is compared")
