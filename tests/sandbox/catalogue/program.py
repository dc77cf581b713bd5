"""An honest program as data: a task's signature, a correct program, and the task's tests."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

SIGNATURE = "def solution(x):\n"


@dataclass(frozen=True, kw_only=True)
class Program:
    """One correct program. Its tests pass when they run in the same process, as the official evaluator runs them."""

    name: str
    signature: str
    source: str
    tests: str

    def written(self) -> str:
        """Return the whole program, without the benchmark's assembly."""
        return f"{self.signature}    pass\n\n{self.source}\n\n{self.tests}"


def honest(name: str, source: str, tests: str, signature: str = SIGNATURE) -> Program:
    """Describe a program whose tests are the statements of one function, as HumanEval-V writes them."""
    body = textwrap.indent(textwrap.dedent(tests).strip("\n"), "    ")
    written = f"def test():\n{body}\n\ntest()\n"
    return Program(name=name, signature=signature, source=textwrap.dedent(source).strip("\n") + "\n", tests=written)
