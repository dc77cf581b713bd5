"""What to write for a task whose signature does not say it: what its tests use, and nobody defines."""

from __future__ import annotations

import ast
import builtins

from grader.scorers.execution.assembly import Signature, read_signature
from grader.scorers.execution.extraction import parse


def tested_names(tests: str, signature: str) -> tuple[str, ...]:
    """Return the names that tests use, and neither they nor the signature define. They include built-in names."""
    tree = parse(f"{signature}\n{tests}")
    nodes = [] if tree is None else list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    known = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
    known |= {node.name for node in nodes if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    known |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    known |= {(node.asname or node.name).split(".")[0] for node in nodes if isinstance(node, ast.alias)}
    return tuple(dict.fromkeys(node.id for node in names if node.id not in known))


def open_names(tests: str, signature: str) -> tuple[str, ...]:
    """Return the names of which the candidate must write some; empty if the signature says what to write."""
    if read_signature(signature).written:
        return ()
    used = tested_names(tests, signature)
    return tuple(name for name in used if not hasattr(builtins, name)) or used


def completed(declared: Signature, tests: str, signature: str, solution: str | None) -> Signature:
    """Return a signature that says what to write, from the reference solution, or from the only name in question."""
    if declared.written:
        return declared
    used, open_ = tested_names(tests, signature), open_names(tests, signature)
    tree = parse(solution or "") or ast.Module(body=[], type_ignores=[])
    stubs = [_stub(node) for node in tree.body if getattr(node, "name", None) in used]
    if not any(stubs) and len(open_) == 1:
        stubs = [_function(*open_)]
    return read_signature("\n".join([signature, *filter(None, stubs)])) if any(stubs) else declared


def _stub(node: ast.stmt) -> str:
    """Return a function or a class of a solution without its code."""
    if isinstance(node, ast.ClassDef):
        methods = [_function(part.name, "self, ") for part in node.body if isinstance(part, ast.FunctionDef)]
        inside = "".join(f"    {line}\n" for method in methods for line in method.splitlines())
        return f"class {node.name}:\n{inside or '    pass'}\n"
    return _function(node.name) if isinstance(node, ast.FunctionDef) else ""


def _function(name: str, first: str = "") -> str:
    return f"def {name}({first}*args, **kwargs):\n    pass\n"
