"""The program that a person would find in a reply and run.

The pieces of Python in each form of the reply (reply_forms.py) are found. One of them is chosen, and others give it the
names that it uses and does not define. A reply that only continues the signature is put behind it.
"""

from __future__ import annotations

import ast
import builtins
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.execution.extraction import MAX_SOURCE, SCOPES, is_script, outside_functions, returns, tree_of
from grader.scorers.execution.regions import Budget, last_run, runs
from grader.scorers.execution.reply_forms import forms, on_own_lines, unframed
from grader.scorers.execution.statements import (
    IMPORTS,
    assigned_in,
    bound_in,
    bound_outside,
    has_calls,
    loaded_in,
    says_nothing,
    unparsed,
    without_demonstrations,
    words_in,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

MOST_PIECES = 100
"""Maximum number of pieces of Python in a reply, the last ones: of 3,418 recorded replies none has more than 7."""


class WantedProgram(NamedTuple):
    """What a task asks for."""

    names: tuple[str, ...]
    """Functions and classes, one of which the program must define; empty: it is a script."""
    signature: str
    """What a reply may continue; it ends with a line end."""
    given: frozenset[str]
    """Names that the program has without defining them."""


def find(reply: str, wanted: WantedProgram) -> str | None:
    """Return the program in a reply; None if there is none that does what is asked. Of a long reply, its end counts."""
    stub, budget = None, Budget()
    for text in forms(reply[-MAX_SOURCE:]):
        pieces = list(_pieces(text, budget))[-MOST_PIECES:]
        if not wanted.names:
            found = _script(pieces)
        elif (found := _definition(pieces, wanted, is_real)) is None:
            found = _continued(text, wanted, budget)
            stub = stub or _definition(pieces, wanted, lambda _: True)
        if found is not None:
            return found
    return stub


def has_code(reply: str) -> bool:
    """Return whether a reply contains code at all, in any language, valid or not."""
    tree = tree_of(unframed(reply)[:MAX_SOURCE])
    words = set() if tree is None else prose(tree)
    if tree is not None and any(not isinstance(node, ast.Expr) for node in tree.body if node not in words):
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
    is_fenced: bool


class _Piece(NamedTuple):
    tree: ast.Module
    source: str
    is_fenced: bool


_FENCE = re.compile(r"[ \t>]*+(?:`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^\n`]*+$")
"""All repetitions are possessive; otherwise 20,000 tildes and a backtick would take 36 s."""
_OTHER = {"text", "txt", "bash", "sh", "shell", "console", "output", "json", "markdown", "md", "plaintext", "yaml"}
"""Languages of blocks that are no program."""


def _segments(text: str) -> list[_Segment]:
    """Return the parts of a text between fences, except those that show something else than code.

    A fence that nobody opened, or nobody closed, ends a part like any other; one in a docstring is no fence.
    """
    found: list[_Segment] = []
    lines: list[str] = []
    language, is_fenced, at = "", False, 0
    marks = {quotes: (0, text.rfind(quotes)) for quotes in ('"""', "'''")}
    for line in text.split("\n"):
        match = _FENCE.match(line)
        if match is None or any(count % 2 and at < last for count, last in marks.values()):
            lines.append(line)
            marks = {quotes: (count + line.count(quotes), last) for quotes, (count, last) in marks.items()}
        else:
            if language not in _OTHER:
                found.append(_Segment("\n".join(lines), is_fenced))
            lines, language = [], match[1].lower()
            is_fenced = bool(language) or not is_fenced
            marks = {quotes: (0, last) for quotes, (_, last) in marks.items()}
        at += len(line) + 1
    if language not in _OTHER:
        found.append(_Segment("\n".join(lines), is_fenced))
    return [segment for segment in found if segment.text.strip()]


def _pieces(text: str, budget: Budget) -> Iterator[_Piece]:
    """Yield the pieces of Python in a text, in order."""
    for segment in [_Segment(text, is_fenced=True)] if _is_python(text) else _segments(text):
        source, is_fenced = _dedented(segment.text), segment.is_fenced
        parts: Iterable[str] = ()
        if _is_python(source):
            parts = [source]
        elif is_fenced or _LINE_OF_CODE.search(source) or is_script(source):
            parts = runs(source, budget)
        for part in parts:
            if (tree := tree_of(part)) is None:
                continue
            words = prose(tree)
            rest = [node for node in tree.body if node not in words]
            if rest or not words:
                yield _Piece(ast.Module(rest, []), (unparsed(rest) or "") if words else part, is_fenced)


def _is_python(text: str) -> bool:
    tree = tree_of(text)
    return tree is not None and not prose(tree)


def _dedented(text: str) -> str:
    """Return a text without its common indentation, and without the marks of a quotation."""
    if all(line.lstrip().startswith(">") or not line.strip() for line in text.split("\n")):
        text = re.sub(r"^[ \t]*>", "", text, flags=re.MULTILINE)
    first = text.lstrip("\n")
    return textwrap.dedent(text) if first[:1] in " \t" else text


def prose(tree: ast.Module) -> set[ast.stmt]:
    """Return the statements that are words ("Sure", "[PYTHON]") which happen to be Python, and have no meaning."""
    known: set[str] | None = None
    found: set[ast.stmt] = set()
    for node in tree.body:
        if isinstance(node, (ast.Expr, ast.AnnAssign)) and not any(isinstance(n, ast.Call) for n in ast.walk(node)):
            known = bound_in(tree) | _BUILTINS if known is None else known
            if not loaded_in(node) <= known:
                found.add(node)
    return found


_BUILTINS = frozenset(dir(builtins)) | {"__name__", "__file__"}


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


def _definitions(tree: ast.Module, *, with_methods: bool = False) -> dict[str, ast.AST]:
    """Return what a program defines outside functions, and the methods of `class Solution` (LeetCode's form)."""
    found: dict[str, ast.AST] = {}
    for node in outside_functions(tree):  # the last one first
        if isinstance(node, SCOPES):
            methods = node.body if with_methods and isinstance(node, ast.ClassDef) and node.name == "Solution" else []
            found = {part.name: part for part in (*methods, node) if isinstance(part, SCOPES)} | found
        elif isinstance(node, ast.Assign):
            found = dict.fromkeys(assigned_in(node), node) | found
    return found


def _definition(pieces: Sequence[_Piece], wanted: WantedProgram, fits: Callable[[ast.AST], bool]) -> str | None:
    """Return the last piece that defines one of the names, with what it needs of the others."""
    for number in reversed(range(len(pieces))):
        found = _definitions(pieces[number].tree, with_methods=not wanted.signature.strip())
        if any(name in found and fits(found[name]) for name in wanted.names) and not returns(pieces[number].tree):
            whole = _with_others(pieces, number, {*wanted.names}, wanted.given)
            rest, source = without_demonstrations(whole, wanted.names), pieces[number].source
            return source if len(rest) == len(pieces[number].tree.body) else unparsed(rest) or source
    return None


def _script(pieces: Sequence[_Piece]) -> str | None:
    """Return the last of the scripts that do most: run something, and read their input; one in a block counts more."""
    best, found = (0, False), None
    for number, piece in enumerate(pieces):
        whole = _with_others(pieces, number, set(), frozenset())
        done = _done(whole), piece.is_fenced
        if done[0] and done >= best and not returns(piece.tree):
            best = done
            found = piece.source if len(whole) == len(piece.tree.body) else unparsed(whole) or piece.source
    return found


_READS = {"input", "stdin", "fileinput"}
_OPENS_INPUT = re.compile(r"\bopen\((?:0|'/dev/stdin')")


def _done(body: Sequence[ast.stmt]) -> int:
    """Return how much statements do: 0 nothing, 1 only their functions call something, 2 a call runs, 3 and reads."""
    if not has_calls(body):
        return 0
    runs_something = has_calls(part for part in body if not isinstance(part, SCOPES))
    reads = any(not words_in(part).isdisjoint(_READS) for part in body) or _OPENS_INPUT.search(unparsed(body) or "")
    return 1 + runs_something * (1 + bool(reads))


def _with_others(pieces: Sequence[_Piece], main: int, needed: set[str], given: frozenset[str]) -> list[ast.stmt]:
    """Return the statements of a piece, after those of others that define what it needs and lacks."""
    if len(pieces) == 1:
        return pieces[main].tree.body
    parts: dict[int, list[ast.stmt]] = {main: pieces[main].tree.body}
    others = [*range(main - 1, -1, -1), *range(main + 1, len(pieces))]
    while others:
        whole = ast.Module([node for part in parts.values() for node in part], type_ignores=[])
        has = bound_in(whole)
        missing = (needed | loaded_in(whole)) - has - given - _BUILTINS
        giver = next((n for n in others if missing & bound_outside(pieces[n].tree.body)), None)
        if giver is None:
            break
        others.remove(giver)
        parts[giver] = [
            node
            for node in without_demonstrations(pieces[giver].tree.body, needed)
            if isinstance(node, IMPORTS) or has.isdisjoint(bound_outside([node]))
        ]
    own = parts.pop(main)
    future = {node: None for node in own if isinstance(node, ast.ImportFrom) and node.module == "__future__"}
    before = [node for number in sorted(parts) for node in parts[number]]
    return [*future, *before, *(node for node in own if node not in future)] if before else own


# --- a reply that continues the signature -----------------------------------------------------------------------


def _continued(text: str, wanted: WantedProgram, budget: Budget) -> str | None:
    """Return the signature, or the reply's own copy of it, and the body that follows; None if there is no body."""
    for segment in _segments(text):
        copies = last_run(segment.text, wanted.names, budget), _method(segment.text, wanted.signature)
        for head, body in [*filter(None, copies), (wanted.signature, segment.text)]:
            if (whole := _whole(head, body, wanted.names, budget)) is not None:
                return unparsed(without_demonstrations(ast.parse(whole).body, wanted.names)) or whole
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
    found = _definitions(tree)
    return goes_on and not returns(tree) and any(name in found and is_real(found[name]) for name in names)
