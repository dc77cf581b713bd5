"""Values between processes: what is sent arrives as it was, and no message does anything but be read."""

import collections
import contextlib
import dataclasses
import datetime
import decimal
import enum
import fractions
import io
import json
import math
import threading
from typing import Any, NamedTuple

import inside
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from plain_data import DATA

from tests.conftest import cases
from tests.tables import each

values = inside.load("values")


class Node:
    def __init__(self, value: object) -> None:
        self.value, self.next = value, None


class Slotted:
    __slots__ = ("x", "y")


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int


class Pair(NamedTuple):
    left: object
    right: object


class Colour(enum.Enum):
    RED = 1


class Refused(ValueError):  # noqa: N818 - as a signature may call it
    def __init__(self, why: str, amount: int) -> None:
        super().__init__(why)
        self.amount = amount


CONTEXT = values.Context({kind.__name__: kind for kind in (Node, Slotted, Point, Pair, Colour, Refused)})


def crossed(value: object) -> Any:
    return values.read(values.write(value, CONTEXT), CONTEXT)


EXACT: list[Any] = [
    None, True, 0, -1, 1 << 62, 10**3000, 0.1, -0.0, math.inf, math.nan, 1e-320, 1j, complex(0.0, -0.0), "", "a\n\"\\",
    "\ud800", b"\x00\xff", bytearray(b"ab"), [], [1, -0.0, 1 << 60],
    [1, [2.0]], [True, 1], [math.nan, 1], (), (1, (True,)), {1, 2}, frozenset({"a"}),
    {"a": [1], 2: None}, {"b": 1, "a": 2}, collections.Counter("aab"), collections.OrderedDict(b=1, a=2),
    collections.defaultdict(list, {1: [2]}), collections.deque([1, 2], 3), range(2, 9, 3), slice(1, None, 2),
    decimal.Decimal("1.50"), fractions.Fraction(1, 3), datetime.date(2024, 2, 29), datetime.time(1, 2, 3, 4),
    datetime.timedelta(-1, 5), datetime.datetime(2024, 2, 29, tzinfo=datetime.timezone(datetime.timedelta(hours=-2))),
    np.array([[1.5, 2], [3, 4]]), np.array([1, 2], np.uint8), np.array(["a", "bc"]),
    np.float32(0.1), np.int64(-3), np.bool_(True), Point(1, 2), Pair([1], 2), Colour.RED, len, math.sqrt, int,
    type(None), ValueError, Node, {1: 2}.keys(), {1: 2}.items(),
]  # fmt: skip


@each("value", EXACT)
def test_a_value_arrives_exactly(value: Any) -> None:
    """It is of the same type, and written it is the same message: floats, orders and types of NumPy included."""
    there = crossed(value)
    assert type(there) is type(value)
    assert values.write(there, CONTEXT) == values.write(value, CONTEXT)
    assert repr(there) == repr(value)


@settings(max_examples=cases(300))
@given(DATA)
def test_whatever_honest_programs_answer_can_be_sent(value: Any) -> None:
    one = values.write(value)
    assert values.write(values.read(one)) == one


def test_a_million_numbers_are_a_message() -> None:
    """HumanEval/130 of HumanEval+ asks for them."""
    numbers = [n / 2 for n in range(1_000_000)]
    assert crossed(numbers) == numbers


def test_aliases_and_cycles_are_kept() -> None:
    inner: list[Any] = [1]
    both = crossed((inner, [inner]))
    assert both[1][0] is both[0]
    node = Node(1)
    node.next = node  # type: ignore[assignment]
    assert crossed(node).next.next.value == 1
    deep: Any = None
    for _ in range(5000):
        deep = [deep]
    assert isinstance(crossed(deep), list)


def test_objects_of_a_class_that_only_the_program_has_arrive_as_their_attributes() -> None:
    class Own:
        __module__ = "__main__"

        def __init__(self) -> None:
            self.x, self.itself = [1], self

    one = crossed(Own())
    assert (one.x, one.itself is one, type(one).__name__) == ([1], True, "Own")
    slotted = Slotted()
    slotted.x = 3
    assert (crossed(slotted).x, hasattr(crossed(slotted), "y")) == (3, False)


def test_exceptions_arrive_with_their_family_their_name_and_their_arguments() -> None:
    class Own(Refused):
        pass

    error = crossed(Own("no", 5))
    assert (type(error).__name__, isinstance(error, Refused), error.args, error.amount) == ("Own", True, ("no",), 5)
    assert crossed(KeyError("k", 1)).args == ("k", 1)
    assert str(crossed(FileNotFoundError(2, "none"))) == "[Errno 2] none"


def test_an_iterator_arrives_as_its_items_up_to_a_bound() -> None:
    assert list(crossed(iter([1, 2]))) == [1, 2]

    def endless() -> Any:
        while True:
            yield 1

    with pytest.raises(values.EndlessError):
        list(crossed(endless()))


@each(
    "value",
    [
        threading.Lock(), io.StringIO("a"), open, eval, print, lambda: 1, type, json, "".join, datetime.datetime.now,
        np.array([(1, 2.0)], dtype=[("a", "i4"), ("b", "f8")]), np.array([None]), np.datetime64("2024-01-01"),
    ],
)  # fmt: skip
def test_what_cannot_be_sent_is_named(value: Any) -> None:
    with pytest.raises(values.UnsendableError):
        values.write([value])


def test_a_class_that_overrides_comparison_is_not_taken_for_its_base() -> None:
    liar = type(
        "Liar", (int,), {"__eq__": lambda self, other: True, "__hash__": int.__hash__, "__module__": "__main__"}
    )
    with pytest.raises(values.UnsendableError, match="overrides comparison"):
        values.write(liar(3))


def test_the_items_of_a_derived_list_are_those_that_it_has_and_not_those_that_it_tells() -> None:
    class Telling(list[Any]):
        __module__ = "__main__"

        def __iter__(self) -> Any:
            return iter([7, 8])

    assert crossed([Telling(["a", 1]), Telling([1, 2])]) == [["a", 1], [1, 2]]


@each("name", ["Series", "DataFrame"])
def test_tables_are_sent_with_index_columns_and_types(name: str) -> None:
    pandas = pytest.importorskip("pandas")
    one = pandas.DataFrame({"a": [1, 2], "b": ["x", None]}, index=pandas.Index([3, 4], name="n"))
    if name == "Series":
        pandas.testing.assert_series_equal(crossed(one["a"]), one["a"])
    else:
        pandas.testing.assert_frame_equal(crossed(one), one)


# --- messages that nobody honest sends -----------------------------------------------------------------------------


def nodes(*found: Any) -> str:
    return json.dumps(found)


PICKLES = {
    "numpy.dtypes to eval": nodes(["known", "numpy.dtypes.eval"]),
    "a type of an array that is code": nodes(["array", ["numpy.dtypes.ObjectDType", [1], ""]]),
    "operator.call": nodes(["known", "operator.call"]),
    "a function that gets attributes": nodes(["known", "operator.attrgetter"]),
    "BUILD on a class": nodes(["object", ["Node", [1], ["__class__"]]], ["known", "int"]),
    "the state of an object": nodes(["tree", ["T", [1], ["__dict__"]]], ["dict", []]),
}
"""The ways that were found through the list of allowed names of an unpickler."""
MALFORMED = {
    **PICKLES,
    "nothing": "", "no table": "{}", "an empty table": "[]", "text": "x", "nesting": "[" * 100_000, "a number": "[1]",
    "an unknown kind": nodes(["eval", "1"]), "a node of three": nodes(["int", 1, 2]), "NaN": '[["float", NaN]]',
    "an invalid float": nodes(["float", "0x" + "f" * 10_000]), "a missing part": nodes(["list", [1]]),
    "a negative part": nodes(["list", [-1]]), "a text as a part": nodes(["list", ["0"]]),
    "truth as a part": nodes(["list", [True]]), "a tuple of itself": nodes(["tuple", [0]]),
    "a ring of tuples": nodes(["tuple", [1]], ["tuple", [0]]),
    "a deep tuple": nodes(*[["tuple", [n + 1]] for n in range(90_000)], ["int", 1]),
    "a key that has no hash": nodes(["dict", [1, 1]], ["list", []]), "a key alone": nodes(["dict", [1]], ["int", 1]),
    "a set of lists": nodes(["set", [1]], ["list", []]),
    "an array larger than its bytes": nodes(["array", ["<f8", [1 << 40], ""]]),
    "a negative shape": nodes(["array", ["<f8", [-1], ""]]),
    "an array of objects": nodes(["array", ["O", [0], ""]]),
    "a record array": nodes(["array", ["V8", [1], "AAAAAAAAAAA="]]),
    "a huge type": nodes(["array", ["<U999999999999", [1], ""]]),
    "an array by its memory": nodes(["tree", ["T", [1], ["__array_interface__"]]], ["dict", []]),
    "a method hidden by data": nodes(["object", ["Hiding", [1], ["method"]]], ["int", 1]),
    "an unknown class": nodes(["object", ["os.system", [], []]]),
    "a factory that is a function": nodes(["default", [1, []]], ["known", "len"]),
    "an invalid exception": nodes(["exception", [".int", "int", [1], []]], ["tuple", []]),
    "arguments that are none": nodes(["exception", [".ValueError", "E", [1], []]], ["int", 1]),
    "a fraction by zero": nodes(["fraction", [1, 2]], ["int", 1], ["int", 0]),
    "an invalid date": nodes(["date", [1, 1, 1]], ["int", 99]),
    "an invalid zone": nodes(["datetime", [1] * 8], ["int", 1]),
    "a range without a step": nodes(["range", [1, 1, 1]], ["int", 0]),
    "fields twice": nodes(["record", [["", "P", "a", "a"], [1, 1]]], ["int", 1]),
    "a reserved field": nodes(["record", [["", "P", "__class__"], [1]]], ["int", 1]),
    "an answer": nodes(["answer", 0]), "an object of nobody": nodes(["remote", [0, "Stack", 0]]),
    "a function of nobody": nodes(["function", 0]), "a member by another name": nodes(["member", ["Colour", "mro"]]),
    "truth among numbers": nodes(["numbers", [1, True]]), "a text of numbers": nodes(["numbers", "123"]),
    "an invalid decimal": nodes(["decimal", "x"]),
}  # fmt: skip


class Hiding:
    def method(self) -> None:
        """Hidden by nothing."""


@each("text", MALFORMED)
def test_a_message_that_no_honest_process_sends_is_refused(text: str) -> None:
    context = values.Context({**CONTEXT.classes, "Hiding": Hiding})
    with pytest.raises(values.MalformedError):
        values.read(text, context)


CONTENT = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 5)
    | st.integers()
    | st.text(max_size=5)
    | st.sampled_from(["<f8", "O", "nan", "0x1.8p+1", "Node", "Pair", "Colour", "RED", ".ValueError", "len", "value"]),
    lambda inner: st.lists(inner, max_size=4),
    max_leaves=8,
)
TABLE = st.lists(st.tuples(st.sampled_from(sorted(values.KINDS)), CONTENT).map(list), min_size=1, max_size=6)


@settings(max_examples=cases(1000))
@given(TABLE.map(json.dumps) | st.text() | st.binary())
@example('[["tree", ["T", [1], ["x"]]], ["array", ["<i8", [0], ""]]]')
def test_any_message_ends_in_a_value_or_in_one_error(text: str | bytes) -> None:
    with contextlib.suppress(values.MalformedError):
        values.read(text, CONTEXT)


def test_reading_calls_nothing_of_a_class_that_a_message_names() -> None:
    called: list[str] = []

    class Watched:
        def __init__(self) -> None:
            called.append("init")

        def __setattr__(self, name: str, value: object) -> None:
            called.append("setattr")

    context = values.Context({"Watched": Watched})
    one = values.read(nodes(["object", ["Watched", [1], ["x"]]], ["int", 1]), context)
    assert (vars(one), called) == ({"x": 1}, [])
