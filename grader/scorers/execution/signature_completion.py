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
        classes = _classes(tests, to_define)
        # Of several names without a class among them, nobody knows which one is the program's, and which a library's.
        if classes or len(to_define) == 1:
            stubs = [_class_stub(name, ["__init__"]) if name in classes else _function_stub(name) for name in to_define]
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


def _classes(tests: str, names: Sequence[str]) -> set[str]:
    """Return the classes among these names: with a capital letter, and constructed by the tests.

    A name whose calls are only compared is a function: in MBPP, 25 functions have a capital letter.
    """
    nodes = list(ast.walk(parse_any_length(tests) or ast.Module(body=[], type_ignores=[])))
    compared = {part for node in nodes if isinstance(node, ast.Compare) for part in (node.left, *node.comparators)}
    compared |= {node.test for node in nodes if isinstance(node, ast.Assert)}
    calls = [node for node in nodes if isinstance(node, ast.Call) and node not in compared]
    constructed = {call.func.id for call in calls if isinstance(call.func, ast.Name)}
    return {name for name in names if name in constructed and name[0].isupper()}


def _class_stub(name: str, methods: Iterable[str]) -> str:
    functions = "".join(_function_stub(method, "self, ") for method in methods) or "pass\n"
    return f"class {name}:\n{textwrap.indent(functions, '    ')}"


def _function_stub(name: str, first: str = "") -> str:
    return f"def {name}({first}*args, **kwargs):\n    pass\n"
