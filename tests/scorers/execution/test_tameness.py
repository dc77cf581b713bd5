"""A program is tame only if its syntax tree shows that it can do nothing but compute with plain data."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

import pytest

from grader.scorers.execution.tameness import tame

TAME = {
    "lambda": "f = lambda x: x + 1",
    "library": "import math\nfrom typing import List\n\ndef f(x: List[int]) -> float:\n    return math.sqrt(sum(x)) + math.pi",
    "annotations": "import typing as t\nfrom typing import Dict, List, Optional\nfrom collections import Counter\n\ndef f(x: Optional[Dict[str, List[int]]], y: 't' = None, *z: t.Any) -> int | None:\n    a: Counter = Counter(x)\n    return None",
    "from-import": "from math import pi as p, gcd\n\ndef f(x):\n    return gcd(x, 4) * p",
    "recursion": "def f(n):\n    return 1 if n < 2 else n * f(n - 1)",
    "cached inside a call": "from functools import lru_cache\n\ndef f(x):\n    @lru_cache(maxsize=None)\n    def g(n):\n        return n\n    return g(x)",
    "constants of the module": "import math\nMOD = 10 ** 9 + 7\nINF, = -float('inf'),\nTAU: float = 2 * math.pi\nPAIR = (1, 'a')\n\ndef f(x):\n    return x % MOD, TAU, PAIR",
    "tables of the module": "ROMAN = {'I': 1, 'V': 5}\nNAMES = ['a', 'b']\nVOWELS = set('aeiou')\n\ndef f(x):\n    return [ROMAN[c] for c in x if c in VOWELS], NAMES[0], ROMAN.get(x, 0), [*zip(NAMES, ROMAN.items())], VOWELS & {x} == VOWELS",
    "variables of the module": "def f(x):\n    result = [x]\n    return result\n\nresult = [f(x) for x in [1, 2]]\nprint(result)\nfor x in result:\n    assert f(x)",
    "local name of a built-in function": "def f(x):\n    sum = 0\n    for max in x:\n        sum += max\n    return sum",
    "key": "def f(x):\n    return max(x, key=lambda y: (len(y), y)), sorted(x, key=str.lower)",
    "unpacked": "def f(x):\n    a, b = map(int, x.split())\n    first, *rest = x\n    return [*rest, a, b]",
    "sets are asked": "def f(x):\n    seen = set()\n    for y in x:\n        if y in seen:\n            return len(seen)\n        seen.add(y)",
    "sets by value": "def f(x):\n    return sorted(set(x) & {1, 2})",
    "format": "def f(x):\n    return '{:.2f} {0!r:>{1}}'.format(x) + f'{x:3d}' + '%s' % x",
    "catches": "def f(x):\n    try:\n        return int(x)\n    except (ValueError, TypeError):\n        return 0",
    "raises": "def f(x):\n    if not x:\n        raise ValueError(f'no {x}')\n    assert x, 'why'\n    return None",
    "main": "def f(x):\n    return x\n\nif __name__ == '__main__':\n    import os\n    os.remove('x')",
    "unused import": "import sys, os\nfrom random import randint\n\ndef f(x):\n    return x",
    "regular expression": "import re\n\ndef f(x):\n    m = re.match('a+', x, re.I)\n    return m.group(0) if m else ''",
}
WILD = {
    "generator function": "def f(x):\n    yield x",
    "list of the module changed by an index": "count = [0]\n\ndef f(x):\n    count[0] += 1\n    return x",
    "set of the module changed by another name": "seen = {1}\n\ndef f(x):\n    y = {2} if x else seen\n    y.add(x)\n    return len(seen)",
    "method as a value": "def f(x):\n    return str(x.append)",
    "set with a computed NaN": "def f(x):\n    return sorted(set([y / 2 for y in x]))",
    "set with a NaN of a power": "def f(x):\n    y = 2\n    y **= -x\n    return sorted(set([y, 1]))",
    "default value of a lambda": "f = lambda x, seen=[]: seen",
    "exception with the name of a variable": "def f(x, ValueError):\n    raise ValueError",
    "function as an item by name": "def f(x):\n    return str(dict(key=lambda: 0))",
    "lambda to iterators": "def f(x):\n    return str(list(map(lambda y: zip(y), x)))",
    "set in a loop": "def f(x):\n    s = {*x}\n    for y in s:\n        return y",
    "set popped": "def f(x):\n    s = set(x)\n    return s.pop()",
    "set of a walrus": "def f(x):\n    return str(s := set(x))",
    "ellipsis": "def f(x):\n    return {...: 1}",
    "eval": "def f(x):\n    return eval('x')",
    "attribute by a nested format": "def f(x):\n    return '{:{1.append}}'.format(x, x)",
    "set that a type's method changes": "T = {1}\n\ndef f(x):\n    set.update(T, [x])\n    return len(T)",
    "list of the module by another name": "seen = []\n\ndef f(x):\n    y = seen\n    y.append(x)\n    return len(y)",
    "map as a value": "def f(x):\n    m = map(int, x)\n    return str(m)",
    "codec by a function that is named": "def f(x):\n    return [*map(str.encode, x, ['euc_kr'])]",
    "import that loads a module": "from json import tool\n\ndef f(x):\n    return x",
    "list of the module changed": "seen = []\n\ndef f(x):\n    seen.append(x)\n    return len(seen)",
    "list of the module returned": "seen = []\n\ndef f(x):\n    return seen",
    "list of the module passed on": "seen = []\n\ndef g(y):\n    y.append(1)\n    return len(y)\n\ndef f(x):\n    return g(seen)",
    "list of the module chosen": "seen = []\n\ndef f(x):\n    return (seen or [1], [seen][0], seen if x else x)",
    "list in a list of the module": "seen = [[]]\n\ndef f(x):\n    return seen[0]",
    "list added to a list of the module": "seen = [1]\nseen += [[]]\n\ndef f(x):\n    return seen[-1]",
    "constant of the module replaced": "seen = 1\nfor seen in [[]]:\n    pass\n\ndef f(x):\n    return seen",
    "set of the module changed": "seen = {1}\n\ndef f(x):\n    seen.add(x)\n    return len(seen)",
    "set of the module computed": "seen = set([1]) | set([2])\n\ndef f(x):\n    return x in seen",
    "None in a set of the module": "NAMES = {None, 1}\n\ndef f(x):\n    return [*NAMES][0]",
    "list of the module under the name of a comprehension's variable": "seen = [[]]\n\ndef f(x):\n    return [seen for seen in x], seen[0]",
    "list of the module as a default value of the module": "seen = []\n\ndef f(x, y=seen):\n    return y",
    "global": "seen = 1\n\ndef f(x):\n    global seen\n    seen += 1\n    return seen",
    "default value that can change": "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)",
    "default value that is assigned": "seen = 1\n\ndef f(x, y=(seen := [])):\n    return seen",
    "cached between calls": "from functools import lru_cache\n\n@lru_cache(maxsize=None)\ndef f(n):\n    return [n]",
    "one name of two imports": "from math import sin as s\n\ndef g():\n    from random import random as s\n    return s()\n\ndef f(x):\n    return g()",
    "module's name of a built-in function": "len = 3\n\ndef f(x):\n    return x",
    "invalid": "def f(:",
    "import": "import numpy as np\n\ndef f(x):\n    return np.sum(x)",
    "star": "from math import *\n\ndef f(x):\n    return x",
    "random": "import random\n\ndef f(x):\n    return random.random()",
    "system": "import sys\n\ndef f(x):\n    sys.setrecursionlimit(50)\n    return x",
    "dunder": "def f(x):\n    return x.__class__",
    "guard in a function": "def f(x):\n    if __name__ == '__main__':\n        global len\n    len = x\n    return [x]",
    "guard that makes a generator": "def g():\n    if __name__ == '__main__':\n        yield\n\ndef f(x):\n    return str(g())",
    "table that a type's method changes": "T = [0]\n\ndef f(x):\n    list.extend(T, [x])\n    return len(T)",
    "set in the target of a comprehension": "def f(x):\n    s = {None}\n    d = {}\n    return [y for d[s] in [1] for y in s]",
    "memory of a copy": "import copy\n\ndef f(x):\n    m = {}\n    copy.deepcopy([x], m)\n    return sorted(m)",
    "key of a comparison as a value": "import functools\n\ndef f(x):\n    return str(list(map(functools.cmp_to_key(lambda a, b: 0), x)))",
    "function as a field of a format": "def f(x):\n    return '{key}'.format(key=f)",
    "function as an item of an update": "def f(x):\n    d = {}\n    d.update(func=f)\n    return str(d)",
    "dunder main": "def f(x):\n    return 1\n\nif __name__ != '__main__':\n    f = 3",
    "address": "def f(x):\n    return id(x)",
    "class": "class A:\n    pass\n\ndef f(x):\n    return str(A())",
    "generator frame": "def f(x):\n    g = (i for i in x)\n    return g.gi_frame.f_back.f_globals",
    "with": "def f(x):\n    with x:\n        return 1",
    "function as a value": "def g():\n    pass\n\ndef f(x):\n    return str(g)",
    "lambda as a value": "def f(x):\n    return str(lambda: 0)",
    "iterator as a value": "def f(x):\n    return str(iter(x))",
    "generator as a value": "def f(x):\n    return repr(i for i in x)",
    "start of a sum": "def f(x):\n    return str(sum((), map(int, x)))",
    "value from keys": "def f(x):\n    return str({}.fromkeys(x, zip(x)))",
    "mapped to iterators": "def f(x):\n    return str(list(map(zip, x)))",
    "groups": "from itertools import groupby\n\ndef f(x):\n    return [str(g) for _, g in groupby(x)]",
    "factory": "from collections import defaultdict\n\ndef f(x):\n    return str(defaultdict(lambda: 0))",
    "partial": "from functools import partial\n\ndef f(x):\n    return str(partial(max, x))",
    "attribute by format": "def f(x):\n    return '{0.append}'.format(x)",
    "format of a variable": "def f(x):\n    y = '{0.append}'\n    return y.format(x)",
    "set in order": "def f(x):\n    return list(set(x))",
    "set shown": "def f(x):\n    return f'{set(x)}'",
    "set returned": "def f(x):\n    return set(x)",
    "set by another name": "def f(x):\n    s = set(x)\n    t = s\n    return str(t)",
    "set of a view": "def f(x):\n    return str(x.keys() & {1})",
    "set of a factory": "from collections import defaultdict\n\ndef f(x):\n    d = defaultdict(set)\n    return str(d[1])",
    "set with ties": "def f(x):\n    return sorted(set(x), key=len)",
    "set with a NaN": "def f(x):\n    return sorted({1e999 - 1e999, 1, 2})[0]",
    "smallest of a set": "def f(x):\n    return min({(1, None), (1, 2), (0, x)})",
    "identity of numbers": "def f(x):\n    return x is 1000",
    "identity of values": "def f(x):\n    y = x\n    return y is x",
    "bare except": "def f(x):\n    try:\n        return f(x)\n    except:\n        return 1",
    "memory error": "def f(x):\n    try:\n        return [0] * x\n    except MemoryError:\n        return 1",
    "leaves finally": "def f(x):\n    while True:\n        try:\n            return f(x)\n        finally:\n            break",
    "exception as a value": "def f(x):\n    return str({ValueError(): 1})",
    "raises to exit": "def f(x):\n    raise SystemExit('passed')",
    "shadows a built-in function": "def len(x):\n    return 1\n\ndef f(x):\n    return len(x)",
    "variable and function": "def g(x):\n    return x\n\ndef f(x):\n    g = 3\n    return g",
    "attribute written": "def f(x):\n    f.calls = 1\n    return x",
    "decorated": "def g(h):\n    return h\n\n@g\ndef f(x):\n    return x",
    "printed elsewhere": "def f(x):\n    print(x, file=3)",
    "other line ends": "def f(x):\r    return x",
    "annotation of a module": "import sys\n\ndef f(x: sys.modules['socket']):\n    return x",
    "annotation of a variable": "seen = [1]\n\ndef f(x: seen[0]):\n    return x",
    "computed annotation": "def f(x: print(1)):\n    return x",
    "called result": "def f(x):\n    return x[0](1)",
    "module as a value": "import math\n\ndef f(x):\n    return str(math)",
    "submodule": "import os.path\n\ndef f(x):\n    return os.path.exists(x)",
    "delayed lambda": "f = [lambda x: x][0]",
    "match": "def f(x):\n    match x:\n        case int():\n            return 1",
}


@pytest.mark.parametrize("source", TAME.values(), ids=TAME)
def test_tame(source: str) -> None:
    assert tame(source) is not None


@pytest.mark.parametrize("source", WILD.values(), ids=WILD)
def test_not_tame(source: str) -> None:
    assert tame(source) is None


def test_names_and_functions_are_told() -> None:
    found = tame("import math as m\n\ndef f(x):\n    y = m.pi\n    def g():\n        return len(y)\n    return g()")
    assert found.names == {"m", "f", "x", "y", "g", "len"}
    assert found.functions == {"f"}


@pytest.mark.parametrize(("expression", "sorts"), [("sorted(set(x))", True), ("len(set(x))", False)])
def test_a_set_that_is_sorted_is_told(expression: str, sorts: bool) -> None:
    found = tame(f"def f(x):\n    return {expression}")
    assert found.sorts_sets == sorts
