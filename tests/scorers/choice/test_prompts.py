"""How multiple-choice questions are asked."""

from __future__ import annotations

from typing import Any

import pytest

from grader.models.prompt import Asking
from grader.scorers import declarations
from grader.scorers.choice.items import Item
from grader.scorers.choice.prompts import stem
from grader.scorers.choice.scorer import Circular, MultipleChoice

OPTIONS = {"A": "a cat", "B": "a dog"}


def item(text: str = "What is it?", options: dict[str, str] | None = None, **row: Any) -> Item:
    return Item(id="1", text=text, options=OPTIONS if options is None else options, gold="B", row=row)


def asked(benchmark: str, task: Item, template: str | None = None) -> str:
    declared = declarations.load(benchmark)
    scorer = Circular() if benchmark == "mmbench" else MultipleChoice()
    asking = Asking(protocol=declared.default_protocol, template=template, template_name="t.jinja")
    (turn,) = scorer.turns(declared, task, asking)
    return turn.text({})


def test_mmbench_is_asked_as_vlmevalkit_does() -> None:
    assert asked("mmbench", item()) == (
        "Question: What is it?\nOptions:\nA. a cat\nB. a dog\n"
        "Please select the correct answer from the options above. \n"
    )


def test_a_hint_comes_first() -> None:
    assert asked("mmbench", item(hint="It barks.")).startswith("Hint: It barks.\nQuestion: What is it?\n")


@pytest.mark.parametrize("ending", ["", " Answer with the option's letter from the given choices directly."])
def test_vstar_is_asked_as_lmms_eval_does_with_the_instruction_exactly_once(ending: str) -> None:
    assert asked("vstar", item(f"What is it? (A) a cat (B) a dog{ending}")) == (
        "What is it?\nA. a cat\nB. a dog\nAnswer with the option's letter from the given choices directly."
    )


def test_markup_in_the_data_is_text() -> None:
    text = asked("mmbench", item("{{ 7 * 7 }} <b>&", {"A": "{% if %}", "B": "x"}))
    assert "Question: {{ 7 * 7 }} <b>&\nOptions:\nA. {% if %}\n" in text


def test_a_template_may_use_columns_fields_and_the_text_that_it_replaces() -> None:
    template = "{{ category }}|{{ question }}|{{ options.B }}|{{ options_text }}|{{ default | length > 20 }}"
    assert asked("mmbench", item(category="animals"), template) == "animals|What is it?|a dog|A. a cat\nB. a dog|True"


def test_the_stem_of_a_question_is_what_comes_before_its_options() -> None:
    assert (stem("Which? (A) this (B) that"), stem("Which?")) == ("Which?", "Which?")


@pytest.mark.parametrize(
    ("last", "passes"),
    [("a cow", ["1", "1000001", "2000001"]), ("None of the above", ["1", "1000001"])],
)
def test_passes_that_the_data_leaves_out_are_asked_too(last: str, passes: list[str]) -> None:
    declared = declarations.load("mmbench")
    first = item(options={**OPTIONS, "C": last}, **OPTIONS, C=last, answer="B")
    tasks = Circular().tasks_to_ask(declared, {"1": first})
    assert list(tasks) == passes
    assert list(tasks["1000001"].options.values())[:2] == (
        ["a cow", "a cat"] if last == "a cow" else ["a dog", "a cat"]
    )


def test_data_with_its_own_passes_is_asked_as_it_is() -> None:
    declared = declarations.load("mmbench")
    second = Item(id="1000001", unit="1", text="What is it?", options={"A": "a dog", "B": "a cat"}, gold="A")
    assert list(Circular().tasks_to_ask(declared, {"1": item(), "1000001": second})) == ["1", "1000001"]
