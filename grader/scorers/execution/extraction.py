"""Extract the code from a model's text: by the official rules (HumanEval-V evaluate.py), and as a careful reader."""

from __future__ import annotations

import ast
import re
import textwrap
import warnings
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

Rules = Literal["humaneval-v-v1", "humaneval-v-v2", "livecodebench", "plain"]
"""How a program is built from a prediction: as a version of HumanEval-V's evaluator does, or (`plain`) the signature
with an empty body and the block as written."""
FENCE, PYTHON_FENCE, SPACED_FENCE = "```", "```python", "``` python"
NOTHING = "    pass"
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
        return NOTHING
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
    return _block(pieces[0]) if pieces else NOTHING


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
    fits = (lambda block: _defines(block, stubs)) if stubs else is_script
    return next(filter(fits, reversed(blocks)), blocks[0])


def extract_script(prediction: str) -> str:
    """Return the script of a prediction: what `extract_plain` finds, if it is a script.

    If it is not, the last script between fences, which may be indented or begin inside a line.
    """
    block = extract_plain(prediction, ())
    between = (piece.partition("\n")[2] for piece in reversed(prediction.split(FENCE)[1::2]))
    texts = (text for piece in (block, *between) for text in (piece, textwrap.dedent(piece)))
    return next(filter(is_script, texts), block)


def is_script(text: str) -> bool:
    """Return whether a text is Python that calls something."""
    tree = parse(text)
    return tree is not None and any(isinstance(node, ast.Call) for node in ast.walk(tree))


def extract_careful(prediction: str, names: tuple[str, ...]) -> str | None:
    """Return the program that a person would take if the official rules lose it; None if there is none.

    This is the last region of the text that is Python and defines one of `names`. A block that is too long to be
    parsed is taken as it is, if it seems to define one.
    """
    if len(prediction) <= MAX_SOURCE:
        return _last_region(prediction, names)
    for match in reversed(list(_BLOCK.finditer(prediction))):
        found = match[2] if _defines(match[2], names) else _last_region(match[2], names)
        if found is not None:
            return found
    return _last_region(prediction[-MAX_SOURCE:], names)


def _last_region(text: str, names: tuple[str, ...]) -> str | None:
    found = regions(text, names) if len(text) <= MAX_SOURCE else ()
    return next((region for region in found if (tree := parse(region)) and _is_program(tree, names)), None)


def _is_program(tree: ast.Module, names: tuple[str, ...]) -> bool:
    """Whether a text defines one of `names`, and is not the body of a function."""
    return not defined(tree).isdisjoint(names) and not returns(tree)


def returns(tree: ast.Module) -> bool:
    """Return whether a text has a `return` outside functions, as a body of a function has."""
    return any(isinstance(node, ast.Return) for node in outside_functions(tree))


def _defines(text: str, names: tuple[str, ...]) -> bool:
    if len(text) > MAX_SOURCE:
        return any(re.search(rf"^(?:(?:async )?def|class) {re.escape(name)}\b", text, re.MULTILINE) for name in names)
    tree = parse(text)
    return tree is not None and any(isinstance(node, _APART) and node.name in names for node in tree.body)


def defined(tree: ast.Module) -> set[str]:
    """Return the names of the functions, classes and imports of a program, outside functions."""
    found: set[str] = set()
    for node in outside_functions(tree):
        if isinstance(node, _APART):
            found.add(node.name)
        elif isinstance(node, (ast.Import, ast.ImportFrom)):
            found.update(name.asname or name.name.split(".")[0] for name in node.names)
    return found


_HOLDING = (ast.stmt, ast.excepthandler, ast.match_case)
_APART = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def outside_functions(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield the statements of a program, without those in functions and classes."""
    # Not recursive: a long chain of `elif` is deeply nested.
    stack: list[ast.AST] = [tree]
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, _APART):
            stack += [part for part in ast.iter_child_nodes(node) if isinstance(part, _HOLDING)]


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


# --- regions of a text that are Python ---------------------------------------------------------------------------

ALLOW_INCOMPLETE_INPUT = 0x4000
"""CPython's flag of this name, as in `codeop`: a statement that could go on is not the same as an invalid one."""
MAX_JOINED = 60
"""Maximum number of lines without indentation in one statement: texts and brackets over several lines."""
MAX_LEVELS = MAX_DEFINITIONS = 20
"""Maximum number of levels of indentation around a definition, and of definitions, the last ones."""
MAX_PARSED, PER_ATTEMPT = 2_000_000, 50
"""Maximum number of characters to parse for one text, and for how many each attempt counts, more if a statement needs
several attempts. All together take about a second."""
_GOES_ON = re.compile(r"\s|$|#|(?:else|elif|except|finally)\b|[)\]}]")
"""The beginning of a line that may belong to the statement above it."""
_INDENT = re.compile(r"[ \t>]*")
"""Indentation, of a quotation too."""
_MARKUP = re.compile(r"`{3,}[\w+-]*|</?\w+>|\[/?[A-Z]+\]")

Span = tuple[int, int]
"""A first line, and the line after the last one."""


def regions(text: str, names: Sequence[str]) -> Iterator[str]:
    """Yield the regions of a text that are Python and may define one of `names`, the last one first.

    A region is a run of whole statements, as long as possible, without their common indentation. If a text has markup
    inside its lines (a fence, a tag), the regions follow that it has with the markup on lines of its own.
    """
    if names:
        yield from _Lines(text).regions(names)
        if (apart := _MARKUP.sub("\n```\n", text)) != text:
            yield from _Lines(apart).regions(names)


class _Lines:
    """The lines of a text, and which of them are Python at a level of indentation."""

    def __init__(self, text: str) -> None:
        self._lines = text.split("\n")
        self._left = MAX_PARSED
        self._spans: dict[str, list[Span]] = {}

    def regions(self, names: Sequence[str]) -> Iterator[str]:
        defining = re.compile(rf"([ \t>]*)(?:(?:async +)?def|class) +(?:{'|'.join(map(re.escape, names))})\b")
        taken: set[tuple[str, Span]] = set()
        begun = [(number, match[1]) for number, line in enumerate(self._lines) if (match := defining.match(line))]
        for number, deep in begun[: -MAX_DEFINITIONS - 1 : -1]:
            found = self._around(number, deep)
            if found is not None and found not in taken:
                taken.add(found)
                indent, (start, end) = found
                yield "\n".join(line[len(indent) :] for line in self._lines[start:end]).strip() + "\n"

    def _around(self, number: int, indent: str) -> tuple[str, Span] | None:
        """Return the region with a line. A method or an inner function belongs to what is indented less."""
        above = {_INDENT.match(line)[0] for line in self._lines[:number] if line.strip()}  # type: ignore[index]
        for level in sorted({indent, *filter(indent.startswith, above)}, key=len)[:MAX_LEVELS]:
            if level not in self._spans:
                self._spans[level] = list(self._spans_at(level))
            for span in self._spans[level]:
                if span[0] <= number < span[1]:
                    return level, span
        return None

    def _spans_at(self, indent: str) -> Iterator[Span]:
        """Yield the runs of statements with an indentation."""
        blank = {"", indent.strip()}
        lines = [
            line[len(indent) :] if line.startswith(indent) else "" if line.strip() in blank else None
            for line in self._lines
        ]
        at = start = 0
        while at < len(lines):
            end = self._statement(lines, at)
            if end is None:
                yield start, at
                start = at + 1
            at = end or at + 1
        yield start, at

    def _statement(self, lines: list[str | None], at: int) -> int | None:
        """Return the end of the statement that begins in a line; None if it begins none."""
        if (first := lines[at]) is not None and (not first.strip() or first[0] == "#"):
            return at + 1
        if first is None or _GOES_ON.match(first):
            return None
        parts: list[str] = []
        for attempt in range(1, MAX_JOINED + 1):
            line = lines[at] if at < len(lines) else None
            if line is None or line.startswith("~~~"):  # a fence, which would parse
                return None
            while line is not None:
                parts.append(line)
                at += 1
                line = lines[at] if at < len(lines) and _GOES_ON.match(lines[at] or "") else None
            self._left -= PER_ATTEMPT * attempt
            if (state := self._state("\n".join([*parts, ""]))) != "incomplete":
                return at if state == "whole" else None
        return None

    def _state(self, source: str) -> Literal["whole", "incomplete", "invalid"]:
        self._left -= len(source)
        if self._left < 0:
            return "invalid"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compile(source, "<text>", "exec", ast.PyCF_ONLY_AST | ALLOW_INCOMPLETE_INPUT, dont_inherit=True)
            except SyntaxError as error:
                return "incomplete" if error.msg == "incomplete input" else "invalid"
            except (ValueError, MemoryError, RecursionError):
                return "invalid"
        return "whole"
