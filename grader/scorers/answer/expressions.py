"""Expressions in LaTeX, compared by math-verify in a process that is killed if it uses too much CPU time.

A short expression can keep a computer algebra system busy for ever. Only LaTeX is parsed: math-verify's reader of plain
expressions evaluates them as Python.
"""

from __future__ import annotations

import json
import select
import subprocess
import sys
from importlib.util import find_spec

from grader.errors import UsageError

_LIMIT = 2.0
"""Seconds of CPU time for one comparison."""
_MAX_WAIT = 60.0
"""Seconds for the process to import what it needs, or to compare on a busy machine."""
_MAX_LENGTH = 1_000
"""Characters of an expression that is compared."""
_MEMORY = 2 << 30
"""Bytes of the process, so that a power tower does not fill the computer's memory."""


class Comparer:
    """A process that compares expressions; it starts at the first comparison, and again after a kill."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None

    def __enter__(self) -> Comparer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None

    def are_equal(self, answer: str, gold: str) -> bool | None:
        """Return whether both are the same expression; None if they are too long, or comparing takes too long."""
        if max(len(answer), len(gold)) > _MAX_LENGTH:
            return None
        if self._process is not None and self._process.poll() is not None:
            self.close()  # killed while it waited: the kernel does so if memory is short
        process = self._process or self._start()
        assert process.stdin is not None
        process.stdin.write(json.dumps([answer, gold]) + "\n")
        process.stdin.flush()
        line = _line_in_time(process)
        if not line:
            self.close()
            return None
        return line == "true\n"

    def _start(self) -> subprocess.Popen[str]:
        if find_spec("math_verify") is None:
            raise UsageError('kind = "expression" needs math-verify: pip install "grade-predictions[math]"')
        command = [sys.executable, "-m", "grader.scorers.answer.expressions"]
        self._process = subprocess.Popen(  # noqa: S603 - a fixed command
            command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        if not _line_in_time(self._process):
            self.close()
            raise UsageError("The process that compares expressions did not start. Try: python -c 'import math_verify'")
        return self._process


def _line_in_time(process: subprocess.Popen[str]) -> str:
    """Return the next line of output; empty if the process ends, or says nothing for too long."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], _MAX_WAIT)
    return process.stdout.readline() if ready else ""


def _serve() -> None:
    """Answer every line [answer, gold] with true or false."""
    import resource
    import signal

    from math_verify import LatexExtractionConfig, parse, verify

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    latex = [LatexExtractionConfig()]
    _print_line("ready")
    for line in sys.stdin:
        # At the end of this time, the kernel ends the process.
        signal.setitimer(signal.ITIMER_PROF, _LIMIT)
        try:
            answer, gold = (parse(f"${t}$", extraction_config=latex, parsing_timeout=None) for t in json.loads(line))
            equal_if_rounded = bool(answer and gold and verify(gold, answer, timeout_seconds=None))
            equal = equal_if_rounded and not _are_different_numbers(answer[0], gold[0])
        except Exception:
            equal = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        _print_line(json.dumps(equal))


def _are_different_numbers(answer: object, gold: object) -> bool:
    """Whether two expressions are numbers that differ: math-verify rounds to six decimals, so 1e-7 equals 2e-7 there.

    Integers must be equal. Others may differ by 1e-4 of the larger one, as decimals of four digits do.
    """
    import sympy  # type: ignore[import-untyped]

    both = answer, gold
    if not all(isinstance(number, sympy.Expr) and number.is_number for number in both):
        return False
    # The answer must be an integer as it is written. The gold expression need only have an integer value, as 2 + 3 has.
    if answer.is_Integer and gold.is_integer:  # type: ignore[attr-defined]
        return bool(answer != sympy.simplify(gold))
    first, second = (sympy.N(number, 30) for number in both)
    return bool(abs(first - second) > sympy.Float("1e-4") * max(abs(first), abs(second)))


def _print_line(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve()
