"""Mutants of a program: copies with one small change each, which good tests detect."""

from __future__ import annotations

import ast
import copy
from typing import TYPE_CHECKING

import msgspec

from grader.scorers.execution.extraction import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Add,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.FloorDiv,
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.And: ast.Or,
    ast.Or: ast.And,
}
"""Operator -> its replacement."""
SYMBOLS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.And: "and",
    ast.Or: "or",
}
MOST_SHOWN = 60
"""Maximum length of a line of source in a title."""


class Mutant(msgspec.Struct, frozen=True, kw_only=True):
    """A program with one change."""

    title: str
    """The change, for example `line 3: + becomes - in "return a + b"`."""
    source: str


def mutants(source: str, most: int) -> list[Mutant]:
    """Return at most `most` mutants, spread over the whole program; every call returns the same ones."""
    tree = parse(source)
    if tree is None:
        return []
    changes = [change for node in ast.walk(tree) for change in _changes(node)]
    changes.sort(key=lambda change: change[0])
    step = max(1.0, len(changes) / most)
    chosen = [changes[int(number * step)] for number in range(min(most, len(changes)))]
    lines = source.splitlines()
    return [
        Mutant(title=f'line {line}: {title} in "{_cut(lines[line - 1].strip())}"', source=_changed(tree, apply))
        for line, title, apply in chosen
    ]


def _cut(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[: MOST_SHOWN - 1]}…"


_Change = tuple[int, str, "Callable[[dict[int, ast.AST]], None]"]
"""(line, description, function that changes a copy of the tree); the function gets original node id -> copied node."""


def _changed(tree: ast.Module, apply: Callable[[dict[int, ast.AST]], None]) -> str:
    # `deepcopy` records in `copies` the copy of each node.
    copies: dict[int, ast.AST] = {}
    changed = copy.deepcopy(tree, copies)
    apply(copies)
    return ast.unparse(ast.fix_missing_locations(changed))


def _changes(node: ast.AST) -> Iterator[_Change]:
    """Yield the possible changes of a node."""
    if isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)):
        yield from _operator(node, node.op, "op", None)
    elif isinstance(node, ast.Compare):
        for place, operator in enumerate(node.ops):
            yield from _operator(node, operator, "ops", place)
    elif isinstance(node, ast.Constant):
        yield from _constant(node)
    elif isinstance(node, (ast.If, ast.While, ast.IfExp)):
        yield node.test.lineno, "condition inverted", _inverting(node)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        yield node.lineno, "- is left out", _setting(node, "op", ast.UAdd())


def _operator(
    node: ast.BinOp | ast.BoolOp | ast.AugAssign | ast.Compare, operator: ast.AST, field: str, place: int | None
) -> Iterator[_Change]:
    other = SWAPPED.get(type(operator))
    if other is None:
        return
    title = f"{SYMBOLS[type(operator)]} becomes {SYMBOLS[other]}"

    def apply(copies: dict[int, ast.AST]) -> None:
        target = copies[id(node)]
        if place is None:
            setattr(target, field, other())
        else:
            getattr(target, field)[place] = other()

    yield node.lineno, title, apply


def _constant(node: ast.Constant) -> Iterator[_Change]:
    if isinstance(node.value, bool):
        yield node.lineno, f"{node.value} becomes {not node.value}", _setting(node, "value", not node.value)
    elif isinstance(node.value, (int, float)):
        yield node.lineno, f"{node.value} becomes {node.value + 1}", _setting(node, "value", node.value + 1)


def _setting(node: ast.AST, field: str, value: object) -> Callable[[dict[int, ast.AST]], None]:
    return lambda copies: setattr(copies[id(node)], field, value)


def _inverting(node: ast.If | ast.While | ast.IfExp) -> Callable[[dict[int, ast.AST]], None]:
    def apply(copies: dict[int, ast.AST]) -> None:
        target = copies[id(node)]
        assert isinstance(target, (ast.If, ast.While, ast.IfExp))
        target.test = ast.UnaryOp(op=ast.Not(), operand=target.test)

    return apply
