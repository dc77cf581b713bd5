r"""Numbers in replies and gold answers, whole or not at all.

A number is what stands between characters that belong to no number: its sign or the word for it, digits grouped in any
form (`10,000`, `10 000`, `10\,000`, `1,00,000`), a decimal comma, fractions and mixed numbers, powers, words and
letters of scale. What is only a part of something longer (a date, a version, a range, an expression, "4th",
"more than 10") is not read as a number.

`$5 M`, `1,00,000` and `1.234,56` decide none of 9,629 replies. They stay, because a number would be read in part
without them. Fractions in words ("two thirds") and other units (1 km for 1000 m) decided none and are not read.
"""

# RUF001 takes a multiplication sign for the letter x. SIM905 asks for lists; words in one text are easier to read.
# ruff: noqa: RUF001, SIM905

from __future__ import annotations

import math
import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.patterns import Pattern, heuristic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
WORDS = {word: value for value, word in enumerate(_SMALL.split())} | {
    word: 10 * value for value, word in enumerate(_TENS.split(), 2)
}
"""Number word -> value."""
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
_UNITS = (
    "m metre meter", "km kilometre kilometer", "cm centimetre centimeter", "mm millimetre millimeter", "dm", "nm", "pm",
    "µm", "Å", "in inch inche", "ft foot feet", "yd yard", "mi mile", "g gram", "kg kilogram", "mg", "t ton tonne",
    "lb", "oz", "s sec second", "ms", "min minute", "h hr hour", "day", "week", "l L litre liter", "ml mL", "cl",
    "$ dollar USD", "cent ¢", "J joule", "° degree",
    *"kJ kWh eV % N W kW MW V mV A mA Hz kHz MHz GHz Pa kPa bar mol px mph °C °F Ω GB MB kB TB € £ ¥".split(),
)  # fmt: skip
"""Spellings of each unit of measurement."""
_MEASURES = {spelling: spellings.split()[0] for spellings in _UNITS for spelling in spellings.split()}


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
        integer, other_integer = self.as_integer, other.as_integer
        if integer is not None and other_integer is not None and not tolerance:
            return integer == other_integer
        return math.isclose(self.value, other.value, rel_tol=max(_RELATIVE, tolerance))

    def same_amount(self, other: Number, tolerance: float = 0) -> bool:
        """Whether both are the same amount in the same unit; of words that are no units ("birds"), the number counts.

        An amount in another unit (1 km, 1000 m) is not compared: none of 19,257 replies has one.
        """
        measure, other_measure = _measure(self.unit), _measure(other.unit)
        if measure and other_measure and measure != other_measure:
            return False
        return self.same_number(other, tolerance) or self._is_same_share(other)

    def _is_same_share(self, other: Number) -> bool:
        """Whether one is in percent, and the other the same as a share up to 1."""
        if (self.unit == "%") == (other.unit == "%"):
            return False
        percent, share = (self, other) if self.unit == "%" else (other, self)
        is_share = not share.unit and abs(share.value) <= 1
        return is_share and math.isclose(percent.value / 100, share.value, rel_tol=_RELATIVE)

    @property
    def as_integer(self) -> int | None:
        """The number if it is written as a whole one: floating-point numbers do not tell large ones apart."""
        digits = self.text.replace(",", "").replace(" ", "")
        power = _POWER.fullmatch(digits)
        if power is not None:
            integer: int = int(power[1]) ** int(power[2])
            return integer
        return int(digits) if _INTEGER.fullmatch(digits) else None

    @property
    def is_measure(self) -> bool:
        """Whether the unit is one of measurement, and not a word such as "birds"."""
        return _measure(self.unit) is not None


_RELATIVE = 1e-9
_POWER = Pattern(r"(\d{1,3})\^\{?(\d{1,3})\}?")
_INTEGER = Pattern(r"[-+]?\d{1,400}")


def _measure(unit: str) -> str | None:
    """Return the unit of measurement that a word is a spelling of; None for other words."""
    if "/" in unit:  # "km/h" is a unit of its own
        return unit if _measure(unit.partition("/")[0]) else None
    spellings = (unit, unit.removesuffix("s"), unit.lower().removesuffix("s"))
    return next((_MEASURES[spelling] for spelling in spellings if spelling in _MEASURES), None)


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
_GROUPED_DIGITS = Pattern(r"(?<![\d.,])\d{1,3}(?:([ '\u2019_٬])\d{3})(?:\1\d{3})*(?!\d)")
_SUPERSCRIPT = Pattern(r"[⁻⁺]?[⁰¹²³⁴-⁹]+")
_FRACTION_SIGN = Pattern("[¼½¾⅐-⅞]")
_DOLLAR_OF_LATEX = Pattern(r"\$+(?!\d|[-.]\d)|(?<=\d)\$")
_BLANKS = Pattern(r"  +")
_EMPHASIS = Pattern(r"(?<!\d)\*\*|\*\*(?!\d)|`+|__")


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


def simplify_numbers(text: str) -> str:
    r"""Return a text with its numbers in plain characters: `\frac{1}{2}` as 1/2, `10\,000` as 10,000, ⁶ as ^6.

    Wrappers and emphasis go; a dollar sign is left only before a number.
    """
    if "\\" in text or "{,}" in text:
        text = _without_latex(text)
    if "$" in text:
        text = _DOLLAR_OF_LATEX.sub("", text)
    if not text.isascii():
        text = _HAN.sub(lambda m: _han_in_digits(m[0]), text)
        text = _FRACTION_SIGN.sub(lambda m: f" {unicodedata.normalize('NFKC', m[0])}".replace("\u2044", "/"), text)
        text = _SUPERSCRIPT.sub(lambda m: f"^{unicodedata.normalize('NFKC', m[0])}".replace("\u2212", "-"), text)
        text = text.replace("٫", ".")
    return _GROUPED_DIGITS.sub(lambda m: m[0].replace(m[1], ""), _EMPHASIS.sub("", text))


def _without_latex(text: str) -> str:
    """Return numbers, roots, fractions and units of LaTeX as plain signs."""
    # A wrapper can stand in another one.
    text = _WRAPPER.sub(r"\1", _WRAPPER.sub(r"\1", text))
    text = _ROOT.sub(lambda m: f"√{m[1] or m[2]}", text)
    text = _FRACTION.sub(_plain_fraction, text)
    for pattern, plain in _LATEX:
        text = pattern.sub(plain, text)
    return _BLANKS.sub(" ", text)


def _plain_fraction(match: re.Match[str]) -> str:
    """Return `1/2`, with a blank before it behind a digit: a mixed number."""
    fraction = f"{match[1] or match[3]}/{match[2] or match[4]}"
    is_mixed = match.string[: match.start()][-1:].isdigit()
    return f" {fraction}" if is_mixed else fraction


_DIGITS = (
    r"(?>\d{1,3}(?:,\d{3})+(?:\.\d+)?(?!,?\d)|\d{1,2}(?:,\d\d)+,\d{3}(?:\.\d+)?(?!,?\d)"  # 10,000 1,00,000
    r"|\d{1,3}(?:\.\d{3})+,\d+|\d{1,3}(?:\.\d{3}){2,}"  # 1.234,56 1.234.567
    r"|0,\d+(?![\d,])|\d+,\d\d?(?![\d,])|\d+(?:\.\d+)?|\.\d+)"  # 72,5 72.5
)
_ONE_WORD = f"(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})"
_SCALE = rf"(?i:{'|'.join(sorted(_SCALES, key=len, reverse=True))})s?\b"
_IN_DIGITS = (
    rf"(?P<digits>{_DIGITS})"
    r"(?: (?:and )?(?P<numerator>\d{1,4}) ?/ ?(?P<denominator>\d{1,4})| ?/ ?(?P<divisor>\d{1,9}(?:\.\d{1,9})?))?"
    r"(?:(?:\^|\*\*) ?[{(]?(?P<power>[-+]?\d{1,4})[)}]?)?"
    r"(?:[eE](?P<exponent>[-+]?\d{1,3}))?"
    rf"(?: ?[×x*·] ?10 ?(?:\^|\*\*) ?[{{(]{{0,2}}(?P<power_of_ten>[-+]?\d{{1,3}})[)}}]{{0,2}})?"
)
_IN_WORDS = (
    rf"\b(?i:(?P<words>{_ONE_WORD}(?:(?:[ -]| and |, ){_ONE_WORD}\b"
    r"|[ -](?:hundred|thousand|million|billion|trillion)\b)*)(?![\w-]))"
)
_FACTORS = (
    r"(?: ?√\(?(?P<root>\d{1,9}(?:\.\d{1,9})?)\)?)?"
    r"(?: ?(?P<pi>π)(?: ?/ ?(?P<pi_divisor>\d{1,9}))?)?"
    rf"(?:[ -]?(?P<scale>{_SCALE})\.?|(?P<signs>[kKMBT](?![\w/])| ?[十百千万萬亿億兆십백천만억]+))?"
)
_NUMBER = Pattern(rf"(?:{_IN_DIGITS}|{_IN_WORDS}|(?=[√π])){_FACTORS}")
"""A number without its sign; an empty match where √ begins no number."""
_MOST_DIGITS = 300
"""Digits of a number. Floating-point numbers have at most 308."""


def _value(match: re.Match[str]) -> float:
    """Return the value of a match without its sign; NaN or infinite if it is not a number."""
    if match["digits"]:
        value = _value_of_digits(match["digits"])
        if match["numerator"]:
            value += _quotient(float(match["numerator"]), match["denominator"])
        value = _quotient(value, match["divisor"])
    else:
        value = _value_of_words(match["words"].lower()) if match["words"] else 1.0  # a root or π alone
    if match["power"]:
        value = _power(value, int(match["power"]))
    value *= float(f"1e{match['exponent'] or match['power_of_ten'] or 0}")
    value *= math.sqrt(float(match["root"] or 1))
    if match["pi"]:
        value *= _quotient(math.pi, match["pi_divisor"])
    return value * _scale(match)


def _quotient(value: float, divisor: str | None) -> float:
    """Return a value divided by a number in digits, if there is one; NaN for 0."""
    return value / (float(divisor) or math.nan) if divisor else value


def _power(base: float, exponent: int) -> float:
    """Return a power; NaN for one with too many digits, and for those of 0."""
    digits = abs(exponent * math.log10(abs(base))) if base else math.inf
    return float(base**exponent) if digits < _MOST_DIGITS else math.nan


def _scale(match: re.Match[str]) -> float:
    """Return the factor of a number's word or signs of scale: 1e6 for "million" and M."""
    factor = math.prod(_SIGNS_OF_SCALE[sign] for sign in (match["signs"] or "").strip())
    word = (match["scale"] or "").lower()
    return factor * (_SCALES.get(word) or _SCALES.get(word.removesuffix("s")) or 1.0)


def _value_of_words(words: str) -> float:
    """Return the value of "three hundred and five": words below a thousand add up, and a word of scale closes them."""
    total = below_scale = 0.0
    for word in words.replace("-", " ").replace(",", " ").split():
        if word == "hundred":
            below_scale *= 100
        elif word in _SCALES:
            total, below_scale = total + below_scale * _SCALES[word], 0.0
        else:
            below_scale += WORDS.get(word, 0)
    return total + below_scale


def _value_of_digits(digits: str) -> float:
    """Return the value of digits with any of the usual separators.

    1.234.567 and 1.234,56: points group, and a comma is decimal. 10,000 and 1,00,000: commas group. 72,5 and 0,123: a
    comma is decimal.
    """
    integer, comma, _ = digits.partition(",")
    last_group = digits.rpartition(",")[2].partition(".")[0]
    if digits.count(".") > 1 or (comma and "." in integer):
        digits = digits.replace(".", "")
    elif comma and not digits.startswith("0") and len(last_group) == 3:
        digits = digits.replace(",", "")
    return float(digits.replace(",", ".")[:_MOST_DIGITS])


# --- what stands around a number -------------------------------------------------------------------------------------

_LEAD = Pattern(
    r"(?:(?P<sign>[-+]) ?|(?P<word>\b(?:minus|negative|moins|menos|meno|минус)\b|负|負|マイナス|마이너스) ?)?"
    r"(?P<money>(?:US|A|C)?[$€£¥₹₩] ?|\b(?:USD|EUR|GBP|Rs\.?|INR) )?(?P<inner>[-+])?[({]?$",
    re.IGNORECASE,
)
_UNIT = Pattern(
    r"[ \t-]?(?P<unit>%|percent\b|per cent\b|°[CF]?|"
    r"[A-Za-zµμΩÅ€£¥¢]+(?:\^?\{?[23]\}?(?!\d))?(?:/[A-Za-z]+(?:\^?[23](?!\d))?)?)"
)
_MONTH = "january|february|march|april|may|june|july|august|september|october|november|december"
_JOINS = "(?:(?:, )?(?:or|and|und|oder|et|ou|y|o|и|или)|,|;|to|of|out of|through|-|/|bis|和|或|至|到|と|から)"
_ARTICLE = "(?:the |an? |about |(?<=or )[a-z] ?= ?)?"
_LETTER = r"A-Za-z0-9\u00c0-\u024f\u0370-\u052f"
_PART_BEFORE = Pattern(
    rf"[{_LETTER}_.^√#&@\\{{]\Z|[±<>≤≥≠+*×·÷/^%] ?-?\Z|[=(] ?[+*/×·÷^] ?\Z|\w[-,:/']\Z|[\w)\]}}%°] ?[-+*/×·÷^x] ?\Z|"
    rf"\d[ \t]+\Z|[([]-?\d[\d.]*, ?\Z"
    rf"|(?:\d|\b{_ONE_WORD})[ \t]*[%°]?(?:[ \t]?[A-Za-z/]{{1,12}})?[ \t]*{_JOINS}[ \t]+{_ARTICLE}\Z"
    r"|n't \Z|\b(?:(?:root|power|half|quarter|thirds?) of|twice|double|triple|times|log|ln|sin|cos|tan|not|instead of|"
    r"than|compared (?:to|with)|at least|at most|up to|under|over|above|below|between|from|exceeds?|"
    r"steps?|stage|figure|fig\.?|table|page|chapter|section|part|option|choice|"
    rf"question|equation|eq\.?|problem|example|case|line|row|column|item|point|no\.?|level|grade|version|"
    rf"{_MONTH}|第) ?(?:the )?\(?\Z|分之\Z",
    re.IGNORECASE,
)
_PART_AFTER = Pattern(
    rf"[{_LETTER}_^±]| ?\\(?!degree|circ)[A-Za-z]|[.,:'/]\d|-[{_LETTER}]| ?(?:[+*×÷·/^±=]|[<>≤≥])|[A-Za-z "
    rf"]{{1,12}}=| - ?[\w(\\]|!\s*[=+*/-]"
    rf"|[ \t]*[%°]?(?:[ \t]*[A-Za-z]{{1,12}}\.?)?[ \t]*{_JOINS}[ \t]*{_ARTICLE}[$€£-]?(?:\d|{_ONE_WORD}\b)"
    r"|[ \t]\d|[ -](?:and a half|thirds?|quarters?|fifths?)\b"
    r"|[ \t-]?(?:minus|plus|times(?= +\S{0,3}\d)|divided by|multiplied by|to the power|squared|cubed|"
    r"factorial|raised|"
    rf"decimals?|significant|digits?|x ?\d|below zero)\b|[ \t]+(?:an?[ \t]+)?(?:{_SCALE}|(?:{_MONTH})\b)|分之",
    re.IGNORECASE,
)
_REACH_BEFORE, _REACH_BEHIND, _LONGEST_LEAD = 32, 60, 14
"""Characters around a number that can belong to it or take it as a part; those of its sign and its currency."""


def numbers_in(text: str) -> Iterator[Number]:
    """Yield every number of a simplified text that is not a part of something longer."""
    for match in _NUMBER.finditer(text):
        if match.end() > match.start() and (number := _number_of_match(match, text)) is not None:
            yield number


def _number_of_match(match: re.Match[str], text: str) -> Number | None:
    """Return the number of a match with its sign and unit; None for a part of something longer.

    The unit is the currency before it, or any word behind it ("3 birds"); only one that measures can touch it ("3kg").
    """
    before = text[max(0, match.start() - _REACH_BEFORE) : match.start()]
    behind = text[match.end() : match.end() + _REACH_BEHIND]
    # Its sign and currency, directly before it.
    lead = _LEAD.search(before, max(0, len(before) - _LONGEST_LEAD))
    assert lead is not None  # it matches the empty text
    unit_match = _UNIT.match(behind)
    unit = _unit_name(unit_match["unit"]) if unit_match else ""
    is_measure = _measure(unit) is not None
    behind_measure = behind[unit_match.end() :] if unit_match and is_measure else behind
    is_in_word = not is_measure and behind[:1].isascii() and behind[:1].isalpha()  # "3D"
    has_comma = "," in (match["digits"] or "")
    is_pair = has_comma and before[-1:] in ("(", "[") and behind[:1] in (")", "]")  # (3,4)
    if is_in_word or is_pair or _PART_BEFORE.search(before, 0, lead.start()) or _PART_AFTER.match(behind_measure):
        return None
    value = _value(match)
    if lead["money"] and unit in _SIGNS_OF_SCALE:  # "$3 M": three million dollars, not metres
        value, is_measure = value * _SIGNS_OF_SCALE[unit], False
    if lead["money"] and not is_measure:  # "$3"
        unit = _unit_name(lead["money"].strip())
    if not math.isfinite(value):
        return None
    lead_length = len(before) - lead.start()
    start = match.start() - lead_length
    return Number(-value if _is_negative(lead) else value, unit, text[start : match.end()].strip(), start, match.end())


def _is_negative(lead: re.Match[str]) -> bool:
    """Whether an odd number of signs stands before a number: a sign, "minus", and a sign behind the currency."""
    signs: list[bool] = [lead["sign"] == "-", bool(lead["word"]), lead["inner"] == "-"]
    return sum(signs) % 2 == 1


def _unit_name(unit: str) -> str:
    name = unit.translate(str.maketrans("μ", "µ", "^{}"))
    return {"percent": "%", "per cent": "%", "US$": "$"}.get(name.lower(), name)


_LONGEST = 160
_INTRODUCTION = Pattern(
    r"(?:about |approximately |around |roughly |exactly |only |just |≈ ?|[=:] ?|[(\[{] ?)?", re.IGNORECASE
)
_TAIL = Pattern(r"[ -]?[%°€£¥¢$]?(?:[^\W\d]+(?:[\^/·²³{}'-]?\w+[}]?)*)?(?: [^\W\d]+){0,3}[\s.)\]}]*")


@lru_cache(4096)
def as_number(text: str) -> Number | None:
    """Return the number that a text consists of, perhaps behind "about" and before a unit; None if it says more."""
    body = simplify_numbers(text).strip(" \t\n\"',:*_")
    if not body or len(body) > _LONGEST:
        return None
    first = next(numbers_in(body), None)
    introduction = _INTRODUCTION.match(body)
    if first is None or introduction is None or first.start > introduction.end():
        return None
    return first if _TAIL.fullmatch(body, first.end) else None


@heuristic(needed_by="g5-mc-tiny-values", when_disabled=[])
def keys_with_amount(numbers: Mapping[str, Number], amount: Number) -> list[str]:
    """Return [key] if exactly one number is this amount, with its unit; else []."""
    has_unknown_unit = amount.unit and not amount.is_measure
    if has_unknown_unit and any(number.is_measure for number in numbers.values()):
        return []  # "5 furlongs" is not "5 nm" (g5-mc-another-unit)
    keys = [key for key, number in numbers.items() if number.same_amount(amount)]
    return keys if len(keys) == 1 else []
