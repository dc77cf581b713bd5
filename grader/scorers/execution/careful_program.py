"""The program that a person would find in a reply and run.

The pieces of Python in each form of the reply (reply_forms.py) are found. The best of them is the program; the others,
and what the model was given, add the names that it uses and lacks. A reply that only continues the signature is put
behind it. Of a function's program, only what the function needs is kept.
"""

from __future__ import annotations

import ast
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.execution.extraction import MAX_SOURCE, SCOPES, outside_functions, returns, tree_of
from grader.scorers.execution.regions import Budget, last_run, runs
from grader.scorers.execution.reply_forms import forms, on_own_lines, unframed, unmarked
from grader.scorers.execution.statements import (
    FULL,
    IMPORTS,
    Statement,
    done_by,
    names_bound,
    names_lacking,
    needed,
    says_nothing,
    statements,
    unparsed,
    without_needless,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MOST_PIECES = 100
"""Maximum number of pieces of Python in a reply, the last ones: of 3,418 recorded replies none has more than 7."""


class WantedProgram(NamedTuple):
    """What a task asks for, and what it gives."""

    names: tuple[str, ...]
    """Functions and classes, one of which the program must define; empty: it is a script."""
    signature: str
    """What a reply may continue; it ends with a line end."""
    given: frozenset[str]
    """Names that the program has without defining them."""
    prompt: str = ""
    """What else the model was given: a program that adds the names that are used and lacking."""


def find(reply: str, wanted: WantedProgram) -> str | None:
    """Return the program in a reply; None if there is none that does what is asked. Of a long reply, its end counts."""
    stub, budget = None, Budget()
    for text in forms(reply[-MAX_SOURCE:]):
        pieces = list(_pieces(text, budget))[-MOST_PIECES:]
        if not wanted.names:
            found = _script(pieces, wanted)
        elif (found := _definition(pieces, wanted, is_real)) is None:
            found = _continued(text, wanted, budget)
            stub = stub or _definition(pieces, wanted, lambda _: True)
        if found is not None:
            return found
    return stub


def has_code(reply: str) -> bool:
    """Return whether a reply contains code at all, in any language, valid or not."""
    tree = tree_of(unframed(reply)[:MAX_SOURCE])
    if tree is not None and any(not isinstance(one.node, ast.Expr) for one in statements(unframed(reply)[:MAX_SOURCE])):
        return True
    return any(
        _LINE_OF_CODE.search(part.text) or (part.is_fenced and _SIGN_OF_CODE.search(part.text))
        for text in (unframed(reply), on_own_lines(unframed(reply)))
        for part in _segments(text)
    )


_LINE_OF_CODE = re.compile(
    r"^[ \t>]*(?:(?:async )?def \w+ ?\(|class \w+ ?[:({]|import \w+|from [\w.]+ import |@\w+|print ?\(|return\b[^.\n]*$"
    r"|(?:for|while|if|with|try)\b[^\n]*:[ \t]*(?:#.*)?$|#include|\w+ ?= ?\w+\()",
    re.MULTILINE,
)
_SIGN_OF_CODE = re.compile(r"[=(\[{;]|^[ \t]*+pass\b", re.MULTILINE)


# --- pieces of Python -------------------------------------------------------------------------------------------


class _Segment(NamedTuple):
    """A part of a text between fences, or between a fence and an end of the text."""

    text: str
    is_fenced: bool = False
    is_python: bool = False
    """Whether its fence names Python, or no language."""
    is_cut: bool = False
    """Whether its fence is never closed."""


class _Piece(NamedTuple):
    source: str
    body: Sequence[Statement]
    is_whole: bool
    """Whether nothing of it is left out or cut off."""
    place: int
    """2: a block of Python, 1: no block, 0: a block of another language."""


_FENCE = re.compile(r"[ \t>]*+(?:`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^\n`]*+$")
"""All repetitions are possessive; otherwise 20,000 tildes and a backtick would take 36 s."""
_LEFT_OUT = re.compile(r"^[ \t]*+#[ \t]*+(?:\.\.\.|\u2026)", re.MULTILINE)


def _segments(text: str) -> list[_Segment]:
    """Return the parts of a text between fences.

    A fence that nobody opened, or nobody closed, ends a part like any other; one in a docstring is no fence.
    """
    found: list[_Segment] = []
    lines: list[str] = []
    language, is_fenced, at = "", False, 0
    marks = {quotes: (0, text.rfind(quotes)) for quotes in ('"""', "'''")}

    def end(*, is_cut: bool) -> None:
        is_python = not language or language.startswith(("py", "ipy"))
        found.append(_Segment("\n".join(lines), is_fenced, is_python, is_cut and is_fenced))

    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match is None or any(count % 2 and at < last for count, last in marks.values()):
            lines.append(line)
            marks = {quotes: (count + line.count(quotes), last) for quotes, (count, last) in marks.items()}
        else:
            end(is_cut=False)
            lines, language = [], match[1].lower()
            is_fenced = bool(language) or not is_fenced
            marks = {quotes: (0, last) for quotes, (_, last) in marks.items()}
        at += len(line) + 1
    end(is_cut=True)
    return [segment for segment in found if segment.text.strip()]


def _pieces(text: str, budget: Budget) -> Iterator[_Piece]:
    """Yield the pieces of Python in a text, in order."""
    for segment in [_Segment(text)] if tree_of(text) is not None else _segments(text):
        source = _dedented(segment.text)
        for part in [source] if tree_of(source) is not None else runs(source, budget):
            tree = tree_of(part)
            body = statements(part)
            if tree is None or all(isinstance(one.node, ast.Expr) and says_nothing(one.node) for one in body):
                continue
            is_whole = not segment.is_cut and not _LEFT_OUT.search(part)
            is_whole = is_whole and not ("..." in part and _is_elided(tree))
            place = 1 if not segment.is_fenced else 2 * segment.is_python
            yield _Piece(part if len(body) == len(tree.body) else _text(body), body, is_whole, place)


def _is_elided(tree: ast.Module) -> bool:
    """Whether `...` stands among the statements of a function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(map(_is_ellipsis, (part for node in functions if is_real(node) for part in node.body)))


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _dedented(text: str) -> str:
    """Return a text without the marks of its lines, and without its common indentation."""
    text = unmarked(text)
    return textwrap.dedent(text) if text.lstrip("\n")[:1] in " \t" else text


def _text(body: Sequence[Statement]) -> str:
    return unparsed(one.node for one in body) or ""


# --- choosing a piece, and adding what it needs -----------------------------------------------------------------


def is_real(node: ast.AST) -> bool:
    """Return whether a definition has code; a stub has none."""
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, SCOPES) and part.name != "__init__"]
        return any(map(is_real, methods)) if methods else not all(map(says_nothing, node.body)) or bool(node.bases)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return not all(says_nothing(part) or _is_unwritten(part) for part in node.body)
    return True


def _is_unwritten(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Raise) and "NotImplementedError" in ast.unparse(statement)


def _definitions(body: Sequence[ast.stmt], *, with_methods: bool = False) -> dict[str, ast.AST]:
    """Return what a program defines outside functions, and the methods of `class Solution` (LeetCode's form)."""
    found: dict[str, ast.AST] = {}
    for node in outside_functions(ast.Module([*body], [])):  # the last one first
        if isinstance(node, SCOPES):
            methods = node.body if with_methods and isinstance(node, ast.ClassDef) and node.name == "Solution" else []
            found = {part.name: part for part in (*methods, node) if isinstance(part, SCOPES)} | found
        elif isinstance(node, ast.Assign):
            found = {part.id: node for part in node.targets if isinstance(part, ast.Name)} | found
    return found


def _definition(pieces: Sequence[_Piece], wanted: WantedProgram, fits: Callable[[ast.AST], bool]) -> str | None:
    """Return the best piece that defines one of the names, with what it needs of the others."""
    ranked: list[tuple[bool, int, int]] = []
    for number, piece in enumerate(pieces):
        nodes = [one.node for one in piece.body]
        found = _definitions(nodes, with_methods=not wanted.signature.strip())
        if any(name in found and fits(found[name]) for name in wanted.names) and not returns(ast.Module(nodes, [])):
            ranked.append((piece.is_whole and not _is_excerpt(piece, pieces[:number]), piece.place, number))
    return _joined(pieces, max(ranked)[-1], wanted) if ranked else None


def _is_excerpt(piece: _Piece, before: Sequence[_Piece]) -> bool:
    """Whether all lines of a piece follow each other in an earlier one."""
    lines = _lines(piece)
    return any(lines in _lines(one) for one in before)


def _lines(piece: _Piece) -> str:
    lines = [line.strip() for line in piece.source.split("\n")]
    return "\n".join(["", *filter(None, lines), ""])


def _script(pieces: Sequence[_Piece], wanted: WantedProgram) -> str | None:
    """Return the best script: one that reads and prints by itself, else the one that does most with the others."""
    ranked: list[tuple[bool, int, bool, int, int]] = []
    every = names_bound(one for piece in pieces for one in piece.body)
    for number, piece in enumerate(pieces):
        if returns(ast.Module([one.node for one in piece.body], [])):
            continue
        of_others = names_lacking(piece.body) & every - wanted.given
        done = done_by(_with_others(pieces, number, wanted) if of_others else piece.body)
        if done:
            is_complete = not of_others and done == FULL
            ranked.append((is_complete, done, piece.is_whole, piece.place, number))
    return _joined(pieces, max(ranked)[-1], wanted) if ranked else None


def _joined(pieces: Sequence[_Piece], main: int, wanted: WantedProgram) -> str:
    """Return a piece as a program, with what it needs of the others."""
    whole = _with_others(pieces, main, wanted)
    return pieces[main].source if whole == [*pieces[main].body] else _text(whole) or pieces[main].source


def _with_others(pieces: Sequence[_Piece], main: int, wanted: WantedProgram) -> list[Statement]:
    """Return the statements of a piece, after those of others, and of the prompt, that define what it lacks."""
    given = statements(wanted.prompt)
    others = [(n, pieces[n].body) for n in (*range(main - 1, -1, -1), *range(main + 1, len(pieces)))] + [(-1, given)]
    own = list(pieces[main].body)
    if wanted.names:
        own = without_needless(own, wanted.names, wanted.given | names_bound(given))
    parts: dict[int, list[Statement]] = {}
    while others:
        whole = [*own, *(one for part in parts.values() for one in part)]
        missing = names_lacking(whole) - wanted.given
        giver = next((other for other in others if missing & names_bound(other[1])), None)
        if giver is None:
            break
        others.remove(giver)
        has = names_bound(whole)
        parts[giver[0]] = [
            one for one in needed(giver[1], missing) if isinstance(one.node, IMPORTS) or has.isdisjoint(one.bound)
        ]
    if not any(parts.values()):
        return own
    future = [one for one in own if isinstance(one.node, ast.ImportFrom) and one.node.module == "__future__"]
    return [*future, *(one for n in sorted(parts) for one in parts[n]), *(one for one in own if one not in future)]


# --- a reply that continues the signature -----------------------------------------------------------------------


def _continued(text: str, wanted: WantedProgram, budget: Budget) -> str | None:
    """Return the signature, or the reply's own copy of it, and the body that follows; None if there is no body."""
    for segment in _segments(text):
        copies = last_run(segment.text, wanted.names, budget), _method(segment.text, wanted.signature)
        for head, body in [*filter(None, copies), (wanted.signature, segment.text)]:
            if (whole := _whole(head, body, wanted.names, budget)) is not None:
                piece = _Piece(whole, statements(whole), is_whole=True, place=1)
                return _joined([piece], 0, wanted)
    return None


def _method(text: str, signature: str) -> tuple[str, str] | None:
    """Return the class of a signature that ends with a method, and a text from its own first line of that method on."""
    last = re.search(r"^[ \t]+def (\w+) ?\(self\b(?!.*^[ \t]*def )", signature, re.MULTILINE | re.DOTALL)
    own = re.search(rf"^[ \t]*def {last[1]} ?\(self\b", text, re.MULTILINE) if last else None
    return (signature[: last.start()], text[own.start() :]) if last and own else None


def _whole(head: str, body: str, names: tuple[str, ...], budget: Budget) -> str | None:
    """Return a stub and the code of its body, in whatever way that is indented, up to where the code ends."""
    body = body.strip("\n").replace("\t", "    ") + "\n"
    alone = tree_of(body)
    last = head.rstrip().rpartition("\n")[2]
    if alone is not None and not returns(alone) and not last.startswith("class "):
        return None
    deeper = re.match(r"\s*", last)[0] + "    " * last.endswith(":")  # type: ignore[index]
    flat = textwrap.indent(textwrap.dedent(body), deeper)
    lines = len(head.strip().split("\n"))
    for form in dict.fromkeys((body, flat, deeper + body.lstrip())):
        for source in runs(head + form, budget, begun_by=lines):
            tree = tree_of(source)
            if tree is not None and _is_written(tree, names, lines):
                return source
    return None


def _is_written(tree: ast.Module, names: tuple[str, ...], lines: int) -> bool:
    """Whether one of the names is defined by code that begins in the first lines and ends after them."""
    goes_on = any(node.lineno <= lines < (node.end_lineno or 0) for node in tree.body)
    found = _definitions(tree.body)
    return goes_on and not returns(tree) and any(name in found and is_real(found[name]) for name in names)
