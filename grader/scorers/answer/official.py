"""Official rules of short answers, bug for bug, by name.

gsm8k: openai/grade-school-math, `grade_school_math/dataset.py` (`extract_answer`).
lm-eval-flexible: the filter `flexible-extract` and the comparison of lm-evaluation-harness's task `gsm8k`.
pope: AoiDragon/POPE, `evaluate.py`.
vlmevalkit-yes-no: open-compass/VLMEvalKit 0c7163c, `vlmeval/dataset/utils/yorn.py`, without its judge.
hendrycks-math: hendrycks/math 08e65fc, `math_equivalence.py` and `eval_math_gpt.py`: what the last LaTeX box holds.
    Two answers are equal if their texts are, after the rewrites below.
mmmu: MMMU-Benchmark/MMMU bb0b95a, `mmmu/utils/eval_utils.py`, open questions.
bbh: suzgunmirac/BIG-Bench-Hard, scores of `code-davinci-002-outputs`: what follows "answer is ", without a full stop.
relaxed, relaxed-2024: open-compass/VLMEvalKit 0c7163c and c03bc048, `vlmeval/dataset/utils/vqa_eval.py`, ChartQA. Until
    677e30a5 (2025-09-01), the difference was divided by the reply's number, not by the gold one.
mathvista: lupantech/MathVista 53d5258, `evaluation/calculate_score.py`, which reads what a model has extracted. A gold
    answer has as many decimals as its row's `precision`, in all 1,000 rows of testmini.
exact: the whole reply, without blanks around it and without case.
Others are in `published.py` and `math_vision.py`.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.files.json_text import as_list
from grader.scorers.answer import published
from grader.scorers.answer.math_vision import is_math_vision_gold, read_math_vision

if TYPE_CHECKING:
    from collections.abc import Callable

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


_HASHES = re.compile(r"#### (-?[0-9.,]+)")
_THOUSANDS = re.compile(r"\d,\d")
_FULL_STOP = re.compile(r"\.(?!\d)")
_FULL_STOPS = int(re.UNICODE)
"""The source gives a flag where the number of replacements belongs: only 32 full stops are removed."""
_FLEXIBLE = re.compile(r"(-?[$0-9.,]{2,})|(-?[0-9]+)")


class OfficialRule(NamedTuple):
    """How an answer is read, and how two answers are compared."""

    read: Callable[[str], Any]
    """Returns a text, or several pieces of one (texts and numbers); None: no answer."""
    same: Callable[[Any, str], bool]
    """Whether what was read is the gold answer."""
    reads_options: bool = False
    """Whether it also judges rows with options, whose gold answers are then the letter and the option's text."""


def as_text(answer: object) -> str:
    """Return what a rule has read, for people."""
    return answer if isinstance(answer, str) else " | ".join(dict.fromkeys(str(p).strip() for p in answer))  # type: ignore[attr-defined]


def read_hashes(text: str) -> str | None:
    """Return the number after the first "#### ", without commas."""
    found = _HASHES.search(text)
    return None if found is None else found[1].strip().replace(",", "")


def read_flexible(text: str) -> str | None:
    """Return the last number."""
    found = deque(_FLEXIBLE.finditer(text), 1)
    return found[0][0].strip() if found else None


def read_pope(text: str) -> str:
    """Return "no" if the first sentence has "No", "no" or "not" as a word, else "yes"."""
    words = text.partition(".")[0].replace(",", "").split(" ")
    return "no" if {"No", "not", "no"} & set(words) else "yes"


def read_yes_no(text: str) -> str | None:
    """Return yes or no if the reply has exactly one of them as a word; with a number such as 1,000 marks join words."""
    low = text.lower()
    joined = _THOUSANDS.search(low) is not None
    words = low
    for mark in ';/[]"{}()=+\\_-><@`,?!':
        words = words.replace(mark, "" if joined or mark + " " in low or " " + mark in low else " ")
    said = {"yes", "no"} & set(_FULL_STOP.sub("", words, count=_FULL_STOPS).split())
    return said.pop() if len(said) == 1 else None


def _equal_as(form: Callable[[str], str]) -> Callable[[str, str], bool]:
    return lambda answer, gold: form(answer) == form(gold)


def _low(text: str) -> str:
    return text.strip().lower()


_PARTS = re.compile(r"\.\s(?=[A-Z])|\n")
_KEYS = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_NUMBERS = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?(?<!\d)\d+(?:\.\d+)?[eE][+-]?\d+"),
    re.compile(r"-?(?:(?<!\d)\d+\.\d+|\.\d+|(?<!\d)\d+\b)(?![eE][+-]?\d+)(?![,\d])"),
)
"""The source's, with (?<!\\d): within a run of digits nothing can match where its beginning does not."""
_NUMBERLIKE = re.compile(r"[\w.,+-]+")


def read_mmmu_open(text: str) -> list[str | float]:
    """Return what follows the last key word of each line, and the numbers in it, normalised."""
    body = text.strip().strip(".").lower()
    lines, pieces = _PARTS.split(body), []
    for number, line in enumerate(lines, 1):
        tails = [line.rpartition(key)[2].strip() for key in (*_KEYS, *("=" * (number == len(lines)))) if key in line]
        # The source starts anew after an empty tail.
        shortest = ""
        for tail in tails:
            shortest = tail if not shortest or len(tail) < len(shortest) else shortest
        if shortest and shortest not in set(":,.!?;'"):
            pieces.append(shortest)
    pieces = pieces or [body]
    # A number counts once: words that repeat are searched once.
    searched = [" ".join(dict.fromkeys(_NUMBERLIKE.findall(piece))) for piece in pieces]
    numbers = [number for words in searched for pattern in _NUMBERS for number in pattern.findall(words)]
    return [one for piece in dict.fromkeys((*pieces, *numbers)) for one in _mmmu_form(piece)]


def _mmmu_form(text: str) -> list[str | float]:
    text = text.strip()
    try:
        return [round(float(text.replace(",", "")), 2)]
    except ValueError:
        return [f" {text.lower()}", f"{text.lower()} "] if len(text) == 1 else [text.lower()]


def _is_mmmu_gold(pieces: list[str | float], gold: str) -> bool:
    """Whether a text has the gold text anywhere in it, or a number is equal."""
    wanted = _mmmu_form(gold)
    return any(
        any(isinstance(one, str) and one in piece for one in wanted) if isinstance(piece, str) else piece in wanted
        for piece in pieces
    )


def read_bbh(text: str) -> str | None:
    """Return what follows the first "answer is ", without a full stop at the end."""
    _, found, answer = text.partition("answer is ")
    return answer.strip().removesuffix(".") if found else None


def _fraction(text: str) -> float | None:
    """Return a text's number, a percentage as its hundredth."""
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


def _is_near(answer: str, gold: str) -> bool:
    """Whether two numbers differ by at most 5 % of the second; other texts have to be equal."""
    stated, wanted = _fraction(answer), _fraction(gold)
    if stated is None or not wanted:
        return answer.lower() == gold.lower()
    return abs(stated - wanted) / abs(wanted) <= 0.05


def _near_any(near: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Compare with every item of a gold answer that is a list in Python, else with the gold answer."""

    def same(answer: str, gold: str) -> bool:
        listed = as_list(gold)
        return any(near(answer, str(one)) for one in (listed if isinstance(listed, list) else [gold]))

    return same


_INTEGER, _DECIMALS = re.compile(r"-?\d+"), re.compile(r"-?\d+\.(\d+)")


def _is_mathvista_gold(answer: str, gold: str) -> bool:
    """Cut a number to an integer or round it to the gold answer's decimals; its text has to be the gold text."""
    decimals = _DECIMALS.fullmatch(gold)
    try:
        if _INTEGER.fullmatch(gold):
            return str(int(float(answer))) == gold
        return str(round(float(answer), len(decimals[1]))) == gold if decimals else answer == gold
    except (OverflowError, ValueError):
        return False


RULES = {
    "gsm8k": OfficialRule(read_hashes, _equal_as(lambda text: text.replace(",", "").strip())),
    "lm-eval-flexible": OfficialRule(
        read_flexible, _equal_as(lambda text: _low(text.replace(",", "").replace("$", "").removesuffix(".")))
    ),
    "pope": OfficialRule(read_pope, _equal_as(_low)),
    "vlmevalkit-yes-no": OfficialRule(read_yes_no, _equal_as(_low)),
    "mmmu": OfficialRule(read_mmmu_open, _is_mmmu_gold),
    "hendrycks-math": OfficialRule(read_box, is_equivalent),
    "bbh": OfficialRule(read_bbh, lambda answer, gold: answer == gold),
    "relaxed": OfficialRule(str.strip, _near_any(_is_near)),
    "relaxed-2024": OfficialRule(str.strip, _near_any(lambda answer, gold: _is_near(gold, answer))),
    "mathvista": OfficialRule(lambda text: text, _is_mathvista_gold),
    "math-vision": OfficialRule(read_math_vision, is_math_vision_gold, reads_options=True),
    "cruxeval": OfficialRule(lambda text: text, published.is_cruxeval_gold),
    "llmdrift": OfficialRule(published.read_llmdrift, _equal_as(_low)),
    "llmdrift-boxed": OfficialRule(published.read_first_box, _equal_as(str.lower)),
    "processbench": OfficialRule(published.read_processbench, lambda answer, gold: answer == gold),
    "zerobench": OfficialRule(published.read_zerobench, lambda answer, gold: _low(gold) in answer),
    "zeroeval": OfficialRule(published.read_zeroeval, published.is_zeroeval_gold),
    "zeroeval-math": OfficialRule(published.read_zeroeval, published.is_zeroeval_number),
    "zero-shot-cot-number": OfficialRule(published.read_first_number, lambda answer, gold: answer == gold),
    "zero-shot-cot-yes-no": OfficialRule(published.read_first_yes_no, lambda answer, gold: answer == gold),
    "zero-shot-cot-text": OfficialRule(published.read_letters_alone, lambda answer, gold: answer == gold),
    "exact": OfficialRule(lambda text: text.strip() or None, _equal_as(_low)),
}
"""Name of a rule -> the rule."""
