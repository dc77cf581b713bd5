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
Others are in `published.py` and `math_vision.py`. Where a rule reads no answer, its function returns None.
"""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.files.json_text import parse_collection
from grader.scorers.answer import published
from grader.scorers.answer.math_vision import is_math_vision_gold, read_math_vision, with_fractions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


def read_box(text: str) -> str | None:
    r"""Return what the last `\boxed{...}` holds; None without one, or if its braces are never closed."""
    start = text.rfind("\\boxed")
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
        return _strip_string(answer) == _strip_string(gold)
    except (IndexError, ValueError):
        return answer == gold


_REPLACEMENTS = (
    ("\n", ""), ("\\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"), ("\\left", ""), ("\\right", ""),
    ("^{\\circ}", ""), ("^\\circ", ""), ("\\$", ""),
)  # fmt: skip


def _strip_string(text: str) -> str:
    """Return LaTeX without units and marks of form, with roots and ratios in one form, as the source's function.

    Raises ValueError for two units, and IndexError for a root or a fraction without content, as the source does.
    """
    for old, new in _REPLACEMENTS:
        text = text.replace(old, new)
    if "\\text{ " in text:
        text, _unit = text.split("\\text{ ")
    text = text.replace("\\%", "").replace("%", "").replace(" .", " 0.").replace("{.", "{0.")
    if not text:
        return text
    text = "0" + text if text[0] == "." else text
    # Of "x = 3", the source compares the value.
    name, *values = text.split("=")
    text = values[0] if len(values) == 1 and len(name) <= 2 else text
    text = _with_fractions(_with_roots(text).replace(" ", ""))
    return _as_fraction("\\frac{1}{2}" if text == "0.5" else text)


def _with_roots(text: str) -> str:
    r"""Write `\sqrt3` as `\sqrt{3}`; raises IndexError where nothing follows."""
    first, *others = text.split("\\sqrt")
    return first + "".join("\\sqrt" + (part if part[0] == "{" else f"{{{part[0]}}}{part[1:]}") for part in others)


def _with_fractions(text: str) -> str:
    r"""Write `\frac12` as `\frac{1}{2}`; raises IndexError where nothing follows.

    The source copies a part that begins with a brace. It stops at the first other one that is too short: an empty one
    is an error; with one character, the text stays as it is (`with_fractions`).
    """
    too_short = [part for part in text.split("\\frac")[1:] if len(part) < 2 and part != "{"]
    if too_short and not too_short[0]:
        raise IndexError("a fraction has no content")
    return with_fractions(text)


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
    if isinstance(answer, str):
        return answer
    pieces: Iterable[str | float] = answer  # type: ignore[assignment]  # what `read_mmmu_open` returns
    return " | ".join(dict.fromkeys(str(piece).strip() for piece in pieces))


def read_hashes(text: str) -> str | None:
    """Return the number after the first "#### ", without commas."""
    match = _HASHES.search(text)
    return None if match is None else match[1].strip().replace(",", "")


def read_flexible(text: str) -> str | None:
    """Return the last number."""
    matches = deque(_FLEXIBLE.finditer(text), 1)
    return matches[0][0].strip() if matches else None


def read_pope(text: str) -> str:
    """Return "no" if the first sentence has "No", "no" or "not" as a word, else "yes"."""
    words = text.partition(".")[0].replace(",", "").split(" ")
    return "no" if {"No", "not", "no"} & set(words) else "yes"


def read_yes_no(text: str) -> str | None:
    """Return yes or no if the reply has exactly one of them as a word.

    The source's `process_punctuation` of VQA: a punctuation mark separates words ("yes/no"), unless it has a blank
    beside it anywhere in the text, or the text has a number such as 1,000: then "yes-1,000" is one word.
    """
    lower = text.lower()
    has_thousands = _THOUSANDS.search(lower) is not None
    words = lower
    for mark in ';/[]"{}()=+\\_-><@`,?!':
        joins = has_thousands or f"{mark} " in lower or f" {mark}" in lower
        words = words.replace(mark, "" if joins else " ")
    answers = {"yes", "no"} & set(_FULL_STOP.sub("", words, count=_FULL_STOPS).split())
    return answers.pop() if len(answers) == 1 else None


def _equal_as(normalise: Callable[[str], str]) -> Callable[[str, str], bool]:
    return lambda answer, gold: normalise(answer) == normalise(gold)


def _bare_lower(text: str) -> str:
    return text.strip().lower()


_LINE_ENDS = re.compile(r"\.\s(?=[A-Z])|\n")
_KEYS = ("could be ", "so ", "is ", "thus ", "therefore ", "final ", "answer ", "result ")
_NUMBERS = (
    re.compile(r"-?\b\d{1,3}(?:,\d{3})+\b"),
    re.compile(r"-?(?<!\d)\d+(?:\.\d+)?[eE][+-]?\d+"),
    re.compile(r"-?(?:(?<!\d)\d+\.\d+|\.\d+|(?<!\d)\d+\b)(?![eE][+-]?\d+)(?![,\d])"),
)
"""The source's, with (?<!\\d): within a run of digits nothing can match where its beginning does not."""
_NUMBERLIKE = re.compile(r"[\w.,+-]+")


def read_mmmu_open(text: str) -> list[str | float]:
    """Return what follows the last key word of each line ("=" only in the last line), and its numbers, normalised."""
    body = text.strip().strip(".").lower()
    *lines, last_line = _LINE_ENDS.split(body)
    tails = [*(_shortest_tail(line, _KEYS) for line in lines), _shortest_tail(last_line, (*_KEYS, "="))]
    pieces = [tail for tail in tails if tail and tail not in set(":,.!?;'")] or [body]
    # A number counts once, so a repeated word is searched once.
    searched = [" ".join(dict.fromkeys(_NUMBERLIKE.findall(piece))) for piece in pieces]
    numbers = [number for words in searched for pattern in _NUMBERS for number in pattern.findall(words)]
    return [normalised for piece in dict.fromkeys((*pieces, *numbers)) for normalised in _normalise_mmmu(piece)]


def _shortest_tail(line: str, keys: tuple[str, ...]) -> str:
    """Return the shortest of what follows the last of each key word; as in the source, an empty one is forgotten."""
    shortest = ""
    for key in keys:
        if key in line:
            tail = line.rpartition(key)[2].strip()
            shortest = tail if not shortest or len(tail) < len(shortest) else shortest
    return shortest


def _normalise_mmmu(text: str) -> list[str | float]:
    """Return a number rounded to two decimals, or a text in lower case.

    A single character becomes two texts, with a blank before and behind it: within a word it does not count.
    """
    text = text.strip()
    try:
        return [round(float(text.replace(",", "")), 2)]
    except ValueError:
        return [f" {text.lower()}", f"{text.lower()} "] if len(text) == 1 else [text.lower()]


def _is_mmmu_gold(pieces: list[str | float], gold: str) -> bool:
    """Whether a text of the answer has the gold text anywhere in it, or one of its numbers is the gold number."""
    gold_pieces = _normalise_mmmu(gold)
    gold_texts = [piece for piece in gold_pieces if isinstance(piece, str)]
    has_gold_text = any(text in piece for piece in pieces if isinstance(piece, str) for text in gold_texts)
    return has_gold_text or any(piece in gold_pieces for piece in pieces if not isinstance(piece, str))


def read_bbh(text: str) -> str | None:
    """Return what follows the first "answer is ", without a full stop at the end."""
    _, phrase, answer = text.partition("answer is ")
    return answer.strip().removesuffix(".") if phrase else None


def _fraction(text: str) -> float | None:
    """Return a text's number, a percentage as its hundredth."""
    try:
        return float(text.rstrip("%")) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return None


def _is_within_five_percent(text: str, reference: str) -> bool:
    """Whether two numbers differ by at most 5 % of `reference`; if it is 0, or one is not a number: the same text."""
    number, reference_number = _fraction(text), _fraction(reference)
    if number is None or not reference_number:
        return text.lower() == reference.lower()
    return abs(number - reference_number) / abs(reference_number) <= 0.05


def _same_as_any(is_same: Callable[[str, str], bool]) -> Callable[[str, str], bool]:
    """Compare with every item of a gold answer that is a list in Python, else with the gold answer."""

    def same(answer: str, gold: str) -> bool:
        listed = parse_collection(gold)
        return any(is_same(answer, str(item)) for item in (listed if isinstance(listed, list) else [gold]))

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
        read_flexible, _equal_as(lambda text: _bare_lower(text.replace(",", "").replace("$", "").removesuffix(".")))
    ),
    "pope": OfficialRule(read_pope, _equal_as(_bare_lower)),
    "vlmevalkit-yes-no": OfficialRule(read_yes_no, _equal_as(_bare_lower)),
    "mmmu": OfficialRule(read_mmmu_open, _is_mmmu_gold),
    "hendrycks-math": OfficialRule(read_box, is_equivalent),
    "bbh": OfficialRule(read_bbh, lambda answer, gold: answer == gold),
    "relaxed": OfficialRule(str.strip, _same_as_any(_is_within_five_percent)),
    "relaxed-2024": OfficialRule(str.strip, _same_as_any(lambda answer, gold: _is_within_five_percent(gold, answer))),
    "mathvista": OfficialRule(lambda text: text, _is_mathvista_gold),
    "math-vision": OfficialRule(read_math_vision, is_math_vision_gold, reads_options=True),
    "cruxeval": OfficialRule(lambda text: text, published.is_cruxeval_gold),
    "llmdrift": OfficialRule(published.read_llmdrift, _equal_as(_bare_lower)),
    "llmdrift-boxed": OfficialRule(published.read_first_box, _equal_as(str.lower)),
    "processbench": OfficialRule(published.read_processbench, lambda answer, gold: answer == gold),
    "zerobench": OfficialRule(published.read_zerobench, lambda answer, gold: _bare_lower(gold) in answer),
    "zeroeval": OfficialRule(published.read_zeroeval, published.is_zeroeval_gold),
    "zeroeval-math": OfficialRule(published.read_zeroeval, published.is_zeroeval_number),
    "zero-shot-cot-number": OfficialRule(published.read_first_number, lambda answer, gold: answer == gold),
    "zero-shot-cot-yes-no": OfficialRule(published.read_first_yes_no, lambda answer, gold: answer == gold),
    "zero-shot-cot-text": OfficialRule(published.read_letters_alone, lambda answer, gold: answer == gold),
    "exact": OfficialRule(lambda text: text.strip() or None, _equal_as(_bare_lower)),
}
"""Name of a rule -> the rule."""
