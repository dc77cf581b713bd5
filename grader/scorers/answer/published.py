r"""Rules of further published benchmarks, bug for bug; `official.RULES` names them. None: no answer is read.

cruxeval: facebookresearch/cruxeval 190faf1, `evaluation/utils_general.py`. The source executes `assert GOLD == REPLY`;
    here a reply is compared if it is a literal of Python, so that nothing is executed.
llmdrift, llmdrift-boxed: lchen001/LLMDrift 4938eb7, `src/analysis/utils.py`: the word yes or [yes], else no or [no],
    without commas and full stops; the first box.
processbench: QwenLM/ProcessBench e802463, `code/run_eval.py`: the last `\boxed{...}` as an integer.
zerobench: open-compass/VLMEvalKit 0c7163c, `ZEROBench.evaluate`: the gold text anywhere in the last braces.
zeroeval, zeroeval-math: WildEval/ZeroEval 8c1485e, `src/evaluation/crux_eval.py` and `math_eval.py`: the answer of the
    first JSON object, without what the source does for models of one name.
zero-shot-cot-...: kojima-takeshi188/zero_shot_cot 5ef330f, `answer_cleansing` in `utils.py`: the first candidate behind
    the words with which the source asks for the answer.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from grader.files.python_source import literal_from, tree_from
from grader.scorers.choice.published import after_trigger

_BOXED = re.compile(r"\\boxed\{([^}]*)\}")
_BRACES = re.compile(r"\{(.*?)\}")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CANDIDATE = re.compile(r"-?\d+\.?\d*")
_RATIO = re.compile(r"\s*(-?\d+(?:\.\d+)?)\s*/\s*(\d+(?:\.\d+)?)\s*")


# --- CRUXEval ---------------------------------------------------------------------------------------------------------


def is_cruxeval_gold(answer: str, gold: str) -> bool:
    """Whether `assert GOLD == ANSWER` holds; of the answer "1, 2", it compares 1, and 2 is the assertion's message."""
    try:
        (statement,) = tree_from(f"assert _ == {answer}").body
        if not (isinstance(statement, ast.Assert) and isinstance(statement.test, ast.Compare)):
            return False
        (value,) = statement.test.comparators
        return bool(ast.literal_eval(value) == literal_from(gold))
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False


# --- LLMDrift ---------------------------------------------------------------------------------------------------------


def read_llmdrift(text: str) -> str | None:
    """Return yes if a word is yes, perhaps with something in square brackets around it, else no if one is no."""
    words = " ".join(f"[{word}]" for word in re.sub("[,.]", " ", text.replace(",", "")).lower().split())
    return next((answer for answer in ("yes", "no") if f"[{answer}]" in words), None)


def read_first_box(text: str) -> str | None:
    """Return the content of the first box, in lower case, up to its first closing brace."""
    _, box, tail = text.lower().partition("boxed{")
    content, brace, _ = tail.partition("}")
    return content if box and brace else None


# --- ProcessBench -----------------------------------------------------------------------------------------------------


def read_processbench(text: str) -> str | None:
    """Return the integer of the last box."""
    # Behind the last brace nothing matches, but every "\\boxed{" would be searched to the end: in quadratic time.
    boxes = _BOXED.findall(text[: text.rfind("}") + 1])
    try:
        return str(int(boxes[-1].strip())) if boxes else None
    except ValueError:
        return None


# --- ZeroBench --------------------------------------------------------------------------------------------------------


def read_zerobench(text: str) -> str | None:
    """Return what the last braces hold, on one line and in lower case."""
    lines = text.strip().lower().split("\n")
    # Behind the last brace nothing matches, but every "{" would be searched to the line's end: in quadratic time.
    contents = [content for line in lines for content in _BRACES.findall(line[: line.rfind("}") + 1])]
    return contents[-1] if contents else None


# --- ZeroEval ---------------------------------------------------------------------------------------------------------


def read_zeroeval(text: str) -> str | None:
    """Return the field `answer` of the first complete JSON object, else what follows the key."""
    fields = _first_object(text)
    if isinstance(fields, dict) and "answer" in fields:
        return str(fields["answer"])
    for pattern in (r'"answer"\s*:\s*"([^"]*?)"', r'"answer"\s*:\s*([^,\s]*)', r"answer\s*:\s*([^,\s]*)"):
        if match := re.search(pattern, text):
            return match[1]
    return None


def _first_object(text: str) -> Any:
    """Return the value of the first text in balanced braces; None if it is not JSON, or if there is none."""
    depth, start = 0, -1
    for brace in re.finditer("[{}]", text):
        if brace[0] == "{":
            start = brace.start() if start < 0 else start
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                try:
                    return json.loads(text[start : brace.end()].replace("\n", ""))
                except (ValueError, RecursionError):
                    return None
    return None


def is_zeroeval_gold(answer: str, gold: str) -> bool:
    """Whether the texts are equal without quotes around them."""
    return answer.strip("'\"").replace("\n", "\\n") == gold.strip("'\"")


def is_zeroeval_number(answer: str, gold: str) -> bool:
    """Whether the first numbers are equal; a ratio alone is divided."""
    number, gold_number = (_NUMBER.search(_sanitize(text)) for text in (answer, gold.replace("#", "")))
    return number is not None and gold_number is not None and float(number[0]) == float(gold_number[0])


def _sanitize(text: str) -> str:
    """Return a text without dollar signs and commas, a ratio as its quotient."""
    text = text.replace("$", "").strip().replace(",", "")
    ratio = _RATIO.fullmatch(text)
    return str(float(ratio[1]) / float(ratio[2])) if ratio and float(ratio[2]) else text


# --- Zero-shot-CoT ----------------------------------------------------------------------------------------------------


def read_first_number(text: str) -> str | None:
    """Return the first number, without commas."""
    match = _CANDIDATE.search(text[after_trigger(text) :].replace(",", ""))
    return match[0].removesuffix(".") if match else None


def read_first_yes_no(text: str) -> str | None:
    """Return the first word that is yes or no, between blanks and marks."""
    words = re.sub("[\"'\n.\\s:,]", " ", text[after_trigger(text) :].lower()).split(" ")
    return next((word for word in words if word in ("yes", "no")), None)


def read_letters_alone(text: str) -> str:
    """Return the text without quotes, full stops and blanks."""
    return re.sub("[\"'\n.\\s]", "", text[after_trigger(text) :])
