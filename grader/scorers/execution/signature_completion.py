"""What a program has to define if the signature does not say it: found in the reference solution, or in the tests."""

from __future__ import annotations

import ast
import builtins
import textwrap
from typing import TYPE_CHECKING

import msgspec

from grader.scorers.execution.assembly import Signature, read_signature
from grader.scorers.execution.extraction import parse_any_length

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


def _undefined_names(tests: str, signature_text: str) -> tuple[str, ...]:
    """Return the names that tests use, and neither they nor the signature define. They include built-in names."""
    tree = parse_any_length(f"{signature_text}\n{tests}")
    nodes = [] if tree is None else list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    defined = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    defined |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    defined |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    defined |= {(node.asname or node.name).split(".")[0] for node in nodes if isinstance(node, ast.alias)}
    return tuple(dict.fromkeys(node.id for node in names if node.id not in defined))


def names_to_define(tests: str, signature_text: str) -> tuple[str, ...]:
    """Return the names of which the candidate must define some; empty if the signature says what to write.

    Built-in names count only if there are no others: a task may ask for a function `sum`.
    """
    if read_signature(signature_text).required:
        return ()
    names = _undefined_names(tests, signature_text)
    return tuple(name for name in names if not hasattr(builtins, name)) or names


def complete_signature(signature: Signature, tests: str, signature_text: str, solution: str | None) -> Signature:
    """Return a signature that says what to write, from the reference solution, else from the tests."""
    if signature.required:
        return _with_called_functions(signature, tests, solution)
    undefined, to_define = _undefined_names(tests, signature_text), names_to_define(tests, signature_text)
    tree = parse_any_length(solution or "") or ast.Module(body=[], type_ignores=[])
    stubs = [_stub_of(node) for node in tree.body if getattr(node, "name", None) in undefined]
    if not any(stubs):
        classes = _class_stubs(tests, to_define)
        # Of several names without a class among them, nobody knows which one is the program's, and which a library's.
        if classes or len(to_define) == 1:
            stubs = [classes.get(name) or _function_stub(name) for name in to_define]
    return read_signature("\n".join([signature_text, *filter(None, stubs)])) if any(stubs) else signature


def _with_called_functions(signature: Signature, tests: str, solution: str | None) -> Signature:
    """Return a signature with further functions that the tests call and nobody defines: seven of MBPP's tasks do so.

    A reference solution has to define them: what it imports is the library's, not the program's.
    """
    nodes = ast.walk(parse_any_length(tests) or ast.Module(body=[], type_ignores=[]))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    called -= {*signature.required, *dir(builtins)}
    if solution and (tree := parse_any_length(solution)) is not None:
        called &= {getattr(node, "name", "") for node in tree.body}
    names = [name for name in _undefined_names(tests, signature.source) if name in called]
    if not names:
        return signature
    source = "\n".join([signature.source, *map(_function_stub, names)])
    return msgspec.structs.replace(signature, source=source, required_functions=(*signature.required_functions, *names))


def _stub_of(node: ast.stmt) -> str:
    """Return a function or a class of a solution without its code."""
    if isinstance(node, ast.ClassDef):
        return _class_stub(node.name, [part.name for part in node.body if isinstance(part, ast.FunctionDef)])
    return _function_stub(node.name) if isinstance(node, ast.FunctionDef) else ""


def _class_stubs(tests: str, names: Sequence[str]) -> dict[str, str]:
    """Return stubs of the classes among these names: with a capital letter, and constructed by the tests.

    A name whose calls are only compared is a function: in MBPP, 25 functions have a capital letter.
    """
    nodes = list(ast.walk(parse_any_length(tests) or ast.Module(body=[], type_ignores=[])))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    compared = {part for node in nodes if isinstance(node, ast.Compare) for part in (node.left, *node.comparators)}
    compared |= {node.test for node in nodes if isinstance(node, ast.Assert)}
    stubs = {}
    for name in names:
        constructions = [call for call in calls if _variable_name(call.func) == name]
        if constructions and name[0].isupper():
            methods = _called_methods(name, nodes)
            if methods or any(call not in compared for call in constructions):
                stubs[name] = _class_stub(name, dict.fromkeys(["__init__", *methods]))
    return stubs


def _called_methods(name: str, nodes: Sequence[ast.AST]) -> list[str]:
    """Return the methods that tests call of objects of a class, as far as they are seen to be constructed."""
    assigned = [(target, node.value) for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    variables = {_variable_name(target) for target, value in assigned if _is_construction(value, name)} - {""}
    calls = [node.func for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)]
    return [
        function.attr
        for function in calls
        if _is_construction(function.value, name) or _variable_name(function.value) in variables
    ]


def _is_construction(value: ast.expr, name: str) -> bool:
    """Whether an expression begins with a call of this name: `Stack()`, `Stack().push(1)`."""
    while isinstance(value, (ast.Call, ast.Attribute)):
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name):
            return value.func.id == name
        value = value.func if isinstance(value, ast.Call) else value.value
    return False


def _variable_name(target: ast.expr) -> str:
    """Return a variable, or an attribute of one, as it is written; empty for anything else."""
    if isinstance(target, ast.Attribute) and (owner := _variable_name(target.value)):
        return f"{owner}.{target.attr}"
    return target.id if isinstance(target, ast.Name) else ""


def _class_stub(name: str, methods: Iterable[str]) -> str:
    functions = "".join(_function_stub(method, "self, ") for method in methods) or "pass\n"
    return f"class {name}:\n{textwrap.indent(functions, '    ')}"


def _function_stub(name: str, first: str = "") -> str:
    return f"def {name}({first}*args, **kwargs):\n    pass\n"
