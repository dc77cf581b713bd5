"""Answers as the judge reads them, made from values."""

import json
from typing import Any

import inside
import phases

views = inside.load("tests.views")
sameness = inside.load("tests.sameness")
kinds = inside.load("tests.kinds")
sending = inside.load("values.sending")
wire = inside.load("values.wire")
likeness = inside.load("tests.likeness")

CALL: dict[str, Any] = {"f": {"x": ["name", "solution"]}, "v": [], "k": [], "n": []}


def call(*values: Any) -> dict[str, Any]:
    """Return a call with these arguments."""
    encoder = sending.Encoder({})
    return CALL | {"v": [encoder.encode(value) for value in values], "n": encoder.nodes}


def reply(value: Any = None, *, key: str = "v", printed: str = "") -> str:
    """Return an answer as a program sends it."""
    encoder = sending.Encoder({}, functions=True, reads=("area",))
    atom = encoder.encode(value)
    return str(wire.encode({key: atom, "m": [], "n": encoder.nodes, "p": printed}))


class Answered:
    """A value that a program answered."""

    def __init__(self, value: Any, key: str = "v") -> None:
        self.texts = ["{}", reply(value, key=key)]
        self.messages = views.Messages(self.texts[0], self.texts[1:], [CALL])
        self.messages.next()
        self.messages.next()
        self.part = self.messages.part(key)

    @property
    def view(self) -> Any:
        """What the value is."""
        return self.messages.view(self.part)


def answer(messages: Any) -> Any:
    """Return what the next message returns."""
    messages.next()
    return messages.part("v")


def places(expected: Any, returned: Any, reads: tuple[str, ...] = (), key: str = "v") -> list[Any]:
    """Return where two answers differ."""
    one, other = Answered(expected, key), Answered(returned, key)
    return list(sameness.Comparison(one.messages, other.messages, reads).places(0, one.part, other.part))


def problem(expected: Any, returned: Any, largest: float = 1.0, key: str = "v") -> str:
    """Return how an answer differs in kind where it differs; empty if it does not."""
    one, other = Answered(expected, key), Answered(returned, key)
    found = sameness.Comparison(one.messages, other.messages, ("args",)).places(0, one.part, other.part)
    assert found, "the answers are the same"
    known = kinds.largest_of(views.every(one.messages, [one.part]))
    same_kind = kinds.Kinds(one.messages, other.messages, max(largest, known))
    return next((why for place in found if (why := same_kind.problem(place))), "")


THREE = "for n in range(3):\n    solution(n)"


def compared(reference: str, sample: str, test: str, other_run: str = "") -> Any:
    """Compare two programs' answers to the calls of some tests."""
    spec = phases.task(test)
    recorded = phases.calls_of(spec)

    def messages(body: str) -> list[str]:
        said = phases.answers(f"def solution(a):\n    {body}\n", spec, recorded)
        return [said["hello"], *said["replies"]]

    runs = [messages(body) for body in (reference, other_run) if body]
    found = likeness.Likeness(
        [json.loads(call) for call in recorded["calls"]], recorded["reads"], runs, messages(sample)
    )
    found.compare()
    return found
