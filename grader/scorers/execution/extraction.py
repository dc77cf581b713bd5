"""Extract the code from a model's text by the official rules (HumanEval-V evaluate.py, LiveCodeBench, plain)."""

from __future__ import annotations

import ast
import functools
import re
from typing import TYPE_CHECKING, Literal

from grader.files.python_source import tree_from

if TYPE_CHECKING:
    from collections.abc import Iterator

Rules = Literal["humaneval-v-v1", "humaneval-v-v2", "livecodebench", "plain"]
"""How a program is built from a prediction: as a version of HumanEval-V's evaluator does, or (`plain`) the signature
with an empty body and the block as written."""
FENCE, PYTHON_FENCE, SPACED_FENCE = "```", "```python", "``` python"
EMPTY_BODY = "    pass"
MAX_SOURCE = 200_000
"""Maximum number of characters to parse. Parsing takes up to 2 s and 150 MB in the grader's own process. A longer text
is used as written; an honest answer has about a hundredth of this length."""


def extract(prediction: str, rules: Rules) -> str:
    """Return the official code block of a prediction; of HumanEval-V's rules the first one that applies decides."""
    if rules == "livecodebench":
        return _between_last_fences(prediction)
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
        return EMPTY_BODY
    return prediction.split(FENCE)[0 if fences == 1 else 1]


def _between_last_fences(prediction: str) -> str:
    """Return the lines between the last two with a fence, as LiveCodeBench's `extract_code`; empty without two."""
    lines = prediction.split("\n")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    return "\n".join(lines[fences[-2] + 1 : fences[-1]]) if len(fences) > 1 else ""


def _block(piece: str) -> str:
    return piece.split(FENCE, maxsplit=1)[0]


def _last_solution(pieces: list[str]) -> str:
    """Return the block of the last piece with a solution; if there is none, of the first piece, as officially.

    A piece is a block and the prose up to the next block; a solution named in the prose counts, too.
    """
    for piece in reversed(pieces):
        if "def solution" in piece:
            return _block(piece)
    return _block(pieces[0]) if pieces else EMPTY_BODY


_BLOCK = re.compile(r"^[ \t]*+(`{3,}+|~{3,}+)[^\n`]*+\n(.*?)(?:^[ \t]*+\1[`~]*+[ \t]*+$|\Z)", re.MULTILINE | re.DOTALL)
"""A fenced block. All repetitions are possessive; otherwise a line of 200,000 tildes would take minutes."""


def extract_plain(prediction: str, stubs: tuple[str, ...]) -> str:
    """Return a prediction's code block as written; the whole text if it has no block.

    Of several blocks, this is the last one that defines one of `stubs`, else the first. Without `stubs` the program is
    a script: the last block that is Python and calls something.
    """
    blocks = [match[2] for match in _BLOCK.finditer(prediction)]
    if not blocks:
        return prediction
    fits = (lambda block: _has_definition(block, stubs)) if stubs else is_script
    return next(filter(fits, reversed(blocks)), blocks[0])


def is_script(text: str) -> bool:
    """Return whether a text is Python that calls something."""
    tree = cached_tree(text)
    return tree is not None and any(isinstance(node, ast.Call) for node in ast.walk(tree))


def has_outer_return(tree: ast.Module) -> bool:
    """Return whether a text has a `return` outside functions, as a body of a function has."""
    return any(isinstance(node, ast.Return) for node in nodes_outside_functions(tree))


def _has_definition(text: str, names: tuple[str, ...]) -> bool:
    if len(text) > MAX_SOURCE:
        return any(re.search(rf"^(?:(?:async )?def|class) {re.escape(name)}\b", text, re.MULTILINE) for name in names)
    tree = cached_tree(text)
    return tree is not None and any(isinstance(node, SCOPES) and node.name in names for node in tree.body)


def defined_names(tree: ast.Module) -> set[str]:
    """Return the names of the functions, classes and imports of a program, outside functions."""
    names: set[str] = set()
    for node in nodes_outside_functions(tree):
        if isinstance(node, SCOPES):
            names.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            names.update(alias.asname or alias.name.split(".")[0] for alias in node.names)
    return names


_WITH_STATEMENTS = (ast.stmt, ast.excepthandler, ast.match_case)
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def nodes_outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield a program and its statements, the last one first, without those in functions and classes."""
    # Not recursive: a long chain of `elif` is deeply nested.
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, SCOPES):
            stack += [part for part in ast.iter_child_nodes(node) if isinstance(part, _WITH_STATEMENTS)]


def parse_or_none(source: str) -> ast.Module | None:
    """Parse hostile source code; None if it is long or invalid, in whatever way it breaks the parser."""
    return None if len(source) > MAX_SOURCE else parse_any_length(source)


def parse_any_length(source: str) -> ast.Module | None:
    """Parse source code of the data, of any length; None if it is invalid."""
    try:
        return tree_from(source)
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        return None


cached_tree = functools.lru_cache(maxsize=8)(parse_or_none)
"""The same for the steps of reading one reply, some of which parse the same text. Nobody may change the tree."""
