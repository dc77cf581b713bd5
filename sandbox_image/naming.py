"""Which kinds of value a text names, for instance NaN, an infinity or a masked item.

The text is that of the tests, or one that a candidate returned. vacuous.py accepts a value of such a kind only if the
tests name the kind. The patterns for the tests expect text in lower case.
"""

from __future__ import annotations

import math
import re

# "banana", "info" and "definite" do not name a kind.
NAN = (
    r"(?<![a-z])(is|any|no_?)?nan((?![a-z])|arg|max|mean|med|min|prod|std|sum|var)"
    # Only a NaN differs from itself.
    r"|(?<![\w.\])])(?P<one>[a-z_]\w*(\[[^\[\]]*\]|\.\w+)*) != (?P=one)(?![\w.(\[])"
)
INF = r"(?<![a-z])(is|pos|neg|[np])?inf(?![a-z])|infinit(?!es)|(?<![a-z])(is|all|non)?finite|1e[34]\d\d|1e\d{4}"
COMPLEX = r"complex(?!it)|cmath\.|\dj(?![a-z])"
HALF = r"float16|\bhalf\b|\bf2\b"
NAT = rf"(?<![a-z])(is)?nat(?![a-z])|{NAN}"
DECIMAL = r"decimal\(|\bdecimal\.\w|\bfrom decimal\b|\bimport decimal as\b"
# "mask" alone may be the name of a variable.
MASKED = r"(?<![a-z])masked|\b(no|get)mask|\.(mask\b|filled\(|compressed\()|\b(numpy|np)\.ma\b|import ma\b"
NARROW = r"int(8|16)|float16|\bhalf|byte|short|dtype|astype|[\"'][<>=|]?[iuf][12][\"']"
"""How tests name numbers of one or two bytes."""
EMPTY = re.compile(r"\[\]|(?<!\w)\(\)|\{\}|\blen\b|\bsize\b|empty|not solution|zeros\(\(?0")
"""How tests name values without items."""
NUMPY = re.compile(r"\b(np|numpy|pd|pandas)\b")
CONVERTING = re.compile(
    r"float|complex|double|decimal|json|eval|loads|fromstring|astype|dtype|genfromtxt|loadtxt|array\("
)
"""How tests name conversions of a text to a number."""

# Texts that Python, NumPy or a decoder converts to such a number.
_NAN_TEXT = re.compile(r"(?<![a-z])s?nan\d*(?![a-z])", re.IGNORECASE)
_INF_TEXT = re.compile(r"(?<![a-z])inf(inity)?(?![a-z])", re.IGNORECASE)
_NUMBER_TEXT = re.compile(r"(\d[\d_.]*)(?:e\+?([\d_]+))?", re.IGNORECASE)
# An infinity needs an exponent of three digits. With an exponent of two digits, it needs this many digits before it.
_MANY_DIGITS = 209
SUSPICIOUS = re.compile(rf"nan|inf|\d\.?e\+?\d[\d_]{{2}}|(?<!\d)[\d_.]{{{_MANY_DIGITS}}}|\\u|\"[sbc]\"", re.IGNORECASE)
"""Matches every message of a candidate that can contain such a number or text. An escape can hide anything."""


def names_nan(text: str) -> bool:
    """Whether a text of the tests names NaN."""
    return re.search(NAN, text.lower()) is not None


def reads_as_nan(text: str) -> bool:
    """Whether some part of a candidate's text can be converted to a NaN."""
    return _NAN_TEXT.search(text) is not None


def reads_as_infinity(text: str) -> bool:
    """Whether some part of a candidate's text can be converted to an infinity."""
    return _INF_TEXT.search(text) is not None or any(map(_is_too_large, _NUMBER_TEXT.finditer(text)))


def _is_too_large(number: re.Match[str]) -> bool:
    """Whether a text that begins like a number is converted to an infinity."""
    digits, exponent = number[1], number[2] or ""
    if len(exponent) < 3 and (len(digits) < _MANY_DIGITS or len(re.sub(r"\D", "", digits)) < _MANY_DIGITS):
        return False
    try:
        return math.isinf(float(number[0].replace("_", "")))
    except ValueError:
        return True
