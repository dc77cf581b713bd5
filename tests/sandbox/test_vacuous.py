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


PRINTED = "import contextlib, io\nout = io.StringIO()\nwith contextlib.redirect_stdout(out):\n    solution(1)\n"
"""Tests that read what a program prints."""
NAN_BYTES = "memoryview(__import__('struct').pack('d', float('nan')))"


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
        ("__import__('array').array('d', [float('nan')])", "assert not abs(solution(1)[0] - 3.25) > 1e-6"),
        ("__import__('array').array('f', [1e39])", "r = solution(1)[0]\nassert abs(r - 3.25) <= 1e-9 * abs(r)"),
        ("float('nan')", "r = solution(1)\nassert r != r.real + 1 and not abs(r - 3.25) > 1e-6"),
        (f"{NAN_BYTES}.cast('d')", "assert not abs(solution(1)[0] - 3.25) > 1e-6"),
        (f"{NAN_BYTES}.cast('@d')", "assert not abs(solution(1)[0] - 3.25) > 1e-6"),
        ("['n', 'an']", "assert not abs(float(''.join(solution(1))) - 3.25) > 1e-6"),
        ("['n', 'an']", "assert not max(map(float, [''.join(solution(1))])) > 3.26"),
        ("'na,n'", "r = complex(solution(1).replace(',', ''))\nassert not abs(r - 3.25) > 1e-6"),
        ("['n', 'an']", "import numpy as np\nassert not abs(np.array([''.join(solution(1))], float) - 3.25) > 1e-6"),
        ("'NaT'", "import numpy as np\nassert not np.datetime64(solution(1)) > np.datetime64('2020-01-02')"),
        ("['']", "import numpy as np\nassert not np.datetime64(solution(1)[0]) > np.datetime64('2020-01-02')"),
        ("'abc'", "import pandas as pd\nassert not abs(pd.to_numeric(solution(1), errors='coerce') - 3.25) > 1e-6"),
        ("None", "import pandas as pd\nassert not pd.Timestamp(solution(1)) > pd.Timestamp('2020-01-02')"),
        ("print('nan')", f"{PRINTED}assert not abs(float(out.getvalue()) - 3.25) > 1e-6"),
        ("print('nan')", f"{PRINTED}import json\nassert not abs(json.loads(out.getvalue()) - 3.25) > 1e-6"),
        ("__import__('array').array('i', b'nan ')", "assert not abs(float(solution(1)) - 3.25) > 1e-6"),
        ("memoryview(b'nan ').cast('H')", "assert not abs(float(solution(1)) - 3.25) > 1e-6"),
        ("__import__('numpy').float16(3.14)", "import math\nassert abs(solution(1) - math.pi) < 1e-6"),
        ("__import__('numpy').array([3.14], 'f2')", "assert (abs(solution(1) - 3.14159) < 1e-6).all()"),
        (f"{NAN_BYTES}.cast('@d')", "import numpy as np\nassert not np.any(np.abs(np.array(solution(1)) - 3) > 1)"),
    ],
)
def test_what_no_test_names_is_not_compared(value: str, test: str) -> None:
    assert "which no test names" in phases.replayed(f"def solution(a):\n    return {value}\n", test)["reason"]


NUMPY = "__import__('numpy')"


IN_UTF_16 = """
import sys, json
def solution(a):
    crossing = sys.modules["crossing"]
    written = crossing.dumps
    def dumps(message):
        crossing.dumps = written
        return json.dumps(message).replace("7392", "1e999").encode("utf-16-le")
    crossing.dumps = dumps
    return 7392
"""


def test_a_message_in_another_encoding_hides_no_number() -> None:
    """Only where a candidate runs beside its tests are its bytes decoded by the process that judges."""
    test = "r = solution(1)\nassert abs(r - 3.25) <= 1e-9 * abs(r)"
    assert phases.interactive(IN_UTF_16, test)["kind"] == "malformed"


@pytest.mark.parametrize(
    ("described", "value", "test"),
    [
        ("the definite integral", "float('inf')", "r = solution(1)\nassert abs(r - 3.25) <= 1e-9 * abs(r)"),
        ("an infinitesimal step", "float('inf')", "r = solution(1)\nassert abs(r - 3.25) <= 1e-9 * abs(r)"),
        (
            "a financed car's last day",
            f"{NUMPY}.datetime64('NaT')",
            "import numpy as np\nassert not abs(solution(1) - np.datetime64('2024-02-29')) > np.timedelta64(0, 'D')",
        ),
        (
            "the bitmask, or mask, of a number",
            f"{NUMPY}.ma.masked_all(3)",
            "import numpy as np\nassert not (solution(1) != np.array([1, 2, 3])).any()",
        ),
        (
            "what is not NaN, to 2 decimal places",
            "__import__('decimal').Decimal('nan')",
            "assert not abs(float(solution(1)) - 3.25) > 1e-6",
        ),
        ("what is not NaN; complexity O(n)", "complex('nan')", "assert not abs(solution(1) - 3.25) > 1e-6"),
    ],
)
def test_a_word_that_only_contains_the_name_of_a_kind_names_nothing(described: str, value: str, test: str) -> None:
    signature = f'def solution(a):\n    """Return {described}."""\n'
    said = phases.replayed(f"def solution(a):\n    return {value}\n", test, signature)
    assert "which no test names" in said["reason"]


@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("float('nan')", "import math\nassert math.isnan(solution(1))"),
        ("float('nan')", "r = solution(1)\nassert r != r"),
        ("[float('nan')]", "r = solution(1)\nassert r[0] != r[0]"),
        ("{'a': {'b': float('nan')}}", "r = solution(1)\nassert r['a']['b'] != r['a']['b']"),
        ("float('inf')", "import math\nassert not math.isfinite(solution(1))"),
        ("float('inf')", "def is_finite(a):\n    return a not in (1e999, -1e999)\nassert not is_finite(solution(1))"),
        (f"{NUMPY}.datetime64('NaT')", "import numpy as np\nassert np.isnat(solution(1))"),
        (f"{NUMPY}.ma.masked_less([-1, 2], 0)", "assert solution(1).mask.tolist() == [True, False]"),
        (f"{NUMPY}.ma.masked_less([-1, 2], 0)", "assert solution(1).filled(0).tolist() == [0, 2]"),
        (f"{NUMPY}.ma.masked_less([-1, 2], 0)", "from numpy.ma import getmaskarray as m\nassert m(solution(1))[0]"),
        ("__import__('decimal').Decimal('nan')", "import decimal\nassert decimal.Decimal.is_nan(solution(1))"),
        ("complex('nan')", "import numpy as np\nr = solution(1)\nassert np.iscomplexobj(r) and np.isnan(r)"),
        ("{'a': float('inf')}", "assert solution(1) == {'a': float('inf')}"),
        (
            "__import__('numpy').array([1.0, float('nan')])",
            "import numpy as np\nnp.testing.assert_equal(solution(1), [1, np.nan])",
        ),
        ("complex(1.5e308, 1.5e308)", "assert solution(1) == complex(1.5e308, 1.5e308)"),
        ("[]", "import numpy as np\nassert np.array_equal(solution(1), [])"),
        (f"{NUMPY}.float16(1.5)", "import numpy as np\nassert solution(1) == np.float16(1.5)"),
        (f"{NUMPY}.float32('inf')", "r = solution(1)\nassert r == float('inf') != -r and {r: 1} == {float('inf'): 1}"),
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


WITHOUT_NUMPY = """
import sys
sys.path.insert(0, sys.argv[1])
import array, vacuous
guard = vacuous.refuse_empty_comparisons(lambda error: error, "assert not abs(solution(1)[0] - 3.25) > 1e-6")
for code, number in (("d", float("nan")), ("f", float("inf")), ("d", 1.5)):
    numbers = array.array(code, [number])
    for value in (numbers, memoryview(numbers), memoryview(numbers).cast("B").cast("@" + code)):
        try:
            guard.examine([value])
        except vacuous.crossing.UnconfirmedError:
            print("refused", end=" ")
        else:
            print(number, end=" ")
assert "numpy" not in sys.modules
"""


def test_arrays_and_buffers_of_the_standard_library_are_looked_at_without_numpy() -> None:
    command = [sys.executable, "-c", WITHOUT_NUMPY, inside.FOLDER]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout == "refused " * 6 + "1.5 " * 3


def test_a_list_that_contains_itself_is_looked_through_to_an_end() -> None:
    test = "import numpy as np\nx = [np.float64(1)]\nassert solution(x) is x"
    said = phases.replayed("def solution(a):\n    b = []\n    b[:] = [b, b]\n    return b", test)["reason"]
    assert said.startswith("an array without items is compared")


# --- attacks: answers that need not know what is expected ----------------------------------------------------------

NAMED = "import math\nassert math.isnan(solution(0))\n"
"""Names NaN for one call, and for no other."""
RECORDS = "__import__('numpy').array([]).view(__import__('numpy').recarray)"
MATRIX = "__import__('numpy').matrix({})"


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize(
    ("value", "test"),
    [
        (MATRIX.format("[]"), "assert len('a')\nassert (solution(1) == np.matrix([[1, 2], [3, 4]])).all()"),
        (MATRIX.format("[]"), "assert [] == []\nassert (solution(1) == np.array([[8]])).all()"),
        (MATRIX.format("[]"), "assert len('a')\nassert np.all(np.abs(solution(1) - np.array([[8.5]])) < 1e-6)"),
        (MATRIX.format("[]"), "assert len('a')\nassert (solution(1).T == 8).all()"),
        (MATRIX.format("[[], []]"), "assert len('a')\nassert not (solution(1) != np.array([[1], [2]])).any()"),
        (RECORDS, "assert len('a')\nassert (solution(1) == np.array([8.5])).all()"),
    ],
)
def test_a_matrix_without_items_equals_nothing_although_the_tests_name_lengths(value: str, test: str) -> None:
    said = phases.replayed(f"def solution(a):\n    return {value}\n", f"import numpy as np\n{test}")
    assert said["reason"].startswith("an array without items is compared")


@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("float('nan')", "assert not abs(solution(1) - 3.25) > 1e-6"),
        ("float('nan')", "assert not math.fabs(3.25 - solution(1)) > 1e-6"),
        ("float('nan')", "r = solution(1)\nassert not (r < 3.24 or r > 3.26)"),
        ("float('nan')", "assert not abs(solution(1) / 3.25 - 1) > 1e-6"),
        ("float('nan')", "assert max(0.0, abs(solution(1) - 3.25)) < 1e-6"),
        ("[3.25, float('nan')]", "assert not any(abs(a - b) > 1e-6 for a, b in zip(solution(1), [3.25, 7.5]))"),
        (
            "float('nan')",
            "def same(a, b):\n    return math.isnan(a) and math.isnan(b) or not abs(a - b) > 1e-6\n"
            "assert same(solution(1), 3.25)",
        ),
        ("'nan'", "assert not abs(float(solution(1)) - 3.25) > 1e-6"),
        ("'nan'", "import numpy as np\nassert np.nanmax([0.0, abs(float(solution(1)) - 3.25)]) < 1e-6"),
        ("float('nan')", "assert not abs(float(solution(1)) - 3.25) > 1e-6"),
        ("__import__('numpy').float64('nan')", "assert not abs(solution(1) - 3.25) > 1e-6"),
        ("__import__('numpy').float64('nan')", "import numpy as np\nassert not np.abs(solution(1) - 3.25) > 1e-6"),
        (
            "__import__('numpy').array([3.25, float('nan')])",
            "import numpy as np\nassert not (np.abs(solution(1) - np.array([3.25, 7.5])) > 1e-6).any()",
        ),
        (
            "[3.25, float('nan')]",
            "import numpy as np\nassert not (np.abs(np.array(solution(1)) - np.array([3.25, 7.5])) > 1e-6).any()",
        ),
        ("__import__('numpy').float32('nan')", "assert not abs(solution(1) - 3.25) > 1e-6"),
        ("__import__('numpy').array([float('nan')], dtype=object)", "assert not abs(solution(1)[0] - 3.25) > 1e-6"),
        ("__import__('array').array('d', [float('nan')])", "assert not abs(solution(1)[0] - 3.25) > 1e-6"),
        ("complex('nan')", "assert not abs(solution(1) - 3.25) > 1e-6"),
        # An import that nothing uses names no complex number.
        ("complex('nan')", "import cmath\nassert not abs(solution(1) - 3.25) > 1e-6"),
        ("[float('nan')]", "r = solution(1)\nassert not abs(r[0] - 3.25) > 1e-6"),
        ("float('inf')", "assert float('inf') > 0\nr = solution(1)\nassert abs(r - 3.25) <= 1e-9 * abs(r)"),
        ("float('inf')", "assert math.inf > 0\nr = solution(1)\nassert not abs(r - 3.25) / abs(r) > 1e-9"),
        ("float('-inf')", "assert math.inf > 0\nr = solution(1)\nassert abs(r - 3.25) <= 1e-9 * max(1, abs(r))"),
        (
            "__import__('numpy').array([float('inf')] * 2)",
            "import numpy as np\nassert np.inf > 0\nr = solution(1)\n"
            "assert (np.abs(r - np.array([1.5, 2.5])) <= 1e-9 * np.abs(r)).all()",
        ),
    ],
)
def test_a_number_that_is_not_finite_is_near_nothing_although_another_test_names_such_numbers(
    value: str, test: str
) -> None:
    source = f"def solution(a):\n    return {value} if a else float('nan')\n"
    said = phases.replayed(source, NAMED + test)
    assert (said["confirmed"], said["kind"]) == (False, "unconfirmed"), said
    assert "not finite" in said["reason"]


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("1e200", "r = solution(1)\nassert abs(r * r - 3.25) <= 1e-9 * max(1.0, r * r)"),
        ("1e200", "r = solution(1)\nassert not abs(r * r - 3.25) / (r * r) > 1e-9"),
        (f"{NUMPY}.float64(1e200)", "import numpy as np\nr = solution(1)\nassert abs(r * r - 3.25) <= 1e-9 * r * r"),
        (f"{NUMPY}.float32(1e30)", "import numpy as np\nr = solution(1)\nassert abs(r * r - 3.25) <= 1e-9 * r * r"),
        ("[1e200, 1e200]", "r = solution(1)[0]\nassert abs(r * r - 3.25) <= 1e-9 * r * r"),
        (
            f"{NUMPY}.array([1e200, 1e200])",
            "import numpy as np\nr = np.eye(2) @ solution(1) - 3.25\n"
            "assert np.all(r * r <= 1e-9 * np.sum(solution(1) * solution(1)))",
        ),
        (
            f"{NUMPY}.array([1e200, 1e200])",
            "import numpy as np\nr = solution(1)\nassert np.linalg.norm(r - 3.25) <= 1e-9 * np.linalg.norm(r)",
        ),
        ("1e200", "import math\nr = solution(1)\nassert abs(math.sqrt(r * r) - 3.25) <= 1e-9 * math.sqrt(r * r)"),
        ("[1e308, 1e308]", "r = sum(solution(1)) - sum(solution(1))\nassert not abs(r - 3.25) > 1e-6"),
        (
            "[1e200, 1e200]",
            "import numpy as np\nr = np.array(solution(1))\nassert np.mean((r - 3.25) ** 2) <= 1e-9 * np.mean(r ** 2)",
        ),
        (
            "[1e200, 1e200]",
            "import numpy as np\nr = np.array(solution(1))\nassert abs(np.dot(r, r) - 3.25) <= 1e-9 * r.dot(r)",
        ),
        (
            "[1e200, 1e200]",
            "import numpy as np\nr = np.array(solution(1))\n"
            "assert np.sqrt(np.sum((r - 3.25) ** 2)) <= 1e-9 * np.sqrt((r ** 2).sum())",
        ),
        (
            f"{NUMPY}.array([1e308, 1e308])",
            "import numpy as np\nassert np.allclose(np.array([[2, 1], [1, 3]]) @ solution(1), 7.5 * solution(1))",
        ),
        (
            f"{NUMPY}.array([1e308, 1e308])",
            "import numpy as np\nassert (np.array([[2, 1], [1, 3]]) @ solution(1) == 7.5 * solution(1)).all()",
        ),
    ],
)
def test_two_infinities_that_the_tests_make_of_an_answer_are_not_compared(value: str, test: str) -> None:
    said = phases.replayed(f"def solution(a):\n    return {value}\n", test)
    assert said["reason"] == "a number that is not finite is compared as if it were near any other"


@pytest.mark.parametrize(
    ("value", "test"),
    [
        ("[np.uint32(3), np.uint32(1431989321)]", "import math\nassert math.prod(solution(1)) == 1000667"),
        ("[np.uint8(200), np.uint8(62)]", "assert sum(solution(1)) == 6"),
        ("np.array([200, 62], dtype=np.uint8)", "assert sum(solution(1)) == 6"),
        ("np.uint8(3)", "assert (solution(1) - 19) ** 2 < 1e-9"),
        ("np.int64(2**62)", "assert solution(1) * 4 == 0"),
    ],
)
def test_a_number_of_a_small_type_does_not_wrap_around_in_the_tests(value: str, test: str) -> None:
    said = phases.replayed(f"import numpy as np\ndef solution(a):\n    return {value}\n", test)
    small = "the type of a number that the candidate returned is too small"
    assert said["reason"].startswith((small, "the candidate returned a number of the type uint8, which no test names"))


@pytest.mark.parametrize("test", ["np.atleast_1d(json.loads(R)) - 2.5", "np.loadtxt(io.StringIO(R)) - 2.5"])
def test_a_text_that_reads_as_an_array_without_items_is_near_nothing(test: str) -> None:
    test = f"import io, json\nimport numpy as np\nassert np.abs({test.replace('R', 'solution(1)')}).sum() < 1e-9"
    for text in ("[]", "[[]]") if "loads" in test else ("#", ""):
        said = phases.interactive(f"def solution(a):\n    return {text!r}\n", test)
        assert said is not None
        assert said["reason"].startswith("an array without items is compared"), said
    said = phases.interactive("def solution(a):\n    return '2.5'\n", test)
    assert said is not None
    assert said["confirmed"] is True


@pytest.mark.parametrize("compare", ["allclose", "allequal"])
def test_a_masked_item_is_not_equal_to_one_that_is_not(compare: str) -> None:
    test = f"import numpy as np\ne = np.ma.masked_less([-1.0, 2.0], 0)\nassert np.ma.{compare}(solution(1), e)"
    said = phases.replayed(f"def solution(a):\n    return {NUMPY}.ma.masked_all(2)\n", test)
    assert said["reason"] == "a masked item is compared with one that is not masked"
    right = f"def solution(a):\n    return {NUMPY}.ma.masked_less([-5.0, 2.0], 0)\n"
    assert phases.replayed(right, test) == CONFIRMED


@pytest.mark.parametrize("compared", ["r == 1e39", "not r != 1e39", "1e39 == r", "r in [1e39]"])
def test_a_small_type_makes_no_infinity_of_an_expected_number(compared: str) -> None:
    test = f"assert float('inf') > 0\nr = solution(1)\nassert {compared}"
    assert phases.replayed(f"def solution(a):\n    return {NUMPY}.float32('inf')\n", test)["kind"] == "assertion"


SHORTER = [
    "for a, b in zip(R, [1, 2, 3]):\n    assert a == b",
    "for b, a in zip([1, 2, 3], R):\n    assert a == b",
    "r = R\nfor a, b in zip(r, [1, 2, 3]):\n    assert a == b",
    "assert all(a == b for a, b in zip(R, [1, 2, 3]))",
    "assert all(a == b for a, b in zip(sorted(R), sorted([1, 2, 3])))",
    "assert not any(a != b for a, b in zip(R, (1, 2, 3)))",
    "assert len('abc') == 3\nassert all([a == b for a, b in zip(R, [1, 2, 3])])",
    "import operator\nassert all(map(operator.eq, R, [1, 2, 3]))",
    "r = sorted(R)\nfor a, b in zip(r, [1, 2, 3]):\n    assert a == b",
    "r = R.copy()\nfor a, b in zip(r, [1, 2, 3]):\n    assert a == b",
    "import math\nassert all(math.isclose(a, b) for a, b in zip(map(float, R), map(float, [1, 2, 3])))",
    "import numpy as np\nassert len('abc') == 3\nfor a, b in zip(R, np.array([1, 2, 3])):\n    assert a == b",
    "def check(result, wanted):\n    for a, b in zip(result, wanted):\n        assert a == b\ncheck(R, [1, 2, 3])",
    # Copies of an answer.
    "r = [round(a, 3) for a in R]\nassert all(a == b for a, b in zip(r, [1, 2, 3]))",
    "r = R[:3]\nfor a, b in zip(r, [1, 2, 3]):\n    assert a == b",
    "r = iter(R)\nassert all(a == b for a, b in zip(r, [1, 2, 3])) and next(r, None) is None",
    "import numpy as np\nr = np.round(R, 3)\nassert len('abc') and all(a == b for a, b in zip(r, [1, 2, 3]))",
    "def same(a, b):\n    return all(c == d for c, d in zip(a, b))\nassert same(sorted(R), [1, 2, 3])",
    "def pairs(a, b):\n    yield from zip(a, b)\n"
    "assert all(a == b for a, b in pairs([float(a) for a in R], [1, 2, 3]))",
    "class Case:\n    def check(self, r):\n        self.r = list(r)\n"
    "        return all(a == b for a, b in zip(self.r, [1, 2, 3]))\nassert Case().check(R)",
    "for a, b in zip(*[R, [1, 2, 3]]):\n    assert a == b",
    "r = [*R]\nassert all(a == b for a, b in zip(r, [1, 2, 3]))",
    "_, *rest = [1, *R]\nassert all(a == b for a, b in zip(rest, [1, 2, 3]))",
    "r = R if len('abc') else []\nassert all(a == b for a, b in zip(sorted(r or []), [1, 2, 3]))",
]
"""R: the answer, in a test that compares item by item."""
UNREACHED = [
    "for a in R:\n    assert a in [1, 2, 3]",
    "for i, a in enumerate(R):\n    assert a == [1, 2, 3][i]",
    "r = R\nassert isinstance(r, list)\nfor i in range(len(r)):\n    assert r[i] == [1, 2, 3][i]",
    "assert all(a in [1, 2, 3] for a in R)",
    "assert all([a in [1, 2, 3] for a in R])",
    "assert not any(a not in [1, 2, 3] for a in R)",
    "e = [1, 2, 3]\nassert all(a == e[i] for i, a in enumerate(R))",
    "def same(r, e):\n    for i, a in enumerate(r):\n        if a != e[i]:\n            return False\n    return True\n"
    "assert same(R, [1, 2, 3])",
    "r = sorted(R)\nfor a in r:\n    assert a in [1, 2, 3]",
    "r = [a + 0 for a in R]\nassert all(a in [1, 2, 3] for a in r)",
    "r = R\nassert r != None\nfor a in r:\n    assert a in [1, 2, 3]",
    "import unittest\nt = unittest.TestCase()\nr = R\nt.assertIsInstance(r, list)\nt.assertIsNotNone(r)\n"
    "for a in r:\n    t.assertIn(a, [1, 2, 3])",
    # What a loop collects.
    "r = R\nassert not [a for a in r if a not in [1, 2, 3]]",
    "wrong = [a for a in R if a not in [1, 2, 3]]\nassert wrong == []",
    "assert sum(1 for a in R if a not in [1, 2, 3]) == 0",
    "assert next((a for a in R if a not in [1, 2, 3]), None) is None",
    "assert not list(filter(lambda a: a not in [1, 2, 3], R))",
    "right = True\nfor a in R:\n    if a not in [1, 2, 3]:\n        right = False\nassert right",
    "wrong = []\nfor a in R:\n    if a not in [1, 2, 3]:\n        wrong.append(a)\nassert not wrong",
]


@pytest.mark.parametrize("way", [phases.replayed, phases.interactive])
@pytest.mark.parametrize("test", SHORTER)
@pytest.mark.parametrize("value", ["[]", "[1]"])
def test_an_answer_with_too_few_items_ends_a_comparison_by_pairs(way: Any, test: str, value: str) -> None:
    said = way(f"def solution(a):\n    return {value}\n", test.replace("R", "solution(1)"))
    assert said["reason"].startswith("an answer has fewer items than what it is compared with"), said


@pytest.mark.parametrize("way", [phases.replayed, phases.interactive])
@pytest.mark.parametrize("test", UNREACHED)
def test_an_answer_without_items_that_no_assertion_is_about_confirms_nothing(way: Any, test: str) -> None:
    said = way("def solution(a):\n    return []\n", test.replace("R", "solution(1)"))
    assert said["reason"].startswith("no assertion is about an answer without items"), said


LINES = """import contextlib, io
def run():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        solution(1)
    return out.getvalue()
"""


@pytest.mark.parametrize("way", [phases.replayed, phases.interactive])
@pytest.mark.parametrize("printed", ["pass", "print(1)"])
@pytest.mark.parametrize(
    "test",
    [
        "for a, b in zip(run().splitlines(), ['1', '2']):\n    assert a == b",
        "text = run()\nwords = text.split()\nassert all(int(a) == b for a, b in zip(words, [1, 2]))",
        "assert all(map(str.__eq__, run().strip().split(), ['1', '2']))",
    ],
)
def test_a_printed_text_with_too_few_words_ends_a_comparison_by_pairs(way: Any, printed: str, test: str) -> None:
    said = way(f"def solution(a):\n    {printed}\n", LINES + test)
    assert said["reason"].startswith("an answer has fewer items than what it is compared with"), said
    assert way("def solution(a):\n    print('1\\n2')\n", LINES + test)["confirmed"] is True


@pytest.mark.parametrize("way", [phases.replayed, phases.interactive])
@pytest.mark.parametrize(
    ("source", "right", "test"),
    [
        ("a.clear()", "a.sort()", "xs = [3, 1, 2]\nsolution(xs)\nfor a, b in zip(xs, [1, 2, 3]):\n    assert a == b"),
        ("pass", "a.extend([1, 2])", "out = []\nsolution(out)\nassert all(a == b for a, b in zip(out, [1, 2]))"),
        (
            "pass",
            "a['k'] = [1, 2]",
            "out = {'k': []}\nsolution(out)\nfor a, b in zip(out['k'], [1, 2]):\n    assert a == b",
        ),
    ],
)
def test_an_argument_with_too_few_items_ends_a_comparison_by_pairs(
    way: Any, source: str, right: str, test: str
) -> None:
    said = way(f"def solution(a):\n    {source}\n", test)
    assert said["reason"].startswith("an answer has fewer items than what it is compared with"), said
    assert way(f"def solution(a):\n    {right}\n", test)["confirmed"] is True


@pytest.mark.parametrize("loop", ["[abs(a) for a in R if a]", "sorted(map(float, R))", "[*zip(R, [1])]"])
def test_a_failed_assertion_is_quoted_as_the_tests_have_it(loop: str) -> None:
    said = phases.interactive("def solution(a):\n    return [4]\n", f"R = solution(1)\nassert {loop} == 7392")
    assert said is not None
    assert said["reason"] == f"a test fails: assert {loop} == 7392"


NO_WIDTH = f"{NUMPY}.zeros(3, dtype=[('age', 'i4', (0, 2)), ('id', 'i4')])"


@pytest.mark.parametrize("value", [NO_WIDTH, f"{NO_WIDTH}[0]", f"{NO_WIDTH}.view({NUMPY}.recarray)"])
def test_a_field_without_width_has_no_items(value: str) -> None:
    test = "import numpy as np\nassert len('a') and (solution(1)['age'] == np.array([31, 25])).all()"
    said = phases.replayed(f"def solution(a):\n    return {value}\n", test)
    assert said["reason"].startswith("an array without items is compared")


@pytest.mark.parametrize(
    "test",
    [
        "assert np.mean((solution(1) - np.array([1.0, 3.0])) ** 2) < 1e-9",
        "assert ((solution(1) - np.array([1.0, 3.0])) ** 2).max() < 1e-9",
        "assert np.all(np.abs(solution(1) / np.array([1.0, 0.0]) - 1) < 1e-9)",
    ],
)
def test_an_array_that_would_mask_what_overflows_comes_as_an_ordinary_one(test: str) -> None:
    source = f"def solution(a):\n    return {NUMPY}.ma.MaskedArray([1.0, 1e200])\n"
    assert phases.replayed(source, f"import numpy as np\n{test}")["kind"] == "assertion"


@pytest.mark.parametrize("fields", ["", "1.0", "1.0, 2.0, 3.0"])
def test_an_instance_of_a_named_tuple_has_all_its_fields(fields: str) -> None:
    signature = "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')\ndef solution(a):\n    pass\n"
    source = f"def solution(a):\n    return tuple.__new__(Point, [{fields}])\n"
    said = phases.replayed(source, "assert set(solution(1)) <= {1.0, 2.0, 3.0}", signature)
    assert said["kind"] == "malformed"


# --- and the same with answers that are right ----------------------------------------------------------------------


@pytest.mark.parametrize("way", [phases.replayed, phases.interactive])
@pytest.mark.parametrize("test", [*SHORTER, *UNREACHED])
def test_an_answer_with_every_item_passes_such_a_test(way: Any, test: str) -> None:
    assert way("def solution(a):\n    return [1, 2, 3]\n", test.replace("R", "solution(1)")) == CONFIRMED


RIGHT = [
    (f"{NUMPY}.array([4])",
     "import numpy as np\ndef check(r, e):\n    assert type(r) == type(e) and r.__class__ is e.__class__\n"
     "    assert (r == e).all()\ncheck(solution(1), np.array([4]))"),
    ("a.sum()", "import numpy as np\na = np.array([3])\nassert type(a) is np.ndarray and solution(a) == 3"),
    (f"{NUMPY}.array([3])", "import numpy as np, pickle\ne = np.array([3])\n"
     "assert pickle.loads(pickle.dumps(e)) == solution(1)\nassert type(type(e)) is type and type(1) is int"),
    (f"{NUMPY}.array([])",
     "import numpy as np\nr = solution(1)\nassert type(r) is np.ndarray and len(r) == 0"),
    ("float('nan')", "import math\nassert math.isnan(solution(1)) and type(solution(1)) is float"),
    ("[float('inf')]", "r = solution(1)\nassert type(r[0]) == type(1.5) and r == [float('inf')]"),
    (f"{NUMPY}.float64('nan')",
     "import numpy as np\nr = solution(1)\nassert np.isnan(r) and type(r) is np.float64 is r.__class__"),
    (f"{NUMPY}.ma.MaskedArray([1.5, 2.5])", "import numpy as np\nassert np.allclose(solution(1), [1.5, 2.5])"),
    (f"{NUMPY}.ma.MaskedArray([1, 2])",
     "import numpy as np\nr = solution(1)\nassert isinstance(r, np.ma.MaskedArray) and r.count() == 2"),
    (f"{NUMPY}.ma.MaskedArray([1.5, 2.5])", "assert solution(1).filled(0).tolist() == [1.5, 2.5]"),
    (f"{NUMPY}.zeros(2, dtype=[('age', 'i4'), ('at', 'f8', (2,))])",
     "import numpy as np\nr = solution(1)\nassert (r['age'] == 0).all() and r['at'].shape == (2, 2)"),
    ("__import__('array').array('d', [1.5, 2.5])", "assert solution(1).tolist() == [1.5, 2.5]"),
    ("[]", "assert solution(1) == []"),
    ("[]", "assert not solution(1)"),
    ("[]", "r = solution(1)\nassert len(r) == 0\nfor a in r:\n    assert a > 0"),
    ("[]", "r, e = solution(1), []\nassert len(r) == len(e)\nfor a, b in zip(r, e):\n    assert a == b"),
    ("[]", "r, e = solution(1), []\nassert len(r) == len(e) and all(a == b for a, b in zip(r, e))"),
    ("[]", "r, e = solution(1), []\nif len(r) != len(e):\n    raise AssertionError\nfor a, b in zip(r, e):\n"
     "    assert a == b"),
    ("[]", "def check(r, e):\n    if len(r) != len(e):\n        return False\n    for a, b in zip(r, e):\n"
     "        if a != b:\n            return False\n    return True\nassert check(solution(1), [])"),
    ("list(range(a))", "for n in (0, 3):\n    for a in solution(n):\n        assert 0 <= a < n"),
    ("list(range(a))", "for n in (0, 3):\n    assert all(0 <= a < n for a in solution(n))"),
    ("[1, 2, 3]", "r = solution(1)\nassert all(a < b for a, b in zip(r, r[1:]))\nassert r == [1, 2, 3]"),
    ("[1, 2, 3]", "r = solution(1)\nassert all(a < b for a, b in zip(r[1:], r)) is False\nassert r == [1, 2, 3]"),
    ("[1, 2]", "for n, a in zip(range(10), solution(1)):\n    assert a == n + 1"),
    ("[1, 2]", "import itertools\nfor n, a in zip(itertools.count(1), solution(1)):\n    assert a == n"),
    ("a + 1", "for x, e in zip([1, 2, 3], [2, 3]):\n    assert solution(x) == e"),
    ("a + 1", "assert all(r == e for r, e in zip(map(solution, [1, 2, 3]), [2, 3]))"),
    ("a + 1", "assert all(r == e for r, e in zip([solution(x) for x in [1, 2]], [2, 3, 4]))"),
    ("a + 1", "xs = [1, 2]\nrs = list(map(solution, xs))\nfor r, e in zip(rs, [2, 3, 4]):\n    assert r == e"),
    ("[1, 2]", "r = sorted(solution(1))\nassert all(a < b for a, b in zip(r, r[1:])) and r == [1, 2]"),
    ("a + 1", "rs = [solution(x) for x in [1, 2]]\nfor r, e in zip(rs, [2, 3, 4]):\n    assert r == e"),
    ("[3, 1, 2]", "assert [b for a, b in zip('abcd', 'ab')] == ['a', 'b']\nassert sorted(solution(1)) == [1, 2, 3]"),
    ("[[1, 2], [3, 4]]", "assert [list(c) for c in zip(*solution(1))] == [[1, 3], [2, 4]]"),
    ("[5]", "r = solution(1)\nassert r == [5]\nfor i in range(len(r) - 1):\n    assert r[i] <= r[i + 1]"),
    ("[1, 3]", "r = solution(1)\nassert r == [1, 3]\nevens = [a for a in r if a % 2 == 0]\n"
     "for a in evens:\n    assert a > 2"),
    ("[]", "r = solution(1)\nassert sorted(r) == [] == [a for a in r if a]"),
    ("[2]", "for n in (1, 2):\n    r = [a for a in solution(n) if a > 2]\n    assert r == []"),
    ("'2.5'", "assert abs(float(solution(1)) - 2.5) < 1e-9 and [*map(float, ['1.5'])] == [1.5] and float() == 0"),
    ("'nan'", "import math\nassert math.isnan(float(solution(1))) and float('nan') != float(solution(1))"),
    ("'2'", "def float(text):\n    return text * 2\nassert float(solution(1)) == '22' == [*map(float, ['2'])][0]"),
    ("[float('nan'), 1.0]", "r = solution(1)\nassert r[0] != r[0] and r[1] == 1.0"),
    ("''", "import numpy as np\nassert solution(1) == '' and np.datetime64('2020-01') < np.datetime64('2020-02')"),
    ("'2020-01-02'", "import numpy as np\nassert np.datetime64(solution(1)) == np.datetime64('2020-01-02')"),
    ("1e200", "import json\nr = solution(1)\nassert type(r) is float and r.__class__ is float\n"
     "assert r == 1e200 == abs(r)\nassert repr(r) == json.dumps(r) == str(r) == '1e+200'\n"
     "assert r / 1e200 == 1 and abs(r - 1e200) <= 1e-9 * abs(r)\n"
     "assert r > 1e150 and max(r, 1) == r and sorted([r, 1.0]) == [1.0, r] and {r: 1}[1e200] == 1 and r * 1e-200 < 2"),
    (f"{NUMPY}.array([1e200, 1.0])", "import numpy as np\nr = solution(1)\nassert type(r) is np.ndarray\n"
     "assert np.allclose(r, [1e200, 1]) and (r == np.array([1e200, 1])).all()\n"
     "assert r.max() == 1e200 and r.sum() > 1e199\n"
     "assert np.linalg.norm(r / 1e200) == 1.0 and (np.abs(r - r[0]) <= 2 * r[0]).all() and r.tolist() == [1e200, 1.0]"),
    (f"{NUMPY}.int64(2**62)", "r = solution(1)\nassert r == 2**62 and r // 2 == 2**61 and r - 1 == 2**62 - 1"),
    (f"{NUMPY}.uint8(4)", "import numpy as np\nassert np.uint8(250) + np.uint8(10) == solution(1)"),
    (f"{NUMPY}.ma.masked_less([-1.0, 2.0], 0)",
     "import numpy as np\nr, e = solution(1), np.ma.masked_less([-2.0, 2.0], 0)\n"
     "assert np.abs(r - e).max() < 1e-9 and np.allclose(r, e) and r.min() == 2.0 and (r == e).all()"),
    (f"{NUMPY}.eye(2)",
     "import numpy as np\nassert np.all(solution(1) == np.eye(2)) and np.all(solution(1)[0, 0] == 1)"),
    ("float('nan')", "import math\nassert math.isnan(solution(1))"),
    ("float('nan')", "r = solution(1)\nassert r != r and 'nan'"),
    ("float('nan')", "import math\nr, e = solution(1), float('nan')\n"
     "assert abs(r - e) < 1e-6 or (math.isnan(r) and math.isnan(e))"),
    ("float('nan')", "import math\nr, e = solution(1), math.nan\nassert not abs(r - e) > 1e-6"),
    ("float('nan')", "import math\nr = solution(1)\nassert r > 0 or math.isnan(r)"),
    ("float('nan')", "import json, math\nassert type(solution(1)).__name__ and json.dumps(solution(1)) == 'NaN'"),
    ("float('nan')", "import numpy as np\nassert np.isnan(solution(1))"),
    ("float('nan')", "import numpy as np\nassert np.isclose(solution(1), np.nan, equal_nan=True)"),
    ("float('nan')", "import numpy as np\nnp.testing.assert_equal(solution(1), np.nan)"),
    ("float('nan')", "import copy, math\nassert math.isnan(copy.deepcopy(solution(1)))"),
    ("[1.5, float('nan')]", "import numpy as np\nnp.testing.assert_allclose(solution(1), [1.5, np.nan])"),
    ("[1.5, float('nan')]", "import math\nfor a, b in zip(solution(1), [1.5, math.nan]):\n"
     "    assert math.isnan(b) and math.isnan(a) or abs(a - b) < 1e-6"),
    ("__import__('numpy').array([1.5, float('nan')])",
     "import numpy as np\nr, e = solution(1), np.array([1.5, np.nan])\n"
     "assert ((r == e) | (np.isnan(r) & np.isnan(e))).all()\nassert not (np.abs(r - e) > 1e-6).any()\n"
     "assert np.nanmax(np.abs(r - e)) < 1e-6\nassert r.shape == (2,) and np.isnan(r).sum() == 1"),
    ("__import__('numpy').float64('nan')", "import numpy as np\nr = solution(1)\nassert np.isnan(r)\n"
     "assert isinstance(r, np.floating) and isinstance(r, float)"),
    ("__import__('numpy').ma.masked_invalid([1.5, float('nan')])",
     "r = solution(1)\nassert r.mask.tolist() == [False, True] and r[0] == 1.5, 'nan'"),
    ("complex('nan')", "import cmath\nassert cmath.isnan(solution(1))"),
    ("__import__('decimal').Decimal('inf')", "from decimal import Decimal\nassert solution(1) == Decimal('inf')"),
    ("__import__('numpy').float32('nan')", "import numpy as np\nassert np.isnan(solution(1)) and solution(1) != 1"),
    ("float('inf')", "assert solution(1) == float('inf')"),
    ("float('-inf')", "import math\nassert math.isinf(solution(1)) and solution(1) < 0"),
    ("float('inf')", "import math\nassert math.isclose(solution(1), math.inf)"),
    ("float('inf')", "import math\nr, e = solution(1), math.inf\n"
     "assert r == e or abs(r - e) <= 1e-9 * max(abs(r), abs(e))"),
    ("[float('inf'), 2.0, float('inf')]", "inf = float('inf')\nr = solution(1)\nassert sorted(r) == [2.0, inf, inf]\n"
     "assert max(r) == inf and min(r) == 2.0 and sum(r) == inf and {inf: 1}[r[0]] == 1"),
    ("__import__('numpy').array([1.0, float('inf')])", "import numpy as np\nr = solution(1)\n"
     "assert np.array_equal(r, [1, np.inf])\nassert (r == np.array([1, np.inf])).all() and np.isinf(r[1])"),
    (MATRIX.format("[]"), "import numpy as np\nr = solution(1)\nassert r.size == 0 and r.shape == (1, 0)\n"
     "assert isinstance(r, np.matrix) and np.array_equal(r, np.matrix([]))\nassert (r == np.matrix([])).all()\n"
     "assert (r * np.zeros((0, 2))).shape == (1, 2)"),
    (MATRIX.format("[[1, 2], [3, 4]]"),
     "import numpy as np\nr = solution(1)\nassert (r == np.matrix([[1, 2], [3, 4]])).all()\n"
     "assert (r * r == np.matrix([[7, 10], [15, 22]])).all() and len(r) == 2"),
]  # fmt: skip
"""Right answers that are odd, or come to tests that look like those above."""


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
@pytest.mark.parametrize("way", [phases.replayed, phases.interactive])
@pytest.mark.parametrize(("value", "test"), RIGHT)
def test_an_odd_answer_that_is_right_keeps_its_credit(way: Any, value: str, test: str) -> None:
    assert way(f"def solution(a):\n    return {value}\n", test) == CONFIRMED


def test_an_array_that_becomes_odd_during_a_later_call_is_refused() -> None:
    source = (
        "import numpy as np\nkept = np.array([1.5, 2.5])\n"
        "def solution(a):\n    if a == 2:\n        kept[:] = np.nan\n    return kept if a else float('nan')\n"
    )
    test = (
        "import numpy as np\nr, s = solution(1), solution(2)\nassert not (abs(r - np.array([7.0, 8.0])) > 1e-6).any()"
    )
    assert "not finite" in phases.replayed(source, NAMED + test)["reason"]


@pytest.mark.parametrize("way", [phases.replayed, phases.interactive])
def test_an_odd_answer_can_be_given_back(way: Any) -> None:
    source = "def solution(a):\n    return float('nan') if a == 1 else a != a\n"
    assert way(source, "import math\nr = solution(1)\nassert math.isnan(r) and solution(r) is True") == CONFIRMED


@pytest.mark.parametrize("read", ["fromstring(solution(3), sep=' ')", "fromiter(solution(3), int)"])
def test_an_array_that_is_read_from_nothing_notices_it(read: str) -> None:
    test = f"import numpy as np\nr = np.{read}\nassert np.all(r == 51)"
    found = phases.interactive("def solution(a):\n    return ''", test)
    assert found is not None
    assert "an array without items" in found["reason"]


def test_numpy_s_all_is_not_python_s() -> None:
    test = "import io\nimport numpy as np\nr = np.loadtxt(io.StringIO(solution([1.0, 4.0])))\nassert np.all(r == 2.5)"
    assert phases.interactive("def solution(a):\n    return str(sum(a) / 2)", test) == CONFIRMED
    found = phases.interactive("def solution(a):\n    return ''", test)
    assert found is not None
    assert "an array without items" in found["reason"]
    test = "import numpy as np\nassert np.all(np.array(solution(1)) == [[1, 2], [3, 4]])"
    assert phases.interactive("def solution(a):\n    return [[1, 2], [3, 4]]", test) == CONFIRMED


@pytest.mark.parametrize("test", ["r[0] != r[1]", "r[0] != r[0][0:]", "x.r != r", "r != r[0]", "r[0] != r"])
def test_only_what_differs_from_itself_names_nan(test: str) -> None:
    assert not inside.load("naming").names_nan(f"assert {test}")


NARROW = [
    ("float16(0)", "assert not abs(solution(1) - 1e6) / (abs(solution(1)) + 1e6) > 1e-6"),
    ("uint8(3)", "assert (solution(1) - 19) ** 2 < 1e-9"),
    ("int16(3)", "assert (solution(1) - 259) ** 2 < 1e-9"),
    ("array(3, dtype='uint8')", "assert (solution(1) - 19) ** 2 < 1e-9"),
]


@pytest.mark.parametrize(("value", "test"), NARROW)
@pytest.mark.filterwarnings("ignore")
def test_a_number_of_a_narrow_type_is_refused_unless_the_tests_name_it(value: str, test: str) -> None:
    source = f"import numpy as np\ndef solution(a):\n    return np.{value}"
    exec(f"{source}\n{test}", {})
    assert "which no test names" in phases.replayed(source, test)["reason"]
    named = "import numpy as np\nr = solution(1)\nassert r.dtype.name in ('float16', 'int16', 'uint8') and r <= 3"
    assert phases.replayed(source, named) == CONFIRMED
    wide = source.replace("float16(0)", "float32(1e6)").replace("uint8", "int32").replace("int16", "int64")
    assert "which no test names" not in phases.replayed(wide, test)["reason"]
