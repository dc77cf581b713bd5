r"""MATH-V's official rule, bug for bug: mathllm/MATH-V a1f5cc3, `evaluation/evaluate.py` and `utils.py`.

An answer is right if it is the gold text (the letter, or the option's text), or if both have the same value to two
decimals. The source evaluates LaTeX with latex2sympy; `value_of` evaluates what the published outputs have: numbers,
`\frac`, `\sqrt`, `\pi`, powers and ratios. Of 45,600 published verdicts, one differs.
"""

from __future__ import annotations

import math
import re

_FLAGS = ("the final answer is", "the answer is", "the correct answer is", "the answer should be")
_LETTERS = "abcde"
_FIND_REPLACEMENTS = (
    (" ", ""), ("\\,", ""), ("∞", "\\infty"), ("+\\infty", "\\infty"), ("\\\\", "\\"), ("\n", ""), ("\\text", ""),
    ("\\mbox", ""), ("bmatrix", "pmatrix"), ("\\left", ""), ("\\right", ""), ("^{\\circ}", ""), ("^\\circ", ""),
    ("{m}^3", ""), ("m^3", ""), ("{units}", ""), ("units", ""), ("{km}", ""), ("km", ""),
)  # fmt: skip
"""What the source's `find_math_answer` replaces, in this order."""
_STRIP_REPLACEMENTS = (
    ("\\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"), ("\\$", ""), ("$", ""), ("\\%", ""),
    (" .", " 0."), ("{.", "{0."),
)  # fmt: skip
"""What its `_strip_string` replaces then."""


def read_math_vision(text: str) -> str:
    """Return the answer of a reply, normalised; it may be the whole reply, or empty. The steps are the source's."""
    answer = text.strip()
    # A letter at the end, or in the first line.
    for letter in _LETTERS.upper():
        starts = f"{letter}\n", f"({letter})\n", f"({letter}) {letter}\n"
        if answer.endswith((f" {letter}.", f" ({letter}).")) or answer.startswith(starts):
            answer = letter
    # A number at the end.
    last_word = answer.split("is ")[-1].rstrip(".")
    if _is_number(last_word):
        answer = last_word
    # The last box, else the first sentence behind words such as "the answer is".
    if "oxed{" not in answer:
        for flag in (case for phrase in _FLAGS for case in (phrase, phrase.replace("the", "The"))):
            has_flag = flag in answer
            answer = answer.split(flag)[-1].strip()
            if has_flag:
                answer = answer.split("\n")[0].split(". ")[0]
    elif answer.count("oxed{") > 1:
        answer = "\\boxed{" + answer.split("oxed{")[-1]
    # Its LaTeX, normalised; a letter without brackets.
    answer = _normalise_latex(_last_side_in_box(answer.lower().replace("{}", "")))
    for frame in ("({})", "{{{}}}"):
        for letter in _LETTERS:
            answer = answer.replace(frame.format(letter), letter)
    return answer.rstrip(".").lstrip(":").strip()


def is_math_vision_gold(answer: str, gold: str) -> bool:
    """Whether an answer is the gold text, or has its value to two decimals; an empty one never is."""
    texts = answer.lower().strip(), gold.lower().strip()
    if not all(texts):
        return False
    if texts[0] == texts[1]:
        return True
    value, gold_value = value_of(answer.lower()), value_of(gold.lower())
    return value is not None and gold_value is not None and round(value, 2) == round(gold_value, 2)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _last_side_in_box(text: str) -> str:
    """Return what a box holds, else the whole text; of an equation, its last side: the source's `find_math_answer`."""
    _, _, boxed = text.partition("oxed{")
    content = boxed.rpartition("}")[0] if "}" in boxed else text
    before_closing, closing, _ = content.partition("}")
    if closing and "{" not in before_closing:  # a brace that is not opened
        content = before_closing
    return content.split("=")[-1].split("\\approx")[-1]


def _normalise_latex(text: str) -> str:
    r"""Return LaTeX without units and marks of form, with roots and ratios in one form."""
    for old, new in (*_FIND_REPLACEMENTS, *_STRIP_REPLACEMENTS):
        text = text.replace(old, new)
    text = text.split("\\text{ ")[0]
    if not text:
        return text
    text = f"0{text}" if text[0] == "." else text
    if "sqrt" in text:  # the source rewrites fractions, too, only if there is a root
        text = with_fractions(re.sub(r"\\sqrt(?=[^{])(.)", r"\\sqrt{\1}", text))
    if text == "0.5":
        return "\\frac{1}{2}"
    ratio = re.fullmatch(r"(-?(?:0|[1-9]\d*))/(-?(?:0|[1-9]\d*))", text)
    return f"\\frac{{{ratio[1]}}}{{{ratio[2]}}}" if ratio else text


def with_fractions(text: str) -> str:
    r"""Write `\frac12` as `\frac{1}{2}`; if fewer than two characters follow one, nothing is changed."""
    rewritten, *parts = text.split("\\frac")
    for part in parts:
        if part.startswith("{"):
            rewritten += "\\frac" + part
        elif len(part) < 2:
            return text
        else:
            below_in_braces = part[1] if part[1] == "{" else f"{{{part[1]}}}"
            rewritten += f"\\frac{{{part[0]}}}{below_in_braces}{part[2:]}"
    return rewritten


_TOKEN = re.compile(r"(?:[$\s]|\\displaystyle)*(\d+(?:\.\d+)?|\.\d+|\\[a-z]+|[-+*/:^(){}\[\]])")
_TIMES, _OVER = ("*", "\\cdot", "\\times"), ("/", ":", "\\div")
_MOST_TOKENS = 200
"""Longer expressions have no value."""
_LARGEST = 4000
"""The largest base and exponent of a power: with larger ones, an expression has no value."""


def value_of(latex: str) -> float | None:
    """Return the value of an expression, which ends at a full stop or an unopened closing brace; None without one."""
    tokens: list[str] = []
    position = depth = 0
    while depth >= 0 and (match := _TOKEN.match(latex, position)):
        tokens.append(match[1])
        depth += {"{": 1, "}": -1}.get(match[1], 0)
        position = match.end()
    # With a negative depth, the last token is the unopened brace.
    ends_in_text = depth >= 0 and latex[position:].lstrip("$ ")[:1] not in ("", ".")
    if ends_in_text or len(tokens) > _MOST_TOKENS:
        return None
    expression = _Expression(tokens)
    try:
        value = float(expression.sum())
    except (ValueError, IndexError, OverflowError, ZeroDivisionError, RecursionError):
        return None
    return value if math.isfinite(value) and expression.is_done else None


class _Expression:
    """Reads an expression's tokens from the left: `_tokens[-1]` is the next. Errors: ValueError and IndexError."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens = tokens[::-1]

    @property
    def is_done(self) -> bool:
        """Whether nothing is left, or a closing brace without an opening one: the source ignores what follows it."""
        return self._tokens[-1:] in ([], ["}"])

    def _take(self, *tokens: str) -> str:
        """Take the next token if it is one of these; else return an empty text."""
        return self._tokens.pop() if self._tokens and self._tokens[-1] in tokens else ""

    def sum(self) -> float:
        total = self._product()
        while sign := self._take("+", "-"):
            total += self._product() * (1 if sign == "+" else -1)
        return total

    def _product(self) -> float:
        total = self._power()
        while self._tokens:
            if self._take(*_TIMES):
                total *= self._power()
            elif self._take(*_OVER):
                total /= self._power()
            elif self._tokens[-1] in "({[" or self._tokens[-1][0] == "\\" or self._tokens[-1][0].isdigit():
                # A product without a sign: "2\pi".
                total *= self._power()
            else:
                break
        return total

    def _power(self) -> float:
        base = self._atom()
        if not self._take("^"):
            return base
        exponent = self._atom()
        if abs(exponent) > _LARGEST or abs(base) > _LARGEST:
            raise ValueError("the power is too large")
        return _real(base**exponent)

    def _atom(self) -> float:
        first = self._tokens.pop()
        match first:
            case "-" | "+":
                return self._power() * (1 if first == "+" else -1)
            case "(" | "{" | "[":
                value = self.sum()
                if not self._take(")", "}", "]"):
                    raise ValueError("a bracket is not closed")
                return value
            case "\\frac":
                return self._atom() / self._atom()
            case "\\sqrt":
                root = self._atom() if self._tokens[-1] == "[" else 2
                return _real(self._atom() ** (1 / root))
            case "\\pi":
                return math.pi
            case _:
                return int(first) if first.isdigit() else float(first)


def _real(number: complex) -> float:
    if isinstance(number, complex):
        raise ValueError("a complex number")  # noqa: TRY004 - as for other values that are not compared
    return number
