"""What a program's process says of it when it runs the official way, its holes included."""

# ruff: noqa: E501 - a whole case on one line is easier to compare with its neighbours

from typing import Any

import phases

from tests.tables import each

pytestmark = phases.MARKS


def official(program: str) -> dict[str, Any]:
    """Run a program as the official evaluator does; return what it reported."""
    said = phases.do("run", head=program, test="", failed_prefix="", timed_out="timed out")
    return {name: said[name] for name in ("result", "kind", "lines") if name in said}


@each(
    ("message", "text"),
    [("'x' * 30_000", "x" * 20_000 + "... [10000 more characters]"), ("'\\ud800\\x00\\x1b'", "\ufffd\x00\x1b")],
)
def test_a_message_is_cut_and_half_of_a_character_is_replaced(message: str, text: str) -> None:
    """What else the published evaluators say is in test_official_results.py."""
    result = official(f"raise ValueError({message})")
    assert (result["result"], result["kind"]) == (text, "ValueError")


@each(("file", "result"), [(True, "passed"), (False, "name '__file__' is not defined")])
def test_a_program_is_a_file_unless_the_published_evaluator_runs_a_text(file: bool, result: str) -> None:
    said = phases.do("run", head="__file__", test="", failed_prefix="", timed_out="timed out", file=file)
    assert said["result"] == result


def test_what_a_program_prints_is_swallowed_and_bounded() -> None:
    program = "import sys\nfor _ in range(300):\n    print('x' * 100_000)\n    sys.stderr.write('y')\nassert sys.stdout.tell() < 2_000_000"
    assert official(program) == {"result": "passed", "kind": ""}


def test_the_lines_an_exception_came_by_are_told_outermost_first_and_bounded() -> None:
    program = "def f(n):\n    if n:\n        return f(n - 1)\n    raise ValueError\n\n\nf(2)"
    result = official(program)
    assert result == {"result": "", "kind": "ValueError", "lines": "7,3,3,4"}
    result = official(program.replace("f(2)", "f(300)"))
    assert result["lines"] == "7,3,3,3,3,3,3,3"
