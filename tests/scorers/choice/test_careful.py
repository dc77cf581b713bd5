# ruff: noqa: RUF001 - replies in foreign scripts and look-alike letters
"""The careful reader concludes what an attentive person would, and never guesses."""

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from grader.scorers.choice.careful import read_choice
from tests.conftest import cases
from tests.tables import each

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}
ANIMALS = {"A": "cat", "B": "dog", "C": "bird", "D": "horse"}
SIDES = {"A": "right", "B": "left"}
YES_NO = {"A": "Yes", "B": "No"}
COUNTS = {"A": "1", "B": "2", "C": "3", "D": "4"}
CHINESE = {"A": "红色", "B": "蓝色", "C": "绿色", "D": "黄色"}
SENTENCES = {
    "A": "A man is opening the door.",
    "B": "A man is closing the window.",
    "C": "A man is reading a book.",
    "D": "A man is riding a bicycle.",
}
POINTS = {"A": "Point B", "B": "Point C", "C": "Point D", "D": "Point A"}
SWAPPED = {"A": "B", "B": "A", "C": "D", "D": "C"}
GENOTYPES = {"A": "Aa", "B": "aa", "C": "AA"}
MANY = {letter: f"thing number {letter.lower()}x" for letter in "ABCDEFGHIJ"}
UNTEXTED = dict.fromkeys("ABCD", "")
RATES = {letter: rf"{rate} $\mathrm{{kg}}/\mathrm{{s}}$" for letter, rate in zip("ABCD", (12, 20, 15, 10), strict=True)}

NONE, AMBIGUOUS = "no_answer", "ambiguous"


def concluded(text: str, options: dict[str, str], question: str = "") -> str:
    """Return the letter read, or the outcome where there is none."""
    reading = read_choice(text, options, question)
    assert (reading.letter is not None) == (reading.outcome == "letter")
    if reading.span is not None:
        assert 0 <= reading.span[0] < reading.span[1] <= len(text)
    return reading.letter or reading.outcome


@each(
    "text",
    [
        *("B", "b", "(B)", "(b)", "B.", "b)", "[B]", "B?", "'B'", "`B`", "_B_", "**B**", "B\nB", "B, B, B", "B</s>"),
        *("B. blue", "B: blue", "B - blue", "B.blue", "(B) blue.", "**B. blue**", "B (blue)", "blue (B)", "B blue"),
        *("Ｂ", "（Ｂ）", "Ⓑ", "𝐁", "【B】", "「B」", "В", "Β", "\ufeffB\u200b", "Ответ: В"),
        *("Option B", "option b is correct", "Option 2", "the second option", "Answer: b", "Ans - B", "ANSWER IS B"),
        *("$\\boxed{B}$", "\\boxed{\\text{(B) blue}}", "\\boxed{blue}", "\\[\\boxed{\\mathrm{B}}\\]", "\\text{B}"),
        *("<answer>B</answer>", "<answer>\nB. blue\n</answer>", "<answer>B", "<conclusion>b</conclusion>"),
        *("<letter>B</letter>", "answer = 'B'", "B (very sure)"),
        *("```\nB\n```", "```text\nB\n```", "```B```", "```B. blue```", "The answer is ```B```"),
        *('{"answer": "B"}', "{'choice': 'B'}", '```json\n{"reason": "A is red", "answer": "B. blue"}\n```'),
        *("<think>A? No.</think>B", "A? hmm </think>\nB", "◁think▷A◁/think▷B", "<|begin_of_box|>B<|end_of_box|>"),
        "<|channel|>analysis<|message|>A?<|end|><|start|>assistant<|channel|>final<|message|>B",
        "B<|im_end|>\n<|im_start|>user\nWhy not A?",
        *("### Final Answer:\n\n**(B)**", "**Answer**: **B**", "Answer:\n\nB. blue", "=> B"),
        *("<b>B</b>", "~~A~~ B", "B\n\nB\n\nB", "Blue", "2", "It is blue.", "Blue, not red.", "The answer is blue."),
    ],
)
def test_forms_of_an_answer(text: str) -> None:
    assert concluded(text, COLOURS) == "B"


@each(
    "text",
    [
        *("The answer is B.", "The correct answer, going by the picture, is option (b) blue", "So B.", "It's B"),
        *("Because of the light, B.", "I'd go with B", "Must be B", "My vote goes to B", "C'est B"),
        *("B is my answer; A is the distractor", "B, since A is too dark", "B. because A is too dark"),
        *("not A but B", "A is wrong, so B", "It can't be A. It must be B.", "A ✗ B ✓ C ✗ D ✗", "Only B fits."),
        *("A: no\nB: yes\nC: no\nD: no", "A) Incorrect\nB) Correct\nC) Incorrect"),
        *("While A looks plausible, B is the better choice.", "A is a good option, but B is better."),
        *("The choice between A and B is hard, but B.", "If it were night, A would do. It is day, so B."),
        "I cannot be sure, but my best guess is (B).",
        "Options: (A) red (B) blue (C) green (D) yellow. The answer is (B) blue.",
        "A. red\nB. blue\nC. green\nD. yellow\nB",
        "Looking closely, the sign by the red wall is small. Therefore, the sign is blue.",
        "Although it is hard to see I will choose:\n\n(B)",
        *("I'm leaning towards B, but A is also possible.", "Honestly, a coin toss between A and B; I'll say B."),
        *(
            "A is tempting but B is the best answer.",
            "The answer is B because A and C match the wall.",
            "B\n\nC is darker.",
        ),
        *("Answer: B (confidence: 85%)", "Thus we obtain $\\boxed{\\text{(B)}}$.", "I would pick the second option."),
    ],
)
def test_declarations_and_conclusions_in_english(text: str) -> None:
    assert concluded(text, COLOURS) == "B"


@each(
    "text",
    [
        *("答案是B", "答案：Ｂ", "故选：B", "不是A，是B", "A错误，B正确", "【答案】B", "蓝色"),
        *("这是一个 A 型题，选 B", "图中是蓝色的", "答案是A。不对，应该是B。", "如果一定要选，我会选择：\n\nB"),
        *("答えはBです", "Bが正解です", "AではなくB", "Bを選びます", "選択肢Bが最も適切です。"),
        "最初はAだと思いましたが、正解はBです。",
        *("정답은 B입니다", "B가 정답입니다.", "정답: B", "처음에는 A라고 생각했지만 답은 B입니다."),
        *("Die Antwort lautet B", "Nicht A, sondern B.", "B ist richtig."),
        *("Die Antwort lautet daher B.", "La respuesta es por lo tanto la B.", "La risposta è quindi B."),
        *("La bonne réponse est la B", "Réponse : B", "La réponse n'est pas A mais B"),
        *("La respuesta correcta es la B", "Creo que es B", "La opción B es correcta"),
        *("La risposta corretta è la B", "A resposta correta é a letra B", "Resposta: B"),
        *("Правильный ответ — B", "Вариант B верный", "Odpowiedź: B", "но я думаю, что это B."),
        *("Het antwoord is B", "Đáp án là B", "Jawabannya adalah B", "الإجابة هي B"),
        *("सही उत्तर B है", "คำตอบคือ B", "Svaret är B", "Vastaus on B", "A helyes válasz: B"),
        *("Сначала я подумал A, но правильный ответ B.", "D'abord j'ai cru A, mais c'est B."),
    ],
)
def test_declarations_in_other_languages(text: str) -> None:
    assert concluded(text, CHINESE) == "B"


@each(
    ("text", "options", "wanted"),
    [
        ("A dog is in the picture", ANIMALS, "B"),
        ("The answer is I.", MANY, "I"),
        ("I am looking at it", MANY, NONE),
        ("dark red", {"A": "red", "B": "dark red"}, "B"),
        ("0021", COLOURS, NONE),
        ("There are 3 dogs", COUNTS, "C"),
        ("There are three dogs", COUNTS, "C"),
        ("one of them is red", COUNTS, NONE),
        ("There are 2-3 cats.", COUNTS, NONE),
        ("There are 2.5 cats.", COUNTS, NONE),
        ("12% of 25 = 0.12 × 25 = 3", COUNTS, "C"),
        ("The answer is minus 2.", COUNTS, NONE),
        ("See figure 3. The number is 2.", COUNTS, "B"),
        ("-5", {"A": "5", "B": "-5"}, "B"),
        ("Point B", POINTS, "A"),
        ("(A) Point B", POINTS, "A"),
        ("(B)", SWAPPED, "B"),
        ("A. B", SWAPPED, "A"),
        ("The correct view is option B.\n\nAnswer: A", SWAPPED, "A"),
        ("The formula is Q.", {"A": "P", "B": "Q", "C": "R"}, "B"),
        ("Both A and B", {"A": "x", "B": "y", "C": "Both A and B"}, "C"),
        ("I see zinc here.", {"A": "iron", "B": "lead", "C": "Both A and B", "D": "zinc"}, "D"),
        ("I see iron here.", {"A": "iron", "B": "lead", "C": "Both A and B", "D": "zinc"}, NONE),
        ("None of the above", {"A": "x", "B": "y", "C": "None of the above"}, "C"),
        ("None of them fits.", {"A": "x", "B": "y", "C": "None of the above"}, "C"),
        ("A. x\nB. y\nC. None of the above\n\nIt is a bird.", {"A": "x", "B": "y", "C": "None of the above"}, NONE),
        ("N/A", {"A": "nan", "B": "N/A"}, "B"),
        ("The dog is to the left of the cat", SIDES, "B"),
        ("A. right\nB. left", SIDES, NONE),
        ("A. right\nB. left\n\nB", SIDES, "B"),
        ("A. Yes\nB. No", YES_NO, NONE),
        ("❌ A) right\n✅ B) left", SIDES, "B"),
        ("A) right\nB) left ✓", SIDES, "B"),
        ("Yes, the car is red.", YES_NO, "A"),
        ("Nope, not at all.", YES_NO, "B"),
        ("Not sure", YES_NO, NONE),
        ("A man is not riding a bicycle.", SENTENCES, NONE),
        ("The answer is E.", COLOURS, NONE),
        ("B. whatever it says", UNTEXTED, "B"),
        ("F. Fabaceae", {"E": "Rosaceae", "F": "Fabacea"}, "F"),
        ("AA", GENOTYPES, "C"),
        ("The answer is AA.", GENOTYPES, "C"),
        ("Let me think.\nThe final answer: 20 $\\mathrm{kg}/\\mathrm{s}$", RATES, "B"),
        ("It could be a cat or a dog.", ANIMALS, NONE),
        ("It is not a dog or a horse. It is a bird.", ANIMALS, "C"),
        ("The cat is a mammal (no feathers on B).", ANIMALS, "A"),
        ("21: divisible by 3.\n29: prime.\n33: divisible by 3.", {"A": "21", "B": "29", "C": "33"}, NONE),
        ("18: 18/4 = 4.5, no.\n36: 36/4 = 9, yes.\n44: 44/6, no.", {"A": "18", "B": "36", "C": "44"}, NONE),
        ("They don't seem to be cold, so it is probably red.", COLOURS, "A"),
        ("Yes, there is one.", {**YES_NO, "C": "Cannot be determined"}, "A"),
        ("#### Solution\n$x = 5$\n\n#### **Final Answer**\n**B**", COLOURS, "B"),
        ("Charlotte Bronte", {"A": "Emily Brontë", "B": "Charlotte Brontë"}, "B"),
    ],
)
def test_options_decide_what_words_mean(text: str, options: dict[str, str], wanted: str) -> None:
    assert concluded(text, options) == wanted


@each(
    "text",
    ["Cat. Option A does not bark.", "The cat is the one, because option A does not bark.", "The cat does not bark."],
)
def test_of_a_question_for_what_is_not_so_the_denied_option_is_the_answer(text: str) -> None:
    assert concluded(text, ANIMALS, "Which of these does not bark?") == "A"


@each(
    ("question", "wanted"),
    [
        ("The lamp doesn't work. What is broken?", "B"),
        ('Who says "It is not me"? Name the animal.', "B"),
        ("Which animal is not broken? The lamp works.", "A"),
        ("Name the animal that is not broken.", "A"),
    ],
)
def test_only_what_is_asked_can_be_asked_for_what_is_not_so(question: str, wanted: str) -> None:
    assert concluded("It is not the cat but the dog.", ANIMALS, question) == wanted


@each("first", ["B.", "B)", "**B.**", "B:", "Option B.", "B"])
def test_a_letter_before_a_list_of_all_options_is_the_answer(first: str) -> None:
    options = "\n".join(
        f"{letter}. {text} {'is a colour that can be seen here or not ' * 5}" for letter, text in COLOURS.items()
    )
    assert concluded(f"{first}\n\n{options}", COLOURS) == "B"


@each(
    "text",
    [
        *("", " \n", "?", "N/A", "None", "None of the above", "Purple", "I don't know", "Unable to determine."),
        *("I can't help with that.", "无法确定", "Je ne sais pas", "Not A. Not B. Not D.", "Sky is red? No."),
        *("<think>First, consider option A", "<think>B</think>", "<think>the answer is B", "\\boxed{purple}"),
        *("A. red\nB. blue\nC. green\nD. yellow", "<answer></answer>"),
        *("Vitamin D", "Plan B", "D'accord", "T-shirt", "B-52", "Answer:", "The correct answer is (", "Is it A?"),
        "Step 1: look at the image.\nStep 2: find the car.\nStep 3: the colour of the",
        "The answer is B. Actually, that is wrong.",
        "I cannot identify a blue truck in this picture.",
        "I apologize, but I cannot determine whether it is red or blue.",
        "The answer cannot be A, as there is no thing in red.",
        "Failed to obtain answer via API.",
        "The answer is not A.",
        *("If it was D there would be straw.", "If the car is red, the answer would be A."),
        *("I'd say B. Hmm, wait.", "The answer is B. Actually, on second thought, it could be D."),
    ],
)
def test_no_answer(text: str) -> None:
    assert concluded(text, COLOURS) == NONE


@each(
    "text",
    [
        *("A and B", "A/B", "A or B", "A, B", "ABCD", "A+B", "A和B", "A oder B", '{"choice": ["A", "B"]}'),
        *("A. blue", "The answer is A, blue.", "red (B)", "B (red)", "B is red"),
        *("The answer is A. The answer is B.", "Answer: A\nAnswer: B", "\\boxed{A} or \\boxed{B}", "A > B"),
        *('{"choice": "A or B"}', "<answer>A</answer><answer>B</answer>", "(A) red (B) blue (C) green (D) yellow"),
    ],
)
def test_ambiguous(text: str) -> None:
    assert concluded(text, COLOURS) == AMBIGUOUS


@each(
    "text",
    [
        "Let me check the options:\n- (A) right: the car is not there\n- (B) ",
        "Looking at the options:\n- (A) right\n- (B) left\n\nThe car, as far as I can see, would be",
        "Step 1: Find the car. It may be option A if it is near the wall.\n\nStep 2: Look again.\n\nStep 3: It is c",
        "Option A says right. Option B says left, and the car",
    ],
)
def test_a_chain_of_thought_that_never_concludes_has_no_letter(text: str) -> None:
    assert concluded(text, SIDES) in (NONE, AMBIGUOUS)


@each("text", ["####x" * 300, "#### x \\boxed{y " * 300, "<answer>x [答案]" * 300])
def test_forms_inside_of_forms_neither_fail_nor_hang(text: str) -> None:
    assert read_choice(text, COLOURS).outcome == "no_answer"


def test_the_span_is_of_the_raw_prediction() -> None:
    text = "<think>A?</think>\n**Answer:** （Ｂ） blue"
    reading = read_choice(text, COLOURS)
    assert (reading.letter, reading.rule) == ("B", "declaration")
    start, end = reading.span or (0, 0)
    assert text[start:end] == "（Ｂ） blue"


SURE_STYLES = (
    *("{L}", "{l}", "({L})", "({l})", "{L}.", "{L})", "[{L}]", "**{L}**", "`{L}`", "'{L}'", "{L}!", "{L}\n{L}"),
    *("{L}. {T}", "({L}) {T}", "{L}: {T}", "**{L}. {T}**", "Option {L}", "option {l}", "Option {L}: {T}"),
    *("Answer: {L}", "Answer: **{L}**", "ANSWER: {L}", "answer: {l}", "Final answer: ({L})", "### Answer\n\n{L}"),
    *("The answer is {L}.", "The correct answer is **({L})** {T}.", "the answer is option {L}"),
    *("\\boxed{{{L}}}", "$\\boxed{{\\text{{{L}}}}}$", "<answer>{L}</answer>", "<answer>\n({L}) {T}\n</answer>"),
    *('{{"answer": "{L}"}}', '```json\n{{"choice": "{L}"}}\n```', "<think>Is it {X}? No.</think>{L}"),
    *("Based on the picture, the correct option is {L}", "I would choose {L}.", "It must be {L}.", "Therefore, ({L})."),
    *("{L} is correct.", "({L}) is the correct answer.", "not {X} but {L}", "{X} is wrong, so {L}.", "{L}, not {X}."),
    *("The answer is {X}. Wait, that is wrong. The answer is {L}.", "At first I thought {X}, but the answer is {L}."),
    *("The answer is definitely {L}, not {X}.", "答案是{L}", "故选{L}。", "不是{X}，而是{L}。", "答えは{L}です"),
    *("정답은 {L}입니다", "Die Antwort ist {L}.", "La réponse est {L}.", "La respuesta es {L}.", "Ответ: {L}"),
)
RISKY_STYLES = (
    *("{T}", "{T}.", "The answer is {T}.", "It is {T}.", "I see {T} here", "the {T}", "{L} {T}", "{T} ({L})"),
    *("Looking at it, {T} fits.\n\n{L}", "{L}, because {X} is not right", "Not {X}.", "{L} - {T}, not {Y}"),
    *("The options include {Y}, but I see {T}. So {L}.", "({X}) {Y}: no.\n({L}) {T}: yes."),
)
WORDS = (
    *("red", "blue", "dog", "cat", "dark red", "Point B", "B", "A", "no", "yes", "none", "3", "13", "left", "right"),
    *("the right side", "I", "an apple", "not visible", "C major", "红色", "是", "vitamin D", "d", "1.5", "x + y"),
    *("The man is riding a horse.", "Both A and B", "None of the above", "cannot be determined", "", "*", "A b c"),
)
TAME = ("silver car", "wooden table", "green bottle", "old church", "tall tower", "wet road", "paper kite", "iron gate")


@st.composite
def _question(draw: st.DrawFn, words: tuple[str, ...]) -> tuple[dict[str, str], str, str]:
    texts = draw(st.lists(st.sampled_from(words), min_size=2, max_size=6, unique=True))
    options = dict(zip("ABCDEF", texts, strict=False))
    letter = draw(st.sampled_from(sorted(options)))
    return options, letter, draw(st.sampled_from(sorted(set(options) - {letter})))


def _reply(style: str, options: dict[str, str], letter: str, other: str) -> str:
    return style.format(L=letter, l=letter.lower(), X=other, T=options[letter], Y=options[other])


@settings(max_examples=cases(600))
@given(_question(TAME), st.sampled_from(SURE_STYLES))
def test_every_style_is_read_where_the_options_are_plain(question: tuple[dict[str, str], str, str], style: str) -> None:
    options, letter, other = question
    assert concluded(_reply(style, options, letter, other), options) == letter


@settings(max_examples=cases(1200))
@given(_question(WORDS), st.sampled_from(SURE_STYLES + RISKY_STYLES))
@example(({"A": "B", "B": "A"}, "A", "B"), "{L}. {T}")
@example(({"A": "red", "B": "A"}, "A", "B"), "{L}\n{L}")
@example(({"A": "red", "B": "是", "C": "B"}, "B", "A"), "答案是{L}")
@example(({"A": "red", "B": "None of the above"}, "A", "B"), "{L} - {T}, not {Y}")
def test_whatever_the_options_no_other_letter_is_read(question: tuple[dict[str, str], str, str], style: str) -> None:
    options, letter, other = question
    # A letter is a label, also where it is another option's whole text.
    assume(options[letter].upper() not in options.keys() - {letter})
    text = _reply(style, options, letter, other)
    reading = read_choice(text, options)
    assert reading.letter in (letter, None), (text, reading)
    if reading.letter is None:
        assert reading.rule


@settings(max_examples=cases(400))
@given(st.text(max_size=300), _question(WORDS))
def test_any_text_is_read_without_error(text: str, question: tuple[dict[str, str], str, str]) -> None:
    concluded(text, question[0])


RULES = {
    "declaration": "The answer is (B).",
    "conclusion": "It must be B.",
    "own_line": "Let me look at the colour.\n\nB",
    "leading": "B. The door has that colour.",
    "bare_letter": "(B)",
    "option_text": "The door is blue.",
    "ordinal": "2",
    "boxed": r"$\boxed{B}$",
    "answer_tag": "<answer>B</answer>",
    "json": '{"answer": "B"}',
    "several_answers": "The answer is A or B.",
    "letter_and_text_disagree": "B. red",
    "outside_options": "The answer is F.",
    "refusal": "I cannot determine the colour.",
    "mark": "The door is blue.\n#### B",
    "bracket": "The door is open.\n\n[B]",
    "unclosed_reasoning": "<think>It could be B",
    "nothing_read": "The door is purple.",
}


@each(("rule", "reply"), RULES.items())
def test_a_reading_names_the_rule_that_decided(rule: str, reply: str) -> None:
    assert read_choice(reply, COLOURS, "").rule == rule


def test_a_yes_or_no_in_other_words_is_read_by_a_rule_of_its_own() -> None:
    assert read_choice("Nope, not at all.", YES_NO, "Is the door open?").rule == "yes_or_no"
