"""Tests that go on after a failure: a candidate must not learn from the calls it gets whether it was right so far.

What it learns it could leave for the next sample of the same task, in one of the counters that no sandbox hides.
"""

import ast

_FAILED, _ASSERTION = "__failed_assertion__", "__AssertionError__"
_CATCHES = {"AssertionError", "Exception", "BaseException"}


def compile_tests(source, namespace, failures):
    """Return the code of a test script in which the first assertion that finds something wrong goes to `failures`.

    Where the tests themselves catch assertions, these stay as they are.
    """
    tree = ast.parse(source, "<tests>")
    tree.body = _patient(tree.body)
    namespace[_FAILED] = lambda *reason: failures or failures.append(AssertionError(*reason))
    namespace[_ASSERTION] = AssertionError
    return compile(tree, "<tests>", "exec")


def _patient(statements):
    """Return statements in which assertions tell instead of raising. Only statements are looked at: it is quick."""
    return [_rewritten(statement) for statement in statements]


def _rewritten(node):
    kind = type(node)
    if kind is ast.Assert:
        told = _telling([] if node.msg is None else [node.msg], node)
        return _at(node, ast.If(node.test, [_at(node, ast.Pass())], [told]))
    if kind is ast.Expr:
        # `np.testing.assert_equal(...)`, `self.assertEqual(...)`
        if not (isinstance(node.value, ast.Call) and _name(node.value.func).startswith("assert")):
            return node
        told = _telling([_at(node, ast.Name("__error__", ast.Load()))], node)
        caught = ast.ExceptHandler(_at(node, ast.Name(_ASSERTION, ast.Load())), "__error__", [told])
        return _at(node, ast.Try([node], [_at(node, caught)], [], []))
    if kind in {ast.With, ast.AsyncWith}:
        # It may be there to catch what an assertion raises.
        return node
    protected = kind is ast.Try and any(_may_catch(handler.type) for handler in node.handlers)
    for part in ("body", "orelse", "finalbody"):
        inner = getattr(node, part, None)
        if isinstance(inner, list) and not (protected and part == "body"):
            setattr(node, part, _patient(inner))
    for handler in getattr(node, "handlers", ()):
        handler.body = _patient(handler.body)
    return node


def _telling(reason, node):
    return _at(node, ast.Expr(_at(node, ast.Call(_at(node, ast.Name(_FAILED, ast.Load())), reason, []))))


def _at(node, new):
    return ast.copy_location(new, node)


def _may_catch(kind):
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(name is None or _name(name) in _CATCHES for name in names)


def _name(node):
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
