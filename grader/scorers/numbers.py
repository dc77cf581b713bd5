r"""Numbers in replies and gold answers, whole or not at all.

A number is what stands between characters that belong to no number: its sign or the word for it, digits grouped in any
form (`10,000`, `10 000`, `10\,000`, `1,00,000`), a decimal comma, fractions and mixed numbers, powers, words and
letters of scale. What is only a part of something longer (a date, a version, a range, an expression, "4th", "5 feet
3 inches", "more than 10") is not read as a number.
"""

# RUF001 takes a multiplication sign for the letter x. SIM905 asks for lists; words in one text are easier to read.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

import math
import unicodedata
from functools import lru_cache
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
_SCALES = {
    "hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12, "lakh": 1e5, "crore": 1e7,
    "dozen": 12.0, "mio": 1e6, "mrd": 1e9, "mn": 1e6, "bn": 1e9, "tn": 1e12, "tsd": 1e3, "mille": 1e3, "tausend": 1e3,
    "millionen": 1e6, "milliarde": 1e9, "milliarden": 1e9, "milliard": 1e9, "mil": 1e3, "millone": 1e6, "millón": 1e6,
    "milioni": 1e6, "miliardi": 1e9, "milhõe": 1e6, "тыс": 1e3, "тысяч": 1e3, "млн": 1e6, "миллион": 1e6, "млрд": 1e9,
}  # fmt: skip
"""Word of scale, without the s of its plural -> value."""
_SIGNS_OF_SCALE = dict(zip("kKMBT十百千万萬亿億兆십백천만억", (
    1e3, 1e3, 1e6, 1e9, 1e12, 1e1, 1e2, 1e3, 1e4, 1e4, 1e8, 1e8, 1e12, 1e1, 1e2, 1e3,
    1e4, 1e8), strict=True))  # fmt: skip
_UNITS = {
    "length": "Å 1e-10 nm 1e-9 pm 1e-12 µm 1e-6 mm 1e-3 cm .01 dm .1 m 1 km 1e3 millimetre 1e-3 millimeter 1e-3 "
    "centimetre .01 "
    "centimeter .01 metre 1 meter 1 kilometre 1e3 kilometer 1e3 in .0254 inch .0254 inche .0254 ft "
    ".3048 foot .3048 feet .3048 "
    "yd .9144 yard .9144 mi 1609.344 mile 1609.344",
    "mass": "mg 1e-6 g 1e-3 kg 1 t 1e3 gram 1e-3 kilogram 1 ton 1e3 tonne 1e3 lb .45359237 oz .028349523125",
    "time": "ms 1e-3 s 1 sec 1 second 1 min 60 minute 60 h 3600 hr 3600 hour 3600 day 86400 week 604800",
    "volume": "ml 1e-3 mL 1e-3 cl .01 l 1 L 1 litre 1 liter 1",
    "money": "$ 1 dollar 1 USD 1 cent .01 ¢ .01",
    "energy": "J 1 joule 1 kJ 1e3 kWh 3.6e6 eV 1.602176634e-19",
    "angle": "° 1 degree 1",
    "share": "% 1",
} | {
    unit: f"{unit} 1"
    for unit in "N W kW MW V mV A mA Hz kHz MHz GHz Pa kPa bar mol px mph °C °F Ω GB MB kB TB € £ ¥".split()
}
"""Kind of measure -> units with their factors to one of them."""
_MEASURES = {
    unit: (kind, float(factor))
    for kind, listed in _UNITS.items()
    for unit, factor in zip(listed.split()[::2], listed.split()[1::2], strict=True)
}


class Number(NamedTuple):
    """A number as it stands in a simplified text, and the unit behind it; the unit is "" if there is none."""

    value: float
    unit: str
    text: str
    """The number with its sign, without its unit."""
    start: int
    end: int

    def same_number(self, other: Number, tolerance: float = 0) -> bool:
        """Whether both numbers are equal, whatever they count: whole numbers exactly, and only zero is zero."""
        if self.whole is not None and other.whole is not None and not tolerance:
            return self.whole == other.whole
        return math.isclose(self.value, other.value, rel_tol=max(_RELATIVE, tolerance))

    def equals(self, other: Number, tolerance: float = 0) -> bool:
        """Whether both are the same amount; of units that are no measures ("birds"), only the number counts."""
        mine, theirs = _measure(self.unit), _measure(other.unit)
        if mine and theirs and mine != theirs:
            amounts = self.value * mine[1], other.value * theirs[1]
            return mine[0] == theirs[0] and math.isclose(*amounts, rel_tol=max(_RELATIVE, tolerance))
        # "5 M" can be five million.
        if (self.unit in _SIGNS_OF_SCALE) != (other.unit in _SIGNS_OF_SCALE):
            return False
        share = self._share(other) if (self.unit == "%") != (other.unit == "%") else None
        return self.same_number(other, tolerance) or (share is not None and share)

    def _share(self, other: Number) -> bool:
        """Whether one is a share below 1, and the other the same in percent."""
        percent, share = (self, other) if self.unit == "%" else (other, self)
        return (
            not share.unit
            and abs(share.value) <= 1
            and math.isclose(percent.value / 100, share.value, rel_tol=_RELATIVE)
        )

    @property
    def whole(self) -> int | None:
        """The number if it is written as a whole one: floating-point numbers do not tell large ones apart."""
        digits = self.text.replace(",", "").replace(" ", "")
        power = _POWER.fullmatch(digits)
        if power is not None:
            raised: int = int(power[1]) ** int(power[2])
            return raised
        return int(digits) if _WHOLE.fullmatch(digits) else None

    @property
    def is_measure(self) -> bool:
        """Whether the unit is one of measurement, and not a word such as "birds"."""
        return _measure(self.unit) is not None


_RELATIVE = 1e-9
_POWER = Pattern(r"(\d{1,3})\^\{?(\d{1,3})\}?")
_WHOLE = Pattern(r"[-+]?\d{1,400}")


def _measure(unit: str) -> tuple[str, float] | None:
    """Return the kind of measure of a unit and its factor; None for other words. Compound units have a kind each."""
    if "/" in unit or unit[-1:] in ("2", "3"):
        return (unit, 1.0) if _measure(unit.partition("/")[0].rstrip("23")) else None
    return next(
        (_MEASURES[one] for one in (unit, unit.removesuffix("s"), unit.lower().removesuffix("s")) if one in _MEASURES),
        None,
    )


# --- a number's own characters ---------------------------------------------------------------------------------------

_WRAPPER = Pattern(r"\\(?:text|mathrm|mathbf|mathit|textbf|mbox|rm|bf|boxed|operatorname)\s*\{([^{}]{0,200})\}")
_FRACTION = Pattern(
    r"\\[dt]?frac\s?(?:\{\s?([\d.,π√]{1,20})\s?\}\s?\{\s?([\d.,]{1,20})\s?\}|\{?(\d{1,20})\}?\s?\{?(\d{1,20})\}?)"
)
_ROOT = Pattern(r"\\sqrt\s?(?:\{([\d.]{1,20})\}|(\d))")
_LATEX = (
    (Pattern(r"\\(?:left|right|displaystyle|qquad|quad|[()\[\]])|\\(?=[$%])"), ""),
    (Pattern(r"\\(?:times|cdot)(?![A-Za-z]) ?"), "×"),
    (Pattern(r"\\div(?![A-Za-z])"), "÷"),
    (Pattern(r"\\pm(?![A-Za-z])"), "±"),
    (Pattern(r"\\(?:approx|sim)(?![A-Za-z])"), "≈"),
    (Pattern(r"\\pi(?![A-Za-z])"), "π"),
    (Pattern(r"\^\s?\{?\s?\\circ\s?\}?"), "°"),
    (Pattern(r"(?<=\d)(?:\{,\}|\\[,;:! ]|~)(?=\d)"), ","),
    (Pattern(r"\\[,;:! ]|~"), " "),
)
_GROUPS = Pattern(r"(?<![\d.,])\d{1,3}(?:([ '\u2019_٬])\d{3})(?:\1\d{3})*(?!\d)")
_RAISED = Pattern(r"[⁻⁺]?[⁰¹²³⁴-⁹]+")
_VULGAR = Pattern("[¼½¾⅐-⅞]")
_DOLLAR = Pattern(r"\$+(?!\d|[-.]\d)|(?<=\d)\$")
_BLANKS = Pattern(r"  +")
_BOLD = Pattern(r"(?<!\d)\*\*|\*\*(?!\d)|`+|__")


_HAN = Pattern(
    r"(?:(?<![第\u3040-\u9fff])[一二两三四五六七八九十百千零〇]{1,9}"
    r"|(?<=[有是为共:])[二两三四五六七八九十百千零〇][一二两三四五六七八九十百千零〇]{0,8})"
    r"(?=[个只人张名条次种件本位岁元块头匹辆座棵朵支枚颗项。.,\s]|$)"
)
_HAN_DIGITS = {char: value for value, char in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_HAN_UNITS = {"十": 10, "百": 100, "千": 1000}


def _han_in_digits(text: str) -> str:
    """Return a Chinese numeral below 10,000 in digits."""
    total = digit = 0
    for char in text:
        if char in _HAN_UNITS:
            total, digit = total + (digit or 1) * _HAN_UNITS[char], 0
        else:
            digit = _HAN_DIGITS[char]
    return str(total + digit)


def simplified(text: str) -> str:
    r"""Return a text with its numbers in plain characters: `\frac{1}{2}` as 1/2, `10\,000` as 10,000, ⁶ as ^6.

    Wrappers and emphasis go; a dollar sign is left only before a number.
    """
    if "\\" in text or "{,}" in text:
        text = _WRAPPER.sub(r"\1", _WRAPPER.sub(r"\1", text))
        text = _ROOT.sub(lambda m: f"√{m[1] or m[2]}", text)
        text = _FRACTION.sub(lambda m: f"{' ' * text[: m.start()][-1:].isdigit()}{m[1] or m[3]}/{m[2] or m[4]}", text)
        for pattern, plain in _LATEX:
            text = pattern.sub(plain, text)
        text = _BLANKS.sub(" ", text)
    if "$" in text:
        text = _DOLLAR.sub("", text)
    if not text.isascii():
        text = _HAN.sub(lambda m: _han_in_digits(m[0]), text)
        text = _VULGAR.sub(lambda m: " " + unicodedata.normalize("NFKC", m[0]).replace("\u2044", "/"), text)
        text = _RAISED.sub(lambda m: "^" + unicodedata.normalize("NFKC", m[0]).replace("\u2212", "-"), text).replace(
            "٫", "."
        )
    return _GROUPS.sub(lambda m: m[0].replace(m[1], ""), _BOLD.sub("", text))


_DIGITS = (
    r"(?>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!,?\d)|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?(?!,?\d)"  # 10,000 1,00,000
    r"|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"  # 1.234,56 1.234.567
    r"|0,\d+(?![\d,])|\d+,\d\d?(?![\d,])|\d+(?:\.\d+)?|\.\d+)"  # 72,5 72.5
)
_ONE_WORD = f"(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})"
_SCALE = rf"(?i:{'|'.join(sorted(_SCALES, key=len, reverse=True))})s?\b"
_NUMBER = Pattern(
    rf"(?:(?P<digits>{_DIGITS})(?: (?:and )?(?P<up>\d{{1,4}}) ?/ ?(?P<down>\d{{1,4}})|"
    rf" ?/ ?(?P<below>\d{{1,9}}(?:\.\d{{1,9}})?)"
    rf"|(?P<half> and a half\b))?(?:(?:\^|"
    rf"\*\*) ?[{{(]?(?P<raised>[-+]?\d{{1,4}})[)}}]?)?(?:[eE](?P<exponent>[-+]?\d{{1,3}}))?"
    rf"(?: ?[×x*·] ?10(?: ?(?:\^|\*\*) ?[{{(]{{0,2}}(?P<ten>[-+]?\d{{1,3}})[)}}]{{0,2}}))?"
    rf"|\b(?i:(?P<part>half|(?:an?|one|two|three|four|five)[ -](?:{'|'.join(_PARTS)})s?)(?![\w-])"
    rf"|(?P<words>{_ONE_WORD}(?:(?:[ -]| and |, ){_ONE_WORD}\b|[ -](?:hundred|thousand|million|billion|"
    rf"trillion)\b)*)(?P<half2> and a half)?(?![\w-]))"
    rf"|(?=[√π]))(?: ?√\(?(?P<under>\d{{1,9}}(?:\.\d{{1,9}})?)\)?)?(?: ?(?P<pi>π)(?: ?/ ?(?P<divisor>\d{{1,9}}))?)?"
    rf"(?:[ -]?(?P<scale>{_SCALE})\.?|(?P<signs>[kKMBT](?![\w/]))|(?P<cjk> ?[十百千万萬亿億兆십백천만억]+))?"
)
_MOST_DIGITS = 300
"""Digits of a power. Floating-point numbers have at most 308."""


def _value(found: re.Match[str]) -> float:
    """Return the value of a match without its sign; NaN or infinite if it is not a number."""
    if found["digits"]:
        value = _value_of_digits(found["digits"]) + (
            float(found["up"]) / (float(found["down"]) or math.nan) if found["up"] else 0.0
        )
        value /= float(found["below"] or 1) or math.nan
    elif found["part"]:
        first, _, part = found["part"].lower().replace("-", " ").rpartition(" ")
        value = WORDS.get(first, 1) / _PARTS[part if part in _PARTS else part.removesuffix("s")]
    else:
        value = _value_of_words(found["words"].lower()) if found["words"] else 1.0
    value += 0.5 if found["half"] or found["half2"] else 0.0
    if found["raised"]:
        digits = int(found["raised"]) * math.log10(abs(value)) if value else 0
        value = value ** int(found["raised"]) if abs(digits) < _MOST_DIGITS and value else math.nan
    value *= float(f"1e{found['exponent'] or found['ten'] or 0}")
    value *= (
        math.sqrt(float(found["under"] or 1))
        * (math.pi if found["pi"] else 1.0)
        / (float(found["divisor"] or 1) or math.nan)
    )
    value *= math.prod(_SIGNS_OF_SCALE[sign] for sign in (found["signs"] or found["cjk"] or "").strip())
    scale = (found["scale"] or "").lower()
    return value * (_SCALES.get(scale) or _SCALES.get(scale.removesuffix("s")) or 1.0)


def _value_of_words(words: str) -> float:
    total = part = 0.0
    for word in words.replace("-", " ").replace(",", " ").split():
        if word == "hundred":
            part *= 100
        elif word in _SCALES:
            total, part = total + part * _SCALES[word], 0.0
        else:
            part += WORDS.get(word, 0)
    return total + part


def _value_of_digits(digits: str) -> float:
    if digits.count(".") > 1 or ("." in digits.partition(",")[0] and "," in digits):
        digits = digits.replace(".", "")  # 1.234,56
    elif "," in digits and (len(digits.rpartition(",")[2].partition(".")[0]) == 3 and not digits.startswith("0")):
        digits = digits.replace(",", "")
    return float(digits.replace(",", ".")[:300])


# --- what stands around a number -------------------------------------------------------------------------------------

_SIGNED = Pattern(
    r"(?:(?P<sign>[-+]) ?|(?P<word>\b(?:minus|negative|moins|menos|meno|минус)\b|负|負|マイナス|마이너스) ?)?"
    r"(?P<money>(?:US|A|C)?[$€£¥₹₩] ?|\b(?:USD|EUR|GBP|Rs\.?|INR) )?(?P<inner>[-+])?[({]?$",
    2,
)
_UNIT = Pattern(
    r"[ \t-]?(?P<unit>%|percent\b|per cent\b|°[CF]?|"
    r"[A-Za-zµμΩÅ€£¥¢]+(?:\^?\{?[23]\}?(?!\d))?(?:/[A-Za-z]+(?:\^?[23](?!\d))?)?)"
)
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_JOINS = "(?:(?:, )?(?:or|and|und|oder|et|ou|y|o|и|или)|,|;|to|of|out of|through|-|/|bis|和|或|至|到|と|から)"
_LED = "(?:the |an? |about |(?<=or )[a-z] ?= ?)?"
_LETTER = r"A-Za-z0-9\u00c0-\u024f\u0370-\u052f"
_PART_BEFORE = Pattern(
    rf"[{_LETTER}_.^√#&@\\{{]$|[±<>≤≥≠+*×·÷/^%] ?-?$|[=(] ?[+*/×·÷^] ?$|\w[-,:/']$|[\w)\]}}%°] ?[-+*/×·÷^x] ?$|"
    rf"\d[ \t]+$|[([]-?\d[\d.]*, ?$"
    rf"|(?:\d|\b{_ONE_WORD})[ \t]*[%°]?(?:[ \t]?[A-Za-z/]{{1,12}})?[ \t]*{_JOINS}[ \t]+{_LED}$"
    r"|n't $|\b(?:(?:root|power|half|quarter|thirds?) of|twice|double|triple|times|log|ln|sin|cos|tan|not|instead of|"
    r"than|compared (?:to|with)|at least|at most|up to|under|over|above|below|between|from|exceeds?|"
    r"steps?|stage|figure|fig\.?|table|page|chapter|section|part|option|choice|"
    rf"question|equation|eq\.?|problem|example|case|line|row|column|item|point|no\.?|level|grade|version|"
    rf"{_MONTH}|第) ?(?:the )?\(?$|分之$",
    2,
)
_PART_AFTER = Pattern(
    rf"[{_LETTER}_^±]| ?\\(?!degree|circ)[A-Za-z]|[.,:'/]\d|-[{_LETTER}]| ?(?:[+*×÷·/^±=]|[<>≤≥])|[A-Za-z "
    rf"]{{1,12}}=| - ?[\w(\\]|!\s*[=+*/-]"
    rf"|[ \t]*[%°]?(?:[ \t]*[A-Za-z]{{1,12}}\.?)?[ \t]*{_JOINS}[ \t]*{_LED}[$€£-]?(?:\d|{_ONE_WORD}\b)"
    r"|[ \t]\d|[ \t-]?(?:minus|plus|times(?= +\S{0,3}\d)|divided by|multiplied by|to the power|squared|cubed|"
    r"factorial|raised|"
    rf"decimals?|significant|digits?|x ?\d|below zero)\b|[ \t]+(?:an?[ \t]+)?(?:{_SCALE}|(?:{_MONTH})\b)|分之",
    2,
)
_AMOUNT = Pattern(r"\d ?([A-Za-z]+)\.? (?:and )?$")
"""The first part of an amount with two units, "2 h 30 min"."""
_EUROS = Pattern(r"\d{1,3}\.\d{3}(?= ?(?:€|euros?\b|eur\b))|(?<=€)\d{1,3}\.000(?![\d,]| ?[bkm])", 2)
"""An amount of euros whose point groups digits: `70.000 €`. Behind the sign, it does so only before three zeros."""
_DECADE = Pattern(r"[12]\d\d0'?s\b")


def numbers_in(text: str) -> Iterator[Number]:
    """Yield every whole number of a simplified text."""
    for found in _NUMBER.finditer(text):
        if found.end() > found.start() and (read := _read(found, text)) is not None:
            yield read


def _read(found: re.Match[str], text: str) -> Number | None:
    """Return the number of a match with its sign and unit; None for a part of something longer."""
    before, after = text[max(0, found.start() - 32) : found.start()], text[found.end() : found.end() + 60]
    signed = _SIGNED.search(before, max(0, len(before) - 14))
    assert signed is not None
    left = before[: signed.start()]
    is_expression = left[-1:].isalnum() if signed["sign"] else signed["word"] and left.rstrip()[-1:].isdigit()
    if is_expression or _PART_BEFORE.search(left) or _DECADE.match(text, found.start()):
        return None
    unit = _UNIT.match(after)
    said = _unit_name(unit["unit"]) if unit else ""
    is_measure = _measure(said) is not None
    if found["signs"] is None and after[:1].isascii() and after[:1].isalpha() and not is_measure:
        return None
    if _PART_AFTER.match(after[unit.end() :] if unit and is_measure else after):
        return None
    first = _AMOUNT.search(left)
    is_pair = "," in (found["digits"] or "") and before[-1:] in ("(", "[") and after[:1] in (")", "]")
    if (first and is_measure and _measure(first[1])) or is_pair:
        return None
    value = _value(found) * (1000 if _EUROS.match(text, found.start()) else 1)
    if signed["money"] and said in _SIGNS_OF_SCALE:
        value, said = value * _SIGNS_OF_SCALE[said], ""
    if signed["money"] and not is_measure:
        said = _unit_name(signed["money"].strip())
    negative = (signed["sign"] == "-") ^ bool(signed["word"]) ^ (signed["inner"] == "-")
    start = found.start() - len(before) + signed.start()
    return (
        Number(-value if negative else value, said, text[start : found.end()].strip(), start, found.end())
        if math.isfinite(value)
        else None
    )


def _unit_name(unit: str) -> str:
    said = unit.translate(str.maketrans("μ", "µ", "^{}"))
    return {"percent": "%", "per cent": "%", "US$": "$"}.get(said.lower(), said)


_LONGEST = 160
_LEAD = Pattern(r"(?:about |approximately |around |roughly |exactly |only |just |≈ ?|[=:] ?|[(\[{] ?)?", 2)
_TAIL = Pattern(r"[ -]?[%°€£¥¢$]?(?:[^\W\d]+(?:[\^/·²³{}'-]?\w+[}]?)*)?(?: [^\W\d]+){0,3}[\s.)\]}]*")


@lru_cache(4096)
def number(text: str) -> Number | None:
    """Return the number that a text consists of, perhaps with a unit of a few words; None if it says more."""
    body = simplified(text).strip(" \t\n\"',:*_")
    if not body or len(body) > _LONGEST:
        return None
    found = next(numbers_in(body), None)
    lead = _LEAD.match(body)
    if found is None or lead is None or found.start > lead.end() or _TAIL.fullmatch(body, found.end) is None:
        return None
    return found
