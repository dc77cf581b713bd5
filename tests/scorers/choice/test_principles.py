"""The principles of the careful reading, each with generated cases: strength, continuations, values, spelling."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grader.scorers.choice.careful.read import read_choice
from tests.conftest import cases

LETTERS = "ABCDEFGHIJ"
COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}
TEN = {
    letter: f"the {word} one"
    for letter, word in zip(
        LETTERS, ["oak", "elm", "ash", "fir", "yew", "bay", "box", "fig", "gum", "ivy"], strict=False
    )
}
FORMS = [
    "The answer is ({}).",
    "Answer: {}",
    "**Answer: {}**",
    "The correct answer is {}.",
    "Therefore, the correct option is ({}).",
    r"\\[ \\text{{Answer: {}}} \\]".replace("\\\\", "\\"),
    r"$\\boxed{{{}}}$".replace("\\\\", "\\"),
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


@settings(max_examples=cases(400), deadline=None)
@given(
    st.sampled_from(LETTERS),
    st.sampled_from(FORMS),
    st.lists(st.sampled_from(OTHER_LETTERS), max_size=3),
    st.integers(1, 99),
)
def test_an_answer_in_the_form_of_one_beats_letters_that_merely_occur(
    wanted: str, form: str, others: list[str], number: int
) -> None:
    text = " ".join([REASONING, *(o.format(n=number) for o in others)]) + "\n\n" + form.format(wanted)
    assert letter(text, TEN) == wanted


@settings(max_examples=cases(300), deadline=None)
@given(st.sampled_from("ABCD"), st.sampled_from("ABCD"), st.sampled_from(["Question", "Q", "Human", "Problem 2"]))
def test_the_answer_to_the_next_question_does_not_count(own: str, other: str, marker: str) -> None:
    text = f"{own}\n\n{marker}: How many dogs can be seen there?\nA. 1\nB. 2\nAnswer: {other}"
    assert letter(text, COLOURS, "What color is the sky?") == own


@settings(max_examples=cases(300), deadline=None)
@given(st.sampled_from(LETTERS), st.lists(st.sampled_from(LETTERS), min_size=2, max_size=6), st.booleans())
def test_of_several_answers_the_one_with_reasoning_counts(own: str, others: list[str], before: bool) -> None:
    examples = "".join(f"The answer is ({other}).\n" for other in others)
    solved = REASONING + f"The answer is ({own}).\n"
    text = examples + solved if before else solved + "\nNow, all the answers:\n" + examples
    assert letter(text, TEN) == own


@settings(max_examples=cases(300), deadline=None)
@given(st.sampled_from("ABCDEFG"), st.permutations(LETTERS), st.sampled_from(["{}. {}", "The answer is {}. {}"]))
def test_answers_to_other_questions_in_a_summary_do_not_count(own: str, others: list[str], form: str) -> None:
    seven = {letter: TEN[letter] for letter in "ABCDEFG"}
    texts = [
        "cognitive",
        "240 W",
        "notify the parents in writing and ask them",
        "4",
        "Law",
        "10",
    ]
    items = zip(others[:6] if "is" in form else sorted(others[:6]), texts, strict=True)
    summary = "\n".join(form.format(letter, text) for letter, text in items)
    assert (
        letter(f"{REASONING}The answer is ({own}).\n\nNow, let's summarize all the answers:\n{summary}", seven) == own
    )


@settings(max_examples=cases(300), deadline=None)
@given(
    st.sampled_from(LETTERS),
    st.sampled_from(FORMS),
    st.sampled_from(
        ["I. The trees are tall.\nII. The", "The oak one, the elm one and the", "A. Some trees are tall. The"]
    ),
)
def test_an_item_or_a_fact_that_opens_a_reply_is_not_its_answer(own: str, form: str, opening: str) -> None:
    assert letter(f"{opening} trees are old. {REASONING}{form.format(own)}", TEN) == own


@settings(max_examples=cases(300), deadline=None)
@given(
    st.sampled_from(LETTERS), st.sampled_from(["a) {}\n\nb) {}", "(a) {} (b) {}", "The answer for a) is 5. {} b) {}"])
)
def test_parts_of_the_question_are_no_options(own: str, parts: str) -> None:
    question = "Find a) the height of the tree, b) its age."
    text = parts.format(REASONING, REASONING)
    assert letter(text, TEN, question) is None
    assert letter(f"{text}\nThe answer is ({own}).", TEN, question) == own


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("text", ["N: false\nP: true\nQ: false\nSo it is one.", "It is $C(9,3) + 84$, or 1680."])
def test_letters_of_formulas_and_truth_tables_are_no_answers(text: str) -> None:
    assert letter(f"{REASONING}The answer is {text} The answer is (B).", TEN, "Is the set consistent?") == "B"


@settings(max_examples=cases(300), deadline=None)
@given(st.permutations("ABCDE"), st.integers(0, 4), st.sampled_from(["{}", "Answer: {}", "The answer is {}.", "({})"]))
def test_a_letter_is_a_label_also_where_it_is_an_option_s_text(texts: list[str], at: int, form: str) -> None:
    options = dict(zip("ABCDE", texts, strict=True))
    assert letter(form.format("ABCDE"[at]), options) == "ABCDE"[at]


SAME = [
    ("20", "20 cm"), ("20 m", "20 meters"),
    (r"\frac{3}{4}", "0.75"),
    ("twenty-three", "23"),
    (r"$1.6 \times 10^{-19}$", "1.6e-19"), (r"30^\circ", "30°"), (r"2\sqrt{3}", "2√3"), ("200 cm", "2 m"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "option"), SAME)
def test_equal_quantities_are_the_same_answer(said: str, option: str) -> None:
    options = {"A": "7 kg", "B": option, "C": "1,001", "D": "-2"}
    for form in ("{}", r"\boxed{{{}}}", "The answer is {}.", "Answer: {}"):
        assert letter(form.format(said), options) == "B", form


THINGS = ["shirt of the boy", "door behind the tree", "oldest car", "roof of the red-brick house"]


@settings(max_examples=cases(200), deadline=None)
@given(st.sampled_from(THINGS), st.permutations("ABCD"), st.sampled_from(["The others are {} and {}.", "{}: {} car."]))
def test_what_is_said_of_the_subject_of_the_question_is_the_answer(thing: str, order: list[str], rest: str) -> None:
    own, *others = (COLOURS[letter] for letter in order)
    question = f"What color is the {thing}?"
    options = {letter: text for letter, text in COLOURS.items() if text not in thing}
    assume(own in options.values())
    after = rest.format(*others)
    assert letter(f"The {thing} is {own}. {after}", options, question) == order[0]
    assert letter(f"Some think that the {thing} is {own}. {after}", options, question) is None
    assert letter(f"The {thing} is {own}. {after} Hmm, wait.", options, question) is None


@pytest.mark.parametrize(
    ("seems", "but"),
    [
        ("At first glance it seems {}", "but the door is actually {}"),
        ("Auf den ersten Blick wirkt sie {}", "tatsächlich ist sie aber {}"),
        ("À première vue elle semble {}", "mais en réalité elle est {}"),
        ("A primera vista parece {}", "pero en realidad es {}"),
        ("A prima vista sembra {}", "ma in realtà è {}"),
    ],
)
@pytest.mark.parametrize(("first", "own"), [("A", "B"), ("B", "A")])
def test_what_only_seemed_so_at_first_glance_is_not_the_answer(seems: str, but: str, first: str, own: str) -> None:
    assert letter(f"{seems.format(COLOURS[first])}, {but.format(COLOURS[own])}.", COLOURS) == own


PENS = {"A": "12", "B": "15", "C": "3", "D": "18"}
COUNTS = {"A": "1", "B": "2", "C": "3", "D": "4"}
SIGNED = {"A": "5", "B": "-5", "C": "10", "D": "-10"}
FORMULAS = {"A": "$E = mc^2$", "B": "$E = mc$", "C": "$F = ma$", "D": "{1, 3}"}
SPELLED = {"A": "house", "B": "horse", "C": "giraffe"}
PLACES = {"A": "in front of the box", "B": "inside the box"}
BAGS = {letter: f"The color of the bag is {colour}." for letter, colour in COLOURS.items()}
SIDES = {letter: f"The dog is on the {side} side of the bench." for letter, side in (("A", "left"), ("B", "right"))}
YES_NO = {"A": "Yes", "B": "No"}
HAT, PANTS = "Is the man wearing a hat?", "What color are the pants?"
DOG = "Is the dog on the left or right side of the bench?"
MISSING_LAMP = "There is a chair and a table. The lamp is not in the image."
PRINCIPLES: dict[str, list[tuple[str, dict[str, str], str, str | None]]] = {
    "another quantity is another answer": [
        (said, {"A": "20 cm", "B": "30 cm"}, "", None) for said in ("20 m", "2 cm", "-20 cm", "20 kg", "20.5")
    ],
    "a number in an expression or before an item is not read as an answer": [
        ("18 - 3 = 15, so 15 are left.", PENS, "", "B"),
        ("x > 12, x < 18, hence x = 15.", PENS, "", "B"),
        ("The total is 12+3.", PENS, "", None),
        ("The ratio is 12/15.", PENS, "", None),
        ("There are 2-3 cats.", COUNTS, "", None),
        ("There are 2.5 cats.", COUNTS, "", None),
        ("See figure 3. The number is 15.", PENS, "", "B"),
        ("1. I look at the sofa.\n2. I look at the floor.\nSo four cats.", COUNTS, "", "D"),
    ],
    "signs and blanks belong to a formula": [
        ("The answer is B. -5", SIGNED, "", "B"),
        ("F = m a", FORMULAS, "", "C"),
        (r"$\{1,3\}$", FORMULAS, "", "D"),
        ("The lamp needs 3 A.", {"A": "2 amperes", "B": "5 amperes"}, "", None),
        ("C holds since P ∧ B", {"A": "x", "B": "y", "C": "z"}, "", None),
    ],
    "a typing error is read in long words alone": [
        ("girafe", SPELLED, "", "C"),
        ("the giraffes", SPELLED, "", "C"),
        ("mouse", SPELLED, "", None),
        ("horses", SPELLED, "", "B"),
        ("hose", SPELLED, "", None),
    ],
    "a statement about something else is not read as an answer": [
        ("The shirt is red. The pants are blue.", COLOURS, "What can be seen?", None),
        ("The shirt is red. The pants are blue.", COLOURS, PANTS, "B"),
        ("The shirt is red and the pants are blue.", COLOURS, PANTS, "B"),
        ("The man in the red coat holds a blue bag.", COLOURS, "What is the color of the man's bag?", "B"),
        ("The house next to the car is red. Blue was seen, too.", COLOURS, "What color is the car?", None),
        ("The lamp is red. So the sign is blue.", COLOURS, "", "B"),
    ],
    "a relation of the second thing to the first is another relation": [
        ("The dog is to the left of the brown bench.", SIDES, DOG, "A"),
        ("To the right of the bench is the dog.", SIDES, DOG, "B"),
        ("The bench is to the left of the dog.", SIDES, DOG, None),
        ("To the left of the dog is the bench.", {"A": "left", "B": "right"}, DOG, None),
        ("The bench is on the right side of the dog.", SIDES, "Where is the dog?", None),
    ],
    "a yes or no question is answered by a statement": [
        ("Nope, he isn't.", YES_NO, HAT, "B"),
        ("The man isn't wearing a hat.", YES_NO, HAT, "B"),
        ("The man is wearing a hat.", YES_NO, HAT, "A"),
        ("The dog sleeps.", YES_NO, HAT, None),
        ("The light is red, so yes, they may leave it like this.", YES_NO, "Is the lamp on?", "A"),
    ],
    "a question for what is missing is answered by a denial": [
        (MISSING_LAMP, {"A": "a chair", "B": "a table", "C": "a lamp"}, "Which object is NOT in the image?", "C"),
    ],
    "what only one option has is enough": [
        ("A small blue bag can be seen.", BAGS, "What is the color of the bag?", "B"),
        ("The bag is not red but blue.", BAGS, "What is the color of the bag?", "B"),
        ("The bag is black.", BAGS, "What is the color of the bag?", None),
        ("The dog is not on the left side.", SIDES, "", "B"),
        ("There is no dog on the left side.", SIDES, "", None),
        ("inside", PLACES, "", "B"),
        ("the box", PLACES, "", None),
        ("More than 5", {"A": "4", "B": "5"}, "", None),
    ],
    "what is corrected, asked, supposed or listed is not the answer": [
        ("Red. Sorry, I meant blue.", COLOURS, "", "B"),
        ("The answer: red? No: blue.", COLOURS, "", "B"),
        ("The answer cannot be A, as there is no thing in red.", COLOURS, "", None),
        ("If it was D there would be straw.", COLOURS, "", None),
        ("A: Let us think. The sky has that colour. The answer is (B).", COLOURS, "", "B"),
        ("red\nblue\ngreen\nyellow", COLOURS, "", None),
        ("- [ ] A. red\n- [x] B. blue\n- [ ] C. green\n- [ ] D. yellow", COLOURS, "", "B"),
    ],
    "a total counts and its parts do not": [
        ("There are two bowls with 3 apples each, so the total is 4.", COUNTS, "How many apples are there?", "D"),
        ("There are 3 apples in total: 2 on the left, 1 on the right.", COUNTS, "How many apples are there?", "C"),
    ],
    "two final answers are none, and so is an answer that there is none": [
        ("The answer is A. The answer is B.", TEN, "", None),
        (f"{REASONING}The answer is (A).\n\nFinal Answer: The answer is (B).", TEN, "", None),
        (f"{REASONING}So B. The best answer is either (A) or (B).", COLOURS, "", None),
        (f"{REASONING}The answer is A. The answer cannot be determined.", COLOURS, "", None),
        ("The answer is not clear. However, I would choose B.", COLOURS, "", "B"),
        ("Many people think that it is red, but the door is blue.", COLOURS, "", None),
        ("It is red, although the sign next to it is blue.", COLOURS, "", "A"),
    ],
    "a letter in a compound is not read as an option, and an option's text may be a letter": [
        ("Neither pre-A nor pre-C reacts, so it is B.", {"A": "A", "B": "B", "C": "C"}, "", "B"),
        ("It must be option-B.", COLOURS, "", "B"),
        ("The smallest distance is that of **Q**.", {"A": "P", "B": "Q", "C": "R"}, "", "B"),
    ],
    "the right thing is the answer also where it is not called one": [
        (f"{REASONING * 5}\n\nThe most likely tree is C.\n\nThe answer is ...", TEN, "", "C"),
    ],
    "a question that is repeated is this question": [
        ("I read it again.\nQuestion: What color is the sky?\nAnswer: B", COLOURS, "What color is the sky?", "B"),
    ],
}


@pytest.mark.parametrize("principle", PRINCIPLES)
def test_a_principle_holds(principle: str) -> None:
    for text, options, question, wanted in PRINCIPLES[principle]:
        assert letter(text, options, question) == wanted, text
