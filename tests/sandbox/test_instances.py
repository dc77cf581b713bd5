"""Instances of a signature's classes: what a task declares, and what an instance may be given. And odd iterators."""

import functools
from typing import Any

import inside
import pytest

from grader.scorers.execution.assembly import read_signature

wire = inside.load("values.wire")
receiving = inside.load("values.receiving")
sending = inside.load("values.sending")
instances = inside.load("values.instances")

SIGNATURE = """
import datetime
from collections import namedtuple
from enum import Enum
import numpy as np

Point = namedtuple("Point", "a b")
Color = Enum("Color", "RED BLUE")
Number = int
Vector = np.ndarray
Kind = type(np.zeros(1))
LIMIT = int("3")

class Outer:
    class Inner:
        class Innermost:
            pass

def solution(x):
"""


def test_a_signature_declares_its_own_classes_and_no_librarys() -> None:
    signature = read_signature(SIGNATURE)
    namespace: dict[str, object] = {}
    exec(signature.source, namespace)
    declared = instances.declared(signature.classes, namespace)
    assert list(declared) == ["Point", "Color", "Outer", "Outer.Inner", "Outer.Inner.Innermost"]
    assert declared["Outer.Inner"] is namespace["Outer"].Inner  # type: ignore[attr-defined]


class Base:
    __slots__ = ("x",)


class Own(Base):
    limit = 5

    @functools.lru_cache  # noqa: B019
    def remembered(self) -> int:
        return 1

    @classmethod
    def of_class(cls) -> int:
        return 1

    @staticmethod
    def static() -> int:
        return 1


class RefusedError(ValueError):
    pass


CLASSES = {kind.__name__: kind for kind in (Own, RefusedError)}


def cross(value: object) -> Any:
    encoder = sending.Encoder({kind: name for name, kind in CLASSES.items()})
    atom = encoder.encode(value)
    decoder = receiving.Decoder(encoder.nodes, CLASSES)
    decoder.decode_all()
    return decoder.value(atom)


@pytest.mark.parametrize("name", ["remembered", "of_class", "static"])
def test_no_attribute_stands_before_a_method(name: str) -> None:
    own = Own()
    own.__dict__[name] = int
    with pytest.raises(wire.MalformedError, match="hides a method"):
        cross(own)


@pytest.mark.parametrize(
    "node",
    [
        ["error", "Own", [], []], ["error", "RefusedError", [], [["args", 5]]],
        ["error", "RefusedError", [], [["with_traceback", 5]]], ["iterator", 5, None],
    ],
    ids=str,
)  # fmt: skip
def test_a_node_no_honest_encoder_makes_is_malformed_or_harmless(node: list[object]) -> None:
    decoder = receiving.Decoder([node], CLASSES)
    try:
        decoder.decode_all()
    except wire.MalformedError:
        return
    assert type(decoder.built[0]) is RefusedError
    assert decoder.built[0].args == ()
