"""How a multiple-choice question is asked where its benchmark.toml has no `prompt` of its own: as VLMEvalKit does."""

from __future__ import annotations

from grader.models.prompt import Sampling

SAMPLING = Sampling(temperature=0.0, max_tokens=2048)

# VLMEvalKit, vlmeval/dataset/image_mcq.py, ImageMCQDataset.build_prompt.
TEMPLATE = """\
{% if hint %}Hint: {{ hint }}
{% endif %}Question: {{ question }}
Options:
{% for letter, text in options.items() %}{{ letter }}. {{ text }}
{% endfor %}Please select the correct answer from the options above. 
"""  # noqa: W291 - as published


def stem(question: str) -> str:
    """Return the question without the options that its text ends with ("Which? (A) this (B) that")."""
    return question.partition("(A)")[0].strip()
