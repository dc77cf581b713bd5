"""Yes or no, read from a word, from what is left of the question, or from a statement."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.scorers.choice.careful.yes_no import polarity

DOG = "is there a dog in the image? answer yes or no."
WORDS = [
    ("no, wait, yes, there is one.", True),
    ("yes. actually no, it is a fox.", False),
    ("no, i think yes.", None),
    ("yes or no?", None),
    ("yes or no? i think yes.", True),
    ("yes there is.", True),
    ("no cat, but a dog, yes.", True),
    ("none.", False),
    ("dogs: none.", False),
    ("n", False),
    ("1", None),
    ("是的", True),
    ("nein, da ist kein hund.", False),
]


@pytest.mark.parametrize(("reply", "wanted"), WORDS)
def test_yes_or_no_is_a_word_of_its_own(reply: str, wanted: bool | None) -> None:
    assert polarity(reply, DOG) is wanted


HOLDS = "is the woman holding an umbrella?"
ON_BENCH = "is there a person on the bench?"
LEFT = "is the cup to the left of the box?"
HAT = "is the man wearing a hat?"
STATEMENTS = [
    (DOG, "a dog sleeps on the sofa.", True),
    (DOG, "a cat sleeps on the sofa.", None),
    (DOG, "there is a cat, but there is a dog.", True),
    (HOLDS, "the woman holds an umbrella.", True),
    (HOLDS, "there is a woman holding a bag.", None),
    (HOLDS, "the man is holding an umbrella, and the woman is holding a bag.", None),
    (HOLDS, "the woman is watching a man who is holding an umbrella.", None),
    (HOLDS, "the woman is standing and the man is holding an umbrella.", None),
    (ON_BENCH, "there are two people on the bench.", True),
    (ON_BENCH, "there is a person next to the bench.", None),
    (ON_BENCH, "there is a dog on the bench.", None),
    (LEFT, "the cup is to the left of the box.", True),
    (LEFT, "the box is to the left of the cup.", None),
    ("is the light on?", "the light is off.", None),
]


@pytest.mark.parametrize(("question", "reply", "wanted"), STATEMENTS)
def test_a_statement_has_all_words_of_the_question_in_their_order(
    question: str, reply: str, wanted: bool | None
) -> None:
    assert polarity(reply, question) is wanted


DENIALS = [
    (DOG, "the dog is not visible in the image.", False),
    (DOG, "there is a cat, but the dog is missing.", False),
    (DOG, "the image shows a cat instead of a dog.", False),
    (DOG, "the image shows a cat, not a dog.", False),
    (DOG, "i do not think that there is a dog.", False),
    (DOG, "there is a dog, not a cat.", True),
    (DOG, "there is no cat, but there is a dog.", True),
    (DOG, "the dog in the image is not moving.", True),
    (DOG, "there is a dog with no collar.", True),
    (DOG, "there is not only a cat but also a dog.", True),
    (DOG, "i have no doubt that there is a dog.", True),
    (DOG, "the man is not walking a dog.", None),
    (DOG, "there is a statue of a dog, but no real dog.", None),
    (DOG, "it is not true that there is no dog.", None),
    (HOLDS, "the woman is holding a bag, not an umbrella.", False),
    (HOLDS, "the man is holding a bag, not an umbrella.", None),
    (ON_BENCH, "nobody is on the bench.", False),
    (LEFT, "the box is not to the left of the cup.", None),
    ("is the sky blue?", "the sky is grey, not blue.", False),
    ("is there a man in the image?", "there is no one in the image.", False),
    ("is there no dog?", "there is a dog.", None),
]


@pytest.mark.parametrize(("question", "reply", "wanted"), DENIALS)
def test_a_negation_denies_what_it_governs(question: str, reply: str, wanted: bool | None) -> None:
    assert polarity(reply, question) is wanted


REST = [
    (HAT, "the man does.", True),
    (HAT, "the man isn't, but the woman wears a hat.", False),
    (HAT, "the man is, however, bareheaded.", None),
    (HAT, "he wears a red hat.", True),
    (HAT, "he has a hat in his hand.", None),
    (HAT, "the woman is here; she is wearing a hat.", None),
    (HAT, "he isn't wearing a shirt, but he has a hat.", None),
    (HOLDS, "the woman isn't holding anything.", False),
    (HOLDS, "there is an umbrella, but the woman isn't holding it.", False),
    (HOLDS, "there is no umbrella.", False),
    (HOLDS, "there is an umbrella.", None),
    ("is the light on?", "it is on.", True),
    ("is the door open?", "the door is not closed; it is open.", True),
    ("are the two shirts the same colour?", "they are the same colour.", True),
]


@pytest.mark.parametrize(("question", "reply", "wanted"), REST)
def test_what_is_not_said_is_as_in_the_question(question: str, reply: str, wanted: bool | None) -> None:
    assert polarity(reply, question) is wanted


@pytest.mark.parametrize(
    "reply", ["there might be a dog.", "there is a cat or a dog.", "i wonder whether a dog is here."]
)
def test_what_may_be_is_no_answer(reply: str) -> None:
    assert polarity(reply, DOG) is None


THINGS = ["lamp", "traffic light", "red cup", "wooden spoon", "person"]


@given(st.sampled_from(THINGS), st.sampled_from(["on", "under", "behind"]), st.sampled_from(["table", "sofa"]))
def test_the_question_as_a_statement_is_yes_and_its_denials_are_no(thing: str, where: str, place: str) -> None:
    question = f"is there a {thing} {where} the {place}?"
    assert polarity(f"there is a {thing} {where} the {place}.", question) is True
    assert polarity(f"i see a {thing} that stands {where} the {place}.", question) is True
    assert polarity(f"there is no {thing} {where} the {place}.", question) is False
    assert polarity(f"the {thing} is not {where} the {place}.", question) is False
    assert polarity(f"there is a {place} {where} the {thing}.", question) is None
    assert polarity(f"there is a {thing} near the {place}.", question) is None
