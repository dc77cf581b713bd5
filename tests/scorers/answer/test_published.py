"""Rules of published benchmarks read what their sources read: outputs of the sources' own functions, recorded."""

from grader.scorers.answer.math_vision import value_of
from grader.scorers.answer.official import RULES
from tests.tables import each

RECORDED_BY = (
    "processbench", "zerobench", "zeroeval", "zero-shot-cot-number", "zero-shot-cot-yes-no", "zero-shot-cot-text",
)  # fmt: skip
# Reply -> what the sources of these rules read at the commits that `published.py` names.
RECORDED = [
    ('{"reasoning": "3 + 4", "answer": "7"}', None, '"reasoning": "3 + 4", "answer": "7"', "7", "3", None,
     "{reasoning:3+4,answer:7}"),
    ('```json\n{"reasoning": "a {b} c",\n "answer": -21}\n```', None, '"reasoning": "a {b', "-21", "-21", None,
     "```json{reasoning:a{b}c,answer:-21}```"),
    ('{"answer": "1,200 miles"} and {"answer": "3"}', None, '"answer": "3"', "1,200 miles", "1200", None,
     "{answer:1,200miles}and{answer:3}"),
    ('"answer": "it\'s 4" ', None, None, "it's 4", "4", None, "answer:its4"),
    ("answer: 5, or so", None, None, "5", "5", None, "answer:5,orso"),
    ('{"reasoning": "broken "quote"", "answer": "8"}', None, '"reasoning": "broken "quote"", "answer": "8"', "8", "8",
     None, "{reasoning:brokenquote,answer:8}"),
    ("so \\boxed{3} then \\boxed{ -1 }", "-1", " -1 ", None, "3", None, "so\\boxed{3}then\\boxed{-1}"),
    ("\\boxed{none}", None, "none", None, None, None, "\\boxed{none}"),
    ("the answer is {Red fox}. {42}", None, "42", None, "42", None, "theansweris{Redfox}{42}"),
    ("{a\nb}", None, None, None, None, None, "{ab}"),
    ("I think yes. No!", None, None, None, None, "yes", "IthinkyesNo!"),
    ("It costs $1,200.50. or 3", None, None, None, "1200.50", None, "Itcosts$1,20050or3"),
    ("-3. is it", None, None, None, "-3", None, "-3isit"),
    ("no answer here", None, None, None, None, "no", "noanswerhere"),
]  # fmt: skip


@each("recorded", RECORDED)
def test_a_rule_reads_what_its_source_reads(recorded: tuple[str | None, ...]) -> None:
    text, *wanted = recorded
    assert [RULES[name].read(text or "") for name in RECORDED_BY] == wanted


@each(
    ("reply", "read"),
    [
        ("So x is 5.", "5"),
        ("B", "b"),
        ("(C)\nbecause of the kites", "c"),
        ("It must be (D).", "d"),
        ("It must be D", "itmustbed"),
        ("The answer is 12 apples. Really", "12apples"),
        ("Hence \\boxed{3} and \\boxed{\\frac12}", "\\frac12"),
        ("\\boxed{\\textbf{(B)} 48}", "bfb48"),
        ("\\boxed{x = 2\\sqrt3}", "2\\sqrt{3}"),
        ("the final answer is $1/2$", "\\frac{1}{2}"),
        ("", ""),
    ],
)
def test_math_vision_reads_the_end_of_a_reply_or_its_box(reply: str, read: str) -> None:
    assert RULES["math-vision"].read(reply) == read


@each(
    ("rule", "reply", "read"),
    [
        ("gsm8k", "#### 1,200 and #### 5", "1200"),
        ("gsm8k", "the answer is 5", None),
        ("lm-eval-flexible", "first 12, then $1,200.", "$1,200."),
        ("lm-eval-flexible", "none", None),
        ("pope", "There is not a dog. Yes", "no"),
        ("exact", "  Paris ", "Paris"),
        ("bbh", "So the answer is (B).", "(B)"),
        ("bbh", "The answer is 3.5. Is it? The answer is 4.", "3.5. Is it? The answer is 4"),
        ("bbh", "(B)", None),
        ("vlmevalkit-yes-no", "**Yes**, there is. Nothing else.", None),
        ("vlmevalkit-yes-no", "No-one, no.", "no"),
        ("vlmevalkit-yes-no", "There are 1,000 yes-men", None),
        ("hendrycks-math", "\\boxed{1} and \\boxed{\\frac{1}{2}}.", "\\frac{1}{2}"),
        ("hendrycks-math", "\\boxed{1", None),
        ("llmdrift", "Step 1: no. So it is, [Yes].", "yes"),
        ("llmdrift", "The answer is [No]", "no"),
        ("llmdrift", "yesterday", None),
        ("llmdrift-boxed", "So \\boxed{3}, not \\boxed{4}", "3"),
        ("zero-shot-cot-number", "2 + 3 = 5. \nTherefore, the answer (arabic numerals) is 5.", "5"),
        ("zero-shot-cot-text", 'The last is x. \nTherefore, the answer is "ax".', "ax"),
    ],
)
def test_an_answer_is_read_where_its_source_asks_for_it(rule: str, reply: str, read: str | None) -> None:
    assert RULES[rule].read(reply) == read


@each(
    ("rule", "answer", "gold", "same"),
    [
        ("math-vision", "c", "C", True),
        ("math-vision", "\\frac{1}{2}", "$0.501$", True),
        ("math-vision", "24", "$2 \\cdot 4 \\cdot 3$", True),
        ("math-vision", "2\\sqrt{3}}.so", "$2 \\sqrt{3}$", True),
        ("math-vision", "1:1", "1", True),
        ("math-vision", "50", "$50 \\%$", False),
        ("math-vision", "400cm", "400", False),
        ("math-vision", "2,1,3", "$2,1,3$", False),
        ("math-vision", "9^9^9^9", "1", False),
        ("math-vision", "\\sqrt{-1}", "1", False),
        ("math-vision", "(" * 5000, "1", False),
        ("math-vision", "", "", False),
        ("cruxeval", " [1, 'a']", '[1, "a"]', True),
        ("cruxeval", "1.0", "1", True),
        ("cruxeval", "(1, 2), (3, 4)", "((1, 2), (3, 4))", False),
        ("cruxeval", "(1, 2), (3, 4)", "(1, 2)", True),
        ("cruxeval", "'a' + 'b'", "'ab'", False),
        ("zeroeval", "'red'", '"red"', True),
        ("zeroeval-math", "$1,200 miles", "1200", True),
        ("zeroeval-math", "3/4", "0.75", True),
        ("zeroeval-math", "18 or 19", "#### 18", True),
        ("zerobench", "it is 42 or so", "42", True),
    ],
)
def test_a_rule_compares_as_its_source_does(rule: str, answer: str, gold: str, *, same: bool) -> None:
    assert RULES[rule].same(answer, gold) is same


def test_an_expression_has_no_value_where_the_stack_is_full() -> None:
    def in_calls(number: int) -> float | None:
        return in_calls(number - 1) if number else value_of("(" * 200)

    assert in_calls(400) is None
