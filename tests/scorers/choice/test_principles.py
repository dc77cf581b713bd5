"""The principles of the careful reading of multiple choice, each with cases; some are made by the hundred."""

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.scorers.choice.careful import read_choice
from tests.conftest import cases
from tests.tables import each

LETTERS = "ABCDEFGHIJ"
COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}
TREES = ["oak", "elm", "ash", "fir", "yew", "bay", "box", "fig", "gum", "ivy"]
TEN = {letter: f"the {word} one" for letter, word in zip(LETTERS, TREES, strict=True)}
FORMS = [
    "The answer is ({}).",
    "Answer: {}",
    "**Answer: {}**",
    "The correct answer is {}.",
    "Therefore, the correct option is ({}).",
    r"\[ \text{{Answer: {}}} \]",
    r"$\boxed{{{}}}$",
]
OTHER_LETTERS = [
    "P(X > {n}) = 0.{n} and P'(2) = {n}, so we add them.",
    "The heat flows until T = {n} °C, and V > {n}.",
    "$H(X_1, X_2) = E[M(t)] + {n}$, as I showed.",
    "(i), (ii) and (iii) are true; E is true and F is false, and T ⊃ U.",
    "E[exp(W(t))] = {n}, so M(t) is a martingale. G is false here.",
    "This rules out B. For company A the sum is {n}.",
]
REASONING = (
    "The picture shows several things that were compared with care, one after the other, until only one was left. "
)


def letter(text: str, options: dict[str, str], question: str = "") -> str | None:
    return read_choice(text, options, question).letter


DOOR = "Which colour does the door have?"
SEGMENTS = [
    ("<longcat_think>It seems A.</longcat_think>C", "C"),
    ("&lt;think&gt;It seems A.&lt;/think&gt;C", "C"),
    ("analysisOption A could fit. So A.assistantfinalAnswer: C", "C"),
    ("<|channel>thought\nThe answer is A.<channel|>C", "C"),
    ("<unused94>thought\nIt seems A.<unused95>C", "C"),
    ("<|START_THINKING|>A<|END_THINKING|>C", "C"),
    ("<|channel|>commentary<|message|>A<|channel|>final<|message|>C", "C"),
    ("Therefore, the door is **(C) green**.\n\nI hope this helps! Let me know if you have any other questions.", "C"),
    ("The answer is (C).<EOS_TOKEN>", "C"),
    ("C\n\nQuestion: How many doors can be seen there?\nA. 1\nB. 2\nAnswer: B", "C"),
    ("I read it again.\nQuestion: Which colour does the door have?\nAnswer: C", "C"),
]


@each(("text", "wanted"), SEGMENTS)
def test_reasoning_courtesies_and_other_turns_are_no_answer(text: str, wanted: str) -> None:
    assert letter(text, COLOURS, DOOR) == wanted


@settings(max_examples=cases(300))
@given(st.sampled_from(LETTERS), st.lists(st.sampled_from(LETTERS), min_size=2, max_size=6), st.booleans())
def test_of_several_answers_the_one_with_words_to_this_question_counts(
    own: str, others: list[str], before: bool
) -> None:
    examples = "".join(f"The answer is ({other}).\n" for other in others)
    solved = f"{REASONING}It is the tall tree. The answer is ({own}).\n"
    text = examples + solved if before else solved + "\nNow, all the answers:\n" + examples
    assert letter(text, TEN, "Which of the tall trees is left in the picture?") == own


@settings(max_examples=cases(200))
@given(st.lists(st.sampled_from(LETTERS), min_size=4, max_size=6), st.sampled_from(LETTERS))
def test_a_list_of_bare_answers_ends_with_the_one_to_this_question(examples: list[str], own: str) -> None:
    text = "".join(f"The answer is ({one}).\n\n" for one in [*examples, own])
    assert letter(text, TEN, "How tall is the tree?") == own


@settings(max_examples=cases(300))
@given(st.sampled_from("ABCDEFG"), st.permutations(LETTERS), st.sampled_from(["{}. {}", "The answer is {}. {}"]))
def test_answers_to_other_questions_in_a_summary_do_not_count(own: str, others: list[str], form: str) -> None:
    seven = {letter: TEN[letter] for letter in "ABCDEFG"}
    texts = ["cognitive", "240 W", "notify the parents in writing", "4", "Law", "10"]
    items = zip(others[:6] if "is" in form else sorted(others[:6]), texts, strict=True)
    summary = "\n".join(form.format(letter, text) for letter, text in items)
    text = f"{REASONING}The answer is ({own}).\n\nNow, let's summarize all the answers:\n{summary}"
    assert letter(text, seven, "Which of several things was compared with care in the picture?") == own


@settings(max_examples=cases(400))
@given(
    st.sampled_from(LETTERS),
    st.sampled_from(FORMS),
    st.lists(st.sampled_from(OTHER_LETTERS), max_size=3),
    st.integers(1, 99),
)
def test_a_declaration_beats_letters_that_merely_occur(wanted: str, form: str, others: list[str], number: int) -> None:
    text = " ".join([REASONING, *(o.format(n=number) for o in others)]) + "\n\n" + form.format(wanted)
    assert letter(text, TEN) == wanted


@settings(max_examples=cases(300))
@given(
    st.sampled_from(LETTERS),
    st.sampled_from(FORMS),
    st.sampled_from(
        ["I. The trees are tall.\nII. The", "The oak one, the elm one and the", "A. Some trees are tall. The"]
    ),
)
def test_an_item_or_a_fact_that_opens_a_reply_is_not_its_answer(own: str, form: str, opening: str) -> None:
    assert letter(f"{opening} trees are old. {REASONING}{form.format(own)}", TEN) == own


MINUS = {"A": "-10", "B": "-14", "C": "-36", "D": "-25"}
DECLARED = [
    ("-25 - (-11) = -25 + 11 = -14. The answer is (B)", MINUS, "B"),
    ("The answer is (C) or (D). The third is linked more closely with it. The answer is (C).", COLOURS, "C"),
    (f"The answer is (D).\n\n{REASONING}15 - 25 = -10. The answer is -10.", MINUS, "A"),
    ("I choose B. If the sky had been meant, the answer would be A.", COLOURS, "B"),
    ("If it were night, A would be right. It is clearly B.", COLOURS, "B"),
    ("If I had to guess, the answer would be B.", COLOURS, "B"),
    ("Initial answer: A\n\nAfter review:\n\nFinal answer: B", COLOURS, "B"),
    ("**Answer: A**\n\n**Explanation:** It has the colour of the sky.\n\n**Final Answer: B**", COLOURS, "B"),
    ("Answer: A\n\nCorrected answer: B", COLOURS, "B"),
    ("The answer is A.\n\nWait, I misread the picture. The sign is blue, so it is B.", COLOURS, "B"),
    (f"{REASONING}The answer is (A).\n\nFinal Answer: The answer is (B).", TEN, None),
    ("The answer is A. The answer is B.", TEN, None),
]


@each(("text", "options", "wanted"), DECLARED)
def test_a_declaration_yields_to_a_revision_or_to_a_contrary_result(
    text: str, options: dict[str, str], wanted: str | None
) -> None:
    assert letter(text, options) == wanted


FIRST_OR_LAST = [
    ("The door is green. This is because its paint was mixed from two others.", "C"),
    ("Doors can be red, yellow, or blue. The colour that this door does have is green.", "C"),
    ("C. The door has that colour.", "C"),
    ("In such a case the colour is:\n\nC. green\n\nThis is what can be seen.", "C"),
    ("The door is red. The car is green.", "A"),
    ("It is red, although the sign next to it is green.", "A"),
    ("Option A: it is dark.\nOption B: it is light.\n\nHence option C.", "C"),
    ("The price at noon was 3 and later 4.\nContinuing this pattern, we can conclude that a green one will be a", None),
]


@each(("text", "wanted"), FIRST_OR_LAST)
def test_without_a_form_the_only_option_that_is_asserted_is_the_answer(text: str, wanted: str | None) -> None:
    assert letter(text, COLOURS, DOOR) == wanted


NONE_OF = {"A": "red", "B": "blue", "C": "None of the above"}
REFUSALS = [
    ("The answer is not listed, but is closest to (B).", COLOURS, "B"),
    ("They were still unable to learn. The most likely factor is (A).", COLOURS, "A"),
    ("It cannot be determined with certainty. However, I would choose B.", COLOURS, "B"),
    ("The answer cannot be given, as there is no data to tell whether it is red or not.", COLOURS, None),
    ("I cannot identify a door in this image. The photo shows a house with red bows.", COLOURS, None),
    ("None of the options is correct.", NONE_OF, "C"),
    ("The door is purple, so none of A and B is right.", NONE_OF, "C"),
]


@each(("text", "options", "wanted"), REFUSALS)
def test_a_refusal_is_about_answering_and_a_choice_outranks_it(
    text: str, options: dict[str, str], wanted: str | None
) -> None:
    assert letter(text, options, DOOR) == wanted


THINGS = {"A": "a chair", "B": "a table", "C": "a lamp"}
ABSENT = "Which object is NOT in the image?"
DENIALS = [
    ("The answer is (C). A lamp is not part of it.", ABSENT, "C"),
    ("There is a chair and a table. The lamp is not in the image.", ABSENT, "C"),
    ("The lamp is not in the image.", "Which object is in the image?", None),
    ("The answer is (B). Statement B is incorrect.", "Which of these is incorrect?", "B"),
]


@each(("text", "question", "wanted"), DENIALS)
def test_a_denial_is_read_relative_to_the_question(text: str, question: str, wanted: str | None) -> None:
    assert letter(text, THINGS, question) == wanted


PARTS = {"A": "a) 255, b) 35", "B": "a) 265, b) 34", "C": "a) 248, b) 40", "D": "a) 250, b) 30"}
COSTS = {"A": "A: 5.76%; B: 6.30%", "B": "A: 4.66%; B: 6.20%"}
LABELS = [
    ("The answer is a) 265, b) 34.", PARTS, "B"),
    ("The reserve is a fifth. The answer is (a) 10,500.", PARTS, None),
    ("Answer: (B)A. 4.66%; B. 6.20%", COSTS, "B"),
    ("**Answer: D-14**", {"A": "-10", "D": "-14"}, "D"),
    ("A > C > B", COLOURS, None),
    ("N: false\nP: true\nQ: false\nSo it is one. The answer is (B).", COLOURS, "B"),
    ("C holds since P ∧ B", {"A": "x", "B": "y", "C": "z"}, None),
    ("The lamp needs 3 A.", {"A": "2 amperes", "B": "5 amperes"}, None),
    ("Neither pre-A nor pre-C reacts, so it is B.", {"A": "A", "B": "B", "C": "C"}, "B"),
]


@each(("text", "options", "wanted"), LABELS)
def test_labels_of_parts_symbols_and_rankings_are_no_options(
    text: str, options: dict[str, str], wanted: str | None
) -> None:
    question = "Find a) the height of the tree, b) its age." if options is PARTS else ""
    assert letter(text, options, question) == wanted


@each(
    ("options", "text"),
    [
        (["M: $6,000: N: $5,996;", "M: $6,100: N: $4,996;"], "The costs are:\n\nA. M: $6,000; N: $5,996"),
        ([r"$\sqrt(2) cos[(2/3)t]$", r"$\sqrt(2) cos[(1/3)t]$"],
         "So:\n\n" + r"A. \(\sqrt{2} \cos\left[\frac{2}{3}t\right]\)"),
        (["(1): $4.5 million; (2): $3.3 million", "(1): $3.3 million; (2): $4.5 million"],
         "At $9 a share:\n\nA. (1): $4.5 million; (2): $3.3 million"),
    ],
)  # fmt: skip
def test_a_label_with_its_text_in_another_notation_is_the_answer(options: list[str], text: str) -> None:
    assert letter(REASONING + text, dict(zip("AB", options, strict=True))) == "A"


@settings(max_examples=cases(300))
@given(st.permutations("ABCDE"), st.integers(0, 4), st.sampled_from(["{}", "Answer: {}", "The answer is {}.", "({})"]))
def test_a_letter_is_a_label_also_where_it_is_an_option_s_text(texts: list[str], at: int, form: str) -> None:
    options = dict(zip("ABCDE", texts, strict=True))
    assert letter(form.format("ABCDE"[at]), options) == "ABCDE"[at]


@each(
    ("said", "option"),
    [("20", "20 cm"), ("20 m", "20 meters"), (r"\frac{3}{4}", "0.75"), ("12000", "12,000"),
     (r"$1.6 \times 10^{-19}$", "1.6e-19"), (r"30^\circ", "30°"), (r"2\sqrt{3}", "2√3")],
)  # fmt: skip
def test_equal_quantities_are_the_same_answer(said: str, option: str) -> None:
    options = {"A": "7 kg", "B": option, "C": "1,001", "D": "-2"}
    for form in ("{}", r"\boxed{{{}}}", "The answer is {}.", "Answer: {}"):
        assert letter(form.format(said), options) == "B", form


@each("said", ["20 m", "2 cm", "-20 cm", "20 kg", "20.5", "20 furlongs"])
def test_another_quantity_is_another_answer(said: str) -> None:
    assert letter(said, {"A": "20 cm", "B": "30 cm"}) is None


LISTED = "The options are:\n- (A) red - warm\n- (B) blue - cold\n- (C) green - neither\n- (D) yellow - warm\n\n"


@each(
    ("reply", "letter"),
    [
        (f"{LISTED}The lamp is the cold one.\n\n(B) blue", "B"),
        (f"{LISTED}Of these I cannot say which.", "no_answer"),
        (f"{LISTED}Once more:\n(A) red\n(B) blue\n(C) green\n(D) yellow", "no_answer"),
    ],
)
def test_a_letter_that_comes_back_behind_the_list_of_options_is_the_answer(reply: str, letter: str) -> None:
    reading = read_choice(reply, {"A": "red", "B": "blue", "C": "green", "D": "yellow"})
    assert (reading.letter or reading.outcome) == letter
