"""Tests that go on after a failure: a candidate must not learn from the calls it gets whether it was right so far.

What it learns it could leave for the next sample of the same task, in one of the counters that no sandbox hides.
"""

import ast

_FAILED, _ASSERTION = "__failed_assertion__", "__AssertionError__"
_CATCHES = {"AssertionError", "Exception", "BaseException"}


def compile_tests(source, namespace, failed):
    """Return the code of a test script in which what an assertion finds wrong goes to `failed`, as an AssertionError.

    Where the tests themselves catch assertions, these stay as they are.
    """
    tree = _Patient().visit(ast.parse(source, "<tests>"))
    namespace[_FAILED] = lambda *reason: failed(AssertionError(*reason[:1]))
    namespace[_ASSERTION] = AssertionError
    return compile(ast.fix_missing_locations(tree), "<tests>", "exec")


class _Patient(ast.NodeTransformer):
    def visit_Assert(self, node):
        reason = [] if node.msg is None else [node.msg]
        told = ast.Expr(ast.Call(ast.Name(_FAILED, ast.Load()), reason, []))
        return ast.copy_location(ast.If(node.test, [ast.Pass()], [told]), node)

    def visit_Expr(self, node):
        """Turn `np.testing.assert_equal(...)`, `self.assertEqual(...)` into the same."""
        call = node.value
        if not isinstance(call, ast.Call) or not _name(call.func).startswith("assert"):
            return node
        caught = ast.ExceptHandler(
            ast.Name(_ASSERTION, ast.Load()),
            "__error__",
            [ast.Expr(ast.Call(ast.Name(_FAILED, ast.Load()), [ast.Name("__error__", ast.Load())], []))],
        )
        return ast.copy_location(ast.Try([node], [caught], [], []), node)

    def visit_Try(self, node):
        if any(_may_catch(handler.type) for handler in node.handlers):
            for part in (*node.handlers, *node.orelse, *node.finalbody):
                self.generic_visit(part)
            return node
        return self.generic_visit(node)

    def visit_With(self, node):
        """Leave what a context manager may be there to catch."""
        return node


def _may_catch(kind):
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(name is None or _name(name) in _CATCHES for name in names)


def _name(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
