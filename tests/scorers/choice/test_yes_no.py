"""Yes or no, read from a word, from what is left of the question, or from a statement."""

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
    ("no cat, but a dog, yes.", True),
    ("n", False),
    ("1", None),
    ("是的", True),
]


@pytest.mark.parametrize(("reply", "wanted"), WORDS)
def test_yes_or_no_is_a_word_of_its_own(reply: str, wanted: bool | None) -> None:
    assert polarity(reply, DOG) is wanted


HOLDS = "is the woman holding an umbrella?"
ON_BENCH = "is there a person on the bench?"
LEFT = "is the cup to the left of the box?"
HAT = "is the man wearing a hat?"
STATEMENTS = [  # all words of the question in their order
    (DOG, "a dog sleeps on the sofa.", True),
    (DOG, "a cat sleeps on the sofa.", None),
    (HOLDS, "the woman holds an umbrella.", True),
    (HOLDS, "the man is holding an umbrella, and the woman is holding a bag.", None),
    (HOLDS, "the woman is watching a man who is holding an umbrella.", None),
    (ON_BENCH, "there are two people on the bench.", True),
    (ON_BENCH, "there is a person next to the bench.", None),
    (LEFT, "the cup is to the left of the box.", True),
    (LEFT, "the box is to the left of the cup.", None),
    ("is the light on?", "the light is off.", None),
]
DENIALS = [  # a negation denies what it governs
    (DOG, "the dog is not visible in the image.", False),
    (DOG, "the image shows a cat, not a dog.", False),
    (DOG, "i do not think that there is a dog.", False),
    (DOG, "there is a dog, not a cat.", True),
    (DOG, "the dog in the image is not moving.", True),
    (DOG, "there is a dog with no collar.", True),
    (DOG, "there is not only a cat but also a dog.", True),
    (DOG, "the man is not walking a dog.", None),
    (DOG, "there is a statue of a dog, but no real dog.", None),
    (DOG, "it is not true that there is no dog.", None),
    (HOLDS, "the woman is holding a bag, not an umbrella.", False),
    (HOLDS, "the man is holding a bag, not an umbrella.", None),
    (ON_BENCH, "nobody is on the bench.", False),
    (LEFT, "the box is not to the left of the cup.", None),
    ("is there no dog?", "there is a dog.", None),
]
REST = [  # what is not said is as in the question
    (HAT, "the man does.", True),
    (HAT, "the man isn't, but the woman wears a hat.", False),
    (HAT, "he wears a red hat.", True),
    (HAT, "he has a hat in his hand.", None),
    (HOLDS, "the woman isn't holding anything.", False),
    (HOLDS, "there is an umbrella, but the woman isn't holding it.", False),
    (HOLDS, "there is no umbrella.", False),
    ("is the door open?", "the door is not closed; it is open.", True),
]
DOUBTS = [  # what may be is not read as an answer
    (DOG, "there might be a dog.", None),
    (DOG, "there is a cat or a dog.", None),
    (DOG, "i wonder whether a dog is here.", None),
]


@pytest.mark.parametrize(("question", "reply", "wanted"), [*STATEMENTS, *DENIALS, *REST, *DOUBTS])
def test_a_statement_answers_by_its_words_in_their_order_and_by_what_it_denies(
    question: str, reply: str, wanted: bool | None
) -> None:
    assert polarity(reply, question) is wanted


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
