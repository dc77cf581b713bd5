"""Makes distinct programs of the predictions at hand: a renamed local, a comment and a constant change no verdict.

Run by itself it writes a folder for `make bench DATA=`: `python tests/bench/variations.py DATA 20 FOLDER`.
"""

from __future__ import annotations

import ast
import io
import itertools
import json
import re
import shutil
import sys
import tokenize
from pathlib import Path

_FENCED = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)


def variations(texts: list[str], count: int) -> list[str]:
    """Return `count` predictions, no two of which are the same program; they are made of `texts` by turns."""
    different = itertools.cycle(dict.fromkeys(texts))
    return [_varied(next(different), number) for number in range(count)]


def _varied(text: str, number: int) -> str:
    found = _FENCED.search(text)
    return f"```python\n{_with_constant(_renamed(text if found is None else found[1], number), number)}\n```"


def _with_constant(code: str, number: int) -> str:
    """Return the code with a comment and a constant in its last function, or with a function more."""
    lines = code.splitlines()
    try:
        functions = [node for node in ast.parse(code).body if isinstance(node, ast.FunctionDef)]
    except SyntaxError:
        functions = []
    for function in functions[-1:]:
        first = next((n for n in function.body if not isinstance(n, ast.Expr)), function.body[-1])
        if first.lineno > function.body[0].lineno or first.lineno > function.lineno + 1:
            lines.insert(first.lineno - 1, f"{' ' * first.col_offset}variation = {number}  # harmless")
            return "\n".join(lines)
    return f"{code}\n\ndef variation_{number}():\n    return {number}\n"


def _renamed(code: str, number: int) -> str:
    """Return the code with one of its local variables under another name, where there is one that can be renamed."""
    try:
        tree = ast.parse(code)
        names = sorted(_locals(tree))
        if not names:
            return code
        old = names[number % len(names)]
        return _with(code, old, f"{old}_v{number}")
    except (SyntaxError, tokenize.TokenError):
        return code


def _locals(tree: ast.AST) -> set[str]:
    """Return names that are assigned in functions and are nothing else: no argument, keyword, attribute or global."""
    found: set[str]
    other: set[str]
    found, other = set(), set()
    inside = {
        id(node) for function in ast.walk(tree) if isinstance(function, ast.FunctionDef) for node in ast.walk(function)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            (found if id(node) in inside else other).add(node.id)
        for field in ("arg", "attr", "name", "names", "rest"):
            value = getattr(node, field, None)
            other.update(str(part) for part in (value if isinstance(value, list) else [value]))
        if isinstance(node, (ast.JoinedStr, ast.Global, ast.Nonlocal)):
            # Names in these are not tokens of their own on every Python.
            other.update(part.id for part in ast.walk(node) if isinstance(part, ast.Name))
            other.update(getattr(node, "names", ()))
    return found - other


def _with(code: str, old: str, new: str) -> str:
    """Return the code with every token `old` replaced."""
    lines = code.splitlines(keepends=True)
    places = [
        token.start
        for token in tokenize.generate_tokens(io.StringIO(code).readline)
        if token.type == tokenize.NAME and token.string == old
    ]
    for row, column in reversed(places):
        line = lines[row - 1]
        lines[row - 1] = line[:column] + new + line[column + len(old) :]
    return "".join(lines)


def write(source: Path, count: int, target: Path) -> None:
    """Write a folder with the same tasks, and so many distinct samples of each."""
    (path,) = [p for p in source.glob("*.json") if not p.stem.endswith(("_results", "_executed", "expected"))]
    target.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source / "tasks.jsonl", target / "tasks.jsonl")
    records = json.loads(path.read_text(encoding="utf-8"))
    made = [{"qid": r["qid"], "predictions": variations(r["predictions"], count)} for r in records]
    (target / "predictions.json").write_text(json.dumps(made), encoding="utf-8")


if __name__ == "__main__":
    write(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]))
