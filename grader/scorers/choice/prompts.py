"""How a multiple-choice question is asked where its benchmark.toml has no `prompt` of its own: as VLMEvalKit does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.models.prompt import Sampling

if TYPE_CHECKING:
    from collections.abc import Mapping

SAMPLING = Sampling(temperature=0.0, max_tokens=2048)

# VLMEvalKit, vlmeval/dataset/image_mcq.py, ImageMCQDataset.build_prompt.
TEMPLATE = """\
{% if hint %}Hint: {{ hint }}
{% endif %}Question: {{ question }}
Options:
{% for letter, text in options.items() %}{{ letter }}. {{ text }}
{% endfor %}Please select the correct answer from the options above. 
"""  # noqa: W291 - as published


def values(question: str, options: Mapping[str, str], hint: str) -> dict[str, object]:
    """Return what a template may use beside the row's columns."""
    listed = "\n".join(f"{letter}. {text}" for letter, text in options.items())
    return {"question": question, "options": dict(options), "options_text": listed, "hint": hint}


def stem(question: str) -> str:
    """Return the question without the options that its text ends with ("Which? (A) this (B) that")."""
    return question.partition("(A)")[0].strip()
