"""Extract the code from a model's text: by the official rules (HumanEval-V evaluate.py), and as a careful reader."""

from __future__ import annotations

import ast
import re
import warnings
from typing import Literal

Rules = Literal["humaneval-v-v1", "humaneval-v-v2", "plain"]
"""How a program is built from a prediction: as a version of HumanEval-V's evaluator does, or (`plain`) the signature
with an empty body and the block as written."""
FENCE, PYTHON_FENCE, SPACED_FENCE = "```", "```python", "``` python"
NOTHING = "    pass"
MAX_SOURCE = 200_000
"""Maximum number of characters to parse. Parsing takes up to 2 s and 150 MB in the grader's own process. A longer text
is used as written; an honest answer has about a hundredth of this length."""


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
    """Return the block of the last piece with a solution; if there is none, of the first piece, as officially.

    A piece is a block and the prose up to the next block; a solution named in the prose counts, too.
    """
    for piece in reversed(pieces):
        if "def solution" in piece:
            return _block(piece)
    return _block(pieces[0]) if pieces else NOTHING


_BLOCK = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[^\n`]*+\n(.*?)(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL)
"""A fenced block. All repetitions are possessive; otherwise a line of 200,000 tildes would take minutes."""


def extract_plain(prediction: str, stubs: tuple[str, ...]) -> str:
    """Return a prediction's code block as written; the whole text if it has no block.

    Of several blocks, this is the last one that defines one of `stubs`, else the first.
    """
    blocks = [match[2] for match in _BLOCK.finditer(prediction)]
    if not blocks:
        return prediction
    return next((block for block in reversed(blocks) if _defines(block, stubs)), blocks[0])


def extract_careful(prediction: str, stubs: tuple[str, ...]) -> str | None:
    """Return the code that a person would take if the official rules lose the solution; None if there is no such code.

    This is the last fenced block, with any kind of fence, that defines one of `stubs`. If there is none, it is the
    whole text, if that is a program that defines one.
    """
    blocks = [match[2] for match in _BLOCK.finditer(prediction)]
    # A long text without a block cannot be parsed, so it is not accepted as a program.
    whole = [prediction] if len(prediction) <= MAX_SOURCE else []
    for text in (*reversed(blocks), *whole):
        if any(f"{word} {name}" in text for word in ("def", "class") for name in stubs) and _defines(text, stubs):
            return text
    return None


def _defines(text: str, names: tuple[str, ...]) -> bool:
    if len(text) > MAX_SOURCE:
        return any(re.search(rf"^(?:def|class) {re.escape(name)}\b", text, re.MULTILINE) for name in names)
    tree = parse(text)
    defining = (ast.FunctionDef, ast.ClassDef)
    return tree is not None and any(isinstance(node, defining) and node.name in names for node in tree.body)


def parse(source: str) -> ast.Module | None:
    """Parse hostile source code; None if it is invalid, in whatever way it breaks the parser."""
    if len(source) > MAX_SOURCE:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse(source)
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            return None
