"""The program that a person would find in a reply and run.

The pieces of Python in each form of the reply (reply_forms.py) are found. The best of them is the program; the others,
and what the model was given, add the names that it uses and lacks. A reply that only continues the signature is put
behind it. Of a function's program, only what the function needs is kept.
"""

from __future__ import annotations

import ast
import enum
import re
import textwrap
from typing import TYPE_CHECKING, NamedTuple

from grader.scorers.execution.code_spans import Budget, code_spans, last_definition_and_text_behind
from grader.scorers.execution.extraction import (
    MAX_SOURCE,
    SCOPES,
    cached_tree,
    has_outer_return,
    nodes_outside_functions,
)
from grader.scorers.execution.reply_forms import forms, without_chat_marks
from grader.scorers.execution.statements import (
    Statement,
    bound_names,
    has_calls,
    is_noop,
    reads_and_prints,
    statements,
    statements_needed_by,
    undefined_names,
    unparse,
    without_needless_statements,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

MAX_PIECES = 100
"""Maximum number of pieces of Python in a reply, the last ones: of 3,418 recorded replies none has more than 7."""


class WantedProgram(NamedTuple):
    """What a task asks for, and what it provides."""

    names: tuple[str, ...]
    """Functions and classes, one of which the program must define; empty: it is a script."""
    signature: str
    """What a reply may continue; it ends with a line end."""
    available: frozenset[str]
    """Names that the program has without defining them."""
    prompt: str = ""
    """What else the model was given: a program that adds the names that are used and not defined."""


def find_program(reply: str, wanted: WantedProgram) -> str | None:
    """Return the program in a reply; None if there is none that does what is asked.

    A script is looked for if no names are wanted. Else the best piece that defines one of them is the program, else a
    body that continues the signature, else a stub of it. Of a long reply, its end counts.
    """
    stub, budget = None, Budget()
    for text in forms(reply[-MAX_SOURCE:]):
        pieces = list(_pieces(text, budget))[-MAX_PIECES:]
        if not wanted.names:
            program = _best_script(pieces, wanted)
        else:
            program = _best_definition(pieces, wanted, has_body)
            if program is None:
                program = _continued_signature(text, wanted, budget)
                stub = stub or _best_definition(pieces, wanted, lambda _: True)
        if program is not None:
            return program
    return stub


def has_code(reply: str) -> bool:
    """Return whether a reply contains code at all, in any language, valid or not."""
    return any(
        _LINE_OF_CODE.search(part.text) or (part.is_fenced and _SIGN_OF_CODE.search(part.text))
        for part in _segments(without_chat_marks(reply))
    )


_LINE_OF_CODE = re.compile(
    r"^[ \t>]*(?:(?:async )?def \w+ ?\(|import \w+|from [\w.]+ import |print ?\(|return\b[^.\n]*$"
    r"|(?:for|while|if|with|try)\b[^\n]*:[ \t]*(?:#.*)?$|\w+ ?= ?\w+\()",
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

    @property
    def origin(self) -> _Origin:
        """Where its pieces come from."""
        if not self.is_fenced:
            return _Origin.PROSE
        return _Origin.PYTHON_BLOCK if self.is_python else _Origin.OTHER_BLOCK


class _Origin(enum.IntEnum):
    """Where a piece comes from: the higher, the more likely it is the answer."""

    OTHER_BLOCK = 0
    """A block of another language."""
    PROSE = 1
    PYTHON_BLOCK = 2


class _Piece(NamedTuple):
    source: str
    body: Sequence[Statement]
    is_whole: bool
    """Whether nothing of it is left out."""
    origin: _Origin


_FENCE = re.compile(r"[ \t]*+(?:`{3,}+|~{3,}+)[ \t]*+([\w+#.-]*+)[^\n`]*+$")
"""All repetitions are possessive; otherwise 20,000 tildes and a backtick would take 36 s."""
_DOCSTRING_QUOTES = ('"""', "'''")
_ELISION_COMMENT = re.compile(r"^[ \t]*+#[ \t]*+(?:\.\.\.|\u2026)", re.MULTILINE)
"""A comment that stands for code that is left out."""


def _segments(text: str) -> list[_Segment]:
    """Return the parts of a text between fences.

    A fence that nobody opened, or nobody closed, ends a part like any other; one in a docstring is no fence.
    """
    segments: list[_Segment] = []
    lines: list[str] = []
    language, is_fenced = "", False
    quote_counts = dict.fromkeys(_DOCSTRING_QUOTES, 0)
    """Number of such quotation marks in the segment so far. Behind an odd number of them, a docstring is open."""
    for line in text.split("\n"):
        fence = _FENCE.match(line)
        if fence is None or any(count % 2 for count in quote_counts.values()):
            lines.append(line)
            quote_counts = {quotes: count + line.count(quotes) for quotes, count in quote_counts.items()}
        else:
            segments.append(_segment(lines, language, is_fenced=is_fenced))
            lines, language, is_fenced = [], fence[1].lower(), not is_fenced
            quote_counts = dict.fromkeys(_DOCSTRING_QUOTES, 0)
    segments.append(_segment(lines, language, is_fenced=is_fenced))
    return [segment for segment in segments if segment.text.strip()]


def _segment(lines: list[str], language: str, *, is_fenced: bool) -> _Segment:
    return _Segment("\n".join(lines), is_fenced, is_python=not language or language.startswith(("py", "ipy")))


def _pieces(text: str, budget: Budget) -> Iterator[_Piece]:
    """Yield the pieces of Python in a text, in order, without those that have only expressions that call nothing."""
    segments = [_Segment(text)] if cached_tree(text) is not None else _segments(text)
    for segment in segments:
        is_indented = segment.text.lstrip("\n")[:1] in " \t"
        source = textwrap.dedent(segment.text) if is_indented else segment.text
        parts = [source] if cached_tree(source) is not None else code_spans(source, budget)
        for part in parts:
            tree, body = cached_tree(part), statements(part)
            if tree is None or all(isinstance(item.node, ast.Expr) and is_noop(item.node) for item in body):
                continue
            is_elided = bool(_ELISION_COMMENT.search(part)) or ("..." in part and _is_elided(tree))
            # `statements` leaves out prose that happens to be Python.
            has_prose = len(body) < len(tree.body)
            piece_source = _source_of_statements(body) if has_prose else part
            yield _Piece(piece_source, body, is_whole=not is_elided, origin=segment.origin)


def _is_elided(tree: ast.Module) -> bool:
    """Whether `...` stands among the statements of a function."""
    functions = [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    return any(map(_is_ellipsis, (part for node in functions if has_body(node) for part in node.body)))


def _is_ellipsis(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is ...


def _source_of_statements(body: Sequence[Statement]) -> str:
    return unparse(statement.node for statement in body) or ""


# --- choosing a piece, and adding what it needs -----------------------------------------------------------------


def has_body(node: ast.AST) -> bool:
    """Return whether a definition has code; a stub has none."""
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, SCOPES) and part.name != "__init__"]
        if methods:
            return any(map(has_body, methods))
        return not all(map(is_noop, node.body))
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return not all(map(is_noop, node.body))
    return True


def _definitions(body: Sequence[ast.stmt]) -> dict[str, ast.AST]:
    """Return what a program defines outside functions. Of several definitions of a name, the last one counts."""
    definitions: dict[str, ast.AST] = {}
    for node in nodes_outside_functions(ast.Module([*body], [])):  # the last one first
        if isinstance(node, SCOPES):
            definitions.setdefault(node.name, node)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if isinstance(target, ast.Name):
                    definitions.setdefault(target.id, node)
    return definitions


def _best_definition(pieces: Sequence[_Piece], wanted: WantedProgram, fits: Callable[[ast.AST], bool]) -> str | None:
    """Return the best piece with a fitting definition of one of the names, and what it needs of the other pieces.

    That is a whole one rather than a part, then one from the best place (`_Origin`), then the last of several.
    """
    ranks: list[tuple[bool, _Origin, int]] = []
    for number, piece in enumerate(pieces):
        nodes = [statement.node for statement in piece.body]
        definitions = _definitions(nodes)
        defines_one = any(name in definitions and fits(definitions[name]) for name in wanted.names)
        if defines_one and not has_outer_return(ast.Module(nodes, [])):
            ranks.append((piece.is_whole, piece.origin, number))
    if not ranks:
        return None
    *_, best = max(ranks)
    return _program_text(pieces, best, wanted)


def _best_script(pieces: Sequence[_Piece], wanted: WantedProgram) -> str | None:
    """Return the best script, which calls something, itself or in what it needs of the other pieces.

    That is one that reads and prints without the others, then one from the best place (`_Origin`), then the last.
    """
    ranks: list[tuple[bool, _Origin, int]] = []
    names_of_pieces = bound_names(statement for piece in pieces for statement in piece.body) - wanted.available
    for number, piece in enumerate(pieces):
        needs_others = bool(undefined_names(piece.body) & names_of_pieces)
        program = _with_dependencies(pieces, number, wanted) if needs_others else piece.body
        if has_calls(statement.node for statement in program):
            is_complete = not needs_others and reads_and_prints(program)
            ranks.append((is_complete, piece.origin, number))
    if not ranks:
        return None
    *_, best = max(ranks)
    return _program_text(pieces, best, wanted)


def _program_text(pieces: Sequence[_Piece], main_number: int, wanted: WantedProgram) -> str:
    """Return a piece as a program, with what it needs of the others; alone if that is too deeply nested to write."""
    piece, program = pieces[main_number], _with_dependencies(pieces, main_number, wanted)
    if program == [*piece.body]:
        return piece.source
    return _source_of_statements(program) or piece.source


def _with_dependencies(pieces: Sequence[_Piece], main_number: int, wanted: WantedProgram) -> list[Statement]:
    """Return the statements of a piece, preceded by those of other pieces and of the prompt that define what it uses.

    If several define a name, the nearest piece before it counts, then those behind it, then the prompt.
    """
    prompt = statements(wanted.prompt)
    in_order_of_search = [*range(main_number - 1, -1, -1), *range(main_number + 1, len(pieces))]
    providers: dict[int, Sequence[Statement]] = {number: pieces[number].body for number in in_order_of_search}
    providers[_PROMPT] = prompt
    body = list(pieces[main_number].body)
    if wanted.names:
        body = without_needless_statements(body, wanted.names, wanted.available | bound_names(prompt))
    added: dict[int, list[Statement]] = {}
    """Number of a piece, or `_PROMPT` -> what is taken from it."""
    while True:
        program = [*body, *(statement for part in added.values() for statement in part)]
        missing = undefined_names(program) - wanted.available
        provider = next((number for number, source in providers.items() if missing & bound_names(source)), None)
        if provider is None:
            break
        defined = bound_names(program)
        added[provider] = [
            statement
            for statement in statements_needed_by(missing, providers.pop(provider))
            if defined.isdisjoint(statement.bound)
        ]
    # `_PROMPT` is the lowest number: the prompt's come first, then those of the pieces as they stand in the reply.
    dependencies = [statement for number in sorted(added) for statement in added[number]]
    if not dependencies:
        return body
    # These imports must stay first.
    future = [item for item in body if isinstance(item.node, ast.ImportFrom) and item.node.module == "__future__"]
    return [*future, *dependencies, *(statement for statement in body if statement not in future)]


_PROMPT = -1
"""The prompt's number among the pieces, less than theirs."""


# --- a reply that continues the signature -----------------------------------------------------------------------


def _continued_signature(text: str, wanted: WantedProgram, budget: Budget) -> str | None:
    """Return the signature, or the reply's repetition of it, and the body that follows; None if there is no body."""
    for segment in _segments(text):
        # The signature is tried last: a repetition in the reply (a stub, and the text behind it) comes first.
        repetitions = (
            last_definition_and_text_behind(segment.text, wanted.names, budget),
            _class_stub_and_repeated_method(segment.text, wanted.signature),
        )
        for stub, body in [*filter(None, repetitions), (wanted.signature, segment.text)]:
            source = _stub_with_body(stub, body, wanted.names, budget)
            if source is not None:
                piece = _Piece(source, statements(source), is_whole=True, origin=_Origin.PROSE)
                return _program_text([piece], main_number=0, wanted=wanted)
    return None


def _class_stub_and_repeated_method(text: str, signature: str) -> tuple[str, str] | None:
    """Return a signature up to its last method, and a text from where it repeats that method on.

    None if the signature does not end with one (`class Solution: def total(self, xs):`), or the text repeats none.
    """
    last = re.search(r"^[ \t]+def (\w+) ?\(self\b(?!.*^[ \t]*def )", signature, re.MULTILINE | re.DOTALL)
    repeated = re.search(rf"^[ \t]*def {last[1]} ?\(self\b", text, re.MULTILINE) if last else None
    return (signature[: last.start()], text[repeated.start() :]) if last and repeated else None


def _stub_with_body(stub: str, body: str, names: tuple[str, ...], budget: Budget) -> str | None:
    """Return a stub and the code of its body up to where the code ends; None if there is no such code.

    The body is tried as it stands, indented anew, and with its first line indented, which models forget.
    """
    body = body.strip("\n") + "\n"
    last_line = stub.rstrip().rpartition("\n")[2]
    tree = cached_tree(body)
    if tree is not None and not has_outer_return(tree) and not last_line.startswith("class "):
        return None  # a program, and not a body
    stub_indentation = last_line[: len(last_line) - len(last_line.lstrip())]
    indentation = f"{stub_indentation}    " if last_line.endswith(":") else stub_indentation
    indented = textwrap.indent(textwrap.dedent(body), indentation)
    stub_lines = len(stub.strip().split("\n"))
    for form in dict.fromkeys((body, indented, indentation + body.lstrip())):
        for source in code_spans(stub + form, budget, begun_by=stub_lines):
            tree = cached_tree(source)
            if tree is not None and _is_completed(tree, names):
                return source
    return None


def _is_completed(tree: ast.Module, names: tuple[str, ...]) -> bool:
    """Whether one of the names is defined, with a body."""
    definitions = _definitions(tree.body)
    defines_one = any(name in definitions and has_body(definitions[name]) for name in names)
    return defines_one and not has_outer_return(tree)
