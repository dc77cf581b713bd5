"""Values between candidate and tests: what crosses arrives as it was, what may not cross is named."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import datetime
import decimal
import enum
import fractions
import itertools
import json
import math
import random
from typing import Any, NamedTuple

import inside
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

crossing = inside.load("crossing")
receiving = inside.load("receiving")
sending = inside.load("sending")


# --- helpers ----------------------------------------------------------------------------------------------------


class Node:
    def __init__(self, value: object, *children: Node) -> None:
        self.value = value
        self.children = list(children)
        self.parent: Node | None = None


class Slotted:
    __slots__ = ("x", "y")

    def __init__(self, x: object) -> None:
        self.x = x


@dataclasses.dataclass(frozen=True)
class Point:
    x: int
    y: int


class Pair(NamedTuple):
    left: object
    right: object


class Colour(enum.Enum):
    RED = 1
    BLUE = "blue"


class Shade(enum.IntEnum):
    DARK = 1


CLASSES = {kind.__name__: kind for kind in (Node, Slotted, Point, Pair, Colour, Shade)}
NAMES = {kind: name for name, kind in CLASSES.items()}


def cross(value: object) -> Any:
    """Send a value to the other side, as bytes."""
    encoder = sending.Encoder(NAMES)
    atom = encoder.encode(value)
    message = crossing.loads(crossing.dumps({"v": atom, "n": encoder.nodes}))
    decoder = receiving.Decoder(message["n"], CLASSES)
    decoder.decode_all()
    return decoder.value(message["v"])


def refused(value: object) -> str:
    with pytest.raises(crossing.UncrossableError) as caught:
        cross(value)
    return str(caught.value)


def parts(value: Any) -> list[Any]:
    """What an object holds, in an order that both sides agree on."""
    match value:
        case dict():
            return [part for pair in value.items() for part in pair]
        case set() | frozenset():
            return sorted(value, key=repr)
        case list() | tuple() | collections.deque():
            return list(value)
        case Node() | Slotted():
            return [part for pair in sorted(sending.attributes(value).items()) for part in pair]
    return []


def same(sent: Any, received: Any) -> bool:
    """Equal in value, exact types, and in what is the same object as what; cycles included."""
    partner: dict[int, int] = {}
    waiting = [(sent, received)]
    while waiting:
        a, b = waiting.pop()
        if type(a) is not type(b):
            return False
        if isinstance(a, (list, dict, set, collections.deque, bytearray, Node, Slotted)):
            if partner.setdefault(id(a), id(b)) != id(b):
                return False
            if partner[id(a)] == id(b) and ("seen", id(a)) in partner:
                continue
            partner[("seen", id(a))] = 0  # type: ignore[index]
        if isinstance(a, collections.deque) and a.maxlen != b.maxlen:
            return False
        if isinstance(a, collections.defaultdict) and a.default_factory is not b.default_factory:
            return False
        inner_a, inner_b = parts(a), parts(b)
        if len(inner_a) != len(inner_b):
            return False
        waiting += zip(inner_a, inner_b, strict=True)
        if not inner_a and not isinstance(a, (Node, Slotted)) and not identical(a, b):
            return False
    return len({key for key in partner if isinstance(key, int)}) == len(
        {other for key, other in partner.items() if isinstance(key, int)}
    )


def identical(a: Any, b: Any) -> bool:
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, complex):
        return identical(a.real, b.real) and identical(a.imag, b.imag)
    return bool(a == b)


# --- what crosses -----------------------------------------------------------------------------------------------

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
HASHABLE_LEAVES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(1 << 200), max_value=1 << 200)
    | st.floats(allow_nan=False)
    | TEXT
    | st.binary(max_size=8)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.datetimes()
    | st.datetimes(timezones=st.just(datetime.UTC))
    | st.dates()
    | st.times()
    | st.timedeltas()
    | st.sampled_from([..., NotImplemented, int, list, type(None), range, Colour.RED, Shade.DARK])
)
LEAVES = HASHABLE_LEAVES | st.complex_numbers() | st.floats() | st.binary(max_size=8).map(bytearray)
HASHABLE = st.recursive(
    HASHABLE_LEAVES,
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=3) | st.builds(Pair, inner, inner),
    max_leaves=5,
)
VALUES = st.recursive(
    LEAVES | HASHABLE,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(HASHABLE, inner, max_size=3)
        | st.dictionaries(HASHABLE, inner, max_size=3).map(collections.OrderedDict)
        | st.dictionaries(HASHABLE, inner, max_size=3).map(lambda d: collections.defaultdict(list, d))
        | st.dictionaries(HASHABLE, st.integers(), max_size=3).map(collections.Counter)
        | st.sets(HASHABLE, max_size=3)
        | st.lists(inner, max_size=3).map(collections.deque)
        | st.builds(lambda items: collections.deque(items, maxlen=3), st.lists(inner, max_size=3))
        | st.builds(Node, inner)
        | st.builds(Slotted, inner)
    ),
    max_leaves=20,
)


@given(VALUES)
@settings(max_examples=300, deadline=None)
def test_any_nested_plain_value_arrives_equal_with_exactly_the_same_types(value: object) -> None:
    assert same(value, cross(value))


@given(st.data())
@settings(max_examples=150, deadline=None)
def test_objects_that_are_one_and_the_same_stay_so_cycles_included(data: st.DataObject) -> None:
    """A random graph of mutable objects, each of which may hold any other, itself included."""
    kinds = data.draw(st.lists(st.sampled_from(["list", "dict", "deque", "node"]), min_size=1, max_size=6))
    make = {"list": list, "dict": dict, "deque": collections.deque, "node": lambda: Node(0)}
    objects: list[Any] = [make[kind]() for kind in kinds]
    for target in objects:
        for other in data.draw(st.lists(st.sampled_from(objects), max_size=4)):
            held = data.draw(st.sampled_from([other, (other, 1)]))
            if isinstance(target, dict):
                target[len(target)] = held
            else:
                (target.children if isinstance(target, Node) else target).append(held)
    assert same(objects, cross(objects))


def test_a_list_that_holds_itself_holds_itself_on_the_other_side() -> None:
    value: list[Any] = [1]
    value.append(value)
    received = cross(value)
    assert received[0] == 1
    assert received[1] is received


def test_a_cycle_through_a_tuple_survives() -> None:
    inner: list[Any] = []
    value = (inner, "x")
    inner.append(value)
    received = cross(value)
    assert received[0][0] is received


def test_a_tree_with_parents_keeps_its_shape() -> None:
    leaf = Node("leaf")
    root = Node("root", leaf)
    leaf.parent = root
    received = cross(root)
    assert type(received) is Node
    assert (received.value, received.children[0].value) == ("root", "leaf")
    assert received.children[0].parent is received


def test_a_chain_of_ten_thousand_links_crosses_without_recursion() -> None:
    chain: list[Any] = []
    for _ in range(10_000):
        chain = [chain]
    depth, received = 0, cross(chain)
    while received:
        received, depth = received[0], depth + 1
    assert depth == 10_000


def test_instances_of_the_signatures_classes_cross_with_their_slots_and_without_what_is_unset() -> None:
    received = cross([Slotted([1]), Point(1, 2), Pair(1, [2]), Colour.BLUE, Shade.DARK])
    assert [type(item) for item in received] == [Slotted, Point, Pair, Colour, Shade]
    assert (received[0].x, hasattr(received[0], "y")) == ([1], False)
    assert received[1:] == [Point(1, 2), (1, [2]), Colour.BLUE, Shade.DARK]
    assert received[3] is Colour.BLUE


@pytest.mark.parametrize(
    "make",
    [set, frozenset, tuple, list, lambda p: {p[0]: 1}],
    ids=["set", "frozenset", "tuple", "list", "dict"],
)
def test_instances_that_hash_by_their_attributes_cross_inside_every_container(make: Any) -> None:
    value = make([Point(1, 2)])
    received = cross([value, value])
    assert received == [value, value]
    assert Point(1, 2) in received[0]


def test_a_set_of_frozensets_of_instances_crosses() -> None:
    value = {frozenset({Point(1, 2), Point(3, 4)}): "edge", (frozenset({Point(5, 6)}),): "loop"}
    assert cross(value) == value


def test_a_frozenset_waits_for_what_the_hashes_of_its_members_need() -> None:
    value = frozenset({Pair(Point((1, (2, 3)), frozenset({Point(4, 5)})), "x")})  # type: ignore[arg-type]
    assert cross(value) == value


def test_instances_in_frozensets_of_each_other_cross() -> None:
    """A graph whose nodes hash by identity and know their neighbours as frozensets."""
    one, two = Node(1), Node(2)
    one.value, two.value = frozenset({two}), frozenset({one, two})
    received = cross([one, two])
    assert received[0].value == {received[1]}
    assert received[1].value == set(received)


def test_views_ranges_and_slices_cross_as_what_they_are() -> None:
    value = [{"a": 1}.keys(), {"a": 1}.values(), {"a": 1}.items(), range(1, 9, 3), slice(None, 2)]
    received = cross(value)
    assert [type(item) for item in received] == [type(item) for item in value]
    assert [list(item) for item in received[:4]] == [["a"], [1], [("a", 1)], [1, 4, 7]]
    assert received[4] == slice(None, 2)


def test_iterators_cross_as_iterators_of_what_was_left_of_them() -> None:
    half_used = iter([1, 2, 3])
    next(half_used)
    value = [
        half_used,
        map(abs, [-1]),
        zip("a", "b", strict=True),
        enumerate("x"),
        reversed([1, 2]),
        itertools.chain([1], [2]),
    ]
    assert [list(item) for item in cross(value)] == [[2, 3], [1], [("a", "b")], [(0, "x")], [2, 1], [1, 2]]
    received = cross(n * n for n in range(3))
    assert type(received).__name__ == "generator"
    assert list(received) == [0, 1, 4]
    assert list(cross(itertools.combinations_with_replacement("ab", 2))) == [("a", "a"), ("a", "b"), ("b", "b")]
    for endless in (itertools.count(3), itertools.cycle("ab"), itertools.repeat(None)):
        first = [next(endless), next(endless)]
        assert list(itertools.islice(cross(itertools.chain(first, endless)), 2)) == first
        assert type(next(cross(endless))) is type(first[0])


def test_a_default_dictionary_keeps_a_plain_factory_and_loses_any_other() -> None:
    plain, own = cross([collections.defaultdict(int, a=1), collections.defaultdict(lambda: 7, a=1)])
    assert plain["missing"] == 0
    assert own == {"a": 1}
    assert own.default_factory is None
    made = cross(collections.defaultdict(list, a=[1]))
    assert made["missing"] == []
    failing = cross(collections.defaultdict(lambda: 1 / 0, a=[1]))
    assert failing.default_factory is None


@pytest.mark.parametrize(
    "text",
    ["\x00", "\ud800", "a\udfffb", "\u2028", "\U0001f600"],
    ids=lambda text: text.encode("unicode_escape").decode(),
)
def test_strange_text_crosses_as_it_is(text: str) -> None:
    assert cross([text, {text: text}]) == [text, {text: text}]


def test_two_lone_surrogates_stay_two_characters() -> None:
    text = "\ud83d" + "\ude00"
    assert len(cross(text)) == 2


@pytest.mark.parametrize(
    "error", [ValueError("bad", 1), KeyError("k"), StopIteration(), ZeroDivisionError("x")], ids=repr
)
def test_built_in_exceptions_cross_with_their_arguments(error: Exception) -> None:
    received = cross([error])[0]
    assert (type(received), received.args) == (type(error), error.args)


def test_an_exception_of_the_candidates_own_crosses_as_the_built_in_it_derives_from() -> None:
    class OwnError(LookupError):
        pass

    received = cross([OwnError("what", object(), [1])])[0]
    assert (type(received), received.args) == (LookupError, ("what",))


ARRAYS = [
    np.arange(6).reshape(2, 3),
    np.arange(6).reshape(2, 3).T,
    np.arange(10)[::-2],
    np.zeros((0, 3)),
    np.array(5.5),
    np.array([True, False]),
    np.array([1, 2], dtype=">i2"),
    np.array([1.5, np.inf], dtype=np.float16),
    np.array([1 + 2j]),
    np.array(["a", "bcd"]),
    np.array([b"ab", b"c"]),
    np.array(["2024-01-02", "NaT"], dtype="datetime64[D]"),
    np.array([3], dtype="timedelta64[s]"),
    np.array([[1, None], ["x", 2.5]], dtype=object),
    np.zeros((2, 0), dtype=object),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str}{array.shape}")
def test_numpy_arrays_cross_with_type_and_shape(array: np.ndarray) -> None:
    received = cross(array)
    assert type(received) is np.ndarray
    assert (received.dtype, received.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(received, array)
    if received.size and received.dtype != object:
        received.flat[0] = received.flat[-1]  # what arrives may be worked on


def test_a_numpy_array_that_stands_twice_is_one_array() -> None:
    array = np.zeros(2)
    received = cross([array, array])
    assert received[0] is received[1]


SCALARS = [
    np.int64(5), np.uint8(255), np.float32(1.5), np.float64(2.5), np.bool_(True), np.complex128(1j), np.str_("ab"),
    np.bytes_(b"ab"), np.str_(""), np.datetime64("2024-01-02"), np.timedelta64(3, "s"),
]  # fmt: skip


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_numpy_scalars_cross_as_the_same_scalar_type(scalar: np.generic) -> None:
    received = cross(scalar)
    assert type(received) is type(scalar)
    assert received.dtype == scalar.dtype
    assert received == scalar


# --- what does not ----------------------------------------------------------------------------------------------


class Anything:
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class TrueInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class LyingList(list):  # type: ignore[type-arg]
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


class OwnArray(np.ndarray):
    pass


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (Anything(), "Anything"),
        (TrueInt(3), "TrueInt"),
        (LyingList(), "LyingList"),
        (np.zeros(1).view(OwnArray), "OwnArray"),
        (Anything, "type"),
        (lambda: 1, "function"),
        (len, "builtin_function_or_method"),
        (object(), "object"),
        (memoryview(b""), "memoryview"),
        (json, "module"),
        (itertools.groupby(""), "itertools.groupby"),
        (random.Random(), "random.Random"),
        (np.zeros(1, dtype=[("a", int)]), "array of [('a', '<i8')]"),
        (
            datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone(datetime.timedelta(hours=1), "X")),
            "datetime.datetime",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize(
    "wrap",
    [lambda v: v, lambda v: [1, (v,)], lambda v: {"k": v}, Node],
    ids=["bare", "in a tuple in a list", "in a dict", "as an attribute"],
)
def test_what_may_not_cross_is_refused_wherever_it_hides_and_its_type_is_named(
    value: object, named: str, wrap: Any
) -> None:
    assert named in refused(wrap(value))


def test_a_candidates_class_of_the_same_name_is_not_the_signatures() -> None:
    own = type("Point", (), {"__eq__": lambda self, other: True})
    assert "Point" in refused(own())


def test_an_object_array_does_not_smuggle_what_may_not_cross() -> None:
    assert "Anything" in refused(np.array([Anything()], dtype=object))


def test_a_value_of_too_many_bytes_does_not_cross() -> None:
    assert refused("x" * (33 << 20)) == "a value of more than 32 MB"


def test_a_value_of_too_many_parts_does_not_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "MAX_NODES", 100)
    assert refused([[] for _ in range(101)]) == "a value of too many parts"


# --- hostile tables ---------------------------------------------------------------------------------------------


def receive(nodes: Any, known: tuple[object, ...] = ()) -> Any:
    decoder = receiving.Decoder(nodes, CLASSES, known)
    decoder.decode_all()
    return decoder.built


def malformed(nodes: Any) -> str:
    with pytest.raises(crossing.MalformedError) as caught:
        receive(nodes)
    return str(caught.value)


KINDS = st.sampled_from(
    [
        *("list", "tuple", "set", "frozenset", "dict", "deque", "counter", "ordered", "default", "bytearray", "range"),
        *("slice", "timedelta", "ellipsis", "view", "array", "scalar", "instance", "enum", "named", "exception"),
        *("datetime", "date", "time", "decimal", "fraction", "type", "iterator", "generator", "nonsense"),
    ]
)
WORDS = st.sampled_from(
    [
        *("Node", "Point", "Pair", "Colour", "Slotted", "RED", "keys", "items", "int", "SystemExit", "ExceptionGroup"),
        *("print", "<f8", "O", "<U0", "i4,i4", "AAAA", "1/0", "1e9", "2024-01-01"),
    ]
)
ATOMS = (
    st.none() | st.booleans() | st.integers(-3, 9) | st.integers() | st.floats() | WORDS | st.text(max_size=3)
    | st.tuples(st.sampled_from(["r", "a", "i", "c", "b", "z"]), st.integers(-2, 6) | WORDS).map(list)
)  # fmt: skip
JUNK = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2), max_leaves=6
)
TABLES = st.lists(st.builds(lambda kind, rest: [kind, *rest], KINDS, st.lists(JUNK, max_size=3)) | JUNK, max_size=6)


@given(TABLES | JUNK)
@settings(max_examples=1500, deadline=None)
def test_a_malformed_table_raises_nothing_but_that_it_is_malformed(nodes: object) -> None:
    with contextlib.suppress(crossing.MalformedError):
        receive(nodes, ([], 1))


@pytest.mark.parametrize(
    "nodes",
    [
        None,
        {},
        [None],
        [["tuple", [["r", 0]]]],
        [["tuple", [["r", 1]]], ["tuple", [["r", 0]]]],
        [["tuple", [["r", 7]]]],
        [["list", [["r", -1]]]],
        [["list", [["q", 0]]]],
        [["instance", "Unknown", []]],
        [["instance", "Node", [["__class__", 1]]]],
        [["instance", "Node", [[1, 1]]]],
        [["enum", "Colour", "GREEN"]],
        [["exception", "print", []]],
        [["array", "<f8", [1 << 40], ""]],
        [["array", "<f8", [-1], ""]],
        [["array", "O", [3], [1]]],
        [["array", "|O", [1], "AAAAAAAAAAA="]],
        [["array", "i4,i4", [1], "AAAAAAAAAAA="]],
        [["scalar", "|O", "AAAAAAAAAAA="]],
        [["fraction", "1/0"]],
        [["decimal", "x"]],
        [["default", [], "eval"]],
        [["type", "eval"]],
        [["set", [["r", 1]]], ["list", []]],
    ],
    ids=json.dumps,
)
def test_a_table_no_honest_encoder_makes_is_malformed(nodes: object) -> None:
    assert malformed(nodes)


def test_a_method_of_the_signatures_class_cannot_be_hidden_by_an_attribute() -> None:
    """Else `object` in place of a predicate would be true wherever a test calls it."""

    class Checked:
        def valid(self) -> bool:
            return False

    decoder = receiving.Decoder(
        [["instance", "Checked", [["valid", ["r", 1]]]], ["type", "object"]], {"Checked": Checked}
    )
    with pytest.raises(crossing.MalformedError):
        decoder.decode_all()


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"1"], ids=lambda data: repr(data[:3]))
def test_bytes_that_are_no_message_are_malformed(data: bytes) -> None:
    with pytest.raises(crossing.MalformedError):
        crossing.loads(data)


def test_what_came_with_a_call_is_referred_to_not_copied() -> None:
    argument: list[Any] = [1]
    encoder = sending.Encoder(NAMES, known=[argument])
    assert encoder.encode([argument, 2]) == ["r", 0]
    assert encoder.nodes == [["list", [["a", 0], 2]]]
    decoder = receiving.Decoder(encoder.nodes, CLASSES, known=[argument])
    decoder.decode_all()
    assert decoder.built[0][0] is argument


def test_the_new_contents_of_an_argument_replace_the_old_in_place() -> None:
    mine = [1, 2, 3]
    decoder = receiving.Decoder([], CLASSES, known=[mine])
    decoder.fill(mine, ["list", [3, ["a", 0]]])
    assert mine[0] == 3
    assert mine[1] is mine


def test_exact_decimals_and_fractions_arrive_exactly() -> None:
    value = [decimal.Decimal("1.10"), decimal.Decimal("NaN"), fractions.Fraction(1, 3), 10**400, -0.0]
    received = cross(value)
    assert [str(item) for item in received] == [str(item) for item in value]
