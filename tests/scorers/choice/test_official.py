"""The official readers reproduce the published scorers, quirks included."""

from __future__ import annotations

import time

import pytest

from grader.scorers.choice.official import LMMS_EVAL_VERSIONS, VLMEVALKIT_VERSIONS, read_lmms_eval, read_vlmevalkit

COLOURS = {"A": "red", "B": "blue", "C": "green", "D": "yellow"}


@pytest.mark.parametrize(
    ("text", "letter", "rule"),
    [
        ("B", "B", "starts_with_letter"),
        ("  (b) blue", "B", "parenthesised"),
        ("Based on the image, the answer is C", "B", "starts_with_letter"),
        ("Answer: C", "A", "starts_with_letter"),
        ("The answer is black.", "B", "answer_word"),
        ("Option 2", None, "none_matched"),
        ("The glove is red.", "D", "letter_and_mark"),
        ("I see\nB\nhere", "B", "standalone"),
        ("yellow", None, "none_matched"),
        ("red", "D", "only_letter"),
        ("\\boxed{C}", None, "none_matched"),
        ("**B**", "B", "only_letter"),
        ("", None, "none_matched"),
    ],
)
def test_lmms_eval_takes_the_first_rule_that_matches(text: str, letter: str | None, rule: str) -> None:
    reading = read_lmms_eval(text)
    assert (reading.letter, reading.rule) == (letter, rule)


@pytest.mark.parametrize(
    ("text", "stripped", "unstripped"),
    [
        ("<think>A or C? No.</think>\nB", "B", None),
        ("Certainly A.</think>B", "B", "C"),
        ("<think>D, cut off", None, None),
        ("<analysis>(C)</analysis>B", "B", "C"),
        ("<THINK>D</THINK>B", None, None),
        ("<thi<think>a</think>nk> A </think>B", "B", None),
    ],
)
def test_lmms_eval_strips_reasoning_since_0_7(text: str, stripped: str | None, unstripped: str | None) -> None:
    new, old = LMMS_EVAL_VERSIONS[1], LMMS_EVAL_VERSIONS[0]
    assert read_lmms_eval(text, new).letter == stripped
    if unstripped is not None:
        assert read_lmms_eval(text, old).letter == unstripped


def test_lmms_eval_span_points_into_the_raw_text() -> None:
    text = "<think>hm</think>\n  (b) blue \n"
    start, end = read_lmms_eval(text).span or (0, 0)
    assert text[start:end] == "(b)"


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("b", None),
        ("**B**", "B"),
        ("`B`", None),
        ("The answer is a dog", "A"),
        ("D. because A is too dark", None),
        ("the answer is **c**", "C"),
        ("A and B", None),
        ("Z", "Z"),
        ("Cannot determine the answer", "Z"),
        ("I'm sorry, but without the image provided I cannot tell.", "Z"),
        ("Failed to obtain answer via API. B", None),
        ("BLUE", "B"),
        ("red, not blue", None),
        ("Not E", None),
        ("", None),
    ],
)
def test_vlmevalkit_rules(text: str, letter: str | None) -> None:
    assert read_vlmevalkit(text, COLOURS).letter == letter


@pytest.mark.parametrize(
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


def test_an_option_without_text_is_never_matched_by_text() -> None:
    assert read_vlmevalkit("nothing", {"A": "", "B": "yes"}).letter is None


def test_unknown_versions_are_refused() -> None:
    with pytest.raises(ValueError, match=r"known: lmms-eval-0\.6"):
        read_lmms_eval("B", "lmms-eval-9")
    with pytest.raises(ValueError, match="known: vlmevalkit-2025-07"):
        read_vlmevalkit("B", COLOURS, "latest")


@pytest.mark.parametrize(
    "text", ["<think></think>" * 60_000, "<thi<think></think>nk>" * 40_000, "A " * 400_000, "(" * 10**6]
)
def test_official_readers_take_linear_time(text: str) -> None:
    started = time.process_time()
    read_lmms_eval(text)
    read_vlmevalkit(text, COLOURS)
    assert time.process_time() - started < 5
