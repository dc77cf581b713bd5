"""The published readers give what their sources give: outputs of the sources' own functions, recorded."""

from grader.results import Outcome, Reading, SampleResult
from grader.scorers.choice.metrics import GLOSSARY
from grader.scorers.choice.published import READERS, guess_note
from tests.tables import each

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}

REPLIES = (
    "The answer is (B). No, the answer is (C).",
    "Answer: A and Answer: C\nAnswer: D",
    "Answer:Answer: C",
    "answer: b",
    "I see a dog, a Cat and a Bird",
    "It is probably the one that is blue here",
    "blue",
    "(A) or (B)?",
    "\u0627\u0644\u0625\u062c\u0627\u0628\u0629: \u0628",
    "**\uc815\ub2f5**: $\\boxed{C}$",
    "Jibu:B Answer: D",
    "B. blue",
    "",
    "Answer: B, because A is red. (C)",
    "I think ABBA is it.",
)
RECORDED = {
    "mmlu-pro": "B C C - - - - B - C D B - B -",
    "mmlu-pro-2024-05": "B C C - - - - - - - D - - B -",
    "mmlu-pro-level-1": "B - - - - - - - - - - - - - -",
    "mmmu": "C D C - - B - B - - D - - C -",
    "mmmu-pro": "C D C - - B - B - - D B - C A",
    "mathvista": "B C A A C B B A A A B B A C C",
    "lmms-eval-mcq": "C D C - B - - B - C D B - C A",
    "simple-evals": "- A A b - - - - - - D - - B -",
    "simple-evals-multilingual": "- A A b - - - - B C D - - B -",
    "blink": "- - - - - - - A - - - - - C -",
    "cambrian": "C D C B - - B A - - D B - B -",
    "cambrian-mmvp": "C D C B - - B - - - D - - - -",
    "gaokao": "C D C - B - - B - C D B - C A",
    "zero-shot-cot": "B A A - C - - A - C B B - A A",
}
"""Reader -> what its source reads in each reply, at the named commit; `-`: no letter."""


@each("name", list(READERS))
def test_a_reader_reads_what_its_source_reads(name: str) -> None:
    found = [READERS[name].read(text, COLOURS) for text in REPLIES]
    assert " ".join(reading.letter or "-" for reading in found) == RECORDED.get(name)
    assert {reading.rule for reading in found} <= GLOSSARY.keys(), "reports explain every rule"


def test_a_letter_outside_the_options_is_no_answer_of_mmlu_pro() -> None:
    found = READERS["mmlu-pro"].read("The answer is (J).", COLOURS)
    assert (found.letter, found.rule) == (None, "outside_options")


def test_random_letters_are_not_drawn_but_their_expectation_is_noted() -> None:
    read = Reading(outcome=Outcome.CORRECT, credit=1, answer="A", rule="answer_is")
    unread = Reading(outcome=Outcome.NO_ANSWER, credit=0, rule="none_matched")
    samples = [
        SampleResult(qid=str(n), sample=0, official=one, careful=one) for n, one in enumerate((read, unread, unread))
    ]
    options = dict.fromkeys("012", COLOURS)
    (mmmu,), (mmlu_pro,) = (guess_note(samples, options, name) for name in ("mmmu", "mmlu-pro"))
    assert "reads no letter in 2 replies" in mmmu.text
    assert "accuracy is 33.33, and 50.00 is expected with random letters" in mmmu.text
    assert "accuracy is 33.33, and 40.00 is expected with random letters" in mmlu_pro.text
    assert guess_note(samples, options, "simple-evals") == []
    assert guess_note(samples[:1], options, "mmmu") == []
