"""Mutants of a program: copies with one small change each, which good tests detect."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from grader.scorers.execution.extraction import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

_SWAPPED: dict[type[ast.AST], tuple[str, type[ast.AST]]] = {
    ast.Add: ("+", ast.Sub),
    ast.Sub: ("-", ast.Add),
    ast.Mult: ("*", ast.Add),
    ast.Div: ("/", ast.Mult),
    ast.FloorDiv: ("//", ast.Mult),
    ast.Mod: ("%", ast.FloorDiv),
    ast.Lt: ("<", ast.LtE),
    ast.LtE: ("<=", ast.Lt),
    ast.Gt: (">", ast.GtE),
    ast.GtE: (">=", ast.Gt),
    ast.Eq: ("==", ast.NotEq),
    ast.NotEq: ("!=", ast.Eq),
    ast.Is: ("is", ast.IsNot),
    ast.IsNot: ("is not", ast.Is),
    ast.In: ("in", ast.NotIn),
    ast.NotIn: ("not in", ast.In),
    ast.And: ("and", ast.Or),
    ast.Or: ("or", ast.And),
}
"""Operator -> how it is written, and its replacement."""
MOST_SHOWN = 60
"""Maximum length of a line of source in a title."""


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A program with one change."""

    title: str
    """The change, for example `line 3: + becomes - in "return a + b"`."""
    source: str


class _Change(NamedTuple):
    """Another value in a field of a node of the syntax tree."""

    line: int
    title: str
    node: ast.AST
    field: str
    value: object


def mutants(source: str, most: int) -> list[Mutant]:
    """Return at most `most` mutants, spread over the whole program; every call returns the same ones."""
    tree = parse(source)
    if tree is None:
        return []
    changes = sorted((one for node in ast.walk(tree) for one in _changes(node)), key=lambda change: change.line)
    step = max(1.0, len(changes) / most)
    chosen = [changes[int(number * step)] for number in range(min(most, len(changes)))]
    lines = source.splitlines()
    return [
        Mutant(
            title=f'line {change.line}: {change.title} in "{_cut(lines[change.line - 1].strip())}"',
            source=_changed(tree, change),
        )
        for change in chosen
    ]


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


def _changed(tree: ast.Module, change: _Change) -> str:
    """Return the source of a tree with a change, which is taken back."""
    before = getattr(change.node, change.field)
    setattr(change.node, change.field, change.value)
    source = ast.unparse(tree)
    setattr(change.node, change.field, before)
    return source


def _changes(node: ast.AST) -> Iterator[_Change]:
    """Yield the possible changes of a node."""
    match node:
        case ast.BinOp(op=operator) | ast.BoolOp(op=operator) | ast.AugAssign(op=operator):
            for title, other in _swapped(operator):
                yield _Change(node.lineno, title, node, "op", other)
        case ast.Compare(ops=operators):
            for place, compared in enumerate(operators):
                for title, other in _swapped(compared):
                    yield _Change(node.lineno, title, node, "ops", [*operators[:place], other, *operators[place + 1 :]])
        case ast.Constant(value=bool(value)):
            yield _Change(node.lineno, f"{value} becomes {not value}", node, "value", not value)
        case ast.Constant(value=int(value) | float(value)):
            yield _Change(node.lineno, f"{value} becomes {value + 1}", node, "value", value + 1)
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield _Change(test.lineno, "condition inverted", node, "test", ast.UnaryOp(op=ast.Not(), operand=test))
        case ast.UnaryOp(op=ast.USub()):
            yield _Change(node.lineno, "- is left out", node, "op", ast.UAdd())


def _swapped(operator: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield what becomes of an operator, and its replacement; nothing if it has none."""
    if type(operator) in _SWAPPED:
        written, other = _SWAPPED[type(operator)]
        yield f"{written} becomes {_SWAPPED[other][0]}", other()
