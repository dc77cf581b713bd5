"""The published readers give what their sources give: outputs of the sources' own functions, recorded."""

import pytest

from grader.results import Outcome, Reading, SampleResult
from grader.scorers.choice.published import READERS, guess_note

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}

# Reply -> what each reader's source reads at the named commits, in the order of READERS.
RECORDED = [
    (
        "The answer is (B). No, the answer is (C).",
        "B",
        "B",
        "B",
        "C",
        "C",
        "B",
        "C",
        None,
        None,
        None,
        "C",
        "C",
        "C",
        "B",
    ),
    ("Answer: A and Answer: C\nAnswer: D", "C", "C", None, "D", "D", "C", "D", "A", "A", None, "D", "D", "D", "A"),
    ("Answer:Answer: C", "C", "C", None, "C", "C", "A", "C", "A", "A", None, "C", "C", "C", "A"),
    ("answer: b", None, None, None, None, None, "A", None, "b", "b", None, "B", "B", None, None),
    ("I see a dog, a Cat and a Bird", None, None, None, None, None, "C", "B", None, None, None, None, None, "B", "C"),
    (
        "It is probably the one that is blue here",
        None,
        None,
        None,
        "B",
        "B",
        "B",
        None,
        None,
        None,
        None,
        None,
        None,
        None,
        None,
    ),
    ("blue", None, None, None, None, None, "B", None, None, None, None, "B", "B", None, None),
    ("(A) or (B)?", "B", None, None, "B", "B", "A", "B", None, None, "A", "A", None, "B", "A"),
    (
        "\u0627\u0644\u0625\u062c\u0627\u0628\u0629: \u0628",
        None,
        None,
        None,
        None,
        None,
        "A",
        None,
        None,
        "B",
        None,
        None,
        None,
        None,
        None,
    ),
    ("**\uc815\ub2f5**: $\\boxed{C}$", "C", None, None, None, None, "A", "C", None, "C", None, None, None, "C", "C"),
    ("Jibu:B Answer: D", "D", "D", None, "D", "D", "B", "D", "D", "D", None, "D", "D", "D", "B"),
    ("B. blue", "B", None, None, None, "B", "B", "B", None, None, None, "B", None, "B", "B"),
    ("", None, None, None, None, None, "A", None, None, None, None, None, None, None, None),
    ("Answer: B, because A is red. (C)", "B", "B", None, "C", "C", "C", "C", "B", "B", "C", "B", None, "C", "A"),
    ("I think ABBA is it.", None, None, None, None, "A", "C", "A", None, None, None, None, None, "A", "A"),
]


@pytest.mark.parametrize("recorded", RECORDED, ids=lambda r: r[0][:30])
def test_a_reader_reads_what_its_source_reads(recorded: tuple[str, ...]) -> None:
    text, *wanted = recorded
    got = [reader.read(text, COLOURS).letter for reader in READERS.values()]
    assert dict(zip(READERS, got, strict=True)) == dict(zip(READERS, wanted, strict=True))


def test_a_letter_outside_the_options_is_no_answer_of_mmlu_pro() -> None:
    found = READERS["mmlu-pro"].read("The answer is (J).", COLOURS)
    assert (found.letter, found.rule) == (None, "outside_options")


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("part", ["A ", "answer: ", "Answer:\t\t\t", "(B) \n", "J"])
def test_a_long_reply_is_read_in_linear_time(name: str, part: str) -> None:
    READERS[name].read(part * (2_000_000 // len(part)), COLOURS)


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
