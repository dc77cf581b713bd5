"""What a program has to define if the signature does not say it: found in the reference solution, or in the tests."""

from __future__ import annotations

import ast
import builtins
import textwrap
from typing import TYPE_CHECKING

import msgspec

from grader.scorers.execution.assembly import Signature, read_signature
from grader.scorers.execution.extraction import parse_data

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def _tested_names(tests: str, signature: str) -> tuple[str, ...]:
    """Return the names that tests use, and neither they nor the signature define. They include built-in names."""
    tree = parse_data(f"{signature}\n{tests}")
    nodes = [] if tree is None else list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    known |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    known |= {(node.asname or node.name).split(".")[0] for node in nodes if isinstance(node, ast.alias)}
    return tuple(dict.fromkeys(node.id for node in names if node.id not in known))


def open_names(tests: str, signature: str) -> tuple[str, ...]:
    """Return the names of which the candidate must write some; empty if the signature says what to write."""
    if read_signature(signature).required:
        return ()
    used = _tested_names(tests, signature)
    return tuple(name for name in used if not hasattr(builtins, name)) or used


def completed(declared: Signature, tests: str, signature: str, solution: str | None) -> Signature:
    """Return a signature that says what to write, from the reference solution, else from the tests."""
    if declared.required:
        return _with_called(declared, tests, solution)
    used, open_ = _tested_names(tests, signature), open_names(tests, signature)
    tree = parse_data(solution or "") or ast.Module(body=[], type_ignores=[])
    stubs = [_stub(node) for node in tree.body if getattr(node, "name", None) in used]
    if not any(stubs):
        classes = _constructed(tests, open_)
        stubs = [classes.get(name) or _function(name) for name in open_] if classes or len(open_) == 1 else []
    return read_signature("\n".join([signature, *filter(None, stubs)])) if any(stubs) else declared


def _with_called(declared: Signature, tests: str, solution: str | None) -> Signature:
    """Return a signature with further functions that the tests call and nobody defines: seven of MBPP's tasks do so.

    A reference solution has to define them: what it imports is the library's, not the program's.
    """
    nodes = ast.walk(parse_data(tests) or ast.Module(body=[], type_ignores=[]))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    called -= {*declared.required, *dir(builtins)}
    if (tree := parse_data(solution or "")) is not None and solution:
        called &= {getattr(node, "name", "") for node in tree.body}
    more = [name for name in _tested_names(tests, declared.source) if name in called]
    if not more:
        return declared
    source = "\n".join([declared.source, *map(_function, more)])
    return msgspec.structs.replace(declared, source=source, stubs=(*declared.stubs, *more))


def _stub(node: ast.stmt) -> str:
    """Return a function or a class of a solution without its code."""
    if isinstance(node, ast.ClassDef):
        return _class(node.name, [part.name for part in node.body if isinstance(part, ast.FunctionDef)])
    return _function(node.name) if isinstance(node, ast.FunctionDef) else ""


def _constructed(tests: str, names: Sequence[str]) -> dict[str, str]:
    """Return stubs of the classes among these names: with a capital letter, and constructed by the tests.

    A name whose calls are only compared is a function: in MBPP, 25 functions have a capital letter.
    """
    nodes = list(ast.walk(parse_data(tests) or ast.Module(body=[], type_ignores=[])))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    compared = {id(part) for node in nodes if isinstance(node, ast.Compare) for part in (node.left, *node.comparators)}
    compared |= {id(node.test) for node in nodes if isinstance(node, ast.Assert)}
    called = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    owners = [(call.func.value, call.func.attr) for call in calls if isinstance(call.func, ast.Attribute)]
    assigned = [(target, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    stubs = {}
    for name in names:
        if name in called and name[0].isupper():
            objects = {_name(target) for target, value in assigned if _constructs(value, name)} - {""}
            methods = [method for owner, method in owners if _constructs(owner, name) or _name(owner) in objects]
            made = [call for call in calls if _name(call.func) == name]
            if methods or any(id(call) not in compared for call in made):
                stubs[name] = _class(name, dict.fromkeys(["__init__", *methods]))
    return stubs


def _constructs(value: ast.expr, name: str) -> bool:
    """Whether an expression begins with a call of this name: `Stack()`, `Stack().push(1)`."""
    while isinstance(value, (ast.Call, ast.Attribute)):
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return value.func.id == name
        value = value.func if isinstance(value, ast.Call) else value.value
    return False


def _name(target: ast.expr) -> str:
    """Return a variable, or an attribute of one, as it is written; empty for anything else."""
    if isinstance(target, ast.Attribute) and (owner := _name(target.value)):
        return f"{owner}.{target.attr}"
    return target.id if isinstance(target, ast.Name) else ""


def _class(name: str, methods: Iterable[str]) -> str:
    functions = "".join(_function(method, "self, ") for method in methods) or "pass\n"
    return f"class {name}:\n{textwrap.indent(functions, '    ')}"


def _function(name: str, first: str = "") -> str:
    return f"def {name}({first}*args, **kwargs):\n    pass\n"
