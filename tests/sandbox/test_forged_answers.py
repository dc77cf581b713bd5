"""Answers made to pass whatever the rule is: none is confirmed. Each was confirmed once."""

from __future__ import annotations

import json
from typing import Any

import phases
import pytest
from phases import SIGNATURE


def forged(test: str, reply: str, signature: str = SIGNATURE, **hello: Any) -> dict[str, Any]:
    """Judge a test with the same reply to every call, whatever process would send it."""
    spec = phases.task(test, signature)
    found = phases.record(spec)["truthy"]
    calls = found if "refused" not in found else {"calls": [], "names": found["names"], "reads": found["reads"]}
    said = {"functions": ["solution"], "imported": [], "errors": {}, "values": {}, "n": []} | hello
    given = {"hello": json.dumps(said), "replies": [reply] * len(calls["calls"])}
    judged = phases.judged(spec, calls, given)
    assert judged is not None
    return judged


NOTHING = '{"v":0,"m":[],"n":[]}'


# --- names ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("test", "hello"),
    [
        ("assert isclose(solution(1), 7392)", {"errors": {"isclose": "Exception"}}),
        ("assert isclose(solution(1), 7392)", {"values": {"isclose": {"r": 0}}, "n": [["type", "complex"]]}),
        ("assert abs(solution(1) - 7392 * pi) < 1e-6", {"values": {"pi": 0}}),
    ],
)
def test_what_a_library_has_comes_from_the_library(test: str, hello: dict[str, Any]) -> None:
    assert forged(test, NOTHING, **hello)["confirmed"] is False


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("from math import isclose", "assert isclose(solution(1), 1)"),
        ("from numpy import isclose", "assert isclose(solution(1), 1)"),
        ("import math\nisclose = math.isclose", "assert isclose(solution(1), 1)"),
        ("from functools import reduce", "assert reduce(max, [solution(1), 0]) == 1"),
        ("from random import randint", "assert randint(1, 1) == solution(1)"),
        ("from math import pi", "assert solution(pi) == pi"),
        ("pi = 3.141592653589793", "assert solution(pi) == pi"),
        ("from collections import *", "assert Counter([solution(1)]) == Counter([1])"),
        ("from typing import List", "def check(f: List):\n    assert f(1) == 1\ncheck(solution)"),
        ("from decimal import Overflow", "try:\n    assert solution(1) == 1\nexcept Overflow:\n    pass"),
        ("nan = float('nan')", "assert nan != solution(1)"),
        ("def count(a): pass", "assert solution(1) == 1\ndef unused():\n    return count"),
    ],
)  # fmt: skip
def test_a_library_name_that_the_candidate_has_imported_is_lent(source: str, test: str) -> None:
    assert phases.replayed(f"{source}\ndef solution(a):\n    return a", test) == phases.CONFIRMED


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("def lcm(a, b):\n    return 0", "assert lcm(4, 6) == 12"),
        ("lcm = lambda a, b: 0", "assert lcm(4, 6) == 12"),
        ("def isclose(a, b):\n    return True", "assert isclose(solution(1), 7392)"),
        ("class Counter(dict):\n    pass", "assert Counter([1]) != solution(1)"),
        ("pi = 0", "assert abs(solution(0) - 7392 * pi) < 1e-6"),
        ("pi = 0", "assert 7392 * pi == solution(0)"),
        ("pi = 3", "assert pi == 3.141592653589793"),
        ("digits = '12'", "assert len(digits) == 10"),
        ("def count(text):\n    return text.count('a')", "assert count('banana') == 3"),
    ],
)
@pytest.mark.parametrize("ways", [phases.replayed, phases.interactive], ids=["replayed", "interactive"])
def test_a_library_name_that_the_candidate_defines_is_not_the_library_s(ways: Any, source: str, test: str) -> None:
    found = ways(f"{source}\ndef solution(a):\n    return a", f"assert solution(3) == 3\n{test}")
    assert found["confirmed"] is False
    assert found["reason"].endswith("which the program defines and the standard library as well")


def test_an_exception_that_the_candidate_defines_is_its_own() -> None:
    source = "class InvalidOperation(Exception): pass\ndef solution(a):\n    raise InvalidOperation"
    test = "try:\n    solution(1)\n    assert False\nexcept InvalidOperation as error:\n    assert not error.args"
    assert phases.replayed(source, test) == phases.CONFIRMED


# --- passes without a call -----------------------------------------------------------------------------------------

GUARDED = "def check(f):\n    assert f(3) == 7392\nif 'solution' in globals():\n    check(solution)"
NEVER_RUN = "def test_it():\n    assert solution(3) == helper(3)"


@pytest.mark.parametrize(
    ("test", "hello"),
    [
        (GUARDED, {"functions": [], "values": {"unasked": 1}}),
        ("if __name__ == '__main__':\n    assert solution(3) == 7392", {"values": {"unasked": 1}}),
    ],
)
def test_a_value_that_nobody_asked_for_is_no_call(test: str, hello: dict[str, Any]) -> None:
    found = forged(test, NOTHING, **hello)
    assert (found["confirmed"], found["reason"]) == (False, "the tests pass without a call")


def test_a_name_that_the_tests_only_mention_is_not_tested() -> None:
    assert phases.record(phases.task(NEVER_RUN))["truthy"]["refused"] == "the tests call nothing"
    found = phases.interactive("helper = 5\ndef solution(a):\n    return 0", NEVER_RUN)
    assert found is not None
    assert found["reason"] == "the tests pass without a call"


@pytest.mark.parametrize(
    "test",
    [
        "assert TABLE",
        "assert len(TABLE) == 1",
        "assert 3 in TABLE",
        "assert TABLE == {3: 4}",
        "for key in TABLE: assert key == 3",
        "assert isinstance(TABLE, dict)",
        "assert TABLE is not None",
        "assert str(TABLE) == '{3: 4}'",
        "assert list(TABLE) == [3]",
    ],
)
def test_a_constant_that_is_tested_counts(test: str) -> None:
    source = "TABLE = {3: 4}\ndef solution(a):\n    return a"
    assert phases.replayed(source, test) == phases.CONFIRMED


# --- objects whose parts do not agree ------------------------------------------------------------------------------

TWO_RIGHT = "R = solution(1)\nassert len(R) == 2 and all(a == b for a, b in zip(R, [7392, 4]))"
BOX = """class Box:
    def __init__(self, items):
        self.items = items
    def __eq__(self, other):
        return len(self.items) == len(other.items) and all(a == b for a, b in zip(self.items, other.items))
def solution(a):
    pass
"""
LIAR = "class Two:\n    def __len__(self): return 2\n    def __iter__(self): return iter([])\n"


@pytest.mark.parametrize(
    ("source", "test", "signature"),
    [
        (f"{LIAR}def solution(a): return Two()", TWO_RIGHT, SIGNATURE),
        (f"{LIAR}def solution(a): return Two()", "try:\n    list(solution(1))\nexcept:\n    pass", SIGNATURE),
        (f"{LIAR}def solution(a): return Box(Two())", "assert solution(1) == Box([7392, 4])", BOX),
    ],
    ids=["a pair", "swallowed", "held by another"],
)  # fmt: skip
def test_an_object_has_as_many_items_as_it_says(source: str, test: str, signature: str) -> None:
    found = phases.replayed(source, test, signature)
    assert found["reason"] == "the candidate returned an object of length 2 that has 0 items"


OWN = """class Two:
    def __init__(self): self.items = [1, 2]
    def __iter__(self): return iter(self.items)
    def __len__(self): return len(self.items)
def solution(a): return Two()
"""


def test_an_object_gives_the_same_items_each_time() -> None:
    again = "R = solution(1)\nassert len(list(R)) == 2\nassert all(a == b for a, b in zip(R, {}))"
    assert phases.replayed(OWN, again.format("[7392, 4]"))["confirmed"] is False
    assert phases.replayed(OWN, again.format("[1, 2]")) == phases.CONFIRMED


def test_an_object_that_fails_while_it_is_iterated_fails_each_time() -> None:
    source = (
        "class Bad:\n    def __iter__(self):\n        yield 1\n        raise KeyError(7)\ndef solution(a): return Bad()"
    )
    tried = "    try:\n        list(R)\n    except KeyError:\n        continue\n    assert False"
    test = f"R = solution(1)\nfor _ in range(2):\n{tried}"
    assert phases.replayed(source, test) == phases.CONFIRMED


@pytest.mark.parametrize(
    "node",
    [
        '["chainmap",[{"r":1}]],["iterator",["a","b"]]',
        '["mappingproxy",{"r":1}],["chainmap",[]]',
        '["namespace",["__array_interface__",{"r":1}]],["dict",[]]',
        '["namespace",["__class__",1]]',
    ],
)
def test_what_stands_for_a_mapping_or_an_object_is_data(node: str) -> None:
    """NumPy would read the memory that `__array_interface__` of an instance names; an iterator is used up."""
    found = forged("R = solution(1)\nassert len(R) >= 0", f'{{"v":{{"r":0}},"m":[],"n":[{node}]}}')
    assert (found["confirmed"], found["kind"]) == (False, "malformed")


COUNTED = """
from collections import namedtuple
Three = namedtuple("Three", "count b c")
def solution(a): return Three(bool, 7, 8)
"""
HOLDING = "from types import SimpleNamespace\nclass Own: pass\ndef solution(a):\n    r = {}\n    {}\n    return r\n"
LOOPED = "for key, value in solution(1).items():\n    assert {'a': 7392}[key] == value"


@pytest.mark.parametrize(
    ("source", "test"),
    [
        (COUNTED, "R = solution(1)\nassert len(R) == 3\nfor a in (1, 2, 3):\n    assert R.count(a) == 1"),
        (HOLDING.format("SimpleNamespace()", "r.items = list"), LOOPED),
        (HOLDING.format("Own()", "r.items = list"), LOOPED),
        (HOLDING.format("Own()", "r.seen = int, bool; r.find = bool"), "assert solution(1).find('7392')"),
    ],
)
def test_a_type_is_no_method(source: str, test: str) -> None:
    assert "a method that is a type" in phases.replayed(source, test)["reason"]


@pytest.mark.parametrize(
    ("source", "test"),
    [
        (HOLDING.format("Own()", "r.kind = int"), "R = solution(1)\nassert R.kind is int and 'ab'.count('a') == 1"),
        (COUNTED.replace("bool", "2"), "R = solution(1)\nassert R.count == 2 and [R].count(R) == 1"),
    ],
)
def test_a_type_that_is_not_called_may_be_anywhere(source: str, test: str) -> None:
    assert phases.replayed(source, test) == phases.CONFIRMED


# --- constants of the signature's classes --------------------------------------------------------------------------

NEAR = """class Vec:
    EPS = 1e-6
    def __init__(self, xs):
        self.xs = xs
    def __eq__(self, other):
        return {compared}
def near(a, b):
    return all(abs(p - q) < a.EPS for p, q in zip(a.xs, b.xs))
def solution(a):
    pass
"""
EQUAL = "assert solution(1) == Vec([7392, 1])"
LOOSE = "def solution(a):\n    found = Vec([0, 0])\n    found.EPS = 1e99\n    return found\n"


@pytest.mark.parametrize(
    ("compared", "test"),
    [
        ("all(abs(p - q) < self.EPS for p, q in zip(self.xs, other.xs))", EQUAL),
        ("max(map(lambda p, q: abs(p - q) / self.EPS, self.xs, other.xs)) < 1", EQUAL),
        ("self.xs == other.xs", "assert near(solution(1), Vec([7392, 1]))"),
        ("max(map(lambda p, q: abs(p - q), self.xs, other.xs)) < getattr(self, 'EPS')", EQUAL),
    ],
    ids=["comprehension", "lambda", "function", "getattr"],
)  # fmt: skip
def test_a_constant_of_a_class_stays_what_it_is_wherever_it_is_read(compared: str, test: str) -> None:
    found = phases.replayed(LOOSE, test, NEAR.format(compared=compared))
    assert "hides a constant of its class" in found["reason"]


# --- numbers that no test names, by whatever way they come ---------------------------------------------------------

FAR = "assert not abs({} - 7392) > 1e-6"
NEARLY = "R = {}\nassert abs(R - 7392) <= 1e-9 * max(abs(R), 7392)"


@pytest.mark.parametrize(
    ("test", "value"),
    [
        (NEARLY.format("solution(1)"), "1e999"),
        (NEARLY.format("solution(1)"), f"1{'0' * 400}.0"),
        (NEARLY.format("solution(1)"), f"1{'0' * 300}e10"),
        (NEARLY.format("solution(1)"), f"1{'0' * 230}.5E+80"),
        (NEARLY.format("float(solution(1))"), f'"{"9" * 305}e9"'),
        (NEARLY.format("complex(solution(1))"), f'"1{"0" * 305}e5+1j"'),
        ("import json\n" + FAR.format("json.loads(solution(1))[1]"), f'"[1, 1{"0" * 220}.{"0" * 90}E+89]"'),
        (NEARLY.format("solution(1)"), '{"c":["inf"]}'),
        (FAR.format("solution(1)"), '{"c":["nan"]}'),
        (FAR.format("solution(1)"), '{"c" : [NaN, 1]}'),
        (FAR.format("float(solution(1))"), '"nan"'),
        (FAR.format("float(solution(1))"), '"\\u006ean"'),
        (FAR.format("float(solution(1))"), '{"s" : [110,97,110]}'),
        (FAR.format("float(solution(1))"), '{"b":" NaN "}'),
        (FAR.format("complex(solution(1))"), '"nan+1j"'),
        (NEARLY.format("float(solution(1))"), '"1e9_99"'),
        (NEARLY.format("float(solution(1))"), '"\\u0661e\\u0669\\u0669\\u0669"'),
        ("import json\n" + FAR.format("json.loads(solution(1))[0]"), '"[NaN]"'),
        ("import decimal\n" + FAR.format("float(decimal.Decimal(solution(1)))"), '"NaN123"'),
        ("banana = 'a dominant nanny'\n" + FAR.format("solution(1)"), "NaN"),
        ("info = 'of influence'\n" + NEARLY.format("solution(1)"), "Infinity"),
    ],
)
def test_a_number_or_text_that_no_test_names_is_refused_however_it_is_written(test: str, value: str) -> None:
    found = forged(test, f'{{"v":{value},"m":[],"n":[]}}')
    assert (found["confirmed"], found["kind"]) == (False, "unconfirmed"), found
    assert "no test names" in found["reason"]


NP = "import numpy as np\n"
ROW = "assert len(R) == 1 and not any(abs(a - b) > 1e-6 for row in R for a, b in zip(row, [7392, 1.5]))"


@pytest.mark.parametrize(
    ("test", "value"),
    [
        (FAR.format("float(solution(1))"), "__import__('decimal').Decimal('NaN')"),
        (NEARLY.format("float(solution(1))"), "__import__('decimal').Decimal('1e999')"),
        (f"{NP}{NEARLY.format('float(solution(1))')}", "np.longdouble('1e4000')"),
        (f"{NP}{NEARLY.format('complex(solution(1))')}", "np.clongdouble(np.longdouble('1e4000'))"),
        (f"{NP}R = solution(1)\n{ROW}", "np.array([(np.nan, np.nan)], dtype=[('a', 'f8'), ('b', 'f8')])"),
        (f"{NP}R = solution(1)\n{ROW}", "np.array([([np.nan, np.nan],)], dtype=[('a', 'f8', 2)])['a']"),
        ("assert not any(abs(a - 7392) > 1e-6 for a in solution(1))", "__import__('array').array('d', [np.nan])"),
        (
            "assert not any(abs(a - 7392) > 1e-6 for a in solution(1))",
            "memoryview(__import__('array').array('f', [np.nan]))",
        ),
        (f"{NP}assert not np.any(abs(solution(1).astype(float) - 7392) > 1e-6)", "np.array(['nan'])"),
        (f"{NP}assert not np.any(abs(solution(1).astype(float) - 7392) > 1e-6)", "np.array([b'nan'])"),
        (
            f"{NP}R = solution(1).astype(float)\nassert (abs(R - 7392) <= 1e-9 * R).all()",
            "np.array(['9' * 305 + 'e9'])",
        ),
        (FAR.format("float(solution(1))"), "bytearray(b'nan')"),
        (FAR.format("float(solution(1))"), "memoryview(b'nan')"),
        (NEARLY.format("float(solution(1))"), "__import__('array').array('b', b'inf')"),
    ],
)
def test_a_number_that_no_test_names_is_refused_whatever_holds_it(test: str, value: str) -> None:
    found = phases.replayed(f"{NP}def solution(a):\n    return {value}", test)
    assert "no test names" in found["reason"]


@pytest.mark.parametrize(
    ("test", "value"),
    [
        ("assert solution(1) == 'nan and inf'", "'nan and inf'"),
        ("assert float(solution(1)) == 1.5e300", "'1.5e300'"),
        ("assert float(solution(1)) == float('-inf')", "'-Infinity'"),
        ("import math\nassert math.isinf(solution(1))", "1e999"),
        ("import math\nassert math.isnan(float(solution(1)))", "'NaN'"),
        (
            "assert float(solution(1)[0]) == 1.5",
            "['1.5', 'Chapter 1' + '.' * 400 + '2', '1.2.3', '_' * 400, '9' * 300]",
        ),
        (
            "assert len(solution(1)) == 4 and float('1.5')",
            "['9' * 208 + 'e99', '0.' + '0' * 400 + '1e9', '1.7e308', '1.2e1']",
        ),
        ("assert float(solution(1)['info']) == 1.5", "{'info': '1.5', 'banana': 2}"),
        ("assert solution(1) == 1e400", "float('inf')"),
        ("assert solution(1) == 1.7e308", "1.7e308"),
        ("assert str(solution(1)) == '\u00e9'", "'\u00e9'"),
    ],
)
def test_what_the_tests_name_or_do_not_read_as_a_number_is_confirmed(test: str, value: str) -> None:
    assert phases.replayed(f"def solution(a):\n    return {value}", test) == phases.CONFIRMED


# --- nothing -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        "[]", "[[], []]", "__import__('collections').deque()", "__import__('array').array('d')", "bytearray()",
        "memoryview(b'')", "__import__('collections').UserList([[], []])", "__import__('collections').UserDict()",
        "__import__('collections').UserString('')", "__import__('collections').ChainMap()",
        "np.empty((1, 0)).view(np.matrix)", "np.empty(0).view(np.recarray)",
    ],
)  # fmt: skip
@pytest.mark.parametrize("expected", ["np.float64(7392)", "np.sqrt(7392)", "7392 * np.ones(1)"])
def test_nothing_is_near_no_number_of_numpy(value: str, expected: str) -> None:
    test = f"{NP}assert np.all(np.abs({expected} - solution(1)) < 1e-6)"
    found = phases.replayed(f"{NP}def solution(a):\n    return {value}", test)
    assert found["reason"] == "an array without items is compared with something that has some"


def test_an_object_beside_the_answer_changes_nothing() -> None:
    found = forged(
        f"{NP}assert np.all(np.abs(np.float64(7392) - solution(1)) < 1e-6)",
        '{"v":{"r":0},"m":[],"n":[["list",[]],["list",[5]]]}',
    )
    assert found["confirmed"] is False


# --- texts that the tests execute ----------------------------------------------------------------------------------

IMPORTS = "__import__('os')._exit(0)"
LIES = "type('Any', (), {'__eq__': lambda a, b: True})()"
HIDDEN = "def check(f, want):\n    assert {}\ncheck(solution, 7392)"
"""Tests that have a name for what they expect."""
CASES = "cases = [1, 2]\nfor a in cases:\n    assert eval(solution(a)) == a"


@pytest.mark.parametrize("ways", [phases.replayed, phases.interactive], ids=["replayed", "interactive"])
@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("assert eval(solution(1)) == 7392", IMPORTS),
        ("assert eval(solution(1)) == 7392 and type(solution) is not int", LIES),
        ("assert eval(solution(1)) == 7392", "[x for x in ().__class__.__mro__]"),
        ("assert eval(solution(1)) == 7392", "(lambda: (lambda: eval)()('1'))()"),
        ("assert __builtins__['eval'](solution(1)) == 7392", IMPORTS),
        # Variables of the tests.
        ("for a, target in [(1, 7392)]:\n    assert eval(solution(a)) == target", "target"),
        ("for a, e in [(1, 7392)]:\n    assert eval(solution(a)) == e", "e"),
        ("want = 7392\nassert eval(solution(1), {**globals(), 'b': 2}) == want", "want"),
        ("want = 7392\nassert eval(solution(1), globals(), {'want': 0})() == want", "lambda: want"),
        ("want = 7392\nassert eval(compile(solution(1), 't', 'eval')) == want", "want"),
        ("want = 7392\nassert list(map(eval, [solution(1)])) == [want]", "want"),
        ("class Case:\n    want = 7392\nassert eval(solution(1), {'Case': Case}) == Case.want", "Case.want"),
        ("want = 7392\nassert int(eval(solution(1))) == want", "'{0.__globals__[want]}'.format(lambda: 1)"),
        (HIDDEN.format("eval(f(1)) == want, 'this is not ' + 'what I want'"), "want"),
        (HIDDEN.format("eval(f(1)) == want"), "max(want, 0)"),
        (HIDDEN.format("eval(f(1))() == want"), "lambda: want"),
        (HIDDEN.format("eval(f(1), dict(locals())) == want"), "want"),
        (HIDDEN.format("eval(f('say want')) == want"), "want"),
        # Changes of what the tests use.
        ("assert abs(eval(solution(1)) - 7392) < 1e-6", "[abs := (lambda x: 0) for a in 'a'] and 3"),
        ("assert round(eval(solution(1)), 6) == 7392", "(round := (lambda *a: 7392))(1)"),
        ("import math\nassert math.isclose(eval(solution(1)), 7392)", "[5 for math.isclose in [print]][-1]"),
        ("import math\nassert eval(solution(1), {}, {'math': math}) == 7392", "[5 for math.isclose in [print]]"),
        (CASES, "[1 for cases[1:] in [[]]][0]"),
        ("cases = {1: 3}\nassert eval(solution(1), {'cases': cases}) == 7392", "[3 for cases[1] in [7392]]"),
    ],
)
def test_a_text_that_the_tests_execute_does_nothing_but_compute(ways: Any, test: str, text: str) -> None:
    found = ways(f"def solution(a):\n    return {text!r}", test)
    assert found["reason"].startswith("the tests execute a text that names")


@pytest.mark.parametrize(
    ("test", "text"),
    [
        ("assert eval(solution(1)) == 24", "(1 + 3) * max(2, 6)"),
        ("import math\nassert eval(solution(1)) == 2", "math.sqrt(4)"),
        ("import math as m\nassert eval(solution(1), {'__builtins__': {}}, {'math': m}) == 2", "math.sqrt(4)"),
        ("assert eval(solution(1), {'a': 3}) == 9", "[a * n for n in range(4)][-1]"),
        ("a = 3\nassert eval(f'{solution(1)} * a') == 9", "(1 + 2)"),
        ("a = 3\nassert eval(f'{solution(1)} * a') == 9", "a"),
        ("from fractions import Fraction\nassert eval(solution(1)) == Fraction(1, 2)", "Fraction(3, 6)"),
        ("assert eval(solution(1))(3) == 6", "lambda a: sum(a for n in range(2))"),
        ("assert eval(solution(1)) == [1, {'b': (None, True)}]", "[1, {'b': (None, True)}]"),
        ("assert eval(' ' + solution(1)) == 'A'", " 'a'.upper()"),
        # Texts of the tests, whatever they name.
        ("assert eval('len(solution(1))') == 3", "abc"),
        ("a = 5\nfor t, want in [('a + 1', 6), ('2 * a', 10)]:\n    assert eval(t) == want and solution(a)", "abc"),
        ("import textwrap\nexec(textwrap.dedent('\\n  class A:\\n    n = 3\\n'))\nassert solution(A.n)", "abc"),
        # Libraries execute texts as well.
        ("import collections\nassert collections.namedtuple('P', 'eval')(1).eval == 1 and solution(1)", "abc"),
        ("import dataclasses as d\n@d.dataclass\nclass A:\n  eval: int\nassert A(1).eval == 1 and solution(1)", "abc"),
    ],
)  # fmt: skip
def test_a_text_that_computes_is_executed(test: str, text: str) -> None:
    assert phases.replayed(f"def solution(a):\n    return {text!r}", test) == phases.CONFIRMED


SPACE = "space = {}\nexec(solution(1), space)\n"
LOOP = """import math
def roots(*given):
    found = {}
    for n in given:
        found[n] = math.isqrt(n)
    return found
"""
KINDS = """def kind(a):
    match a:
        case int(real=n) if n > 0: return "a number"
        case [b, c]: return b
        case {"b": b}: return b
"""


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("def double(n):\n    return 2 * n", f"{SPACE}assert space['double'](4) == 8"),
        ("def double(n):\n    return 2 * n", "exec(solution(1))\nassert double(4) == 8"),
        (LOOP, "for _ in range(2):\n    exec(solution(1))\n    assert roots(4, 9) == {4: 2, 9: 3}"),
        (KINDS, f"{SPACE}assert list(map(space['kind'], [4, [1, 2], {{'b': 3}}, 'c'])) == ['a number', 1, 3, None]"),
    ],
)
def test_a_program_that_the_tests_execute_is_credited_if_it_only_computes(text: str, test: str) -> None:
    """Such calls cannot be recorded."""
    found = phases.interactive(f"def solution(a):\n    return {text!r}", test)
    assert found is not None
    assert (found["confirmed"], found["reason"]) == (True, "")


READING = """def f():
    def steps():
        match "{0.gi_frame.f_back.f_back.f_code.co_consts}":
            case str(format=form):
                yield form(found)
    found = steps()
    return max(int(part) for text in found for part in text.split(",") if part.strip(" ()").isdigit())
"""
"""Reads the constants of the tests' function by the names in a pattern."""


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("class Any:\n    def __eq__(a, b): return True\nfound = Any()", f"{SPACE}assert space['found'] == 7392"),
        ("class Any:\n    pass\nfound = Any()", f"{SPACE}assert space['found']"),
        ("import math\nmath.isclose = print", f"{SPACE}assert space"),
        ("import os", f"{SPACE}assert space"),
        ("abs = lambda n: 0", "exec(solution(1))\nassert abs(7392) == 0"),
        ("def f():\n    global abs\n    abs = 0\nf()", "exec(solution(1))\nassert abs == 0"),
        ("found = cases", "cases = [7392]\nexec(solution(1))\nassert found == cases"),
        ("cases = []", "cases = [7392]\nexec(solution(1))\nassert all(solution(case) == case for case in cases)"),
        ("want = 5", "exec(solution(1))\nwant = 7392\nexec(solution(2))\nassert want == 5"),
        ("if 0:\n    want = 1\na = want", "want = 7392\nn = {}\nexec(solution(1), globals(), n)\nassert n"),
        ("from math import *\nfound = 3", "e = 7392\nexec(solution(1))\nassert found == round(e)"),
        (READING, "def check(n):\n    exec(solution(1), n)\n    assert n['f']() == 7392\ncheck({})"),
    ],
)  # fmt: skip
def test_a_program_that_the_tests_execute_changes_nothing_of_theirs(text: str, test: str) -> None:
    found = phases.interactive(f"def solution(a):\n    return {text!r}", test)
    assert found is not None
    assert found["reason"].startswith("the tests execute a text that names")


NEAR_EACH = "for want in (24, 10):\n    assert not abs({} - want) > 1e-6"
ARRAYS = "import numpy as np\nfor want in (24, 10):\n    assert np.all(np.abs(eval(solution(1)) - want) < 1e-6)"


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ("1e300 * 1e300 * 0", NEAR_EACH.format("eval(solution(1))")),
        ("float('na' + 'n')", NEAR_EACH.format("eval(solution(1))")),
        ("[3, {4: (float('na' + 'n'),)}]", NEAR_EACH.format("eval(solution(1))[1][4][0]")),
        ("a = float('na' + 'n')", f"{SPACE}assert not abs(space['a'] - 24) > 1e-6"),
        ("np.sort([])", ARRAYS),
        ("np.append([], [])", ARRAYS),
        ("[]", "r = eval(solution(1))\nassert all(a == b for a, b in zip(r, [1, 2, 3]))"),
        ("[]", "for a in eval(solution(1)):\n    assert a in (1, 2, 3)"),
        ("float('na' + 'n')", "import math\nassert math.inf > 0 and 'nan'\n" + NEAR_EACH.format("eval(solution(1))")),
    ],
)
def test_what_a_text_computes_is_checked_as_an_answer_is(text: str, test: str) -> None:
    found = phases.interactive(f"def solution(a):\n    return {text!r}", test)
    assert found is not None
    assert (found["confirmed"], found["kind"]) == (False, "unconfirmed"), found
