"""How multiple-choice questions are asked."""

from __future__ import annotations

from grader.models.prompt import render
from grader.scorers.choice import prompts

OPTIONS = {"A": "a cat", "B": "a dog"}


def test_the_default_wording_is_vlmevalkits() -> None:
    text = render(prompts.TEMPLATE, prompts.values("What is it?", OPTIONS, ""), "t")
    assert text == (
        "Question: What is it?\nOptions:\nA. a cat\nB. a dog\nPlease select the correct answer from the options above. \n"
    )


def test_a_hint_comes_first() -> None:
    text = render(prompts.TEMPLATE, prompts.values("What is it?", OPTIONS, "It barks."), "t")
    assert text.startswith("Hint: It barks.\nQuestion: What is it?\n")


def test_markup_in_the_data_is_text() -> None:
    text = render(prompts.TEMPLATE, prompts.values("{{ 7 * 7 }} <b>&", {"A": "{% if %}", "B": "x"}, ""), "t")
    assert "Question: {{ 7 * 7 }} <b>&\nOptions:\nA. {% if %}\n" in text


def test_options_in_the_questions_text_are_taken_from_it() -> None:
    assert prompts.stem("Which? (A) this (B) that") == "Which?"
    assert prompts.stem("Which?") == "Which?"
