"""What adapters share: each is a module that judges one program with one grader, and ends."""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any


def answer(judge: Callable[[dict[str, Any], str], str]) -> None:
    """Read a task and a program, and write the verdict: `passed`, `failed` or `error`.

    Programs may write to every descriptor, so the verdict stands behind a word that only this process was told.
    """
    given = json.load(sys.stdin)
    channel, verdict, reason = os.dup(1), "error", ""
    try:
        for _ in range(given["times"]):
            verdict = judge(given["task"], given["source"])
    except BaseException:
        verdict, reason = "error", traceback.format_exc()
    os.write(channel, f"\n{given['word']} {json.dumps([verdict, reason])}\n".encode())
    os._exit(0)


def by_call(task: dict[str, Any]) -> dict[str, Any]:
    """Return inputs and outputs as APPS and LiveCodeBench have them: calls as lines of JSON."""
    if task["form"] == "stdin":
        return {"inputs": list(task["inputs"]), "outputs": list(task["outputs"])}
    return {
        "inputs": ["\n".join(map(json.dumps, call)) for call in task["inputs"]],
        "outputs": [json.dumps(one) for one in task["outputs"]],
        "fn_name": task["entry_point"],
    }
