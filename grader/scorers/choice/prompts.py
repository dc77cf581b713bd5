"""The prompt for a multiple-choice question whose benchmark.toml has no `prompt`: the one of VLMEvalKit."""

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
    """Return the question without the options at the end of its text ("Which? (A) this (B) that")."""
    return question.partition("(A)")[0].strip()
