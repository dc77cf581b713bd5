"""The official readers reproduce the published scorers, quirks included."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.scorers.choice.official import (
    LMMS_EVAL_VERSIONS,
    VLMEVALKIT_VERSIONS,
    options_in_vlmevalkit,
    read_lmms_eval,
    read_vlmevalkit,
    read_vlmevalkit_reply,
)
from tests.tables import each

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}


@each(
    ("text", "letter", "rule"),
    [
        ("B", "B", "starts_with_letter"),
        ("  (b) blue", "B", "parenthesised"),
        ("Based on the image, the answer is C", "B", "starts_with_letter"),
        ("Answer: C", "A", "starts_with_letter"),
        ("The answer is black.", "B", "answer_word"),
        ("The glove is red.", "D", "letter_and_mark"),
        ("I see\nB\nhere", "B", "standalone"),
        ("red", "D", "only_letter"),
        ("", None, "none_matched"),
    ],
)
def test_lmms_eval_takes_the_first_rule_that_matches(text: str, letter: str | None, rule: str) -> None:
    reading = read_lmms_eval(text)
    assert (reading.letter, reading.rule) == (letter, rule)


@each(
    ("text", "letters"),
    [
        # Release 0.6 removes nothing, 0.7 whole blocks, 0.7.1 also what a lone closing tag ends.
        ("<think>A or C? No.</think>\nB", ("B", "B", "B")),
        ("Certainly A.</think>B", ("C", "C", "B")),
        ("(A)</think><think>no</think>B", ("A", "A", "B")),
        ("<think>D, cut off", (None, None, None)),
        ("<analysis>(C)</analysis>B", ("C", "B", "B")),
        ("<thi<think>a</think>nk> A </think>B", ("A", "B", "B")),
    ],
)
def test_lmms_eval_strips_reasoning_since_0_7(text: str, letters: tuple[str | None, ...]) -> None:
    assert tuple(read_lmms_eval(text, version).letter for version in LMMS_EVAL_VERSIONS) == letters
    assert read_lmms_eval(text, "lmms-eval-0.7.1") == read_lmms_eval(text)


@each(
    ("text", "letter"),
    [
        ("B", "B"),
        ("**B**", "B"),
        ("The answer is a dog", "A"),
        ("D. because A is too dark", None),
        ("A and B", None),
        ("Z", "Z"),
        ("Cannot determine the answer", "Z"),
        ("Failed to obtain answer via API. B", None),
        ("BLUE", "B"),
        ("", None),
    ],
)
def test_vlmevalkit_rules(text: str, letter: str | None) -> None:
    assert read_vlmevalkit(text, COLOURS).letter == letter


@each(
    ("text", "letters"),
    [
        # A letter with five words after it: read before August 2025 only.
        ("B matches what the picture shows here", ("B", None, None)),
        # A text in a reply longer than twice all options together: likewise.
        ("Looking at it, this must be the colour green", ("C", None, None)),
        # "answer is X" far from the end: read since June 2026.
        ("The answer is B, for A would be far too dark here", (None, None, "B")),
    ],
)
def test_vlmevalkit_versions_differ(text: str, letters: tuple[str | None, ...]) -> None:
    assert tuple(read_vlmevalkit(text, COLOURS, v).letter for v in VLMEVALKIT_VERSIONS) == letters


@each("empty", ["None", "NA", "N/A", "nan", "null", "<NA>", "#N/A", "-NaN", "n/a", ""])
def test_vlmevalkit_loses_what_pandas_takes_for_an_empty_cell(empty: str) -> None:
    """It reads tables with pandas' defaults: such an option is missing, and such a reply becomes the text "nan"."""
    options = {"A": empty, "B": "blue", "C": "an"}
    assert [read_vlmevalkit_reply(f"({letter})", options).letter for letter in "ABC"] == [None, "B", "C"]
    reading = read_vlmevalkit_reply(empty, options)
    assert (reading.letter, reading.rule, reading.span) == ("C", "option_text", None)
    assert "treats this reply and option A" in reading.detail


@given(st.text("#NAnaulUL/<>-1.IDQe o", max_size=7) | st.sampled_from(["None", "none", "na", "Na", "NONE", "#N/A N/A"]))
def test_texts_that_are_empty_cells_are_those_of_pandas(text: str) -> None:
    pandas = pytest.importorskip("pandas")
    table = io.StringIO(f"index\tA\tB\n1\t{text}\tword\n2\tother\tword\n")
    is_lost = bool(pandas.isna(pandas.read_csv(table, sep="\t")["A"][0]))
    assert ("A" not in options_in_vlmevalkit({"A": text})) is is_lost
