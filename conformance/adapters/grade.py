"""grade: a pool with tasks in rows. Its sandbox is the container, so that this adapter runs outside of one."""

from __future__ import annotations

from typing import Any

import grader


def judge(task: dict[str, Any], source: str, reading: str) -> str:
    """Judge with the tests that the other graders get, and with the reference solution.

    All pools with these keywords are one: programs of one run may meet what others left.
    """
    row = {"solution": task["solution"]}
    if task["form"] == "function":
        row["tests"] = f"{task['check']}\ncheck({task['entry_point']})\n"
    else:
        row |= {"inputs": task["inputs"], "outputs": task["outputs"]}
    with grader.Pool(benchmark="rows", sandbox="bubblewrap", cache=False) as pool:
        # A fence, so that a program that is no Python is not taken for prose.
        (result,) = pool.grade_samples([(row, f"```python\n{source}\n```")], official=reading == "official")
    found = getattr(result, reading)
    if found.outcome == "unscored":
        raise RuntimeError(found.detail)
    return "passed" if found.outcome == "passed" else "failed"
