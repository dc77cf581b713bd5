r"""The official rule of MATH, bug for bug: hendrycks/math 08e65fc, `math_equivalence.py` and `eval_math_gpt.py`.

The answer is what the last `\boxed` or `\fbox` holds. Two answers are equal if their texts are, after these rewrites.
"""

from __future__ import annotations

import re

_REMOVED = ("^{\\circ}", "^\\circ", "\\$")


def read_box(text: str) -> str | None:
    r"""Return what the last `\boxed{...}` holds; None without one, or if its braces are never closed."""
    start = max(text.rfind("\\boxed"), -1)
    start = start if start >= 0 else text.rfind("\\fbox")
    if start < 0:
        return None
    depth = 0
    for brace in re.compile("[{}]").finditer(text, start):
        depth += 1 if brace[0] == "{" else -1
        if not depth:
            box = text[start : brace.end()]
            return box[7:-1] if box.startswith("\\boxed{") else None
    return None


def is_equivalent(answer: str, gold: str) -> bool:
    """Whether the rewritten texts are equal; the texts themselves, where one cannot be rewritten."""
    try:
        return _rewritten(answer) == _rewritten(gold)
    except (IndexError, ValueError):
        return answer == gold


def _rewritten(text: str) -> str:
    for old, new in (("\n", ""), ("\\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac")):
        text = text.replace(old, new)
    for mark in ("\\left", "\\right", *_REMOVED):
        text = text.replace(mark, "")
    if "\\text{ " in text:
        text, _ = text.split("\\text{ ")  # units; two of them are an error
    text = text.replace("\\%", "").replace("%", "").replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    text = "0" + text if text[0] == "." else text
    left, *right = text.split("=")
    text = right[0] if len(right) == 1 and len(left) <= 2 else text
    text = _with_fractions(_with_roots(text).replace(" ", ""))
    return _as_fraction("\\frac{1}{2}" if text == "0.5" else text)


def _with_roots(text: str) -> str:
    r"""Write `\sqrt3` as `\sqrt{3}`; raises IndexError where nothing follows."""
    first, *others = text.split("\\sqrt")
    return first + "".join("\\sqrt" + (part if part[0] == "{" else f"{{{part[0]}}}{part[1:]}") for part in others)


def _with_fractions(text: str) -> str:
    r"""Write `\frac12` as `\frac{1}{2}`; raises IndexError where nothing follows."""
    first, *others = text.split("\\frac")
    for part in others:
        if part[0] == "{":
            first += "\\frac" + part
        elif len(part) < 2:
            return text
        else:
            below = part[1] if part[1] == "{" else f"{{{part[1]}}}"
            first += f"\\frac{{{part[0]}}}{below}{part[2:]}"
    return first


def _as_fraction(text: str) -> str:
    r"""Write `3/4` as `\frac{3}{4}`, if both are integers in their usual form."""
    above, *below = text.split("/")
    try:
        usual = len(below) == 1 and text == f"{int(above)}/{int(below[0])}"
    except ValueError:
        return text
    return f"\\frac{{{above}}}{{{below[0]}}}" if usual else text
