"""A number is read whole or not at all."""

import math

from grader.scorers.numbers import as_number, numbers_in, simplify_numbers
from grader.scorers.plain_text import plain
from tests.tables import each

WHOLE = {
    "42": 42, "$10{,}000": 1e4, "10,000": 1e4, "10 000": 1e4, r"10\,000": 1e4, r"10\text{,}000": 1e4, "1'000": 1e3,
    "1,00,000": 1e5, "1.234.567": 1234567, "1.234,56": 1234.56, "1 000 000": 1e6, "72,5 Euro": 72.5,
    "€1.459": 1.459, ".25": 0.25, "-.5": -0.5, "10^{-3}": 1e-3, "minus 7": -7, "negative 7": -7, "-$7": -7,
    "$-7": -7, "\u22127": -7, "-\\frac{1}{2}": -0.5, "-10,000": -1e4, "2\\frac{2}{3}": 8 / 3, "12½": 12.5,
    "2 3/4": 2.75, "3/4": 0.75, "10\u2076": 1e6, "2^{10}": 1024,
    "1.5e3": 1500, "3 \\times 10^8": 3e8, "$1.2\\times10^{3}$": 1200, "1.5\\cdot10^2": 150,
    "2\\sqrt{3}": 2 * 3**0.5, "5π": 5 * math.pi, "5k": 5e3, "$5M": 5e6, "$5 M": 5e6, "15 lakh": 1.5e6,
    "2.5 billion dollars": 2.5e9, "one million": 1e6, "3万": 3e4, "5.2 тыс": 5200, "50\\%": 50, "5cm": 5,
    "45^\\circ": 45, "21.33 mg/s": 21.33, "42個": 42, "42입니다": 42, "**42**": 42, "$42$": 42,
    "three hundred and five": 305, "twenty-one": 21, "(42)": 42, "about 5": 5, "42 pens": 42, "٤٢": 42,
}  # fmt: skip
PARTS = [
    "2014-05-03", "1.2.3", "12:30", "3-6", "A-847", "4th", "10,0000", "1/2/2020", "192.168.0.1", "May 5",
    "5 May 2020", "3 or 4", "3 out of 5", "3 to 5", "between 3 and 5", "five or six", "1,2,3", "(3,4)", "[1, 2]",
    "5 1", "3%-5%", "5 dollars and 20 cents", "more than 10", "at least 3", "<5",
    "±5", "5 ± 0.1", "2x", "3D", "x+3", "9 x 2", "10 minus 3", "10^x", "10 to the power of 6", "10 squared",
    "half a million", "two and a half", "two thirds", "3分之2", "not 3", "3, and 4", "3 km/h or 0.8 m/s",
    "x = 3 or x = -2", "compared with 3", "v2", "0x1F", "H2O", "#5", "step 3", "\\boxed{3",
]  # fmt: skip


@each("text", list(WHOLE))
def test_a_number_is_all_that_belongs_to_it(text: str) -> None:
    found = as_number(plain(text))
    assert found is not None
    assert math.isclose(found.value, WHOLE[text])


@each("text", PARTS)
def test_a_part_of_something_longer_is_no_number(text: str) -> None:
    assert [one.text for one in numbers_in(simplify_numbers(plain(text)))] == []
    assert as_number(plain(text)) is None


@each(
    ("one", "other", "same"),
    [
        *(("5 km", "5000 m", False), ("5 km", "5 m", False), ("5 km", "5", True), ("12 apples", "12 fruits", True)),
        *(("$5", "5 dollars", True), ("5 N", "5 W", False), ("3 h", "3 hours", True)),
        *(("$5 M", "5000000 dollars", True), ("$5 M", "5000000 cents", False)),
    ],
)
def test_amounts_are_equal_by_their_units(one: str, other: str, *, same: bool) -> None:
    first, second = as_number(one), as_number(other)
    assert first is not None
    assert second is not None
    assert first.same_amount(second) is same
