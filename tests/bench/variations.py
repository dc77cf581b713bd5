"""Makes distinct programs of the predictions at hand: a comment and a constant change no verdict.

Run by itself it writes a folder for `make bench DATA=`: `python tests/bench/variations.py DATA 20 FOLDER`.
"""

import ast
import itertools
import json
import re
import shutil
import sys
from pathlib import Path

_FENCED = re.compile(r"```(?:python)?\n(.*?)```", re.DOTALL)


def variations(texts: list[str], count: int) -> list[str]:
    """Return `count` predictions, no two of which are the same program; they are made of `texts` by turns."""
    different = itertools.cycle(dict.fromkeys(texts))
    return [varied(next(different), number) for number in range(count)]


def varied(text: str, number: int) -> str:
    """Return another prediction that does the same."""
    found = _FENCED.search(text)
    return f"```python\n{_with_constant(text if found is None else found[1], number)}\n```"


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
