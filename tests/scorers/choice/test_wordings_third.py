# ruff: noqa: RUF001, E501 - replies in many scripts, one a line
"""A third round: a hundred replies, and what an attentive person concludes; written down before the reader saw them.

Of these 92 were read alike at first; two of the others were read as a wrong letter, `MENDED` has their neighbours.
"""

from __future__ import annotations

import pytest

from grader.scorers.choice.careful.read import read_choice

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}
SIDES = {"A": "left of the bicycle", "B": "right of the bicycle", "C": "above the bicycle", "D": "below the bicycle"}
NUMBERS = {"A": "12", "B": "15", "C": "18", "D": "21"}
CITIES = {"A": "Paris", "B": "Madrid", "C": "Rome", "D": "Berlin"}
FARBEN = {"A": "rot", "B": "blau", "C": "grün", "D": "gelb"}
YANSE = {"A": "红色", "B": "蓝色", "C": "绿色", "D": "黄色"}
THIRD_ROUND = [
    # refusals and missing images
    (
        "I'm sorry, but I can't make out the scarf in this picture, so I am unable to say which colour it is.",
        COLOURS,
        "no_answer",
    ),
    ("There is no image attached to your message. Please upload it and I will gladly help.", COLOURS, "no_answer"),
    (
        "As a language model I cannot view pictures. The options A, B, C and D all describe plausible colours.",
        COLOURS,
        "no_answer",
    ),
    ("None of the listed options matches what I see: the scarf is purple.", COLOURS, "no_answer"),
    ("The scarf is not visible, therefore none of A, B, C or D can be confirmed.", COLOURS, "no_answer"),
    ("I'd rather not guess.", COLOURS, "no_answer"),
    ("Could you tell me which object you mean?", COLOURS, "no_answer"),
    ("", COLOURS, "no_answer"),
    ("N/A", COLOURS, "no_answer"),
    ("E", COLOURS, "no_answer"),
    # forced guesses
    ("The scarf is too small to see clearly, but if I had to pick one, I'd go with C.", COLOURS, "C"),
    ("I can't really tell. My best guess would be (B) blue.", COLOURS, "B"),
    ("No scarf is visible to me. Since a choice is required, I select D.", COLOURS, "D"),
    ("It is impossible to be sure from this angle. Forced to choose: A", COLOURS, "A"),
    ("Honestly, a coin toss between A and B; I'll say B.", COLOURS, "B"),
    ("Not certain at all... let's go with option A then.", SIDES, "A"),
    ("Gun to my head, D.", SIDES, "D"),
    # loops and cut-off texts
    (
        "Let me think. It could be A. But wait, the scarf looks blue, so B. But wait, in the shade it looks green, so C. But wait, it could be A. But wait, the scarf looks blue, so B. But wait, in the sha",
        COLOURS,
        "no_answer",
    ),
    (
        "First I look at the left part of the image, where there is a person with a scarf. The scarf seems to be",
        COLOURS,
        "no_answer",
    ),
    ("Option A says red. Option B says blue. Option C says green. Option D says", COLOURS, "no_answer"),
    ("The answer is", COLOURS, "no_answer"),
    (
        "To work out the number of legs, we count 3 stools with 4 legs each, which gives 12, and then we add the three-legged ta",
        NUMBERS,
        "no_answer",
    ),
    ("<think>Is it A? Maybe B. Let me look again at the picture, the bicycle is", SIDES, "no_answer"),
    # corrections
    ("The answer is A. Sorry, I misread the picture: the answer is C.", COLOURS, "C"),
    ("B. Hmm, no, on second thought it's D.", COLOURS, "D"),
    ("I first wrote B, but that was a mistake; the correct choice is A.", COLOURS, "A"),
    ("Answer: C\n\nEdit: I overlooked the shadow. Answer: B", COLOURS, "B"),
    ("~~A~~ B", COLOURS, "B"),
    ("My initial impression was yellow (D). After zooming in, the scarf is clearly green (C).", COLOURS, "C"),
    ("It looks like D at first glance, but it is actually B.", SIDES, "B"),
    ("Scratch that. Final: A.", COLOURS, "A"),
    # eliminations
    ("It is not red, it is not blue, and it is certainly not yellow. That leaves C.", COLOURS, "C"),
    ("A is wrong because the dog is not on that side. C and D are wrong too. So only B remains.", SIDES, "B"),
    ("A: incorrect\nB: incorrect\nC: incorrect\nD: correct", COLOURS, "D"),
    ("A ❌\nB ✅\nC ❌\nD ❌", COLOURS, "B"),
    ("We can rule out A and D. Of B and C, C fits better.", COLOURS, "C"),
    ("Not A, not B. Either C or D.", COLOURS, "ambiguous"),
    ("A) False\nB) False\nC) True\nD) False", COLOURS, "C"),
    # two answers and hedges
    ("Both A and C are correct.", COLOURS, "ambiguous"),
    ("A or B", COLOURS, "ambiguous"),
    ("The answer could be B or D, depending on the viewpoint.", SIDES, "ambiguous"),
    ("Answer: A, C", COLOURS, "ambiguous"),
    ("Probably B.", COLOURS, "B"),
    ("It's most likely (D), although the lighting makes it hard to be certain.", COLOURS, "D"),
    ("I'm leaning towards C, but A is also possible.", COLOURS, "C"),
    ("red and green", COLOURS, "ambiguous"),
    ("All of the above.", COLOURS, "ambiguous"),
    # confidence
    ("Answer: B (confidence: 85%)", COLOURS, "B"),
    ("A: 10%, B: 5%, C: 80%, D: 5%", COLOURS, "C"),
    ("I'm 100% sure it's A!", COLOURS, "A"),
    ("Choice: D\nConfidence: low\nReason: the object is blurred", COLOURS, "D"),
    # German
    ("Die richtige Antwort lautet B.", FARBEN, "B"),
    ("Der Schal ist grün, also Antwort C.", FARBEN, "C"),
    ("Leider kann ich auf dem Bild keinen Schal erkennen.", FARBEN, "no_answer"),
    ("Zuerst dachte ich an A, aber richtig ist D.", FARBEN, "D"),
    ("Sowohl A als auch B sind richtig.", FARBEN, "ambiguous"),
    # French
    ("La bonne réponse est la C.", COLOURS, "C"),
    ("Je choisis l'option B.", COLOURS, "B"),
    ("Je ne peux pas voir l'image, donc je ne peux pas répondre.", COLOURS, "no_answer"),
    ("À mon avis, c'est la réponse A.", COLOURS, "A"),
    # Spanish
    ("La respuesta correcta es la D.", COLOURS, "D"),
    ("No es A ni B, así que la respuesta es C.", COLOURS, "C"),
    ("Elijo la opción A.", COLOURS, "A"),
    # Italian
    ("La risposta giusta è la B.", COLOURS, "B"),
    ("Direi che è l'opzione D.", COLOURS, "D"),
    # Portuguese
    ("A resposta correta é a letra C.", COLOURS, "C"),
    ("A alternativa correta é B.", COLOURS, "B"),
    # Russian
    ("Правильный ответ: B.", COLOURS, "B"),
    ("Я выбираю вариант D.", COLOURS, "D"),
    ("Я не вижу изображения и не могу ответить.", COLOURS, "no_answer"),
    # Chinese
    ("正确答案是C。", YANSE, "C"),
    ("围巾是蓝色的,所以选B。", YANSE, "B"),
    ("排除A、B、C,答案为D", YANSE, "D"),
    ("抱歉,我无法看到图片。", YANSE, "no_answer"),
    ("蓝色", YANSE, "B"),
    # Japanese, Korean
    ("正解はBです。", COLOURS, "B"),
    ("答えはDだと思います。", COLOURS, "D"),
    ("정답은 C입니다.", COLOURS, "C"),
    ("저는 A를 선택하겠습니다.", COLOURS, "A"),
    # Arabic, Hindi
    ("الإجابة الصحيحة هي B.", COLOURS, "B"),
    ("सही उत्तर C है।", COLOURS, "C"),
    # Turkish, Vietnamese, Polish
    ("Doğru cevap D şıkkıdır.", COLOURS, "D"),
    ("Đáp án đúng là B.", COLOURS, "B"),
    ("Poprawna odpowiedź to A.", COLOURS, "A"),
    # Markdown, LaTeX, JSON, tables, tags
    ("### Analysis\nThe scarf hangs on the chair.\n\n### Final Answer\n**C) green**", COLOURS, "C"),
    ("Thus we obtain $\\boxed{\\text{(B)}}$.", NUMBERS, "B"),
    ("\\[ 3 \\times 5 = 15 \\]\nHence the answer is $15$.", NUMBERS, "B"),
    ('```json\n{"reasoning": "A is too dark", "answer": "D"}\n```', COLOURS, "D"),
    ('{"choice": ["A", "B"]}', COLOURS, "ambiguous"),
    ("| Option | Verdict |\n|---|---|\n| A | no |\n| B | no |\n| C | yes |\n| D | no |", COLOURS, "C"),
    ("<answer>B</answer>", COLOURS, "B"),
    ("<think>A looks right.</think>\n<answer>\nC. green\n</answer>", COLOURS, "C"),
    # answers by option text
    ("The dog is to the right of the bicycle.", SIDES, "B"),
    ("The capital in question is Rome, not Paris.", CITIES, "C"),
    ("It is yellow.", COLOURS, "D"),
    ("Eighteen", NUMBERS, "C"),
    ("Madrid", CITIES, "B"),
    ("A red scarf can be seen next to a blue bag; the question asks for the scarf, so it is red.", COLOURS, "A"),
    ("I think a dog is there. It stands above the bicycle", SIDES, "C"),
    ("Option 2", COLOURS, "B"),
]
MENDED = [
    ("All of the options are wrong.", COLOURS, "no_answer"),
    ("All of the above.", {"A": "red", "B": "All of the above"}, "B"),
    ("A - 50%\nB - 50%", COLOURS, "ambiguous"),
    ("(A) 5%\n(B) 90%\n(C) 3%\n(D) 2%", COLOURS, "B"),
    ("A: 10%, B: 20%", {"A": "10%", "B": "20%"}, "no_answer"),
    ('{"answer": ["B"]}', COLOURS, "B"),
    ('{"answer": ["B", "because the scarf is blue"]}', COLOURS, "B"),
    ('{"answer": ["A. red", "C. green"]}', COLOURS, "ambiguous"),
    ("| A | yes |\n| B | no |", {"A": "yes", "B": "no"}, "no_answer"),
    ("| A | red | no |\n| B | blue | yes |\n| C | green | no |\n| D | yellow | no |", COLOURS, "B"),
    ("| A | red |\n| B | blue |\n| C | green |\n| D | yellow |\n\nAnswer: B", COLOURS, "B"),
    ("A and B are similar; of A and B, A is better.", COLOURS, "A"),
    ("Sowohl A als auch B sind falsch.", COLOURS, "no_answer"),
    ("Doğru cevap A şıkkı.", COLOURS, "A"),
    ("A ve C doğru.", COLOURS, "ambiguous"),
    ("Cả A và B đều đúng.", COLOURS, "ambiguous"),
    ("Zarówno A, jak i B są poprawne.", COLOURS, "ambiguous"),
    ("There are seventeen people.", {"A": "16", "B": "17"}, "B"),
]
MISREAD = [
    # The first probability leads the reply like an answer, and the conclusion behind the list is so close to it.
    ("A: 10%, B: 5%, C: 80%, D: 5%. So the answer is C.", COLOURS, "C"),
    # Both options are named in a question and again; that the last "B" stands for the choice only its place says.
    ("A or B? Of A and B, B.", COLOURS, "B"),
]
"""What a person reads and the reader does not: it then reads no letter, never another one."""


@pytest.mark.parametrize(("text", "options", "wanted"), [*THIRD_ROUND, *MENDED])
def test_a_fresh_wording_is_read_as_a_person_reads_it(text: str, options: dict[str, str], wanted: str) -> None:
    reading = read_choice(text, options)
    assert (reading.letter or reading.outcome) == wanted


@pytest.mark.parametrize(("text", "options", "wanted"), MISREAD)
def test_a_known_misreading_gives_no_other_letter(text: str, options: dict[str, str], wanted: str) -> None:
    assert read_choice(text, options).letter in (None, wanted)
