"""What a tame program may use of the library: functions that only compute with plain data (see tameness.py).

Names of a module are written `module.name`, built-in ones `name`.
"""

from __future__ import annotations


def _of(module: str, names: str) -> set[str]:
    return {f"{module}.{name}" for name in names.split()}


MODULES = frozenset((
    "abc", "bisect", "cmath", "collections", "copy", "dataclasses", "datetime", "decimal", "enum", "fractions",
    "functools", "heapq", "itertools", "math", "numbers", "operator", "os", "queue", "random", "re",
    "statistics", "string", "sys", "textwrap", "time", "typing",
))  # fmt: skip
"""Modules that may be imported. What may be used of them is below. All their parts are loaded before any program."""

TYPES = frozenset(("int", "float", "str", "bool", "list", "dict", "tuple", "set", "frozenset", "bytes", "complex"))
FUNCTIONS = frozenset((
    "abs", "ascii", "bin", "bool", "chr", "divmod", "float", "format", "hex", "int", "oct", "ord", "pow", "print",
    "range", "repr", "round", "str",
    *_of("math", "acos asin atan atan2 ceil comb copysign cos degrees exp fabs factorial floor fmod gcd hypot isclose"
         " isfinite isinf isnan isqrt lcm log log10 log2 modf perm pow radians sin sqrt tan trunc"),
    *_of("heapq", "heappush heappop heapify heappushpop heapreplace"),
    *_of("bisect", "bisect bisect_left bisect_right insort insort_left insort_right"),
    *_of("operator", "add sub mul floordiv mod truediv xor and_ or_ neg eq ne lt le gt ge"),
    *_of("copy", "copy deepcopy"),
    *_of("re", "findall split match search fullmatch escape compile sub"),
))  # fmt: skip
"""Functions that take data and return data."""
HANDED_OVER = FUNCTIONS | {"list", "dict", "tuple", "sorted", "sum", "max", "min", "len"}
"""Functions that may be passed to other functions."""
READERS = frozenset((
    "list", "tuple", "dict", "sum", "sorted", "min", "max", "any", "all", "len", "next",
    *_of("collections", "Counter deque OrderedDict"), *_of("heapq", "nlargest nsmallest"), *_of("math", "prod fsum"),
    *_of("statistics", "mean median median_low median_high mode stdev pstdev variance pvariance"),
    "functools.reduce",
))  # fmt: skip
"""Functions that read iterators, and return data."""
ITERATORS = frozenset((
    "iter", "zip", "enumerate", "reversed", "map", "filter",
    *_of("itertools", "chain product permutations combinations combinations_with_replacement accumulate count cycle"
         " islice takewhile dropwhile filterfalse zip_longest starmap pairwise compress"
         " chain.from_iterable"),
))  # fmt: skip
"""Functions that return an iterator."""
MAPPING = {
    "map": 1, "filter": 1, "functools.reduce": 1, "itertools.takewhile": 1, "itertools.dropwhile": 1,
    "itertools.filterfalse": 1, "itertools.starmap": 1,
}  # fmt: skip
"""Function -> how many of its first arguments are functions."""
CALLBACKS = dict.fromkeys(
    ("sorted", "min", "max", ".sort", *_of("heapq", "nlargest nsmallest"),
     *_of("bisect", "bisect bisect_left bisect_right insort insort_left insort_right")), "key",
) | {"itertools.accumulate": "func"}  # fmt: skip
"""Function, or method after a full stop -> its argument that is a function, given by name."""
READ_SECOND = frozenset(_of("heapq", "nlargest nsmallest"))
"""Readers whose second argument is what they read; the first one is a number."""
DECORATORS = frozenset(("functools.lru_cache", "functools.cache"))
CONSTANTS = frozenset((
    *_of("math", "pi e inf tau"), *_of("re", "I IGNORECASE M MULTILINE S DOTALL"),
    *_of("string", "ascii_letters ascii_lowercase ascii_uppercase digits hexdigits punctuation whitespace"),
))  # fmt: skip
OF_NUMPY = frozenset(_of(
    "numpy",
    "abs all allclose any arange argmax argmin argsort around array array_equal asarray average bool_ clip concatenate"
    " cos cumsum diag dot e exp eye float32 float64 floor full identity inf int32 int64 isclose isfinite isinf isnan"
    " linspace log matmul max mean median min nan ones pi prod round sin sort sqrt square std sum"
    " testing.assert_allclose testing.assert_almost_equal testing.assert_array_almost_equal testing.assert_array_equal"
    " testing.assert_equal transpose unique var where zeros",
))  # fmt: skip
"""What tests may use of NumPy; a tame program uses nothing of it."""

METHODS = frozenset((
    # texts
    "capitalize", "casefold", "center", "count", "encode", "decode", "endswith", "expandtabs", "find", "format",
    "index", "isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower", "isnumeric",
    "isprintable", "isspace", "istitle", "isupper", "ljust", "lower", "lstrip", "maketrans", "partition",
    "removeprefix", "removesuffix", "replace", "rfind", "rindex", "rjust", "rpartition", "rsplit", "rstrip", "split",
    "splitlines", "startswith", "strip", "swapcase", "title", "translate", "upper", "zfill",
    # lists, dictionaries, queues, counters
    "append", "appendleft", "clear", "copy", "get", "insert", "move_to_end", "most_common", "pop", "popitem",
    "popleft", "remove", "reverse", "rotate", "setdefault", "sort", "total",
    # numbers and what `re` finds
    "bit_length", "bit_count", "is_integer", "end", "findall", "fullmatch", "group", "groups", "match", "search",
    "span", "start", "sub",
))  # fmt: skip
CODECS = ("ascii", "latin-1", "utf-8", "utf8")
"""Encodings that Python does not load from a file at first use."""
READING_METHODS = frozenset(("extend", "extendleft", "fromkeys", "join", "update", "subtract"))
"""Methods that read iterators."""
ITERATOR_METHODS = frozenset(("items", "keys", "values", "elements"))

CHANGES_OF_SETS = frozenset((
    "add", "discard", "remove", "update", "clear", "issubset", "issuperset", "isdisjoint", "intersection_update",
    "difference_update", "symmetric_difference_update",
))  # fmt: skip
"""Methods that change a set or return data about it."""
RESULTS_OF_SETS = frozenset(("union", "intersection", "difference", "symmetric_difference", "copy"))
"""Methods of sets that return a set."""
TABLE_METHODS = frozenset(("count", "get", "index", "items", "keys", "values"))
"""Methods that read a table and do not change it."""
QUESTIONS_TO_SETS = frozenset(("len", "bool", "any", "all"))
"""Functions whose result does not depend on the order of a set."""
ORDERED_BY_VALUE = frozenset(("sorted", "sum"))
"""Functions whose result does not depend on the order of a set, if its items can be compared. If some cannot, these
functions always raise an exception. `min` and `max` raise one only in some orders."""

CATCHABLE = frozenset((
    "ArithmeticError", "AssertionError", "AttributeError", "IndexError", "KeyError", "LookupError", "OverflowError",
    "StopIteration", "TypeError", "UnboundLocalError", "UnicodeDecodeError", "UnicodeEncodeError", "UnicodeError",
    "ValueError", "ZeroDivisionError",
))  # fmt: skip
"""Exceptions that no limit raises."""
