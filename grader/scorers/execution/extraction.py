"""Which part of a model's text is its code: the official rules (HumanEval-V evaluate.py), and a careful reader's."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Literal

Rules = Literal["humaneval-v-v1", "humaneval-v-v2", "plain"]
"""How a prediction becomes a program: as in a version of HumanEval-V's evaluator, or the code block as written."""
FENCE, PYTHON_FENCE, SPACED_FENCE = "```", "```python", "``` python"
NOTHING = "    pass"
MAX_SOURCE = 200_000
"""Characters; a longer text is not parsed (an honest answer is a hundredth of this), but taken as it is written: the
grader would parse it itself, in 2 s and 150 MB at the worst."""


def extract(prediction: str, rules: Rules) -> str:
    """Return HumanEval-V's official code block of a prediction; the first rule that applies decides."""
    if PYTHON_FENCE in prediction:
        pieces = prediction.split(PYTHON_FENCE)
        if len(pieces) == 2:
            return pieces[1].split(FENCE)[0]
        closed = [piece for piece in pieces if piece.count(FENCE) == 1]
        return "".join(map(_block, closed)) if rules == "humaneval-v-v1" else _last_solution(closed)
    if SPACED_FENCE in prediction:
        return prediction.split(SPACED_FENCE)[1].split(FENCE, maxsplit=1)[0]
    fences = prediction.count(FENCE)
    if fences == 0:
        return NOTHING
    return prediction.split(FENCE)[0 if fences == 1 else 1]


def _block(piece: str) -> str:
    return piece.split(FENCE, maxsplit=1)[0]


def _last_solution(pieces: list[str]) -> str:
    """Return the block of the last piece with a solution; without one, of the first, which the official walk ends on.

    A piece is a block and the prose up to the next one: a solution named there counts as well.
    """
    for piece in reversed(pieces):
        if "def solution" in piece:
            return _block(piece)
    return _block(pieces[0]) if pieces else NOTHING


_BLOCK = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[^\n`]*+\n(.*?)(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL)
"""A fenced block. Every repetition is possessive: a line of 200,000 tildes would otherwise take minutes."""


def extract_plain(prediction: str, stubs: tuple[str, ...]) -> str:
    """Return a prediction's code block as it is written; the whole text where it has none.

    Of several blocks it is the last one that defines one of `stubs`, else the first.
    """
    blocks = [match[2] for match in _BLOCK.finditer(prediction)]
    if not blocks:
        return prediction
    return next((block for block in reversed(blocks) if _defines(block, stubs)), blocks[0])


def extract_careful(prediction: str, stubs: tuple[str, ...]) -> str | None:
    """Return the code a person would take where the official rules lose the solution, or None if there is none.

    That is the last fenced block, of whatever fence, that defines one of `stubs`; or the whole text where it is a
    bare program that does.
    """
    blocks = [match[2] for match in _BLOCK.finditer(prediction)]
    # A long text without a block may be anything: it cannot be parsed.
    whole = [prediction] if len(prediction) <= MAX_SOURCE else []
    for text in (*reversed(blocks), *whole):
        if any(f"def {name}" in text for name in stubs) and _defines(text, stubs):
            return text
    return None


def _defines(text: str, names: tuple[str, ...]) -> bool:
    if len(text) > MAX_SOURCE:
        return any(re.search(rf"^def {re.escape(name)}\b", text, re.MULTILINE) for name in names)
    tree = parse(text)
    return tree is not None and any(isinstance(node, ast.FunctionDef) and node.name in names for node in tree.body)


def parse(source: str) -> ast.Module | None:
    """Parse hostile source: None where it is no program, whatever way it breaks the parser."""
    if len(source) > MAX_SOURCE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None
