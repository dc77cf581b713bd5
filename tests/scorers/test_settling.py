"""Which claim of a reply counts, whatever kind of answer it has."""

from grader.scorers.own_words import own_words
from grader.scorers.places import Claim
from grader.scorers.settling import settle
from tests.tables import each

QUESTION = "How many pens are left in the box?"


def settled(text: str) -> str | None:
    reply = own_words(text, QUESTION)

    def read(claim: Claim) -> str | None:
        content = reply.text[claim.start : claim.end]
        return content if content in ("41", "42") else None

    found = settle(reply, read)
    return found and ("several" if found.is_contradicted else found.value)


@each(
    "text",
    [
        "The answer is 42.", "**Answer:** 42\n\nThanks!", "42 is the answer.", "## Answer\n42", "答案是42。",
        "答え: 42", "정답은: 42", "Правильный ответ — 42.", "الإجابة هي 42.", "उत्तर: 42", "Die Antwort lautet 42.",
        "\\boxed{42}",
        "#### 42\n\nI hope that helps!", '{"answer": "42"}', "<answer>42</answer>",
        "Answer: 41\n\nFinal answer: 42", "Answer: 41\n\nCorrected answer: 42",
        "Answer: 41. Wait, I forgot one.\n\nAnswer: 42",
        "The answer is 42. If the answer were 41, one would be lost.", "The answer is not 41. The answer is 42.",
        "The answer is 42.\n\nInput: What is 40 and one?\nOutput: \\boxed{41}",
        "Question: Which of the pens is red?\nAnswer: 41.\nQuestion: How many pens are left in the box?\nAnswer: 42",
    ],
)  # fmt: skip
def test_the_claim_that_counts(text: str) -> None:
    assert settled(text) == "42"


@each(
    "text",
    [
        *("Is the answer 42?", "If the answer is 42, all is well.", "The answer isn't 42."),
        "If it were later, the answer would be 42.",
    ],
)
def test_what_is_only_supposed_or_denied_is_no_claim(text: str) -> None:
    assert settled(text) is None


@each("form", ["I will say {}.", "So {}."])
def test_a_reply_that_ends_in_a_loop_settles_nothing_but_what_it_declares(form: str) -> None:
    one_round = (
        form.format(41) + "\n\nThat is not so, because one of the pens is a pencil. " + form.format(42) + "\n\nBut no. "
    )
    assert settled(100 * one_round) is None
    assert settled("The answer is 42. " + 100 * one_round) == "42"


def test_claims_of_equal_standing_are_several() -> None:
    assert settled("The answer is 41. The answer is 42.") == "several"


def test_sentences_are_without_courtesies_questions_lists_and_refusals() -> None:
    text = (
        "Sure, I can help you with that. I cannot tell the 3 of them. There are 42 pens.\n- 7 red\n| 8 | 9 |\n\n"
        "Do you want to know more? I hope this helps!\n\n**Explanation:** I counted 41."
    )
    reply = own_words(text, QUESTION)
    assert [reply.text[slice(*span)] for span in reply.sentences] == ["There are 42 pens."]
