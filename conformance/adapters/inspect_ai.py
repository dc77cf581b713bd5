"""inspect_ai's way: the scorer `verify` of its HumanEval example, in its sandbox `local`.

The example has a Docker sandbox. Both run the same command and look only at its exit code.
"""

from __future__ import annotations

from typing import Any

import inspect_ai
from conformance.adapters import answer
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import CORRECT, INCORRECT, Score, accuracy, scorer
from inspect_ai.util import sandbox


@scorer(metrics=[accuracy()])
def verify() -> Any:
    """Return the example's scorer. It has no Markdown to remove here."""

    async def score(state: Any, target: Any) -> Score:
        told = state.metadata
        code = [state.output.completion, "\n", told["test"], "\n", f"check({told['entry_point']})"]
        try:
            result = await sandbox().exec(cmd=["python", "-c", "".join(code)], timeout=30)
        except TimeoutError:
            return Score(value=INCORRECT)
        return Score(value=CORRECT if result.success else INCORRECT)

    return score


def judge(task: dict[str, Any], source: str) -> str:
    """Let inspect_ai ask a model that gives this program, and score the reply."""
    output = ModelOutput.from_content("mockllm/model", source)
    # Else the mock counts tokens, with a vocabulary that it fetches.
    output.usage = ModelUsage()
    sample = Sample(input=task["prompt"], metadata={"test": task["check"], "entry_point": task["entry_point"]})
    (log,) = inspect_ai.eval(
        inspect_ai.Task(dataset=[sample], scorer=verify(), sandbox="local"),
        model=get_model("mockllm/model", custom_outputs=[output]),
        log_dir="/tmp/logs",
        display="none",
    )
    if log.status != "success" or not log.samples:
        raise RuntimeError(log.error)
    return "passed" if log.samples[0].scores["verify"].value == CORRECT else "failed"


if __name__ == "__main__":
    answer(judge)
