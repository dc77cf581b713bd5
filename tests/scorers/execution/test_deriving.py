"""Official outcomes that are derived from answers are those of the official run, and an audit would notice others."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.scorers.execution import deriving
from grader.scorers.execution.straightness import straight

DECLARATION = """
id = "derived"
name = "Derived"
scoring = "execution"
default_split = "test"
default_protocol = "ours"
[columns]
id = "id"
signature = "signature"
tests = "tests"
solution = "solution"
[splits.test]
data = "tasks.jsonl"
[protocols.ours]
"""
TESTS = "def check(candidate):\n    assert candidate(3) == 4, 'three'\n    assert candidate(5) == 6\n\ncheck(f)\n"
LISTS = (
    "def check(candidate):\n    a = [3, 1, 2]\n    assert candidate(a) == 3\n    assert a == [3, 1, 2]\n\ncheck(f)\n"
)
RIGHT = "def f(x):\n    return x + 1\n"
LENGTH = "def f(x):\n    return len(x)\n"
DERIVED: dict[str, tuple[str, str, str]] = {
    "passes": (RIGHT, TESTS, RIGHT),
    "fails": ("def f(x):\n    return x\n", TESTS, RIGHT),
    "fails later": ("def f(x):\n    return 4\n", TESTS, RIGHT),
    "shows a text": (
        "def f(x):\n    return 'a' * x\n",
        "r = f(2)\nassert r == 'aa'\nr = f(3)\nassert r == 'b', f'got {r!r}'\n",
        "def f(x):\n    return 'aab'[:x] if x == 2 else 'b'\n",
    ),
    "raises": ("def f(x):\n    raise ValueError('no', x)\n", TESTS, RIGHT),
    "misses a name": ("def f(x):\n    if x > 3:\n        y = 1\n    return y\n", TESTS, RIGHT),
    "wrong arguments": ("def f(x, y):\n    return x\n", TESTS, RIGHT),
    "does not define it": ("def g(x):\n    return x + 1\n", TESTS, RIGHT),
    "prints": ("def f(x):\n    print('x' * 5000000)\n    return x + 1\n", TESTS, RIGHT),
    "changes its argument": ("def f(x):\n    x.sort()\n    return len(x)\n", LISTS, LENGTH),
    "never ends": ("def f(x):\n    while True:\n        x += 1\n", TESTS, RIGHT),
    "never ends in the second call": ("def f(x):\n    while x == 5:\n        pass\n    return x + 1\n", TESTS, RIGHT),
    "number too long to show": ("def f(x):\n    return len(str(10 ** 5000)) + x\n", TESTS, RIGHT),
    "sorted set": (
        "def f(x):\n    return sorted(set([3, 1, x]))[0]\n",
        "assert f(2) == 1\nassert f(0) == 1\n",
        "def f(x):\n    return 1\n",
    ),
    "same list twice": (
        "def f(x):\n    a = [x]\n    return [a, a]\n",
        "r = f(1)\nr[0].append(2)\nassert r == [[1, 2], [1]]\n",
        "def f(x):\n    return [[x], [x]]\n",
    ),
    "not to be unpacked": (RIGHT, "assert f(1) == 2\nn = 5\nassert f(*n) == 2\n", RIGHT),
    "minus zero": (
        "def f(x):\n    return -0.0 * x\n",
        "r = f(1)\nassert str(r) == '0.0', r\n",
        "def f(x):\n    return 0.0\n",
    ),
}
EXECUTED: dict[str, tuple[str, str, str]] = {
    "counts its calls": ("calls = [0]\n\ndef f(x):\n    calls[0] += 1\n    return x + calls[0]\n", TESTS, RIGHT),
    "recurses to the limit": ("def f(x):\n    return 1 + f(x)\n", TESTS, RIGHT),
    "needs most of the memory": ("def f(x):\n    return len(bytes_of(700)) * 0 + x + 1\n\ndef bytes_of(n):\n    return 'x' * (n * 1000000)\n", TESTS, RIGHT),
    "never ends, and tests fail before": (
        "def f(x):\n    while True:\n        pass\n",
        "assert 1 > 2, 'before'\nassert f(1) == 2\n",
        RIGHT,
    ),
    "keeps what it returned": ("kept = [1]\n\ndef f(x):\n    return kept\n", "r = f(1)\nr.append(2)\nassert f(1) == [1]\n", "def f(x):\n    return [1]\n"),
    "answer within itself": ("def f(x):\n    y = [x]\n    y.append(y)\n    return y\n", "assert f(1) == [1, 2]\n", "def f(x):\n    return [1, 2]\n"),
    "replaces the end of its time": ("def f(x):\n    try:\n        while True:\n            pass\n    finally:\n        raise ValueError('end')\n", TESTS, RIGHT),
    "returns a set": ("def f(x):\n    return {x + 1}\n", "assert f(3) == {4}\n", "def f(x):\n    return {x + 1}\n"),
    "returns a NaN": ("import math\n\ndef f(x):\n    return math.inf - math.inf\n", TESTS, RIGHT),
    "reads a name of the tests": ("def f(x):\n    return expected\n", "expected = 4\nassert f(3) == 4\n", RIGHT),
    "uses a function that the tests define": ("def g(x):\n    return 0\n\ndef f(x):\n    return g(x)\n", "def g(x):\n    return x + 1\n\nassert f(3) == 4\n", RIGHT),
    "asks for its name": ("def f(x):\n    return __name__\n", TESTS, RIGHT),
    "class with an end": ("class A:\n    def __del__(self):\n        pass\n\ndef f(x):\n    A()\n    return x + 1\n", TESTS, RIGHT),
    "catches the end of its time": ("def f(x):\n    try:\n        while True:\n            pass\n    except Exception:\n        return x + 1\n", TESTS, RIGHT),
    "tests that look at the function": (RIGHT, "assert f(3) == 4 and f.__name__ == 'f'\n", RIGHT),
    "arguments that are sets": ("def f(x):\n    return [y for y in x][0]\n", "assert f({1}) == 1\n", "def f(x):\n    return 1\n"),
    "changes a dictionary that it is given": ("def f(x):\n    for k in x:\n        x[k] = x.pop(k)\n        return k\n", "a = {1: 2, 3: 4}\nassert f(a) == 1\n", "def f(x):\n    return 1\n"),
}  # fmt: skip


def _samples(folder: Path, official: str) -> tuple[dict[str, dict[str, Any]], grader.Report]:
    report = grader.grade(
        folder / "predictions.json", benchmark=str(folder), sandbox="bubblewrap", workers=1, cache=False, timeout=0.5,
        official=official, output_dir=folder / official, write=True,
    )  # fmt: skip
    text = (folder / official / "predictions_results.json").read_text()
    results = json.loads(re.sub(r"used \d+\.\d s of", "used some of", text))
    return {
        one["qid"]: {name: part for name, part in one.items() if name != "seconds"} for one in results["samples"]
    }, report


def _write(folder: Path, cases: dict[str, tuple[str, str, str]]) -> None:
    (folder / "benchmark.toml").write_text(DECLARATION)
    rows = [
        {"id": name, "signature": "def f(x):\n", "tests": tests, "solution": solution}
        for name, (_, tests, solution) in cases.items()
    ]
    (folder / "tasks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    texts = [{"qid": name, "predictions": [f"```python\n{source}```"]} for name, (source, _, _) in cases.items()]
    (folder / "predictions.json").write_text(json.dumps(texts))


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Audit nothing; return the tasks whose outcomes are derived from now on."""
    monkeypatch.setattr(deriving, "FEWEST_AUDITED", 0)
    monkeypatch.setattr(deriving, "AUDITED_PERCENT", 0)
    noticed: set[str] = set()
    real = deriving.derived

    def noted(sample: Any, words: Any) -> Any:
        outcome = real(sample, words)
        noticed.update([sample.attempt.task.id] if outcome is not None else [])
        return outcome

    monkeypatch.setattr(deriving, "derived", noted)
    return noticed


@pytest.mark.bubblewrap
def test_every_derived_outcome_is_that_of_the_official_run(tmp_path: Path, seen: set[str]) -> None:
    _write(tmp_path, DERIVED)
    expected, _ = _samples(tmp_path, "execute")
    assert not seen
    derived, report = _samples(tmp_path, "derive")
    assert {name: (one, expected[name]) for name, one in derived.items() if one != expected[name]} == {}
    assert seen == set(DERIVED)
    assert report.provenance.sandbox.official.derived == len(DERIVED)


@pytest.mark.bubblewrap
def test_a_program_whose_official_run_could_differ_is_executed(tmp_path: Path, seen: set[str]) -> None:
    _write(tmp_path, EXECUTED)
    _samples(tmp_path, "derive")
    assert not seen


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("seen")
def test_only_the_judged_run_of_a_reference_stands_for_a_verdict(tmp_path: Path) -> None:
    """A reference that draws answers differently from run to run. Its other run, with the seed 1, answers 37."""
    drawn = "import numpy as np\n\ndef f(x):\n    return int(np.random.randint(0, 1000))\n"
    _write(tmp_path, {"drawn": ("def f(x):\n    return 37\n", "assert f(1) != 37, 'no'\n", drawn)})
    samples, _ = _samples(tmp_path, "derive")
    assert [samples["drawn"][reading]["outcome"] for reading in ("official", "careful")] == ["failed", "failed"]


@pytest.mark.bubblewrap
def test_one_difference_is_an_error_and_all_are_executed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = deriving.derived

    def wrong(sample: Any, words: Any) -> Any:
        found = real(sample, words)
        return found and type(found)(lint=found.lint, run=type(found.run)(evidence=found.run.evidence, result="passed"))

    monkeypatch.setattr(deriving, "derived", wrong)
    monkeypatch.setattr(deriving, "FEWEST_AUDITED", 2)
    _write(tmp_path, {name: DERIVED[name] for name in ("fails", "fails later", "raises")})
    samples, report = _samples(tmp_path, "derive")
    assert [one["official"]["outcome"] for one in samples.values()] == ["failed", "failed", "error"]
    found = report.provenance.sandbox.official
    assert (found.executed, found.derived, found.audited, found.different) == (3, 0, 2, 2)
    assert any(note.startswith("Error: the official outcome that was derived") for note in report.notes)


@pytest.mark.parametrize(
    ("tests", "names"),
    [
        (TESTS, {"check"}),
        ("import math\nx = 3\nfor y in f(x):\n    assert math.isclose(y, 1)\n", {"math", "x", "y"}),
        ("from numpy.random import randint\nassert f(randint(0, 9))\n", None),
        ("a = {1: 2}\nassert [f(a) for k in a.items()] == [1]\n", None),
        ("a = [1, 2]\nfor i, k in enumerate(a):\n    assert f(k) == i\n", {"a", "i", "k"}),
        ("import numpy as np\nnp.testing.assert_allclose(f(1), 1)\n", {"np"}),
        ("def check(a, a):\n    assert f(a)\n", None),
        ("import typing as m\ndef g():\n    import cmath as m\nm.sys.setrecursionlimit(300)\nassert f(1)\n", None),
        ("x = '\ud800'\nassert f(x)\n", None),
        ("def check(c):\n    def check(d):\n        return str(d)\n    return check(1)\n\ncheck(f)\n", None),
        ("import math as __builtins__\nassert f(1)\n", None),
        ("assert f(1) is True\nassert f(1) is not None\n", set()),
        ("a = b = f(1)\nassert a is b\n", None),
        ("assert g(1) == 1\n", None),
        ("import random\nassert f(random.random())\n", None),
        ("import numpy as np\nassert f(np.random.rand())\n", None),
        ("try:\n    f(1)\nexcept ValueError:\n    pass\n", None),
        ("with open('x'):\n    f(1)\n", None),
        ("assert f.__doc__\n", None),
        ("f.cache_clear()\n", None),
        ("def check(g):\n    yield g(1)\n", None),
        ("assert eval('f(1)')\n", None),
        ("def check(c):\n    import math\n    assert c(1)\n\ncheck(f)\nassert math.pi < f(9)\n", None),
        ("def check(c):\n    def near(a):\n        return a < c(1)\n    assert near(0)\n\ncheck(f)\n", {"check"}),
        ("import numpy as np\nassert np.allclose(f(1), np.array([1.0]))\n", {"np"}),
        ("import typing\ntyping.sys.setrecursionlimit(200)\nassert f(1)\n", None),
        ("assert set(f(1)) == {1, 2}\nassert len(set(f(1))) == 2\n", set()),
        ("assert str(set(f(1))) == '{1}'\n", None),
        ("a = f(1).keys() | f(2).keys()\nassert list(a) == [1]\n", None),
        ("assert '{.__name__}'.format(f) == f(1)\n", None),
        ("def check(c):\n    assert str(c) == c(1)\n\ncheck(f)\n", None),
        ("def check(c):\n    return c\n\nassert check(f)(1)\n", None),
        ("candidate = f\nassert list(map(candidate, [1])) == [1]\n", {"candidate"}),
        ("candidate = f\nassert [candidate][0](1)\n", None),
        ("a = {1: 2}\nfor k in a:\n    assert f(a) == k\n", None),
        ("a = [1, 2]\na.sort(key=lambda n: f(a))\n", None),
        ("e = type('timeout', (Exception,), {})\nif f(1) != 3:\n    raise e('x')\n", None),
        ("def check(a, b, c):\n    assert str(c)\n\ncheck(*(1, 2), f)\n", None),
        ("k = f(1).keys()\nk |= {2: 3}.keys()\nassert str(k)\n", None),
        ("g = (y for y in ())\nassert g.gi_frame and f(1)\n", None),
        ("import copy\na = {}\ncopy.deepcopy(f(1), a)\n", None),
        ("assert sorted(f(1).keys()) == [1]\nfor k, v in f(1).items():\n    assert k == v\n", {"k", "v"}),
    ],
)
def test_straight_tests_only_call_and_look(tests: str, names: set[str] | None) -> None:
    found = straight(tests, ("f",))
    assert found is None if names is None else found == names
