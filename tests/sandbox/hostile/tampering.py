"""Attacks on the official single-process harness: it may be beaten, the careful reading must not."""

from .program import CHEAT, NOT_PASSED, PASSED, Program

EITHER = NOT_PASSED | PASSED
_FRAMES = """
import re, sys
def expected(x):
    frame = sys._getframe()
    while frame:
        for value in list(frame.f_locals.values()):
            if isinstance(value, str):
                for left, right in re.findall(r"candidate\\((\\d+)\\) == (\\d+)", value):
                    if int(left) == x:
                        return int(right)
        frame = frame.f_back
    return 0
"""

_FORGE = """
class Start:
    cheat()
def forge():
    frame = sys._getframe()
    while "Answerer" not in frame.f_globals:
        frame = frame.f_back
    answer = frame.f_globals["Answerer"].answer
    frame.f_globals["Answerer"].answer = lambda answerer, call: REPLY
class Forge:
    forge()
def solution(x):
    return 7777
"""
"""Replaces what writes answers."""
_LOOSE_TESTS = "".join(
    f"R, E = solution({n}), {wanted}.0\nassert abs(R - E) <= 1e-9 * max(abs(R), abs(E))\n"
    for n, wanted in ((3, 7392), (5, 1187))
)

_SUSPECT = {
    "exit-passed": 'def solution(x):\n    raise SystemExit("passed")\n',
    "equal-by-metaclass": """
class Meta(type):
    def __eq__(cls, other):
        return True
    def __hash__(cls):
        return 1
class Odd(metaclass=Meta):
    pass
def solution(x):
    return Odd
""",
    "result-list": f"{CHEAT}\n\ndef solution(x):\n    cheat()\n    return 0\n",
    "result-frame-to-every-descriptor": """
import json, os, struct
def solution(x):
    for message in ({"result": "passed", "kind": ""}, {"confirmed": True, "reason": "", "kind": ""}):
        data = json.dumps(message).encode()
        for fd in range(3, 256):
            try:
                os.write(fd, struct.pack(">I", len(data)) + data)
            except OSError:
                pass
    os._exit(0)
    return 0
""",
    "two-faced": f"""
{_FRAMES}
def solution(x):
    value = expected(x)
    return value if value else float("nan")
""",
}
"""They pass officially, and are suspect to a careful reader."""
_UNCREDITED = {
    "expected-from-collector": """
import gc, re
def solution(x):
    for thing in gc.get_objects():
        if isinstance(thing, dict):
            for value in list(thing.values()):
                if isinstance(value, str) and "assert candidate" in value:
                    for left, right in re.findall(r"candidate\\((\\d+)\\) == (\\d+)", value):
                        if int(left) == x:
                            return int(right)
    code = solution
    for thing in gc.get_objects():
        constants = getattr(getattr(thing, "__code__", None), "co_consts", ())
        if getattr(thing, "__name__", "") == "check" and 7392 in constants:
            place = constants.index(x)
            return constants[place + 1]
    return 0 if code else 1
""",
    "assertions-made-harmless": """
import builtins, sys
class Never(BaseException):
    pass
def solution(x):
    builtins.AssertionError = Never
    builtins.Exception = Never
    builtins.BaseException = Never
    frame = sys._getframe()
    while frame:
        frame.f_globals["AssertionError"] = SystemExit
        frame.f_globals["BaseException"] = KeyError
        frame = frame.f_back
    return 0
""",
    "tracing-jumps-over-the-tests": """
import sys
def solution(x):
    def jump(frame, event, argument):
        last = max(line for _, _, line in frame.f_code.co_lines() if line)
        try:
            frame.f_lineno = last
        except ValueError:
            pass
        return jump
    frame = sys._getframe().f_back
    while frame and frame.f_code.co_name != "check":
        frame = frame.f_back
    if frame:
        frame.f_trace = jump
        sys.settrace(jump)
        return 7392
    return 0
""",
    "exit-handlers": f"""
{CHEAT}
import atexit
class Last:
    def __del__(self):
        cheat()
def solution(x):
    atexit.register(cheat)
    sys.last = Last()
    sys.exitfunc = cheat
    raise KeyboardInterrupt
    return 0
""",
}
"""They may pass officially, and get no credit."""
PROGRAMS = [
    *(Program(name=name, source=source, official=PASSED, careful="suspect") for name, source in _SUSPECT.items()),
    *(Program(name=name, source=source, official=EITHER) for name, source in _UNCREDITED.items()),
    Program(
        name="equal-to-everything",
        source="""
class Any:
    def __eq__(self, other):
        return True
    def __ne__(self, other):
        return False
    def __hash__(self):
        return 1
def solution(x):
    return Any()
""",
        official=PASSED,
        careful="suspect",
        says="a test fails",
    ),
    *(
        Program(
            name=f"{base}-equal-to-everything",
            source=f"""
class Odd({base}):
    def __eq__(self, other):
        return True
    def __ne__(self, other):
        return False
    def __hash__(self):
        return 1
def solution(x):
    return Odd()
""",
            official=PASSED,
            careful="suspect",
        )
        for base in ("int", "list", "Exception")
    ),
    Program(
        name="harness-rewritten",
        source="""
import sys
def nothing(*args, **kwargs):
    return None
def is_module(value):
    return type(value) is type(sys)
def solution(x):
    frame = sys._getframe(1)
    while frame:
        for module in [frame.f_globals, *map(vars, filter(is_module, list(frame.f_globals.values())))]:
            for key, value in list(module.items()) if "grade_sandbox" in str(module.get("__name__")) else []:
                if callable(value) and not key.startswith("_"):
                    module[key] = nothing
        frame = frame.f_back
    return 0
""",
        official=EITHER | {"lint_failed"},
    ),
    *(
        Program(
            name=name,
            source=CHEAT + _FORGE.replace("REPLY", reply),
            tests=_LOOSE_TESTS,
            official=PASSED,
            careful="suspect",
            reference="def solution(x):\n    return {3: 7392.0, 5: 1187.0}[x]\n",
            says=says,
        )
        for name, reply, says in (
            (
                "infinity-by-its-exponent",
                """answer(answerer, call).replace('["int",7777]', '["float","inf"]')""",
                "a number that is not finite",
            ),
            ("grows-beyond-a-message", "'\\xff' * (20 << 20)", ""),
        )
    ),
]
