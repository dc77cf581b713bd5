"""The predictions that a self-test grades: their verdict is known in advance."""

from __future__ import annotations

from typing import Literal

import msgspec

Kind = Literal[
    "reference", "canary", "calibration", "python", "stub", "mutant", "hostile", "wrong", "wording", "refusal"
]
"""`reference`: the data's own solution. `canary`: an honest program that needs what the sandbox promises.
`calibration`: one that does a known amount of work. `python`: one that needs the official version of Python. `stub`: a
signature without a body. `mutant`: a reference with one change. `hostile`: a program that tries to pass without solving
the task. `wrong`: a wrong answer or program. `wording`: a right answer, worded in some way. `refusal`: no answer."""


class Probe(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction with its expected verdict."""

    qid: str
    prediction: str
    kind: Kind
    title: str
    """A short description for people: `line 3: + becomes -`."""
    official: bool | None = None
    """Whether the official reading must credit it; None: either is right."""
    careful: bool | None = None
    """Whether the careful reading must credit it; None: either is right."""
    agrees: bool = False
    """Whether both readings must agree, as they do for every honest program."""
    needs_tests: bool = False
    """Whether only tests can reject it. If they let a stub pass, they are also to blame when this passes."""
    standard_seconds: float = 0.0
    """For a `calibration`: the CPU seconds that it takes on the standard machine."""
    judge_reply: str | None = None
    """The judge's reply, if the task's scorer asks a judge about this prediction."""

    def expected(self, reading: str) -> bool | None:
        """Return whether a reading must credit it; None: either is right."""
        return self.official if reading == "official" else self.careful
