"""Questions about the other objects of a class, so that a comparison that is always true is found.

If the tests compare objects of a class that the candidate must write, each comparison is also asked about all other
pairs of its objects, after the tests have ended. A declared method counts as a comparison if it gets such an object and
the tests take its answer as a truth value. The answers have to be those of the reference solution.
"""

from __future__ import annotations

import itertools

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Expression = list[Any]
    Question = tuple[bool, str, Expression, Expression]
    """Whether a method compares and not an operator, its name, and both objects."""

MAX_OBJECTS = 12


class Others:
    """The comparisons of the tests, and the objects that they could compare as well."""

    def __init__(self) -> None:
        self.objects: list[Expression] = []
        """The objects that the tests have constructed."""
        self.owners: dict[int, tuple[Expression, str]] = {}
        """Call that reads an attribute -> the object, and the attribute's name."""
        self._asked: list[Question] = []
        self._calls: dict[int, Question] = {}
        """Call of a method with one object -> a question, if the tests take the answer as a truth value."""

    def compared(self, name: str, left: Expression, right: Expression) -> None:
        """Note a comparison by an operator."""
        self._asked.append((False, name, left, right))

    def called(self, number: int, target: Expression, argument: Expression) -> None:
        """Note the call of a method with one object."""
        if target[0] == "ans" and target[1] in self.owners:
            owner, name = self.owners[target[1]]
            self._calls[number] = True, name, owner, argument

    def asked_for_truth(self, answer: Expression) -> None:
        """Note that the tests take an answer as a truth value."""
        if answer[0] == "ans" and answer[1] in self._calls:
            self._asked.append(self._calls[answer[1]])

    def questions(self) -> Iterator[Question]:
        """Yield each further question."""
        for is_method in (False, True):
            asked = [question for question in self._asked if question[0] is is_method]
            named = [one for _, _, left, right in asked for one in (left, right)]
            objects = list({repr(one): one for one in [*named, *self.objects]}.values())[:MAX_OBJECTS]
            for name in dict.fromkeys(name for _, name, _, _ in asked):
                for left, right in itertools.permutations(objects, 2):
                    if (is_method, name, left, right) not in asked:
                        yield is_method, name, left, right
