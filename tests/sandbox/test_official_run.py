"""What a program's process says of it when it runs the official way, its holes included."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from __future__ import annotations

from typing import Any

import phases
import pytest

pytestmark = phases.MARKS


def official(program: str, prefix: str = "") -> dict[str, Any]:
    """Run a program as the official evaluator does; return what it reported."""
    said = phases.do("run", head=program, test="", failed_prefix=prefix, timed_out="timed out")
    return {name: said[name] for name in ("result", "kind", "lines") if name in said}


@pytest.mark.parametrize(
    ("program", "prefix", "text", "kind"),
    [
        ("class A:\n    x: int\nassert A.__annotations__['x'] is int", "failed: ", "passed", ""),
        ("assert 1 == 2, 'not so'", "", "not so", "AssertionError"),
        ("1 / 0", "failed: ", "failed: division by zero", "ZeroDivisionError"),
        ("def f(:", "", "invalid syntax (<string>, line 1)", "SyntaxError"),
        ("raise SystemExit('passed')", "", "passed", "SystemExit"),
        ("input()", "", "", "OSError"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGALRM)\nwhile True: pass", "", "timed out", "timeout"),
        ("import sys\nsys._getframe(1).f_locals['result'].append('passed')\n1 / 0", "", "passed", ""),
        ("raise ValueError('x' * 30_000)", "", "x" * 20_000 + "... [10000 more characters]", "ValueError"),
        ("raise ValueError('\\ud800\\x00\\x1b')", "", "\ufffd\x00\x1b", "ValueError"),
    ],
)
def test_the_official_run_reports_what_the_published_evaluator_would(
    program: str, prefix: str, text: str, kind: str
) -> None:
    result = official(program, prefix)
    assert (result["result"], result["kind"]) == (text, kind)


def test_a_process_that_ends_itself_reports_nothing() -> None:
    assert official("import os\nos._exit(0)") == {}


def test_what_a_program_prints_is_swallowed_and_bounded() -> None:
    program = "import sys\nfor _ in range(300):\n    print('x' * 100_000)\n    sys.stderr.write('y')\nassert sys.stdout.tell() < 2_000_000"
    assert official(program) == {"result": "passed", "kind": ""}


def test_a_long_message_of_wide_characters_and_a_long_name_arrive_clipped() -> None:
    result = official("class E(Exception):\n    pass\nE.__name__ = 'n' * 10**6\nraise E('\\U0001f600' * 10**5)")
    assert (len(result["result"]), len(result["kind"])) == (20_027, 200)


def test_the_lines_an_exception_came_by_are_told_outermost_first_and_bounded() -> None:
    program = "def f(n):\n    if n:\n        return f(n - 1)\n    raise ValueError\n\n\nf(2)"
    result = official(program)
    assert result == {"result": "", "kind": "ValueError", "lines": "7,3,3,4"}
    result = official(program.replace("f(2)", "f(300)"))
    assert result["lines"] == "7,3,3,3,3,3,3,3"
