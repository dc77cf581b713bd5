"""Tasks that ask for a class: its objects stay with the candidate, and every operation on them is a call."""

from typing import Any

import phases

from tests.tables import each

pytestmark = phases.MARKS

STACK = '''class Stack:
    """A stack."""
    def __init__(self, items=()):
        pass
    def push(self, value):
        pass
    def pop(self):
        pass
'''
SOLUTION = """
class Stack:
    made = 0
    def __init__(self, items=()):
        self.items = list(items)
        Stack.made += 1
    def push(self, value):
        self.items.append(value)
        return self
    def pop(self):
        return self.items.pop()
    @property
    def size(self):
        return len(self.items)
    @classmethod
    def of(cls, *items):
        return cls(items)
    def copy(self):
        return Stack(self.items)
    def __len__(self):
        return len(self.items)
    def __iter__(self):
        return iter(self.items)
    def __contains__(self, item):
        return item in self.items
    def __getitem__(self, key):
        return self.items[key]
    def __setitem__(self, key, item):
        self.items[key] = item
    def __delitem__(self, key):
        del self.items[key]
    def __add__(self, other):
        return Stack(self.items + other.items)
    def __iadd__(self, other):
        self.items += other.items
        return self
    def __mul__(self, times):
        return Stack(self.items * times)
    __rmul__ = __mul__
    def __neg__(self):
        return Stack(self.items[::-1])
    def __call__(self, number):
        return self.items[number]
    def named(_, *, self, target, cls):
        return [self, target, cls]
    def __str__(self):
        return f"Stack{self.items}"
    def __repr__(self):
        return f"<{self.items}>"
"""
NOTHING = """
class Stack:
    def __init__(self, items=()): pass
    def push(self, value): return self
    def pop(self): pass
"""
HONEST = {
    "methods": "s = Stack()\ns.push(1)\ns.push(2)\nassert s.pop() == 2\nassert s.pop() == 1",
    "attributes": "s = Stack([4])\nn = s.size\ns.push(5)\nassert (n, s.size) == (1, 2)\nassert s.items == [4, 5]",
    "class method": "assert Stack.of(1, 2).pop() == 2",
    "class attribute": "assert Stack.made == 0\nStack()\nassert Stack.made == 1",
    "length": "s = Stack([1])\nassert len(s) == 1\ns.push(2)\nassert len(s) == 2",
    "truth of a returned one": "assert Stack([1]).copy()",
    "texts": "s = Stack([1])\nassert str(s) == 'Stack[1]' and repr(s) == '<[1]>' and f'{s}' == 'Stack[1]'",
    "items": "s = Stack([1, 2])\ns[0] = 5\nassert s[0] == 5\ndel s[0]\nassert s[0] == 2 and 2 in s and 3 not in s",
    "sum in place": "s = Stack([1])\ns += Stack([2])\nassert s.items == [1, 2]",
    "arithmetic": "assert (3 * Stack([1])).items == [1, 1, 1]\nassert (-Stack([1, 2])).items == [2, 1]",
    "call": "assert Stack([4, 5])(1) == 5",
    "named arguments": "s = Stack([8])\nassert s(number=0) == 8 and s.named(self=1, target=2, cls=3) == [1, 2, 3]",
    "instance": "s = Stack()\nassert isinstance(s, Stack) and type(s) is Stack and isinstance(s.copy(), Stack)",
    "identity": "s = Stack()\nassert s is s and s.push(1) is s and s.copy() is not s",
    "as a key": "s, t = Stack([1]), Stack([2])\nd = {s: 1, t: 2}\nassert d[s] == s.pop() and d[t] == t.pop()",
    "in a function": "def check(kind):\n    s = kind([1])\n    assert s.pop() == 1\ncheck(Stack)",
    "exception": "s = Stack()\ntry:\n    s.pop()\n    assert 0\nexcept IndexError:\n    pass\nassert not len(s)",
    "missing": "assert hasattr(Stack(), 'push') and not hasattr(Stack(), 'peek')",
    "equal to itself": "s = Stack()\nassert s == s and not s != s and Stack() != s",
}  # fmt: skip


def confirmed(found: dict[str, Any]) -> bool:
    return bool(found["confirmed"])


@each("tests", HONEST)
def test_a_class_with_every_operation_is_confirmed_and_one_without_is_not(tests: str) -> None:
    exec(f"{SOLUTION}\n{tests}", {})
    assert phases.replayed(SOLUTION, tests, STACK) == phases.CONFIRMED
    if not any(word in tests for word in ("is s and", "s == s", "isinstance", "hasattr")):
        assert not confirmed(phases.replayed(NOTHING, tests, STACK, SOLUTION))


def test_a_method_call_is_recorded_with_its_arguments_but_no_comparison() -> None:
    tests = "s = Stack()\ns.push(123)\nassert s.pop() != 456\nassert s != 789\nassert s.size - 321 < 0"
    calls = " ".join(phases.calls_of(phases.task(tests, STACK), SOLUTION)["calls"])
    assert "123" in calls
    assert not any(number in calls for number in ("456", "789", "321"))


def test_a_static_method_answers_like_a_bound_one() -> None:
    """A static method is the same object each time it is read; a bound method is a new one each time."""
    bound = "class Sum:\n    def of(self, a, b):\n        return a + b\n"
    static = "class Sum:\n    @staticmethod\n    def of(a, b):\n        return a + b\n"
    tests = "assert Sum().of(1, 2) == 3\ns = Sum()\nassert s.of(2, 2) == 4 and s.of(5, 0) == 5"
    signature = bound.replace("return a + b", "pass")
    assert phases.beside(static, tests, signature, bound) == phases.CONFIRMED
    assert not confirmed(phases.beside(static.replace("+ b", "+ 2"), tests, signature, bound))


LIAR = """
class Stack:
    def __init__(self, *given): pass
    def pop(self): return self
    def push(self, value): return self
    def yes(self, *others): return True
    __eq__ = __ge__ = __le__ = __contains__ = equals = yes
    def __ne__(self, other): return False
    def __hash__(self): return 7
    def __getitem__(self, key): return 7
"""


@each(
    "tests",
    [
        "assert not Stack([1]) != [1]", "assert Stack([1]) <= [1] and Stack([1]) >= [1]",
        "assert hash(Stack([1])) == hash(Stack([1]))",
    ],
)  # fmt: skip
def test_tests_that_let_an_object_decide_what_it_is_equal_to_are_not_judged(tests: str) -> None:
    """Any other value beside it may be the one that the tests expect."""
    exec(f"{LIAR}\n{tests}", {})
    assert "whose class overrides comparison" in phases.record(phases.task(tests, STACK), LIAR)["refused"]
    assert not confirmed(phases.replayed(LIAR, "assert Stack().push(1) is not None and Stack() != 3", STACK, SOLUTION))


HEAP = "class Heap({}):\n    def size(self):\n        return len(self.items)\n"


@each(
    ("asked", "other"),
    [
        ("isinstance(Heap(), Stack)", f"class Heap:\n    pass\n{SOLUTION}"),
        ("issubclass(Heap, (Stack,))", f"class Heap:\n    pass\n{SOLUTION}"),
        ("not isinstance(Stack(), Heap)", f"{SOLUTION}Heap = Stack\n"),
    ],
)
def test_whether_a_class_derives_from_another_one_of_the_signature_is_asked(asked: str, other: str) -> None:
    signature = STACK + HEAP.format("Stack").replace("return len(self.items)", "pass")
    assert phases.replayed(SOLUTION + HEAP.format("Stack"), f"assert {asked}", signature) == phases.CONFIRMED
    assert not confirmed(phases.replayed(other, f"assert {asked}", signature, SOLUTION + HEAP.format("Stack")))


def test_an_object_that_ends_too_early_is_noticed() -> None:
    tests = "for a, b in zip(Stack([1, 2]), [1, 2]):\n    assert a == b"
    assert phases.beside(SOLUTION, tests, STACK, SOLUTION) == phases.CONFIRMED
    early = SOLUTION.replace("return iter(self.items)", "return iter([])")
    assert phases.beside(early, tests, STACK, SOLUTION)["kind"] == "unlike"


def test_an_object_that_a_function_makes_is_one_of_the_class() -> None:
    singleton = (
        SOLUTION.replace("Stack", "Kind")
        + """
ones = []
def Stack(*given):
    ones.append(ones[0] if ones else Kind(*given))
    return ones[-1]
"""
    )
    tests = "s = Stack([1])\ns.push(2)\nassert Stack() is s and Stack().pop() == 2"
    assert phases.replayed(singleton, tests, STACK) == phases.CONFIRMED
    assert not confirmed(phases.replayed(SOLUTION, tests, STACK, singleton))


def test_other_classes_of_the_signature_are_still_sent_as_data() -> None:
    signature = f"class Node:\n    def __init__(self, value):\n        self.value = value\n\n{STACK}"
    tests = "s = Stack([Node(1)])\nassert s.pop().value == 1\ns.push(Node(2))\nassert s.pop().value == 2"
    assert phases.replayed(SOLUTION, tests, signature) == phases.CONFIRMED
    assert '["object",["Node"' in phases.calls_of(phases.task(tests, signature), SOLUTION)["calls"][0]


def test_what_only_python_asks_of_an_object_may_have_another_answer_than_the_references() -> None:
    """`with` asks for the truth of what ends it."""
    signature = "class Pair:\n    def __init__(self, a, b):\n        pass\n"
    body = "    def __enter__(self):\n        return self\n    def __exit__(self, *error):\n"
    reference = f"class Pair:\n    def __init__(self, *both):\n        self.both = both\n{body}        return False\n"
    source = f"import typing\nclass Pair(typing.NamedTuple):\n    a: int\n    b: int\n{body}        pass\n"
    test = "with Pair(3, 4) as pair:\n    assert pair.a == 3\n"
    reference += "    a = property(lambda self: self.both[0])\n"
    assert phases.beside(source, test, signature, reference) == phases.CONFIRMED
