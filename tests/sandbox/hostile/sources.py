"""Attacks by the text of a program alone: on the linter, on the grader that parses it, on whoever prints it."""

from .program import LINT, NOT_PASSED, PASSED, Program

EITHER = NOT_PASSED | PASSED
ANY = EITHER | LINT
_ANSWER = "    return {3: 7392, 5: 1187}[x]\n"
_HEAD = "def solution(x):\n    return "


def _writes(message: str, name: str) -> Program:
    """A program that writes its own result frame to every descriptor."""
    return Program(
        name=f"result-{name}",
        source=f"""
import json, os, struct
def solution(x):
    message = {message}
    data = message if isinstance(message, bytes) else json.dumps(message).encode()
    for fd in range(3, 64):
        try:
            os.write(fd, struct.pack(">I", len(data)) + data)
        except OSError:
            pass
    os._exit(0)
    return 0
""",
        official=EITHER,
    )


_WHATEVER = {
    "too-many-parentheses": f"{_HEAD}{'(' * 5000}1{')' * 5000}\n",
    "many-attributes": f"{_HEAD}x{'.a' * 30000}\n",
    "nested-lambdas": f"{_HEAD}{'lambda: ' * 3000}1\n",
    "hexadecimal-digits": f"{_HEAD}0x{'f' * 400000} % 10\n",
    "line-of-a-megabyte": f"def solution(x):\n    return '{'x' * 1000000}'\n",
    "modules-of-the-linter-changed": """
import collections, itertools, math, random
import numpy as np
def solution(x):
    math.cbrtt = lambda v: v
    random.shuffle = 5
    collections.Counter = 5
    collections.Zounter = dict
    itertools.pairwize = 3
    np.linalg.det = 5
    str.foo = 1
    return 1
""",
    "null-character": f"{_HEAD}'\x00'\n",
}
"""They have any outcome, and get no credit unless they are right."""
PROGRAMS = [
    *(Program(name=name, source=source, official=ANY) for name, source in _WHATEVER.items()),
    # What the grader itself must survive: texts and shapes that a program's process may send.
    Program(
        name="message-of-odd-characters",
        source="def solution(x):\n    raise ValueError('\\ud800 \\x00 \\x1b[31m \\udfff \\u202e \\r \\x85 \\ufffe')\n",
        official=frozenset({"error"}),
    ),
    Program(
        name="assertion-of-odd-characters",
        source="def solution(x):\n    assert False, '\\udc80\\x00\\x1b]0;owned\\x07'\n",
        official=frozenset({"failed"}),
    ),
    Program(
        name="type-of-odd-name",
        source="""
class Odd(int):
    pass
def solution(x):
    Odd.__qualname__ = "\\ud800\\x1b[2J"
    Odd.__module__ = "\\udfff"
    return Odd({3: 7392, 5: 1187}[x])
""",
        official=PASSED,
        careful="passed",  # a subclass that does not override comparison is sent as its base
        honest=True,
    ),
    _writes('{"result": 5}', "that-is-a-number"),
    _writes('{"result": "passed", "kind": None}', "of-no-kind"),
    _writes('{"result": "x", "more": 10**4000, "other": float("nan")}', "with-more"),
    _writes('{"result": "x", "evidence": {"stopped": None}, "split": {"confirmed": True}}', "with-evidence"),
    _writes('b\'{"result":"x","a":\' + b"[" * 100000 + b"]" * 100000 + b"}"', "of-100000-levels"),
    _writes('b"\\xff\\xfe{}"', "in-no-encoding"),
    # The canary that follows finds what a failing linter keeps.
    Program(name="many-signs-in-a-megabyte", source=f"{_HEAD}{'-' * 1500000}1\n", official=ANY),
    Program(
        name="huge-constants",
        source="""
def solution(x):
    a = 2 ** 2 ** 30
    b = "a" * 10 ** 10
    c = [0] * 10 ** 9
    d = (1,) * 10 ** 10
    e = 1 << (1 << 40)
    return a, b, c, d, e
""",
        official=NOT_PASSED | LINT,
    ),
    # What the linter keeps of the first is not there for the second.
    Program(name="many-names", source=f"{_HEAD}x, [{'x,' * 500000}]\n", official=ANY),
    Program(
        name="honest-with-much-memory",
        source=f"def solution(x):\n    held = bytearray(b'x') * (400 << 20)\n    assert held\n{_ANSWER}",
        official=PASSED,
        honest=True,
    ),
    Program(
        name="messages-with-a-long-name",
        source="class {0}:\n    pass\n\n\ndef solution(x):\n    a = {0}()\n".format("A" * 20000)
        + "".join(f"    a.x{n}()\n" for n in range(500))
        + "    return 1\n",
        official=LINT,
    ),
    Program(
        name="regular-expression",
        source=f"import re\n\n\n{_HEAD}re.match('(a+)+$', 'a' * 40 + 'b')\n",
        official=NOT_PASSED,
    ),
    Program(
        name="inference-without-end",
        source="""
class A:
    def __getattr__(self, name):
        return self.missing
    x = y = None
def solution(x):
    a = A()
"""
        + "    a = a.b or a.c or a\n" * 200
        + "    return a.zz\n",
        official=NOT_PASSED | LINT,
    ),
    Program(
        name="skip-file",
        source=f"# pylint: skip-file\n# pylint: disable=all\ndef solution(x):\n{_ANSWER}",
        official=PASSED,
        honest=True,
    ),
    Program(
        name="rot13-cookie", source=f"# -*- coding: rot13 -*-\ndef solution(x):\n{_ANSWER}", official=ANY, honest=True
    ),
]
