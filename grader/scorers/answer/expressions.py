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
_PATIENCE = 60.0
"""Seconds for the process to import what it needs, or to compare on a busy machine."""
_LONGEST = 1_000
_MEMORY = 2 << 30


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

    def equal(self, said: str, gold: str) -> bool | None:
        """Return whether both are the same expression; None if that is not known in time."""
        if max(len(said), len(gold)) > _LONGEST:
            return None
        process = self._process or self._start()
        assert process.stdin is not None
        process.stdin.write(json.dumps([said, gold]) + "\n")
        process.stdin.flush()
        line = _line(process)
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
        if not _line(self._process):
            self.close()
            raise UsageError("The process that compares expressions did not start. Try: python -c 'import math_verify'")
        return self._process


def _line(process: subprocess.Popen[str]) -> str:
    """Return the next line of output; empty if the process ends, or says nothing for too long."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], _PATIENCE)
    return process.stdout.readline() if ready else ""


def _serve() -> None:
    """Answer every line [said, gold] with true or false."""
    import resource
    import signal

    from math_verify import LatexExtractionConfig, parse, verify

    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    latex = [LatexExtractionConfig()]
    _say("ready")
    for line in sys.stdin:
        # At the end of this time, the kernel ends the process.
        signal.setitimer(signal.ITIMER_PROF, _LIMIT)
        try:
            said, gold = (parse(f"${t}$", extraction_config=latex, parsing_timeout=None) for t in json.loads(line))
            equal = bool(said and gold and verify(gold, said, timeout_seconds=None) and not _apart(said[0], gold[0]))
        except Exception:
            equal = False
        signal.setitimer(signal.ITIMER_PROF, 0)
        _say(json.dumps(equal))


def _apart(said: object, gold: object) -> bool:
    """Whether two expressions are numbers that differ: math-verify rounds to six decimals."""
    import sympy  # type: ignore[import-untyped]

    if not (isinstance(said, sympy.Expr) and isinstance(gold, sympy.Expr) and said.is_number and gold.is_number):
        return False
    if said.is_Integer and gold.is_integer:
        return bool(said != sympy.simplify(gold))
    one, other = sympy.N(said, 30), sympy.N(gold, 30)
    return bool(abs(one - other) > sympy.Float("1e-4") * max(abs(one), abs(other)))


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    _serve()
