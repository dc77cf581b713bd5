# ruff: noqa: RUF001 - replies in many scripts
"""Wordings of replies, and what an attentive person reads in each; written down before the reader saw them.

Refusals, forced guesses, eliminations, lists, loops that are cut off, corrections and traps, in a dozen languages.
"""

import pytest

from grader.scorers.choice.careful.read import read_choice

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}
ANIMALS = {"A": "cat", "B": "dog", "C": "bird", "D": "horse"}
SIDES = {"A": "right", "B": "left"}
PLACES = {"A": "left of the bicycle", "B": "right of the bicycle", "C": "above the bicycle"}
COUNTS = {"A": "1", "B": "2", "C": "3", "D": "4"}
NUMBERS = {"A": "12", "B": "15", "C": "18", "D": "21"}
CHINESE = {"A": "红色", "B": "蓝色", "C": "绿色", "D": "黄色"}
NONE, AMBIGUOUS, EITHER = "no_answer", "ambiguous", "no letter"
"""`EITHER`: no letter is read, and a person may call it no answer or ambiguous."""

FORMULAS = {"A": "$x^2$", "B": "$a+b$", "C": "$C$", "D": "$D_1$"}
RATES = {letter: rf"{rate} $\mathrm{{kg}}/\mathrm{{s}}$" for letter, rate in zip("ABCD", (12, 20, 15, 10), strict=True)}
WORDINGS = [
    # refusals
    ("There is no umbrella in this image.", COLOURS, NONE),
    ("None of the options match what I see; the car looks purple.", COLOURS, NONE),
    ("I apologize, but I cannot determine whether it is red or blue.", COLOURS, NONE),
    ("Without seeing the image, it could be any of A, B, C or D.", COLOURS, EITHER),
    ("I can't view pictures. The options A, B, C and D all describe plausible colours.", COLOURS, NONE),
    ("Neither the left nor the right side shows the object.", SIDES, NONE),
    ("I will not guess.", COLOURS, NONE),
    ("N/A", COLOURS, NONE),
    ("E", COLOURS, NONE),
    ("图片中没有这个物体，无法回答。", CHINESE, NONE),
    ("申し訳ありませんが、画像からは判断できません。", COLOURS, NONE),
    ("죄송하지만 이미지를 볼 수 없습니다.", COLOURS, NONE),
    ("Das lässt sich anhand des Bildes nicht sagen.", COLOURS, NONE),
    ("Je ne peux pas déterminer la couleur à partir de l'image.", COLOURS, NONE),
    ("No puedo determinar el color a partir de la imagen.", COLOURS, NONE),
    ("Не могу определить цвет по изображению.", COLOURS, NONE),
    ("لا أستطيع تحديد اللون من الصورة.", COLOURS, NONE),
    ("मैं चित्र से रंग नहीं बता सकता।", COLOURS, NONE),
    # forced guesses
    ("The answer cannot be determined with certainty. However, blue seems plausible, so I'd answer B.", COLOURS, "B"),
    ("Although it is hard to see I will choose:\n\n(B)", COLOURS, "B"),
    ("While nothing is certain I will not choose:\n\nB", COLOURS, EITHER),
    ("No scarf is visible to me. Since a choice is required, I select D.", COLOURS, "D"),
    ("Honestly, a coin toss between A and B; I'll say B.", COLOURS, "B"),
    ("I'm leaning towards C, but A is also possible.", COLOURS, "C"),
    ("I'm just guessing here: (A)", COLOURS, "A"),
    ("Hard to say, B maybe?", COLOURS, EITHER),
    ("图片比较模糊，如果一定要选，我会选择：\n\nB", CHINESE, "B"),
    ("はっきりとは見えませんが、おそらくCです。", COLOURS, "C"),
    ("잘 보이지 않지만, 추측하자면 A입니다.", COLOURS, "A"),
    ("Schwer zu erkennen, aber ich würde auf B tippen.", COLOURS, "B"),
    ("C'est difficile à dire, mais je dirais C.", COLOURS, "C"),
    ("No estoy seguro, pero diría que es la D.", COLOURS, "D"),
    ("Трудно сказать, но я думаю, что это B.", COLOURS, "B"),
    ("لست متأكداً ولكن سأختار B", COLOURS, "B"),
    ("मुझे पक्का नहीं पता, लेकिन मेरा उत्तर B है।", COLOURS, "B"),
    # eliminations
    ("A? No. B? Yes. C? No. D? No.", COLOURS, "B"),
    ("Not A. Not B. Not D.", COLOURS, "C"),
    ("Red - no. Blue - no. Green - yes. Yellow - no.", COLOURS, "C"),
    ("A: wrong colour. B: wrong colour. D: wrong colour. C remains.", COLOURS, "C"),
    ("(A) is incorrect. (B) is incorrect. (C) is incorrect.", COLOURS, "D"),
    ("We can rule out A and B immediately. Between C and D, the hue rules out C.", COLOURS, "D"),
    ("It isn't red, it isn't blue, and it isn't yellow.", COLOURS, "C"),
    ("Everything except B is wrong.", COLOURS, "B"),
    ("Only D fits.", COLOURS, "D"),
    ("Not A, not B. Either C or D.", COLOURS, AMBIGUOUS),
    ("| Option | Verdict |\n|---|---|\n| A | no |\n| B | no |\n| C | yes |\n| D | no |", COLOURS, "C"),
    ("A是错的，B是错的，D也是错的。", CHINESE, "C"),
    ("Aは違う。Bも違う。Dも違う。", COLOURS, "C"),
    ("A는 아니다. B도 아니다. C도 아니다.", COLOURS, "D"),
    ("A nein, B nein, C ja, D nein.", COLOURS, "C"),
    ("A? Non. B? Oui.", SIDES, "B"),
    ("No es A ni B, así que la respuesta es C.", COLOURS, "C"),
    ("A? Нет. B? Да.", SIDES, "B"),
    # several answers
    ("1. cat\n2. bird", ANIMALS, AMBIGUOUS),
    ("There is a cat and a bird.", ANIMALS, AMBIGUOUS),
    ("Both B and C are plausible.", COLOURS, AMBIGUOUS),
    ("It's either B or C.", COLOURS, AMBIGUOUS),
    ("Both are correct.", SIDES, NONE),
    ("All of the above.", COLOURS, AMBIGUOUS),
    ("All of the options are wrong.", COLOURS, NONE),
    ("All of the above.", {"A": "red", "B": "All of the above"}, "B"),
    ("1. red\n2. blue\n3. green\n4. yellow", COLOURS, EITHER),
    ("1. The car is blue.\n2. The tree is green.", COLOURS, EITHER),
    ("(A) red, although it could be (B) blue", COLOURS, "A"),
    ("A and B are similar; of A and B, A is better.", COLOURS, "A"),
    ('{"choice": ["A", "B"]}', COLOURS, AMBIGUOUS),
    ('{"answer": ["B", "because the scarf is blue"]}', COLOURS, "B"),
    ("AとCのどちらかです。", COLOURS, AMBIGUOUS),
    ("A 또는 B", COLOURS, AMBIGUOUS),
    ("Sowohl A als auch B sind falsch.", COLOURS, NONE),
    ("Soit A, soit B.", COLOURS, AMBIGUOUS),
    ("A или B", COLOURS, AMBIGUOUS),
    ("A ve C doğru.", COLOURS, AMBIGUOUS),
    ("Cả A và B đều đúng.", COLOURS, AMBIGUOUS),
    ("Zarówno A, jak i B są poprawne.", COLOURS, AMBIGUOUS),
    # loops and texts that are cut off
    ("The answer is A. Hmm, let me see. The answer is B. Hmm, let me see. The answer is A. Hmm, let", COLOURS, NONE),
    ("It is A because it is red. But B is blue. It is A because it is red. But B is blue. It is", COLOURS, NONE),
    ("I think it is on the left. No, on the right. No, on the left. No, on the right. No, on the", SIDES, NONE),
    ("答案是A。等等，应该是B。等等，应该是A。等等，应该是B。等等，应该", CHINESE, NONE),
    ("<think>A or B? A or B? A or B? A or", COLOURS, NONE),
    ("red blue red blue red blue red blue red blue red", COLOURS, AMBIGUOUS),
    ("Final answer: A\nFinal answer: A\nFinal answer: A\nFinal", COLOURS, "A"),
    ("Option A says red. Option B says blue. Option C says green. Option D says", COLOURS, NONE),
    (
        "To work out the number of legs, we count 3 stools with 4 legs each, which gives 12, and we add the ta",
        NUMBERS,
        NONE,
    ),
    # corrections
    ("A. Actually, B.", COLOURS, "B"),
    ("I first thought B, then C, but it's D.", COLOURS, "D"),
    ("Answer: B\n\nCorrection: C", COLOURS, "C"),
    ("B -> C", COLOURS, EITHER),
    ("The answer is B. Wait. Yes, B.", COLOURS, "B"),
    ("The answer is A.\n\nWait, I misread the picture. The sign is green, so it is C.", COLOURS, "C"),
    ("我一开始以为是A，但其实是D。", CHINESE, "D"),
    ("最初はAだと思いましたが、正解はBです。", COLOURS, "B"),
    ("처음에는 A라고 생각했지만 답은 C입니다.", COLOURS, "C"),
    ("Antwort: A. Korrektur: B.", COLOURS, "B"),
    ("D'abord j'ai cru A, mais c'est C.", COLOURS, "C"),
    ("La respuesta es A. No, perdón, es B.", COLOURS, "B"),
    ("Сначала я подумал A, но правильный ответ B.", COLOURS, "B"),
    ("في البداية ظننت A لكن الجواب هو C", COLOURS, "C"),
    # declarations and texts of options
    ("Option 2", COLOURS, "B"),
    ("~~A~~ B", COLOURS, "B"),
    ("B\n\nB\n\nB\n\nB", COLOURS, "B"),
    ("<think>A looks right.</think>\n<answer>\nC. green\n</answer>", COLOURS, "C"),
    ("A closer look shows that the car is green.", COLOURS, "C"),
    ("The label on the box says 'B', but the box itself is yellow.", COLOURS, "D"),
    ("Vitamin C is shown; the bottle is green.", COLOURS, "C"),
    ("**Answer: C** — the sign is green, not red (A).", COLOURS, "C"),
    ("Thus we obtain $\\boxed{\\text{(B)}}$.", NUMBERS, "B"),
    ("\\[ 3 \\times 5 = 15 \\]\nHence the answer is $15$.", NUMBERS, "B"),
    ("The dog is to the right of the bicycle.", PLACES, "B"),
    ("Eighteen", NUMBERS, "C"),
    ("There are three dogs, so the answer is C.", COUNTS, "C"),
    ("蓝色", CHINESE, "B"),
    # markup, boxes and formulas
    ("<b>C</b>", COLOURS, "C"),
    ("Option <b>A</b> is wrong, so <i>C</i>.", COLOURS, "C"),
    ("<|begin_of_box|>C<|end_of_box|>", COLOURS, "C"),
    ("Therefore $\\mathrm{C}$ is the answer", FORMULAS, "C"),
    ("$A + B = C$ so $D$", FORMULAS, "D"),
    ("Let me think about it for a while.\nThe final answer: 20 $\\mathrm{kg}/\\mathrm{s}$", RATES, "B"),
    ("選択肢Dが最も適切です。", COLOURS, "D"),
    # confidence
    ("Answer: B (confidence: 85%)", COLOURS, "B"),
    ("A: 10%, B: 5%, C: 80%, D: 5%", COLOURS, "C"),
    ("A - 50%\nB - 50%", COLOURS, AMBIGUOUS),
    ("A: 10%, B: 20%", {"A": "10%", "B": "20%"}, NONE),
]
MISSED = [
    ("Unclear, but most likely green.", COLOURS, "C"),
    ("C (I first wrote D by mistake)", COLOURS, "C"),
    ("A: 10%, B: 5%, C: 80%, D: 5%. So the answer is C.", COLOURS, "C"),
    ("A or B? Of A and B, B.", COLOURS, "B"),
]
"""What a person reads and the reader does not: it then reads no letter, never another one."""


@pytest.mark.parametrize(("text", "options", "wanted"), WORDINGS)
def test_a_wording_is_read_as_a_person_reads_it(text: str, options: dict[str, str], wanted: str) -> None:
    reading = read_choice(text, options)
    if wanted == EITHER:
        assert reading.letter is None
    else:
        assert (reading.letter or reading.outcome) == wanted


@pytest.mark.parametrize(("text", "options", "wanted"), MISSED)
def test_where_a_wording_is_not_understood_no_letter_is_read(text: str, options: dict[str, str], wanted: str) -> None:
    assert read_choice(text, options).letter in (None, wanted)
