"""Attacks on the split harness: what a candidate's process may say to the process of its tests."""

from .program import CHEAT, PASSED, Program

_SIGNATURE = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Point:
    a: int
def solution(x):
"""
_SEND = """
def send(message):
    data = message if isinstance(message, bytes) else json.dumps(message, separators=(",", ":")).encode()
    for fd in range(3, 10):
        try:
            socket.socket(fileno=os.dup(fd)).sendall(struct.pack(">I", len(data)) + data)
        except OSError:
            pass
"""
_LIST_TESTS = "\n\nresult = solution([1, [2], {3: 4}])\nassert result == 12345, result\n"


def _forger(name: str, message: str, tests: str = _LIST_TESTS, says: str = "") -> Program:
    """A candidate that passes officially by cheating, then answers the tests' first call with `message`."""
    source = f"""
{CHEAT}
{_SEND}
def solution(x):
    cheat()
    send({message})
    time.sleep(0.3)
    os._exit(0)
    return 0
"""
    return Program(
        name=f"forged-{name}",
        source=source,
        official=PASSED,
        signature=_SIGNATURE,
        tests=tests,
        careful="suspect",
        says=says,
    )


_RETURNED = '["tuple", [1, 2]], ["str", "returned"]'
_NODES = {
    "pointers-of-numpy": '["array", ["|O", [1], "AAAAAAAAAAA="]]',
    "hash-flood": '["set", [*range(3, 50003)]], *[["int", hex(i * ((1 << 61) - 1))] for i in range(50000)]',
    # Each tuple has the next one twice, so the hash of the first one takes 2 ** 60 steps.
    "shared-tuples-hashed": '["set", [3]], *[["tuple", [i, i]] for i in range(4, 64)], ["tuple", []]',
    "deep-tuples-hashed": ('["set", [3]], *[["tuple", [i + 4]] for i in range(90000)], ["tuple", []]'),
}
_MESSAGES = {
    "huge-integer": f'[{_RETURNED}, ["int", "0x" + "f" * 20000000]]',
    "system-exit": (
        '[["tuple", [1, 2]], ["str", "raised"], ["exception", [".SystemExit", "SystemExit", [3], []]], ["tuple", []]]'
    ),
    "confirmation": '{"confirmed": True, "reason": "", "kind": ""}',
    "frame-of-40-mb": 'b"x" * (40 << 20)',
}
"""What no honest process sends: a few for a real channel; test_value_format.py and test_verdicts.py have the others."""

_SUSPECT = {
    "answers-before-the-questions": f"""
{CHEAT}
{_SEND}
class Early:
    send({{"functions": ["solution", "check", "isinstance", "print"]}})
    for count in range(50):
        send([["tuple", [1, 2]], ["str", "returned"], ["int", count]])
def solution(x):
    cheat()
    return 0
""",
    "floods-its-tests": f"""
{CHEAT}
def solution(x):
    cheat()
    for fd in range(3, 10):
        try:
            while True:
                os.write(fd, b"\\x00\\x00\\x00\\x02{{}}" * 4096)
        except OSError:
            pass
    return 0
""",
}
"""They pass officially, and are suspect to a careful reader."""
PROGRAMS = [
    *(Program(name=name, source=source, official=PASSED, careful="suspect") for name, source in _SUSPECT.items()),
    *(_forger(name, message) for name, message in _MESSAGES.items()),
    *(_forger(name, f"[{_RETURNED}, {nodes}]") for name, nodes in _NODES.items()),
    _forger(
        "frozen-instance-changed",
        '[["tuple", [1, 2, 3, 4, 5, 6]], ["str", "returned"], ["int", 1], ["tuple", [7]], ["dict", []], ["str", ""], '
        '["int", 0], ["object", ["Point", [2], ["__class__"]]]]',
        "\n\npoint = Point(1)\nresult = solution(point)\nassert result == 1 and point.a == 7\n",
    ),
    _forger(
        "integer-power-in-a-decimal",
        f'[{_RETURNED}, ["decimal", "1E+99999999"]]',
        "\n\nresult = solution(1)\nassert result == 5\n",
    ),
    Program(
        name="forged-stop-iteration-ends-the-loop",
        source="def solution(x):\n    raise StopIteration\n",
        official=PASSED,
        tests="\n\nfor got, want in zip(map(solution, [3, 5]), [7392, 1187]):\n    assert got == want\n",
        careful="suspect",
    ),
    *(
        Program(
            name=f"{name}-where-the-tests-catch-everything",
            source=f"""
{CHEAT}
{_SEND}
def solution(x):
    cheat()
    {words}
    return object()
""",
            official=PASSED,
            tests="\n\nok = 0\ntry:\n    solution(3)\nexcept:\n    ok = 1\nassert ok\n",
            careful="suspect",
        )
        for name, words in (
            ("ends", "os._exit(0)"), ("returns-what-cannot-cross", "pass"),
        )
    ),
    Program(
        name="classes-of-the-signature-redefined",
        source="""
class Point:
    def __init__(self, a):
        self.a = a
    def __eq__(self, other):
        return True
    __hash__ = None
def solution(x):
    return Point(0)
""",
        official=PASSED,
        signature=_SIGNATURE,
        tests="\n\nassert solution(3) == Point(7392)\n",
        careful="suspect",
    ),
    Program(
        name="modules-replaced",
        source="""
class Anything:
    def __getattr__(self, name):
        return lambda *args, **kwargs: True
class math:
    isclose = staticmethod(lambda *args, **kwargs: True)
def solution(x):
    import sys
    for name in ("math", "numpy", "collections", "re"):
        sys.modules[name] = Anything()
    return 0.5
""",
        official=PASSED,
        tests="\n\nassert math.isclose(solution(3), 7392.0)\n",
        signature=f"import math\n\n\n{'def solution(x):'}\n",
        careful="suspect",
    ),
]  # fmt: skip
