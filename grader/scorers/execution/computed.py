"""Results of the grader's own functions, kept in the cache of verdicts, because reading them takes less time.

Their keys include a hash of the functions' source code.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import resources
from grader.scorers.execution import assembly, extraction, regions

if TYPE_CHECKING:
    from grader.sandbox.interface import Job
    from grader.scorers.execution.settling import Settler

# Read at once: the files may change while this process runs.
_ASSEMBLY = resources.digest_of(assembly.__name__, extraction.__name__, regions.__name__)
MAX_CHARACTERS = 32 << 10
"""Results for longer texts are not kept."""


class Computed:
    """Computes with the cache of a settler."""

    def __init__(self, settler: Settler) -> None:
        self._settler = settler

    def program(
        self, text: str, signature: str, rules: extraction.Rules, tested: tuple[str, ...] = ()
    ) -> assembly.Program:
        """Return what `assemble` returns."""
        if len(text) > MAX_CHARACTERS:
            return assembly.assemble(text, signature, rules, tested)
        given: Job = {"assemble": text, "signature": signature, "rules": rules, "tested": tested, "code": _ASSEMBLY}
        return self._settler.computed(
            given, assembly.Program, lambda: assembly.assemble(text, signature, rules, tested)
        )
