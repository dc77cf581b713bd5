"""Recognise tests whose calls no answer can change: plain statements in sequence, with literal arguments.

If both recordings of such tests agree, every program gets the same calls, also a reference solution. So there is
nothing left for the reference to check.
"""

from __future__ import annotations

import ast

PURE = frozenset({
    "abs", "all", "any", "bool", "dict", "float", "frozenset", "int", "isinstance", "len", "list", "max", "min",
    "repr", "round", "set", "sorted", "str", "sum", "tuple",
})  # fmt: skip
"""Built-in functions that call none of a task's functions, unless they get one as a keyword argument."""
_READING = (ast.Attribute, ast.Subscript, ast.Slice, ast.BinOp, ast.UnaryOp, ast.Constant, ast.Name,
            ast.List, ast.Tuple, ast.Set, ast.Dict)  # fmt: skip
_WRITTEN_OUT = (ast.UnaryOp, ast.BinOp, ast.Constant, ast.List, ast.Tuple, ast.Set, ast.Dict)


def is_straight(tests: str, classes: frozenset[str]) -> bool:
    """Whether the calls of tests are independent of the answers; `classes`: those of the signature.

    False means only "not recognised": this function recognises the plainest tests only.
    """
    try:
        module = ast.parse(tests)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return _Straight(module, classes).all_of(module.body)


class _Straight:
    """The names in some tests, and checks of their statements."""

    def __init__(self, module: ast.Module, classes: frozenset[str]) -> None:
        every = list(ast.walk(module))
        self._assigned = {
            node.id for node in every if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        }
        functions = {node.name for node in every if isinstance(node, ast.FunctionDef)}
        bound = self._assigned | functions | {node.arg for node in every if isinstance(node, ast.arg)}
        self._pure, self._classes = PURE - bound, classes - bound

    def all_of(self, body: list[ast.stmt]) -> bool:
        """Whether each of these statements runs exactly once, whatever came before."""
        return all(self._statement(statement) for statement in body)

    def _statement(self, node: ast.stmt) -> bool:
        match node:
            case ast.FunctionDef(decorator_list=[], args=ast.arguments(defaults=[], kw_defaults=[])):
                return self.all_of(node.body)
            case ast.Assert(msg=None | ast.Constant()):
                return self._expression(node.test)
            case ast.Assign():
                return all(isinstance(target, ast.Name) for target in node.targets) and self._expression(node.value)
            case ast.Expr():
                return self._expression(node.value)
        return isinstance(node, ast.Pass)

    def _expression(self, node: ast.expr) -> bool:
        """Whether all parts of an expression are always evaluated, and its calls have literal arguments."""
        if isinstance(node, ast.Call):
            return self._call(node)
        if isinstance(node, ast.Compare):
            return len(node.ops) == 1 and self._expression(node.left) and self._expression(node.comparators[0])
        return isinstance(node, _READING) and all(self._expression(part) for part in _parts(node))

    def _call(self, node: ast.Call) -> bool:
        if not isinstance(node.func, ast.Name):
            return False
        values = [*node.args, *(keyword.value for keyword in node.keywords)]
        if any(keyword.arg is None for keyword in node.keywords):
            return False
        if node.func.id in self._pure:
            given = [keyword.value for keyword in node.keywords]
            return all(isinstance(v, ast.Constant) for v in given) and all(self._expression(v) for v in node.args)
        return all(self._written_out(value) for value in values)

    def _written_out(self, node: ast.expr) -> bool:
        """Whether an argument contains no answer, and nothing that an earlier call may change."""
        if isinstance(node, ast.Name):
            return node.id not in self._assigned
        if isinstance(node, ast.Call):
            return isinstance(node.func, ast.Name) and node.func.id in self._classes and self._call(node)
        return isinstance(node, _WRITTEN_OUT) and all(self._written_out(part) for part in _parts(node))


def _parts(node: ast.expr) -> list[ast.expr]:
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
