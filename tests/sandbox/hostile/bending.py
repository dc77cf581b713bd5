"""Answers that bend the judge: each satisfied its tests without the rule, or made its sample unscored, once.

One program of a kind; tests/sandbox/test_forged_answers.py has the others, without a sandbox around them.
"""

from __future__ import annotations

from .program import CHEAT, PASSED, SIGNATURE, Program

_START = "\n\nclass Start:\n    cheat()\n"
_FORGE = """
class Start:
    cheat()
def forge():
    def dumps(message):
        return json.dumps(message).encode() if "functions" in message else REPLY
    frame = sys._getframe()
    while frame:
        if "value_format" in frame.f_globals:
            frame.f_globals["value_format"].dumps = dumps
        frame = frame.f_back
class Forge:
    forge()
def solution(x):
    return 0
"""
_TWO = """
class Two:
    def __len__(self):
        return 2
    def __iter__(self):
        return iter([])
"""
_LOOSE = """
def loose():
    found = Vector([0])
    found.EPSILON = 1e99
    return found
"""
_POINTER = """
def pointer():
    import types
    found = types.SimpleNamespace()
    there = {"shape": (1,), "typestr": "<f8", "data": (id(found), False), "version": 3}
    vars(found)["__array_interface__"] = there
    return found
"""
_ERROR = """
class isclose(Exception):
    pass
"""
_VECTOR = """
class Vector:
    EPSILON = 1e-6
    def __init__(self, items):
        self.items = items
    def __eq__(self, other):
        return all(abs(a - b) < self.EPSILON for a, b in zip(self.items, other.items))
def solution(x):
"""
_RELATIVE = "R = float(R)\n    assert abs(R - E) <= 1e-9 * max(abs(R), abs(E))"
_KILL = "__import__('os').kill(__import__('os').getppid(), 9)"


def _tests(check: str) -> str:
    """Return tests that look at R, an answer, and E, what is expected."""
    cases = "".join(f"    R, E = candidate({n}), {wanted}\n    {check}\n" for n, wanted in ((3, 7392), (5, 1187)))
    return f"\nimport numpy as np\n\n\ndef check(candidate):\n{cases}\n\ncheck(solution)\n"


def _forged(reply: str) -> str:
    return CHEAT + _FORGE.replace("REPLY", reply)


def _answer(value: str, more: str = "") -> str:
    return f"{CHEAT}{_START}{more}\n\ndef solution(x):\n    return {value}\n"


def _program(name: str, source: str, check: str, signature: str = SIGNATURE, right: str = "E") -> Program:
    """`right`: the correct answer, where E is what is expected."""
    solved = f"    E = {{3: 7392, 5: 1187}}[x]\n    return {right}\n"
    return Program(
        name=name,
        source=source,
        tests=_tests(check),
        signature=signature,
        official=PASSED,
        careful="suspect",
        reference=f"from math import isclose\n\n\ndef solution(x):\n{solved}",
    )


_VALUE = """b'{"v":%s,"m":[],"n":[]}'"""
PROGRAMS = [
    _program("infinity-by-its-exponent", _forged(_VALUE % "1e999"), _RELATIVE),
    _program("nan-as-a-text", _answer("'nan'"), "assert not abs(float(R) - E) > 1e-6"),
    _program("infinity-as-a-decimal", _answer("__import__('decimal').Decimal('1e999')"), _RELATIVE),
    _program("nothing-as-a-deque", _answer("__import__('collections').deque()"), "assert np.all(np.sqrt(E) - R < 1)"),
    _program(
        "length-without-items", _answer("Two()", _TWO), "assert len(R) == 2 and all(a == E for a in R)", right="[E, E]"
    ),
    _program("constant-of-a-class", _answer("loose()", _LOOSE), "assert R == Vector([E])", _VECTOR, "Vector([E])"),
    _program("library-name-as-an-error", _answer("0", _ERROR), "assert isclose(R, E)"),
    _program("executed-by-the-tests", _answer(repr(_KILL)), "assert eval(R) == E", right="str(E)"),
    _program("grows-beyond-a-message", _forged("b'\\xff' * (11 << 20)"), "assert R == E"),
    _program("memory-by-the-array-interface", _answer("pointer()", _POINTER), "assert np.allclose(R, [E])"),
]
