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
from typing import Any, NamedTuple

import inside
import numpy as np
import phases
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.scorers.execution.inputs.values import TIMES_EXPECTED, reply
from tests.conftest import cases

pytestmark = phases.MARKS

constructed = inside.load("values.constructed")
passed = inside.load("values.passed")
wire = inside.load("values.wire")
messages = inside.load("values.messages")
receiving = inside.load("values.receiving")
sending = inside.load("values.sending")


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


def cross(value: object, *, functions: bool = False) -> Any:
    """Send a value to the other side, as bytes."""
    encoder = sending.Encoder(NAMES, functions=functions)
    atom = encoder.encode(value)
    message = messages.Reply.read(messages.Reply(messages.RETURNED, atom, encoder.nodes).written())
    decoder = receiving.Decoder(message.nodes, CLASSES)
    decoder.decode_all()
    return decoder.value(message.value)


def refused(value: object) -> str:
    with pytest.raises(wire.UncrossableError) as caught:
        cross(value)
    return str(caught.value)


def parts(value: Any) -> list[Any]:
    """What an object holds, in an order that both sides agree on."""
    match value:
        case dict():
            return [part for pair in value.items() for part in pair]
        case set() | frozenset():
            return sorted(value, key=lambda item: sorted(outline(item, {})))
        case list() | tuple() | collections.deque():
            return list(value)
        case Node() | Slotted():
            return [part for pair in sorted(sending.attributes(value).items()) for part in pair]
    return []


def outline(value: Any, numbers: dict[int, int]) -> str:
    """Return a value as text: exact types, contents, and which objects are one and the same."""
    if isinstance(value, (list, dict, set, collections.deque, bytearray, Node, Slotted)):
        if id(value) in numbers:
            return f"#{numbers[id(value)]}"
        numbers[id(value)] = len(numbers)
    held = [outline(part, numbers) for part in parts(value)]
    text = "" if held or isinstance(value, (Node, Slotted)) else repr(value)
    more = getattr(value, "maxlen", None), getattr(value, "default_factory", None)
    return f"{type(value).__name__}({', '.join(held)}{text}, {more})"


def same(sent: Any, received: Any) -> bool:
    return outline(sent, {}) == outline(received, {})


# --- what crosses -----------------------------------------------------------------------------------------------

KEYS_OF_ATOMS = [messages.NODE, messages.PASSED, messages.EARLIER, *messages.WRITTEN]
RESERVED_WORDS = """
returned raised unsent nodes changes printed consumed target arguments named
list tuple dict instance array function builtin error exception tree O name ans arg op item nth attr
"""
RESERVED = st.sampled_from([*KEYS_OF_ATOMS, *RESERVED_WORDS.split()])
"""Words of the encoding itself."""
TEXT = RESERVED | st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
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
    | st.sampled_from([int, list, type(None), range, Colour.RED, Shade.DARK])
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
@settings(max_examples=cases(200), deadline=None)
def test_any_nested_plain_value_arrives_equal_with_exactly_the_same_types(value: object) -> None:
    assert same(value, cross(value))


@given(st.data())
@settings(max_examples=cases(150), deadline=None)
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
    "value",
    [
        [{Point(1, 2)}, (Point(1, 2),), [Point(1, 2)], {Point(1, 2): 1}],
        {frozenset({Point(1, 2), Point(3, 4)}): "edge", (frozenset({Point(5, 6)}),): "loop"},
        frozenset({Pair(Point((1, (2, 3)), frozenset({Point(4, 5)})), "x")}),  # type: ignore[arg-type]
    ],
    ids=["container", "nested", "waiting"],
)
def test_instances_that_hash_by_their_attributes_are_sent_inside_every_container(value: Any) -> None:
    received = cross([value, value])
    assert received == [value, value]
    assert received[0] is received[1]


def test_instances_in_frozensets_of_each_other_cross() -> None:
    """A graph whose nodes hash by identity and know their neighbours as frozensets."""
    one, two = Node(1), Node(2)
    one.value, two.value = frozenset({two}), frozenset({one, two})
    received = cross([one, two])
    assert received[0].value == {received[1]}
    assert received[1].value == set(received)


def test_views_and_ranges_cross_as_what_they_are() -> None:
    value = [{"a": 1}.keys(), {"a": 1}.values(), {"a": 1}.items(), range(1, 9, 3)]
    received = cross(value)
    assert [type(item) for item in received] == [type(item) for item in value]
    assert [list(item) for item in received] == [["a"], [1], [("a", 1)], [1, 4, 7]]


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


def test_strange_text_is_sent_as_it_is() -> None:
    for text in ("\x00", "\ud800", "a\udfffb", "\u2028", "\U0001f600", "\ud83d" + "\ude00"):
        assert list(map(len, cross([text, {text: text}]))) == [len(text), 1]
        assert cross([text, {text: text}]) == [text, {text: text}]


def test_no_exception_of_a_program_skips_a_test() -> None:
    test = """
import unittest
class Test(unittest.TestCase):
    def test_it(self):
        self.assertEqual(solution(3), 4)
done = unittest.TextTestRunner().run(unittest.defaultTestLoader.loadTestsFromTestCase(Test))
assert done.wasSuccessful()
"""
    assert phases.replayed("def solution(a):\n    return a + 1", test) == phases.CONFIRMED
    skipping = "def solution(a):\n    import unittest\n    raise unittest.SkipTest('no')"
    assert not phases.replayed(skipping, test)["confirmed"]


EXITS = "try:\n    solution(2)\n    assert False\nexcept SystemExit as e:\n    assert e.code == 2"


def test_an_exit_is_confirmed_where_the_tests_expect_one() -> None:
    assert phases.replayed("import sys\ndef solution(a):\n    sys.exit(a)", EXITS) == phases.CONFIRMED
    assert phases.replayed("import sys\ndef solution(a):\n    sys.exit(a + 1)", EXITS) != phases.CONFIRMED


def test_an_exception_of_the_candidates_own_keeps_its_name_and_the_built_in_class_it_derives_from() -> None:
    class OwnError(LookupError):
        pass

    received = cross([OwnError("what", object(), [1])])[0]
    assert (type(received).__mro__[1], type(received).__name__) == (LookupError, "OwnError")
    assert received.args == ("what",)


ARRAYS = [
    np.arange(6).reshape(2, 3).T, np.arange(10)[::-2], np.zeros((0, 3)), np.array(5.5), np.array([1, 2], dtype=">i2"),
    np.array(["a", "bcd"]), np.array([b"ab"]), np.array(["2024-01-02", "NaT"], dtype="datetime64[D]"),
]  # fmt: skip


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype.str}{array.shape}")
def test_numpy_arrays_cross_with_type_and_shape(array: np.ndarray) -> None:
    received = cross(array)
    assert type(received) is np.ndarray
    assert (received.dtype, received.shape) == (array.dtype, array.shape)
    np.testing.assert_array_equal(received, array)
    if received.size:
        received.flat[0] = received.flat[-1]  # what arrives may be worked on


SCALARS = [
    np.uint8(255), np.float64(2.5), np.bool_(True), np.complex128(1j), np.str_(""), np.bytes_(b"ab"),
    np.datetime64("2024-01-02"), np.timedelta64(3, "s"),
]  # fmt: skip


@pytest.mark.parametrize("scalar", SCALARS, ids=repr)
def test_numpy_scalars_cross_as_the_same_scalar_type(scalar: np.generic) -> None:
    received = cross(scalar)
    assert type(received) is type(scalar)
    assert received.dtype == scalar.dtype
    assert received == scalar


# --- what does not ----------------------------------------------------------------------------------------------


class TrueInt(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__


class Zone(datetime.tzinfo):
    def utcoffset(self, moment: object) -> datetime.timedelta:
        return datetime.timedelta(hours=1)


class LyingList(list):  # type: ignore[type-arg]
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "named"),
    [
        (TrueInt(3), "TrueInt"),
        (LyingList(), "LyingList"),
        (np.array([1, None]), "numpy.ndarray"),
        (object(), "object"),
        (json, "module"),
        (eval, "builtin_function_or_method"),
        (np.zeros(1, dtype=[("a", int)]), "numpy.ndarray"),
        (datetime.datetime(2024, 1, 1, tzinfo=Zone()), "datetime.datetime"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
@pytest.mark.parametrize("wrap", [lambda v: v, lambda v: [1, {"k": (v,)}], Node], ids=["bare", "deep", "attribute"])
def test_what_may_not_cross_is_refused_wherever_it_hides_and_its_type_is_named(
    value: object, named: str, wrap: Any
) -> None:
    assert named in refused(wrap(value))


def test_a_candidates_class_of_the_same_name_is_not_the_signatures() -> None:
    own = type("Point", (), {"__eq__": lambda self, other: True})
    received = cross(own(), functions=True)
    assert type(received).__name__ == "Point"
    assert type(received) is not Point


def test_a_value_of_too_many_bytes_does_not_cross() -> None:
    assert refused("x" * (33 << 20)) == "a value of more than 32 MB"


def test_a_value_of_too_many_parts_does_not_cross(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "MAX_NODES", 100)
    assert refused([[] for _ in range(101)]) == "a value of too many parts"


# --- what a candidate's own types are sent as -------------------------------------------------------------------


Third, Price, Day, Moment, Span = (
    type("Own", (kind,), {"__module__": "builtins"})
    for kind in (fractions.Fraction, decimal.Decimal, datetime.date, datetime.datetime, datetime.timedelta)
)


def own(value: Any) -> Any:
    """Make a value's class one that no module names, as a candidate's is."""
    kind = type(value)
    return type(kind.__name__, (kind,), {"__module__": "builtins"})(value)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (own([1, 2]), list), (own({"a": 1}), dict), (own((1, 2)), tuple), (own({1}), set), (own("text"), str),
        (own(7), int), (own(-0.0), float), (own(b"b"), bytes),
        (Third(1, 3), fractions.Fraction), (Price("1.10"), decimal.Decimal), (Day(2024, 2, 29), datetime.date),
        (Moment(2024, 2, 29, 5, tzinfo=datetime.UTC), datetime.datetime), (Span(1, 2, 3), datetime.timedelta),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)  # fmt: skip
def test_a_class_of_the_candidates_own_that_compares_as_its_base_is_sent_as_that(value: Any, kind: type) -> None:
    received = cross(value)
    assert type(received) is kind
    assert repr(received) == repr(value) or received == value


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        ("builtins", "len", len), ("builtins", "str.upper", str.upper), ("math", "sqrt", math.sqrt),
        ("numpy", "sin", np.sin),
    ],
)  # fmt: skip
def test_only_built_in_functions_that_have_a_name_are_sent_to_a_candidate(module: str, name: str, value: Any) -> None:
    encoder = sending.Encoder({})
    encoder.encode(value)
    assert encoder.nodes == [["builtin", module, name]]
    assert cross(value) is value


def test_a_function_without_the_name_of_a_built_in_one_is_not_received() -> None:
    with pytest.raises(wire.MalformedError, match="no known name"):
        receive([["function", "f"]])


@pytest.mark.parametrize("name", ["eval", "getattr", "abs.__class__", "nothing", 3])
def test_no_other_function_is_found_by_a_name(name: object) -> None:
    with pytest.raises(wire.MalformedError):
        receive([["builtin", "builtins", name]])


# --- hostile tables ---------------------------------------------------------------------------------------------


def receive(nodes: Any, known: Any = ()) -> Any:
    decoder = receiving.Decoder(nodes, CLASSES, known)
    decoder.decode_all()
    return decoder.built


NODE_KINDS = sorted({*constructed.TYPES, *constructed.MUTABLE, *receiving._OTHERS, "nonsense"})
NODE_WORDS = """
Node Point Pair Colour Slotted RED keys items int SystemExit ExceptionGroup print <f8 O <U0 i4,i4 AAAA 1/0 2024-01-01
"""
KEYS = st.sampled_from([*KEYS_OF_ATOMS, "nonsense"])
KINDS, WORDS = st.sampled_from(NODE_KINDS), st.sampled_from(NODE_WORDS.split())
ATOMS = (
    st.none() | st.booleans() | st.integers(-3, 9) | st.integers() | st.floats() | WORDS | st.text(max_size=3)
    | st.dictionaries(KEYS, st.integers(-2, 6) | WORDS | st.lists(st.integers(-2, 1 << 40), max_size=3), max_size=2)
)  # fmt: skip
JUNK = st.recursive(
    ATOMS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=2), max_leaves=6
)
TABLES = st.lists(st.builds(lambda kind, rest: [kind, *rest], KINDS, st.lists(JUNK, max_size=3)) | JUNK, max_size=6)


@given(TABLES | JUNK)
@settings(max_examples=cases(800), deadline=None)
def test_a_malformed_table_raises_nothing_but_that_it_is_malformed(nodes: object) -> None:
    with contextlib.suppress(wire.MalformedError):
        receive(nodes, [[], 1])


MALFORMED: list[Any] = [
    {}, [None], [5, None, [], {}], [["lambda", "x"]], [["tuple", [{"node": 0}]]], [["tuple", [{"node": 7}]]],
    [["scalar", "<"]], [["scalar", "<i4,<i4"]], [["tuple", [{"node": 1}]], ["tuple", [{"node": 0}]]],
    [["list", [{"node": -1}]]], [["list", [{"node": True}]]], [["list", [{"q": 0}]]], [["list", [{"passed": 99}]]],
    [["instance", "Unknown", []]], [["instance", "Node", ["__class__", 1]]], [["instance", "Node", ["__eq__", 2]]],
    [["instance", "Node", [1, 1]]], [["instance", "Pair", []]], [["instance", "Colour", ["_value_", 9]]],
    [["named", "Point", [1]]], [["enum", "Colour", "GREEN"]], [["enum", "Node", "x"]], [["exception", "print", []]],
    [["exception", "ExceptionGroup", ["a", "b"]]], [["array", "<f8", [1 << 40], ""]], [["array", "<f8", [-1], ""]],
    [["array", "<U0", [10**12], ""]], [["array", "<i8", [0, 1 << 62], ""]], [["array", "O", [3], [1]]],
    [["array", "|O", [1], "AAAAAAAAAAA="]], [["array", "i4,i4", [1], "AAAAAAAAAAA="]], [["fraction", [1, 0]]],
    [["decimal", ["x"]]], [["default", [], "eval"]], [["type", "eval"]], [["set", [{"node": 1}]], ["list", []]],
]  # fmt: skip


@pytest.mark.parametrize("nodes", MALFORMED, ids=json.dumps)
def test_a_table_no_honest_encoder_makes_is_malformed(nodes: object) -> None:
    with pytest.raises(wire.MalformedError):
        receive(nodes)


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b"\xff", b"[" * 100_000, b"1"], ids=lambda data: repr(data[:3]))
def test_bytes_that_are_no_message_are_malformed(data: bytes) -> None:
    with pytest.raises(wire.MalformedError):
        messages.Reply.read(data)


@pytest.mark.parametrize(
    ("value", "other", "is_change"),
    [
        ("".join(["a", "b"]), "".join(["a", "b"]), False),
        (int("1000"), int("1000"), False),
        (0.0, -0.0, True),
        (1, True, True),
    ],
)
def test_an_equal_text_or_number_in_the_place_of_another_is_no_change(value: Any, other: Any, is_change: bool) -> None:
    """Whether equal texts are one object depends on the version of Python; verdicts must not."""
    held = [value]
    objects = passed.Passed(messages.Call([], [], [], [["list", [0]]]), [held], {}, None)
    held[0] = other
    assert [number for number, _ in objects.changes(sending.Encoder({}))] == [0] * is_change


@pytest.mark.parametrize("value", [[[n] for n in range(9)], "字", "🎉", "\ud83c\udf89", 10**3000, [(1, 2)], [1.5] * 9])
def test_there_is_room_for_each_answer_that_equals_the_expected_value(value: object) -> None:
    for answer in (value, collections.deque(map(np.asarray, value)) if isinstance(value, list) else value):
        encoder = sending.Encoder({})
        said = messages.Reply(messages.RETURNED, encoder.encode(answer), encoder.nodes).written()
        assert len(said) <= TIMES_EXPECTED * len(reply(value))
