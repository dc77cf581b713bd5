"""A prompt for a task from a template: the user's, or that of its declaration."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import UsageError
from grader.models.prompt import IMAGE, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.benchmark import Benchmark
    from grader.models.prompt import PromptOptions, Turn
    from grader.task import Task


def turn_from_template(
    declared: Benchmark, prompt_options: PromptOptions, default_turn: Turn, values: Mapping[str, Any]
) -> Turn:
    """Return the default turn with the text of the user's template, else of the declaration's, else unchanged.

    `values`: the names that a template can use, besides `default`, the text of `default_turn`.
    """
    template, name = prompt_options.template, prompt_options.template_name
    if template is None:
        template, name = declared.inference.prompt, f"{declared.id}/benchmark.toml: inference.prompt"
    if not template:
        return default_turn
    template_text = template  # for the type checker: it is not None in the function below

    def text(texts: Mapping[str, str]) -> str:
        return render(template_text, {**values, "default": default_turn.text(texts)}, name)

    return msgspec.structs.replace(default_turn, text=text)


def check_question(declared: Benchmark, prompt_options: PromptOptions, question: str) -> None:
    """Raise UsageError if there is neither a question to ask nor a template."""
    if not question.strip() and prompt_options.template is None and not declared.inference.prompt:
        raise UsageError(
            f"{declared.id} has no question to ask: name its column (`question` in [columns] of its benchmark.toml), "
            "or give a template with --prompt FILE."
        )


def prompt_values(declared: Benchmark, task: Task) -> dict[str, Any]:
    """Return the names that a prompt template can use: the row's columns and the task's own fields."""
    row = {name: value for name, value in task.row.items() if name != declared.columns.image}
    options_text = "\n".join(f"{letter}. {text}" for letter, text in task.options.items())
    return {**row, "question": task.text, "options": dict(task.options), "options_text": options_text, "image": IMAGE}
