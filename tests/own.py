"""A benchmark of somebody's own, as its folder is: a declaration, rows, and predictions for them."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

HEAD = """
id = "own"
name = "Own"
default_split = "t"
default_protocol = "p"
splits.t.data = "rows.jsonl"
"""
"""What a declaration has in any case."""
COLUMNS = 'columns = { id = "id", question = "question", answer = "answer" }\n'
TEXTS = f'scoring = "answer"\nkind = "text"\n{COLUMNS}protocols.p.rule = "exact"\n'
"""Questions that a text answers, and no other."""


def own(
    folder: Path, declared: str, rows: Iterable[Mapping[str, Any]], replies: Mapping[str, list[str]], head: str = HEAD
) -> Path:
    """Write a benchmark into a folder; return the path of predictions with these replies, which are written too."""
    (folder / "benchmark.toml").write_text(head + declared)
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    path = folder / "p.json"
    path.write_text(json.dumps([{"qid": qid, "predictions": texts} for qid, texts in replies.items()]))
    return path
