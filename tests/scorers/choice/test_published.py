"""The published readers give what their sources give: outputs of the sources' own functions, recorded."""

from grader.results import Outcome, Reading, SampleResult
from grader.scorers.choice.published import READERS, guess_note
from tests.tables import each

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}

# Reply -> what each reader's source reads at the named commits, in the order of READERS.
NO = None
RECORDED = [
    ("The answer is (B). No, the answer is (C).", "B", "B", "B", "C", "C", "B", "C", NO, NO, NO, "C", "C", "C", "B"),
    ("Answer: A and Answer: C\nAnswer: D", "C", "C", NO, "D", "D", "C", "D", "A", "A", NO, "D", "D", "D", "A"),
    ("Answer:Answer: C", "C", "C", NO, "C", "C", "A", "C", "A", "A", NO, "C", "C", "C", "A"),
    ("answer: b", NO, NO, NO, NO, NO, "A", NO, "b", "b", NO, "B", "B", NO, NO),
    ("I see a dog, a Cat and a Bird", NO, NO, NO, NO, NO, "C", "B", NO, NO, NO, NO, NO, "B", "C"),
    ("It is probably the one that is blue here", NO, NO, NO, "B", "B", "B", NO, NO, NO, NO, NO, NO, NO, NO),
    ("blue", NO, NO, NO, NO, NO, "B", NO, NO, NO, NO, "B", "B", NO, NO),
    ("(A) or (B)?", "B", NO, NO, "B", "B", "A", "B", NO, NO, "A", "A", NO, "B", "A"),
    ("\u0627\u0644\u0625\u062c\u0627\u0628\u0629: \u0628", NO, NO, NO, NO, NO, "A", NO, NO, "B", NO, NO, NO, NO, NO),
    ("**\uc815\ub2f5**: $\\boxed{C}$", "C", NO, NO, NO, NO, "A", "C", NO, "C", NO, NO, NO, "C", "C"),
    ("Jibu:B Answer: D", "D", "D", NO, "D", "D", "B", "D", "D", "D", NO, "D", "D", "D", "B"),
    ("B. blue", "B", NO, NO, NO, "B", "B", "B", NO, NO, NO, "B", NO, "B", "B"),
    ("", NO, NO, NO, NO, NO, "A", NO, NO, NO, NO, NO, NO, NO, NO),
    ("Answer: B, because A is red. (C)", "B", "B", NO, "C", "C", "C", "C", "B", "B", "C", "B", NO, "C", "A"),
    ("I think ABBA is it.", NO, NO, NO, NO, "A", "C", "A", NO, NO, NO, NO, NO, "A", "A"),
]  # fmt: skip


@each("recorded", RECORDED)
def test_a_reader_reads_what_its_source_reads(recorded: tuple[str, ...]) -> None:
    text, *wanted = recorded
    got = [reader.read(text, COLOURS).letter for reader in READERS.values()]
    assert dict(zip(READERS, got, strict=True)) == dict(zip(READERS, wanted, strict=True))


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
