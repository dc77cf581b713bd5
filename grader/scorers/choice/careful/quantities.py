r"""Quantities in replies and options: "20 m" and "20 meters", "0.75" and `\frac{3}{4}`, "12,000" and "12000".

Two quantities are equal if their numbers and units are. Everything here is linear in the length of the text.
"""

# ruff: noqa: RUF001 - a multiplication sign is no letter

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.patterns import Pattern

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
"""Number word -> value."""
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10}
_SCALES = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}

_SPACE = r"(?:[ \t$~]|\\[,;:! ]){0,3}"
_DECIMAL = r"(?:\d{1,3}(?:(?:,|\{,\})\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
_QUANTITY = Pattern(
    rf"(?<![\w.\\^/{{])(?<!\d,)(?=[-+$€£¥\d.\\√π]|[a-z]{{3}}|an? )(?P<sign>[-+]?)(?P<money>[$€£¥])?"
    rf"(?:\\[dt]?frac\s?\{{(?P<top>{_DECIMAL})?(?P<toppi>\\pi|π)?\}}\s?\{{(?P<bottom>{_DECIMAL})\}}"
    rf"|(?P<base>{_DECIMAL}){_SPACE}\^\{{?(?P<raised>[-+]?\d{{1,3}})\}}?"
    rf"|(?P<number>{_DECIMAL})(?:{_SPACE}/{_SPACE}(?P<below>{_DECIMAL}))?"
    rf"(?:[eE](?P<exponent>[-+]?\d{{1,3}})|{_SPACE}(?:×|\*|\\times|\\cdot|x){_SPACE}10{_SPACE}\^?"
    rf"{{?\{{?(?P<power>[-+]?\d{{1,3}})\}}?)?"
    rf"|(?P<half>half)\b|(?P<article>an?|one|two|three){_SPACE}-?(?P<part>{'|'.join(_PARTS)})s?\b"
    rf"|(?P<words>(?:{_TENS.replace(' ', '|')})[ -](?:{_SMALL.replace(' ', '|')})|{_SMALL.replace(' ', '|')}|"
    rf"{_TENS.replace(' ', '|')})\b|(?=\\pi|π|\\sqrt|√))"
    rf"(?:{_SPACE}(?P<scale>{'|'.join(_SCALES)})\b)?"
    rf"(?:{_SPACE}(?P<root>\\sqrt\{{|√\(?)(?P<under>{_DECIMAL})[)}}]?)?"
    rf"(?:{_SPACE}(?P<pi>\\pi\b|π))?(?:{_SPACE}/{_SPACE}(?P<divisor>{_DECIMAL}))?"
    rf"(?:{_SPACE}(?:\\(?:text|mathrm|rm)\s?\{{\s?)?(?P<unit>\\?%|percent\b|(?:\^?\{{?\\circ\}}?|°|º){_SPACE}[A-Za-z]?\b|°|"
    r"[A-Za-zµμΩ]+(?:[²³]|\^?[23](?!\d))?(?:/[A-Za-z]+(?:[²³]|\^?[23](?!\d))?)?)\}?)?",
)
_CLOSING = Pattern(r"[\s$.)}\\]*")
_LONGEST = 120
_MOST_DIGITS = 300
"""Digits of a power. Floating-point numbers have at most 308."""
_AROUND = " \t\n,;:()[]\"'"
"""What may stand around a quantity."""
_MEASURE = Pattern(r"[A-Za-zµΩ]{1,16}(?:\^[23])?(?:/[A-Za-z]{1,12}(?:\^[23])?)?")
_SIGNS = {"$": "dollar", "€": "euro", "£": "pound_money", "¥": "yen"}


class Quantity(NamedTuple):
    """A number and its unit; the unit is "" if there is none."""

    value: float
    unit: str

    def same_number(self, other: Quantity) -> bool:
        """Whether both numbers are equal."""
        return math.isclose(self.value, other.value, rel_tol=1e-9, abs_tol=1e-12)

    def equals(self, other: Quantity) -> bool:
        """Whether both are the same amount of the same unit."""
        if self.unit == other.unit:
            return self.same_number(other)
        if not self.unit or not other.unit or not (self.same_number(other) or self._could_convert(other)):
            return False
        mine, theirs = _factor(self.unit), _factor(other.unit)
        return (
            mine is not None
            and theirs is not None
            and mine[1] == theirs[1]
            and math.isclose(self.value * mine[0], other.value * theirs[0], rel_tol=1e-9, abs_tol=1e-12)
        )

    def _could_convert(self, other: Quantity) -> bool:
        """Whether the numbers are apart by a factor between common units: a power of ten or of sixty."""
        if self.value * other.value <= 0:
            return False
        ratio = self.value / other.value
        return any(math.isclose(x := math.log(ratio, base), round(x), abs_tol=1e-9) for base in (10, 60))

    @property
    def is_measure(self) -> bool:
        """Whether the unit is one of measurement, and not a word such as "birds"."""
        return bool(self.unit) and _factor(self.unit) is not None


def quantities_in(text: str) -> Iterator[tuple[int, int, Quantity]]:
    """Yield (start, end, quantity) for every quantity in `text`; the end is that of the number, or of its unit."""
    for m in _QUANTITY.finditer(text):
        value = _value(m) if m["words"] != "one" or m["scale"] else None  # "one of them" counts nothing
        if value is not None:
            yield m.start(), m.end(), Quantity(value, _unit(m))


def quantity(text: str) -> Quantity | None:
    """Return the quantity that `text` consists of, or None."""
    body = text.strip(_AROUND).rstrip(f".{_AROUND}")
    if not (body[:1] == "." and body[1:2].isdigit()):  # .25
        body = body.lstrip(f".{_AROUND}")
    if len(body) > _LONGEST:
        return None
    body = body.strip("$ ") if body.endswith("$") else body
    found = _QUANTITY.match(body.lower() if body[:1].isalpha() else body)
    if found is None or _CLOSING.fullmatch(body[found.end() :]) is None:
        return None
    value = _value(found)
    return None if value is None else Quantity(value, _unit(found))


def _value(m: re.Match[str]) -> float | None:
    """Return the number of a match; None for an empty one."""
    pi = math.pi if m["pi"] or m["toppi"] else 1.0
    if m["words"]:
        value = float(sum(WORDS[word] for word in m["words"].replace("-", " ").split()))
    elif m["half"]:
        value = 0.5
    elif m["part"]:
        value = WORDS.get(m["article"], 1) / _PARTS[m["part"]]
    elif m["bottom"]:
        bottom = _decimal(m["bottom"])
        value = (_decimal(m["top"]) if m["top"] else 1.0) / bottom if bottom else math.nan
    elif m["base"]:
        base, raised = _decimal(m["base"]), int(m["raised"])
        value = base**raised if base and abs(raised * math.log10(base)) < _MOST_DIGITS else math.nan
    elif m["number"]:
        value = _decimal(m["number"]) * float(f"1e{m['exponent'] or m['power'] or 0}")  # infinite beyond 1e308
        below = _decimal(m["below"]) if m["below"] else 1.0
        value = value / below if below else math.nan
    elif m["pi"] or m["root"]:
        value = 1.0
    else:
        return None
    divisor = _decimal(m["divisor"]) if m["divisor"] else 1.0
    value *= _SCALES.get(m["scale"] or "", 1.0)
    value *= pi * math.sqrt(_decimal(m["under"] or "1")) / (divisor or math.nan) * (-1 if m["sign"] == "-" else 1)
    return value if math.isfinite(value) else None


def _decimal(text: str) -> float:
    return float(text.replace("{,}", "").replace(",", "")[:300])


def _unit(m: re.Match[str]) -> str:
    said = (m["unit"] or "").strip(" \\{}^~").replace("circ", "°").replace("º", "°").replace(" ", "").replace("\\", "")
    if m["money"] and not said:
        return _SIGNS[m["money"]]
    if said in ("percent", "%"):
        return "%"
    return said.replace("²", "^2").replace("³", "^3").replace("μ", "µ")


@cache
def _registry() -> object:
    """Return the registry of units; it is loaded at the first unit that has another spelling."""
    import pint

    return pint.UnitRegistry()


@lru_cache(4096)
def _factor(unit: str) -> tuple[float, str] | None:
    """Return (factor to base units, base units) of a unit of measurement; None for other words."""
    if unit == "":
        return 1.0, ""
    if unit == "%":
        return 0.01, ""
    if unit in _SIGNS.values() or unit == "dollars":
        return 1.0, unit.removesuffix("s")
    if unit in ("°", "degree", "degrees"):
        return 1.0, "°"
    if _MEASURE.fullmatch(unit) is None:
        return None
    return _measured(unit) or _measured(unit.lower())


def _measured(unit: str) -> tuple[float, str] | None:
    registry = _registry()
    try:
        base = registry.Quantity(1.0, unit).to_base_units()  # type: ignore[attr-defined]
    except Exception:
        return None
    return float(base.magnitude), str(base.units)
