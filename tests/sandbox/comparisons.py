"""Every comparison that tests use, tried with odd values that came from a candidate; run as a script of its own.

It writes what came of each as JSON: the comparison, the value, of which expected values it was true, whether it was
refused. Each comparison runs in a fork, since what guards it changes NumPy.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import sys
import warnings
from typing import Any

INF, NAN = float("inf"), float("nan")
EITHER_WAY = (
    "R == E", "not (R != E)", "abs(R - E) < 1e-6", "not (abs(R - E) > 1e-6)", "abs(R - E) <= 1e-9 * abs(R)",
    "abs(R - E) <= 1e-9 * max(1, abs(E), abs(R))", "math.isclose(R, E)", "cmath.isclose(R, E)",
    "math.isclose(R, E, rel_tol=0, abs_tol=1e-6)", "round(R, 6) == round(E, 6)",
    "np.isclose(R, E).all()", "np.allclose(R, E)", "np.allclose(R, E, equal_nan=True)", "np.array_equal(R, E)",
    "np.array_equal(R, E, equal_nan=True)", "np.array_equiv(R, E)", "(R == E).all()", "all(R == E)", "np.all(R == E)",
    "not (R != E).any()", "(np.array(R) == E).all()", "(np.array(R) == np.array(E)).all()", "np.equal(R, E).all()",
    "not np.any(np.abs(R - E) > 1e-6)", "np.all(np.abs(R - E) < 1e-6)", "np.all(np.abs(np.array(R) - E) < 1e-6)",
    "np.all(np.abs(np.array(E) - R) < 1e-6)", "np.all(np.abs(np.subtract(R, E)) < 1e-6)", "np.abs(R - E).max() < 1e-6",
    "np.abs(R - E).sum() < 1e-6", "np.linalg.norm(R - E) < 1e-6", "np.linalg.norm(np.array(R) - np.array(E)) < 1e-6",
    "np.mean((R - E) ** 2) < 1e-6", "np.max(np.abs(np.asarray(R) - np.asarray(E))) < 1e-6",
    "set([R]) == {E}", "set(R) == set(E)", "sorted(R) == sorted(E)", "R in [E]", "R in (E, E)", "list(R) == list(E)",
    "any(R == item for item in [E])", "all(R == item for item in [E])", "{'a': R} == {'a': E}", "[R, 1] == [E, 1]",
    "len(R) == len(E) and all(a == b for a, b in zip(R, E))",
    "len(R) == len(E) and all(abs(a - b) < 1e-6 for a, b in zip(R, E))",
    "len(R) == len(E) and not any(abs(a - b) > 1e-6 for a, b in zip(R, E))",
    "len(R) == len(E) and max(abs(a - b) for a, b in zip(R, E)) < 1e-6",
    "np.testing.assert_allclose(R, E) is None", "np.testing.assert_allclose(R, E, equal_nan=False) is None",
    "np.testing.assert_almost_equal(R, E) is None", "np.testing.assert_approx_equal(R, E) is None",
    "np.testing.assert_array_almost_equal(R, E) is None", "np.testing.assert_array_equal(R, E) is None",
    "np.testing.assert_array_almost_equal_nulp(R, E) is None", "np.testing.assert_array_max_ulp(R, E) is not None",
    "np.testing.assert_equal(R, E) is None", "np.testing.assert_string_equal(R, E) is None",
)  # fmt: skip
"""R: what the candidate returned; E: the expected value. What is not symmetric is tried the other way round as well."""
ORDERED = (
    "(R < E).all()",
    "(R >= E).all()",
    "np.all(np.asarray(R) <= E)",
    "np.testing.assert_array_less(R, E) is None",
)
"""True of many expected values where the value is an ordinary one; not where there is nothing to compare."""
VACUOUS = (
    "not (abs(R - E) > 1e-6)", "abs(R - E) <= 1e-9 * abs(R)", "np.allclose(E, R)", "cmath.isclose(R, E)",
    "np.all(np.abs(np.array(R) - E) < 1e-6)", "np.testing.assert_array_equal(R, E) is None",
)  # fmt: skip
"""Some that are true of several expected values where nothing guards them."""
EXPECTED_BY_NAME = (
    "[]", "()", "[[]]", "np.array([])", "np.empty((0, 3))", "float('inf')", "-float('inf')", "float('nan')", "np.inf",
    "[1.5, float('nan')]", "np.array([1.0, np.nan])", "np.array([np.inf, 1.0])", "np.datetime64('NaT')",
    "np.array(['NaT'], dtype='M8[D]')", "1e308", "10**400", "np.array([True, False])",
    "np.array([-128], dtype=np.int8)",
    "np.array([2**64 - 1], dtype=np.uint64)", "np.array([[1], [2]])", "np.array(5.0)", "[[1, 2], [3, 4]]", "-0.0",
    "np.array(['a', 'b'])", "1e200+1e200j", "{}", "set()", "''", "None", "True",
)  # fmt: skip


def swapped(comparison: str) -> str:
    """Return a comparison with both sides exchanged."""
    return comparison.translate({ord("R"): "E", ord("E"): "R"})


def expected() -> dict[str, list[str]]:
    """Return kind -> expected values, no two of them alike, as tests write them."""
    return {
        "float": ["3.25", "-7.5", "100.0"],
        "int": ["3", "250", "-12"],
        "complex": ["1+2j", "3j"],
        "text": ["'ab'", "'cd'"],
        "list": ["[1.5, 2.5, 3.5]", "[4, 5, 6]", "[[1], [2]]", "[8]"],
        "array": ["np.array([1.5, 2.5, 3.5])", "np.array([4, 5, 6])", "np.array([[1.0], [2.0]])", "np.array([[8]])"],
        "scalar": ["np.float64(3.25)", "np.int64(7)", "np.array(-2.5)"],
        "date": ["np.datetime64('2024-01-02')", "np.datetime64('2025-01-02')"],
        "span": ["np.timedelta64(3, 'D')", "np.timedelta64(5, 'D')"],
    }


def odd_values() -> dict[str, Any]:
    """Return name -> a value that no test expects unless it says so."""
    import numpy as np

    huge = complex(1.5e308, 1.5e308)
    numbers = {
        "nan": NAN, "inf": INF, "-inf": -INF, "-0.0": -0.0, "max": 1.7e308, "tiny": 5e-324, "huge complex": huge,
        "complex nan": complex(NAN, 0), "complex inf": complex(INF, NAN), "2**63": 2**63, "10**400": 10**400,
        "-2**63": -(2**63), "None": None, "True": True,
        "np nan": np.float64(NAN), "np inf": np.float64(INF), "float16 max": np.float16(65504),
        "NaT": np.datetime64("NaT"),
        "NaT span": np.timedelta64("NaT", "D"), "int64 min": np.int64(-(2**63)), "int8 min": np.int8(-128),
        "huge np complex": np.complex128(huge), "huge complex64": np.complex64(3e38 + 3e38j),
    }  # fmt: skip
    plain = {
        "[]": [], "()": (), "[[]]": [[]], "[[], []]": [[], []], "{}": {}, "set()": set(), "''": "", "b''": b"",
        "range(0)": range(0),
        "nans": [NAN] * 3, "one nan": [NAN], "infs": [INF] * 3, "right and nans": [1.5, NAN, NAN],
        "huge complexes": [huge] * 3,
    }  # fmt: skip
    shapes = itertools.chain([(0,), (0, 1), (1, 0), (3, 0), (0, 3), (2, 1, 0)])
    arrays = {f"empty {shape}": np.empty(shape) for shape in shapes}
    arrays |= {
        f"{name} {np.shape(items)}": np.array(items)
        for name, part in (
            ("nan", NAN),
            ("inf", INF),
            ("huge complex", huge),
            ("None", None),
            ("NaT", np.datetime64("NaT")),
        )
        for items in ([part], [part] * 3)
    }
    objects = np.empty(3, dtype=object)
    objects[:] = [NAN, NAN, NAN]
    lists = np.empty(3, dtype=object)
    lists[:] = [[], [], []]
    arrays |= {
        "empty objects": np.array([], dtype=object), "empty texts": np.array([], dtype="U1"),
        "no texts": np.array(["", "", ""]),
        "objects of nan": objects, "objects of lists": lists, "truths": np.array([True, False, True]),
        "int8 min array": np.array([-128] * 3, dtype=np.int8), "uint64 max": np.array([2**64 - 1] * 3, dtype=np.uint64),
        "structured": np.zeros(3, dtype=[("a", "f8")]), "empty structured": np.zeros(0, dtype=[("a", "f8")]),
        "empty matrix": np.empty((1, 0)).view(np.matrix), "empty records": np.empty(0).view(np.recarray),
        "masked": np.ma.masked_all(3), "masked number": np.ma.masked_array(5.0, mask=True),
        "masked column": np.ma.masked_all((2, 1)),
    }  # fmt: skip
    return numbers | plain | arrays


class Sandbox:
    """The tests' side of a run with this text, and values that come there as from a candidate."""

    def __init__(self, text: str) -> None:
        import crossing
        import receiving
        import sending
        import standing_in
        import vacuous

        self.crossing, self.receiving, self.sending = crossing, receiving, sending
        self.standing_in = standing_in
        self.noted: list[BaseException] = []
        self.guard = vacuous.refuse_empty_comparisons(self._note, text)

    def _note(self, error: BaseException) -> BaseException:
        self.noted.append(error)
        return error

    def received(self, value: Any) -> Any:
        """Return what becomes of a value on its way."""
        encoder = self.sending.Encoder({})
        atom = encoder.encode(value)
        message = self.crossing.dumps({"v": atom, "n": encoder.nodes})
        reply = self.crossing.loads(message, self.guard.constant)
        makers = self.standing_in.Makers()
        makers.array, makers.masked, makers.note = self.guard, self.guard.masked, self._note
        decoder = self.receiving.Decoder(reply["n"], {}, makers=makers)
        decoder.decode_all()
        self.guard.examine(decoder.built)
        return decoder.value(reply["v"])


class Judge:
    """One comparison in one sandbox."""

    def __init__(self, comparison: str, sandbox: Sandbox) -> None:
        import cmath
        import math

        import numpy as np

        self.sandbox = sandbox
        self._code = compile(comparison, "<comparison>", "eval")
        self._names = {"np": np, "math": math, "cmath": cmath}
        self._expected: dict[str, Any] = {}

    def received(self, value: Any) -> list[Any]:
        """Return what becomes of a value on its way, or nothing where it may not be sent."""
        try:
            return [self.sandbox.received(value)]
        except BaseException:
            return []

    def __call__(self, received: list[Any], wanted: list[str]) -> list[tuple[bool, bool]]:
        """Return, for each expected value, whether the comparison is true of it and whether the guard has refused it.

        What may not be sent is refused as well.
        """
        return [self._one(received[0], want) if received else (False, True) for want in wanted]

    def _one(self, got: Any, want: str) -> tuple[bool, bool]:
        if want not in self._expected:
            self._expected[want] = eval(want, {"np": self._names["np"]})
        self.sandbox.noted.clear()
        true = False
        # An assertion or any other error is a test that fails.
        with contextlib.suppress(BaseException):
            true = bool(eval(self._code, self._names | {"R": got, "E": self._expected[want]}))
        return true, bool(self.sandbox.noted)


class Unguarded(Sandbox):
    """The same without a guard."""

    def __init__(self, _text: str = "") -> None:
        super().__init__("")
        self.guard = _Nothing()


class _Nothing:
    constant = float

    def __call__(self, array: Any) -> Any:
        return array

    def masked(self, array: Any) -> Any:
        return array

    def examine(self, objects: list[Any]) -> None:
        pass


def _forked(work: Any) -> Any:
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        os.close(read_end)
        with os.fdopen(write_end, "w") as file:
            json.dump(work(), file)
        os._exit(0)
    os.close(write_end)
    with os.fdopen(read_end) as file:
        text = file.read()
    os.wait()
    return json.loads(text)


def true_of_several(comparison: str, kind_of_sandbox: type[Sandbox] = Sandbox) -> list[tuple[str, str, list[str]]]:
    """Return (value, kind, expected values) wherever a comparison is true of two expected values and not refused."""
    found, values = [], odd_values()
    sandbox = kind_of_sandbox(" ".join([comparison, *itertools.chain(*expected().values())]))
    judge = Judge(comparison, sandbox)
    for name, value in values.items():
        received = judge.received(value)
        for kind, all_wanted in expected().items():
            if _means_something(comparison, name, kind):
                # A failing assertion of NumPy's takes its time for the message.
                wanted = all_wanted[:2] if "testing" in comparison else all_wanted
                seen = judge(received, wanted)
                true = [want for want, told in zip(wanted, seen, strict=True) if told == (True, False)]
                if len(true) > 1:
                    found.append((name, kind, true))
    return found


def _means_something(comparison: str, name: str, kind: str) -> bool:
    """Whether it tells something that the comparison is true of several: not where ordinary values are only ordered."""
    if comparison in ORDERED:
        return name.startswith(("empty", "nan", "masked", "NaT", "[", "("))
    # Complex numbers are ordered by their real parts: such a test is itself true of ordinary values.
    return not (kind == "complex" and "** 2" in comparison)


def refused_although_equal(comparison: str) -> list[str]:
    """Return the values of which a comparison with their like is true, but no longer with the guard, or is refused."""
    found = []
    for wanted in ([*itertools.chain(*expected().values())], [*EXPECTED_BY_NAME]):
        text = " ".join([comparison, *wanted])
        plain = _with_its_like(comparison, wanted, Unguarded())
        guarded = _forked(lambda w=wanted, t=text: _with_its_like(comparison, w, Sandbox(t)))
        found += [
            w
            for w, before, now in zip(wanted, plain, guarded, strict=True)
            if before[0][0] and [*map(list, before)] != now
        ]
    return found


def _with_its_like(comparison: str, wanted: list[str], sandbox: Sandbox) -> list[list[tuple[bool, bool]]]:
    import numpy as np

    judge = Judge(comparison, sandbox)
    return [judge(judge.received(eval(want, {"np": np})), [want]) for want in wanted]


def main() -> None:
    """Write what was found of every comparison."""
    import numpy as np

    sys.path.insert(0, sys.argv[1])
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    lopsided = [swapped(c) for c in EITHER_WAY if any(word in c for word in ("close", "testing", "==", "1e-9"))]
    both = [*EITHER_WAY, *lopsided, *ORDERED] if sys.argv[2] != "unguarded" else VACUOUS
    unguarded = functools.partial(true_of_several, kind_of_sandbox=Unguarded)
    tell = {"vacuous": true_of_several, "equal": refused_although_equal, "unguarded": unguarded}[sys.argv[2]]
    json.dump({comparison: _forked(lambda c=comparison: tell(c)) for comparison in both}, sys.stdout)


if __name__ == "__main__":
    main()
