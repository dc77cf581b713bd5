"""The last text between the marks of a benchmark: pairs of signs, formulas, reasoning, and a mark without an end."""

from grader.scorers.marks import answer_between
from tests.tables import each

GAOKAO = ("【答案】", "<eoa>")


@each(
    ("text", "marks", "found"),
    [
        ("So {12}. No: { 14 }", ("{", "}"), "14"),
        ("{\\frac{1}{2}}", ("{", "}"), "\\frac{1}{2}"),
        ("It is {3}, because $x^{2}$ and \\boxed{4} are not.", ("{", "}"), "3"),
        ("<think>maybe {12}</think> I cannot say.", ("{", "}"), None),
        ("It is {12", ("{", "}"), None),
        ("{} or { }", ("{", "}"), None),
        ("[Yes] I mean [No].", ("[", "]"), "No"),
        ("【解析】A 不对 <eoe>\n【答案】 B <eoa>", GAOKAO, "B"),
        ("【答案】A<eoa>【答案】C", GAOKAO, "C"),
        ("no mark", GAOKAO, None),
        ("**12**, no: ** 14 **.", ("**", "**"), "14"),
        ("|12| or |14", ("|", "|"), "14"),
    ],
)
def test_what_stands_last_between_the_marks(text: str, marks: tuple[str, str], found: str | None) -> None:
    place = answer_between(text, marks)
    assert (None if place is None else text[slice(*place)]) == found
