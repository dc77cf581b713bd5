"""The official scorers' readers of choices, bug for bug, by version.

lmms-eval: `lmms_eval/tasks/vstar_bench/utils.py` and `lmms_eval/api/reasoning.py`.
VLMEvalKit: `vlmeval/utils/matching_util.py`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.scorers.choice.reading import ChoiceReading, read_as

if TYPE_CHECKING:
    from collections.abc import Mapping

LMMS_EVAL_VERSIONS = ("lmms-eval-0.6", "lmms-eval-0.7.0", "lmms-eval-0.7.1")
"""Since 0.7, reasoning blocks are removed before the cascade; since 0.7.1 (263a80c9), the text before a closing tag
without an opening tag, too."""

VLMEVALKIT_VERSIONS = ("vlmevalkit-2025-07", "vlmevalkit-2025-08", "vlmevalkit-2026-06")
"""2025-08-04 added the conditions on the last four tokens and on length, 2026-06-17 the "answer is X" rule."""

_LMMS_RULES = (
    ("starts_with_letter", re.compile(r"^([A-D])\s*[\.)\]]*", re.IGNORECASE)),
    (
        "answer_word",
        re.compile(r"(?:THE\s+)?(?:ANSWER|CHOICE|OPTION)(?:\s+IS)?[\s:]+([A-D])", re.IGNORECASE),
    ),
    ("parenthesised", re.compile(r"\(([A-D])\)", re.IGNORECASE)),
    ("letter_and_mark", re.compile(r"([A-D])\s*(?:\.|\)|])", re.IGNORECASE)),
    ("standalone", re.compile(r"(?:^|\s)([A-D])(?:\s|$)", re.IGNORECASE)),
)
_LETTER_A_TO_D = re.compile("[A-D]")
_REASONING_TAGS = (("<think>", "</think>"), ("<analysis>", "</analysis>"))

_API_FAILURE = "Failed to obtain answer via API"
_REFUSALS = (
    "Sorry, I can't help with images of people yet.",
    "I can't process this file.",
    "I'm sorry, but without the image provided",
    "Cannot determine the answer",
)
_SEPARATORS_TO_BLANKS = str.maketrans(dict.fromkeys(".()[],:;!*#{}", " "))
_ANSWER_IS = re.compile(r"(?i)(?:correct\s+)?answer\s+is\s+\**([ABCD])\**")
_PANDAS_EMPTY = frozenset(("", "#N/A", "#N/A N/A", "#NA", "N/A", "n/a", "NA", "<NA>", "NULL", "null", "None"))
_PANDAS_EMPTY |= {"NaN", "nan", "-NaN", "-nan", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}
"""Texts that pandas reads as an empty cell. VLMEvalKit reads every table with pandas' defaults."""
_NONE_READ = ChoiceReading(outcome="no_answer", letter=None, rule="none_matched", span=None)


def read_lmms_eval(text: str, version: str = "lmms-eval-0.7.1") -> ChoiceReading:
    """Return the letter that lmms-eval's V* task reads (A to D, whatever the options are).

    0.6 reads reasoning, too; 0.7.0 strips closed blocks of it, 0.7.1 also what precedes a closing tag alone.
    Spans are exact unless stripping or upper-casing changes the text's middle; then they are None.
    """
    if version not in LMMS_EVAL_VERSIONS:
        raise ValueError(f"unknown lmms-eval version {version!r}; known: {', '.join(LMMS_EVAL_VERSIONS)}")
    is_stripped, strips_unopened = version != "lmms-eval-0.6", version != "lmms-eval-0.7.0"
    answer_text = _strip_reasoning(text, strips_unopened=strips_unopened) if is_stripped else text
    response = answer_text.strip().upper()
    for rule, pattern in _LMMS_RULES:
        if match := pattern.search(response):
            return read_as(match[1].upper(), rule, _span_in_raw(text, response, match.span()))
    letters = _LETTER_A_TO_D.findall(response)
    if len(letters) == 1:
        position = response.index(letters[0])
        return read_as(letters[0], "only_letter", _span_in_raw(text, response, (position, position + 1)))
    # The cascade's last rule (first character in A-D) cannot match: its first rule already covers that case.
    return _NONE_READ


def _span_in_raw(raw: str, response: str, span: tuple[int, int]) -> tuple[int, int] | None:
    """Map a span of the stripped, upper-cased response to the raw text; None if the response is not its tail."""
    body = raw.rstrip()
    shift = len(body) - len(response)
    if shift < 0 or body[shift:].upper() != response:
        return None
    return span[0] + shift, span[1] + shift


def _strip_reasoning(text: str, *, strips_unopened: bool) -> str:
    """Remove reasoning blocks as lmms-eval does; tags are case-sensitive, an unclosed block is kept.

    `strips_unopened`: also remove the text before a closing tag that has no opening tag.
    """
    for opening, closing in _REASONING_TAGS:
        if closing not in text:
            continue
        text = _remove_blocks(text, opening, closing)
        if strips_unopened and closing in text and opening not in text:
            text = text.rsplit(closing, 1)[-1]
    return text.strip()


def _remove_blocks(text: str, opening: str, closing: str) -> str:
    """Remove every block from an opening tag to the next closing tag, in linear time.

    The original searches the joined text again after each removal, so two halves of a tag can meet across a removed
    block: "<th<think>a</think>ink>b</think>" is empty. This function therefore looks back over the few characters
    before each cut: there, behind the first block, the kept characters are "<th", and the tag goes on with "ink>".
    """
    kept_characters: list[str] = []
    """What stays of the text before `position`."""
    position = 0
    while True:
        half_start = _opening_across_cut(kept_characters, text[position : position + len(opening) - 1], opening)
        # Across a cut, the tag starts where it would if its kept half stood right before `position`.
        start = text.find(opening, position) if half_start is None else position - (len(kept_characters) - half_start)
        end = text.find(closing, start + len(opening)) if start >= 0 else -1
        if end < 0:
            return "".join(kept_characters) + text[position:]
        if half_start is None:
            kept_characters.extend(text[position:start])
        else:
            del kept_characters[half_start:]
        position = end + len(closing)


def _opening_across_cut(kept_characters: list[str], behind: str, opening: str) -> int | None:
    """Return where in `kept_characters` an opening tag begins that ends in `behind`, the text after a removed block."""
    first = max(0, len(kept_characters) - len(opening) + 1)
    index = ("".join(kept_characters[first:]) + behind).find(opening)
    return None if index < 0 else first + index


def read_vlmevalkit_reply(text: str, options: Mapping[str, str], version: str = "vlmevalkit-2026-06") -> ChoiceReading:
    """Read a reply from VLMEvalKit's table of predictions: an empty cell becomes the text "nan"."""
    is_empty = text in _PANDAS_EMPTY
    reading = read_vlmevalkit("nan" if is_empty else text, options, version)
    empty_options = [f"{letter} ({option})" for letter, option in options.items() if option in _PANDAS_EMPTY]
    if not empty_options and not is_empty:
        return reading
    subjects = ["this reply"] if is_empty else []
    if empty_options:
        subjects.append(f"option{'s' if len(empty_options) > 1 else ''} {', '.join(empty_options)}")
    cells = " and ".join(subjects)
    detail = f"VLMEvalKit reads its tables with pandas, which treats {cells} as empty"
    return msgspec.structs.replace(reading, span=None if is_empty else reading.span, detail=detail)


def options_in_vlmevalkit(options: Mapping[str, str]) -> dict[str, str]:
    """Return the options that VLMEvalKit has: those whose text pandas does not read as an empty cell."""
    return {letter: option for letter, option in options.items() if option not in _PANDAS_EMPTY}


def read_vlmevalkit(text: str, options: Mapping[str, str], version: str = "vlmevalkit-2026-06") -> ChoiceReading:
    """Return the letter that VLMEvalKit's rules read, "Z" for its "no match", or no answer (for a judge to decide).

    `options` are the row's options, letter to text, in column order.
    """
    if version not in VLMEVALKIT_VERSIONS:
        raise ValueError(f"unknown VLMEvalKit version {version!r}; known: {', '.join(VLMEVALKIT_VERSIONS)}")
    options = options_in_vlmevalkit(options)
    by_letter = _vlmevalkit_letter(text, options, version)
    return by_letter or _vlmevalkit_text(text, options, version) or _NONE_READ


_LAST_TOKENS = 4
"""So many last tokens can have the letter, since 2025-08."""


def _vlmevalkit_letter(text: str, options: Mapping[str, str], version: str) -> ChoiceReading | None:
    """Return the letter as `can_infer_option`: "Z" for a refusal, the only letter token, the X of "answer is X".

    `VLMEVALKIT_VERSIONS` tells where versions differ.
    """
    if _API_FAILURE in text:
        return None
    for refusal in _REFUSALS:
        if refusal in text:
            start = text.index(refusal)
            return read_as("Z", "refusal", (start, start + len(refusal)))
    tokens = text.translate(_SEPARATORS_TO_BLANKS).split()
    letters_as_tokens = [letter for letter in options if letter in tokens]
    if len(letters_as_tokens) == 1:
        letter = letters_as_tokens[0]
        if version == "vlmevalkit-2025-07" or tokens.index(letter) >= len(tokens) - _LAST_TOKENS:
            return read_as(letter, "token", _token_span(text, letter))
    elif not letters_as_tokens and "Z" in tokens:
        return read_as("Z", "token", _token_span(text, "Z"))
    if version == "vlmevalkit-2026-06":
        match = _ANSWER_IS.search(text)
        if match and match[1].upper() in options:
            return read_as(match[1].upper(), "answer_is", match.span())
    return None


def _token_span(text: str, token: str) -> tuple[int, int] | None:
    blanked = text.translate(_SEPARATORS_TO_BLANKS)
    match = re.search(rf"(?<!\S){re.escape(token)}(?!\S)", blanked)
    return match.span() if match else None


def _vlmevalkit_text(text: str, options: Mapping[str, str], version: str) -> ChoiceReading | None:
    """Return the only option whose text a reply has, as `can_infer_text`; since 2025-08, not in a long reply."""
    lowered = text.lower()
    if version != "vlmevalkit-2025-07" and len(lowered) > 2 * sum(map(len, options.values())):
        return None
    letters = [letter for letter, option in options.items() if option.lower() in lowered]
    if len(letters) != 1:
        return None
    option = options[letters[0]].lower()
    start = lowered.index(option)
    # Lower-casing can make a text longer; then its positions are not valid in the raw text.
    same_length = len(lowered) == len(text)
    return read_as(letters[0], "option_text", (start, start + len(option)) if same_length else None)
