"""Answers as the judge reads them, made from values."""

from typing import Any

import inside
import phases

views = inside.load("tests.views")
answers = inside.load("tests.answers")
sameness = inside.load("tests.sameness")
kinds = inside.load("tests.kinds")
sending = inside.load("values.sending")
messages = inside.load("values.messages")
likeness = inside.load("tests.likeness")
replay = inside.load("tests.replay")
RETURNED, RAISED = messages.RETURNED, messages.RAISED

CALL = messages.Call(["name", "solution"], [], [], [])
HELLO = messages.Hello().written().decode()


def call(*values: Any, **more: Any) -> Any:
    """Return a call with these arguments; `more`: other parts of it."""
    encoder = sending.Encoder({})
    return CALL._replace(**{"arguments": [*map(encoder.encode, values)], "nodes": encoder.nodes, **more})


def reply(value: Any = None, *, key: str = RETURNED, printed: str = "") -> str:
    """Return an answer as a program sends it."""
    encoder = sending.Encoder({}, functions=True, reads=("area",))
    atom = encoder.encode(value)
    return str(messages.Reply(key, atom, encoder.nodes, printed=printed).written().decode())


def reader(*calls: Any) -> Any:
    """Return what decodes the answers to some calls."""
    return answers.Reader({"classes": [], "stubs": []}, "", calls)


def answered(value: Any, key: str = RETURNED) -> Any:
    """Return a value as the judge has it, if a program answers it."""
    return reader(CALL).said([HELLO, reply(value, key=key)]).answers[0].value


def seen(value: Any, key: str = RETURNED) -> Any:
    """Return what an answered value is."""
    return views.view(answered(value, key))


def places(expected: Any, returned: Any, reads: tuple[str, ...] = (), key: str = RETURNED) -> list[Any]:
    """Return where two answers differ."""
    return list(sameness.Comparison(reads).places(0, answered(expected, key), answered(returned, key)))


def problem(expected: Any, returned: Any, largest: float = 1.0, key: str = RETURNED) -> str:
    """Return how an answer differs in kind where it differs; empty if it does not."""
    one, other = answered(expected, key), answered(returned, key)
    found = sameness.Comparison(("args",)).places(0, one, other)
    assert found, "the answers are the same"
    same_kind = kinds.Kinds(max(largest, kinds.largest_of(views.every([one]))))
    return next((why for place in found if (why := same_kind.problem(place))), "")


THREE = "for n in range(3):\n    solution(n)"


def compared(reference: str, sample: str, test: str, other_run: str = "") -> Any:
    """Compare two programs' answers to the calls of some tests."""
    spec = phases.task(test)
    recorded = phases.calls_of(spec)

    def said_by(body: str) -> list[str]:
        return phases.texts(phases.answers(f"def solution(a):\n    {body}\n", spec, recorded))

    runs = [said_by(body) for body in (reference, other_run) if body]
    tests = replay.Tests(spec | {"calls": recorded["calls"], "names": recorded["names"]})
    found = likeness.Likeness(tests.reader, recorded["reads"], runs, said_by(sample))
    found.compare()
    return found
