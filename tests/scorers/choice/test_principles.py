"""The principles of the careful reading, each with generated cases: strength, continuations, values, spelling."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from grader.scorers.choice.careful.quantities import quantity
from grader.scorers.choice.careful.read import read_choice
from grader.scorers.choice.careful.spelling import near_word
from tests.conftest import cases

LETTERS = "ABCDEFGHIJ"
VALUES = {"A": "12", "B": "15", "C": "18", "D": "21"}
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


def test_a_question_that_is_repeated_is_this_question() -> None:
    text = "Let me read it again.\nQuestion: What color is the sky?\nAnswer: B"
    assert letter(text, COLOURS, "What color is the sky?") == "B"


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
        "notify all the parents of the pupils of every school in writing, and then ask for an answer",
        "4",
        "Natural Law",
        "10 times more",
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


@settings(max_examples=cases(300), deadline=None)
@given(st.sampled_from(LETTERS), st.sampled_from(["correct pair of trees", "most likely tree", "most appropriate one"]))
def test_the_right_thing_is_the_answer_also_where_it_is_not_called_one(own: str, thing: str) -> None:
    assert letter(f"{REASONING * 5}\n\nThe {thing} is {own}.\n\nThe answer is ...", TEN) == own


@pytest.mark.parametrize("text", ["N: false\nP: true\nQ: false\nSo it is one.", "It is $C(9,3) + 84$, or 1680."])
def test_letters_of_formulas_and_truth_tables_are_no_answers(text: str) -> None:
    assert letter(f"{REASONING}The answer is {text} The answer is (B).", TEN, "Is the set consistent?") == "B"


@pytest.mark.parametrize(
    "text", ["The answer is (A).\n\nFinal Answer: The answer is (B).", "The answer is A. The answer is B."]
)
def test_two_final_answers_without_a_reason_are_ambiguous(text: str) -> None:
    assert read_choice(text, TEN).outcome == "ambiguous"
    assert read_choice(REASONING + text, TEN).outcome == "ambiguous"


def test_an_answer_that_there_is_none_counts_as_one() -> None:
    text = REASONING + "The answer is A. The answer cannot be determined."
    assert read_choice(text, COLOURS).rule == "refusal"
    assert letter("The answer is not clear. However, I would choose B.", COLOURS) == "B"


def test_what_follows_but_is_as_much_a_statement_as_what_is_before_it() -> None:
    assert read_choice("Many people think that it is red, but the door is blue.", COLOURS).outcome == "ambiguous"
    assert read_choice("It is red, although the sign next to it is blue.", COLOURS).letter == "A"


def test_either_of_two_is_an_answer_that_is_ambiguous() -> None:
    assert read_choice(REASONING + "So B. The best answer is either (A) or (B).", COLOURS).outcome == "ambiguous"


@settings(max_examples=cases(300), deadline=None)
@given(st.permutations("ABCDE"), st.integers(0, 4), st.sampled_from(["{}", "Answer: {}", "The answer is {}.", "({})"]))
def test_a_letter_is_a_label_also_where_it_is_an_option_s_text(texts: list[str], at: int, form: str) -> None:
    options = dict(zip("ABCDE", texts, strict=True))
    assert letter(form.format("ABCDE"[at]), options) == "ABCDE"[at]


def test_a_letter_that_is_no_option_is_the_option_with_that_text() -> None:
    assert letter("The smallest distance is that of **Q**.", {"A": "P", "B": "Q", "C": "R"}) == "B"


SAME = [
    ("20", "20 cm"), ("20 m", "20 meters"),
    (r"\frac{3}{4}", "0.75"), ("3.0", "3"), ("12000", "12,000"), (r"8\pi", "8π"),
    ("one third", "1/3"), ("2 km", "2 kilometers"), ("50 percent", "50%"), ("2cm", "2 cm"), ("twenty-three", "23"),
    (r"$1.6 \times 10^{-19}$", "1.6e-19"), (r"30^\circ", "30°"), (r"2\sqrt{3}", "2√3"), ("200 cm", "2 m"),
    ("1/2", "0.5"),
]  # fmt: skip


@pytest.mark.parametrize(("said", "option"), SAME)
def test_equal_quantities_are_the_same_answer(said: str, option: str) -> None:
    options = {"A": "7 kg", "B": option, "C": "1,001", "D": "-2"}
    for form in ("{}", r"\boxed{{{}}}", "The answer is {}.", "Answer: {}"):
        assert letter(form.format(said), options) == "B", form


@pytest.mark.parametrize("said", ["20 m", "2 cm", "0.2 cm", "-20 cm", "20 kg", "21", "20.5"])
def test_other_quantities_are_not(said: str) -> None:
    assert letter(said, {"A": "20 cm", "B": "30 cm", "C": "40 cm"}) is None


@settings(max_examples=cases(300), deadline=None)
@given(st.floats(1e-6, 1e9), st.floats(1e-6, 1e9))
def test_only_equal_numbers_are_equal(one: float, other: float) -> None:
    first, second = quantity(f"{one:.6f}"), quantity(f"{other:,.6f}")
    assert first is not None
    assert second is not None
    assert first.equals(second) == (f"{one:.6f}" == f"{other:.6f}")


@pytest.mark.parametrize("said", ["girafe", "the giraffes", "Giraffe."])
def test_a_small_typing_error_is_read(said: str) -> None:
    assert letter(said, {"A": "zebra", "B": "giraffe", "C": "horse"}) == "B"


@settings(max_examples=cases(300), deadline=None)
@given(
    st.lists(st.text("abcde", min_size=4, max_size=8), min_size=2, max_size=4, unique=True),
    st.text("abcde", min_size=4, max_size=8),
)
def test_nothing_is_respelled_between_options_that_are_near_each_other(options: list[str], said: str) -> None:
    assume(said not in options)
    near = near_word(said, options)
    if near is not None:
        assert all(
            near == other or sum(a != b for a, b in zip(near, other, strict=False)) + abs(len(near) - len(other)) > 1
            for other in options
        )


PENS = {"A": "12", "B": "15", "C": "3", "D": "18"}
COUNTS = {"A": "1", "B": "2", "C": "3", "D": "4"}


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("12 + 3 = 15", PENS, "B"),
        ("18 - 3 = 15, so 15 are left.", PENS, "B"),
        ("x > 12, x < 18, hence x = 15.", PENS, "B"),
        ("The total is 12+3.", PENS, None),
        ("The ratio is 12/15.", PENS, None),
        ("In the picture:\n2 cats. They sleep.", {"A": "1 cat", "B": "2 cats"}, "B"),
        ("There are 2-3 cats.", COUNTS, None),
        ("There are 2.5 cats.", COUNTS, None),
        ("See figure 3. The number is 15.", PENS, "B"),
        ("1. I look at the sofa.\n2. I look at the floor.\nSo four cats.", COUNTS, "D"),
    ],
)
def test_a_number_in_an_expression_or_before_an_item_is_no_answer(
    text: str, options: dict[str, str], wanted: str | None
) -> None:
    assert letter(text, options) == wanted


SIGNED = {"A": "5", "B": "-5", "C": "10", "D": "-10"}
FORMULAS = {"A": "$E = mc^2$", "B": "$E = mc$", "C": "$F = ma$", "D": "{1, 3}"}
CURRENTS = {"A": "2 amperes", "B": "5 amperes", "C": "7 amperes"}


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("The answer is B. -5", SIGNED, "B"),
        ("Therefore B) -5.", SIGNED, "B"),
        ("E=mc^2", FORMULAS, "A"),
        ("F = m a", FORMULAS, "C"),
        (r"$\{1,3\}$", FORMULAS, "D"),
        ("The lamp needs 3 A.", CURRENTS, None),
        ("C holds since P ∧ B", CURRENTS, None),
    ],
)
def test_signs_and_blanks_belong_to_a_formula(text: str, options: dict[str, str], wanted: str | None) -> None:
    assert letter(text, options) == wanted


@pytest.mark.parametrize(("said", "wanted"), [("mouse", None), ("house", "A"), ("horses", "B"), ("hose", None)])
def test_short_words_are_not_respelled(said: str, wanted: str | None) -> None:
    assert letter(said, {"A": "house", "B": "horse", "C": "cat"}) == wanted


@pytest.mark.parametrize(
    ("text", "question", "wanted"),
    [
        ("The shirt is red. The pants are blue.", "What can be seen?", None),
        ("The shirt is red. The pants are blue.", "What color is the shirt?", "A"),
        ("The shirt is red and the pants are blue.", "What color are the pants?", "B"),
        ("The man in the red coat holds a blue bag.", "What is the color of the man's bag?", "B"),
        ("The shirt is red. The pants are blue.", "What color are the pants?", "B"),
        ("It is red. Actually, it is blue.", "", "B"),
        ("The lamp is red. So the sign is blue.", "", "B"),
    ],
)
def test_a_statement_about_something_else_is_no_answer(text: str, question: str, wanted: str | None) -> None:
    assert letter(text, COLOURS, question) == wanted


@pytest.mark.parametrize(
    ("text", "question", "wanted"),
    [
        ("Nope, he isn't.", "Is the man wearing a hat?", "B"),
        ("👍 Yes!", "Is the man wearing a hat?", "A"),
        ("The man isn't wearing a hat.", "Is the man wearing a hat?", "B"),
        ("The man is wearing a hat.", "Is the man wearing a hat?", "A"),
        ("The dog sleeps.", "Is the man wearing a hat?", None),
        ("He might be.", "Is the man wearing a hat?", None),
    ],
)
def test_a_yes_or_no_question_is_answered_by_a_statement(text: str, question: str, wanted: str | None) -> None:
    assert letter(text, {"A": "Yes", "B": "No"}, question) == wanted


def test_a_question_for_what_is_missing_is_answered_by_a_denial() -> None:
    options = {"A": "a chair", "B": "a table", "C": "a lamp"}
    text = "There is a chair and a table. The lamp is not in the image."
    assert letter(text, options, "Which object is NOT in the image?") == "C"
    assert letter("The last one.", options) == "C"


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


def test_what_is_said_of_something_near_the_subject_is_not_the_answer() -> None:
    text = "The house next to the car is red. Blue was seen, too, and it is not the sky."
    assert letter(text, COLOURS, "What color is the car next to the house?") is None


@settings(max_examples=cases(100), deadline=None)
@given(st.permutations("ABCD"), st.sampled_from(["anti", "pre", "non"]))
def test_a_letter_in_a_compound_is_no_option(order: list[str], word: str) -> None:
    one, other, own, _ = order
    text = f"Since neither {word}-{one} nor {word}-{other} reacts with it, it can only be {own}."
    assert letter(text, {letter: letter for letter in "ABCD"}) == own
    assert letter(f"It must be option-{own}.", COLOURS) == own


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


@settings(max_examples=cases(50), deadline=None)
@given(st.sampled_from(["so", "thus", "therefore", "hence"]), st.sampled_from(["yes", "no"]))
def test_yes_or_no_after_its_reason_is_the_answer(word: str, said: str) -> None:
    text = f"The light is red, {word} {said}, they may leave it like this."
    assert letter(text, {"A": "Yes", "B": "No"}, "Is the lamp on?") == ("A" if said == "yes" else "B")


BAGS = {letter: f"The color of the bag is {colour}." for letter, colour in COLOURS.items()}
SIDES = {letter: f"The dog is on the {side} side of the bench." for letter, side in (("A", "left"), ("B", "right"))}


@pytest.mark.parametrize(
    ("text", "options", "wanted"),
    [
        ("Blue.", BAGS, "B"),
        ("A small blue bag can be seen.", BAGS, "B"),
        ("The bag is not red but blue.", BAGS, "B"),
        ("The bag is black.", BAGS, None),
        ("right", SIDES, "B"),
        ("The dog is not on the left side.", SIDES, "B"),
        ("There is no dog on the left side.", SIDES, None),
        ("inside", {"A": "in front of the box", "B": "inside the box"}, "B"),
        ("the box", {"A": "in front of the box", "B": "inside the box"}, None),
        ("More than 5", {"A": "4", "B": "5"}, None),
    ],
)
def test_what_only_one_option_has_is_enough(text: str, options: dict[str, str], wanted: str | None) -> None:
    assert letter(text, options, "What is the color of the bag?" if options is BAGS else "") == wanted


@pytest.mark.parametrize("options", [SIDES, {"A": "left", "B": "right"}])
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_relation_of_the_second_thing_to_the_first_is_another_relation(options: dict[str, str], side: str) -> None:
    question = "Is the dog on the left or right side of the bench?"
    own = "A" if side == "left" else "B"
    assert letter(f"The dog is to the {side} of the brown bench.", options, question) == own
    assert letter(f"To the {side} of the bench is the dog.", options, question) == own
    assert letter(f"The bench is to the {side} of the dog.", options, question) is None
    assert letter(f"To the {side} of the dog is the bench.", options, question) is None
    if options is SIDES:
        assert letter(f"The bench is on the {side} side of the dog.", options, "Where is the dog?") is None


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Red. Sorry, I meant blue.", "B"),
        ("The answer: red? No: blue.", "B"),
        ("The answer cannot be A, as there is no thing in red.", None),
        ("If it was D there would be straw.", None),
        ("A: Let us think. The sky has that colour. The answer is (B).", "B"),
        ("red\nblue\ngreen\nyellow", None),
        ("- [ ] A. red\n- [x] B. blue\n- [ ] C. green\n- [ ] D. yellow", "B"),
    ],
)
def test_what_is_corrected_asked_supposed_or_listed_is_not_the_answer(text: str, wanted: str | None) -> None:
    assert letter(text, COLOURS) == wanted


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Two apples are on the left and one on the right. In total three.", "C"),
        ("There are two bowls with 3 apples each, so the total is 6.", "D"),
        ("There are 3 apples in total: 2 on the left, 1 on the right.", "C"),
    ],
)
def test_a_total_counts_and_its_parts_do_not(text: str, wanted: str) -> None:
    assert letter(text, dict(zip("ABCD", "1236", strict=True)), "How many apples are there?") == wanted
