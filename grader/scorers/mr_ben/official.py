"""The official parses of a response and of the judge's reply, bug for bug; also those of MR-GSM8K before Mr-Ben.

Reproduces, quirks included, `parse_model_response` (script/utils.py) and the handling of steps and verdicts in
script/evaluate.py, both of dvlab-research/Mr-Ben; and scripts/eval_closed_source_models.py and
scripts/calculate_mr_score.py of dvlab-research/MR-GSM8K 3f666d6.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Literal, NamedTuple

import msgspec

Correctness = Literal["correct", "incorrect"]
Parser = Literal["mr-ben", "mr-gsm8k"]


class RawFields(NamedTuple):
    """The three fields as cut out of a response; a field that is not found is empty."""

    correctness: str = ""
    step: str = ""
    reason: str = ""


class MrBenReading(msgspec.Struct, frozen=True, kw_only=True):
    """What one response says about one solution, in one reading."""

    correctness: Correctness | None
    """None: the response has no verdict that this reading can read."""
    step: str | None
    """Digits without leading zeros, "N/A", or for coding the line of code; None: not read."""
    error_reason: str
    raw: RawFields = RawFields()
    """Empty in the careful reading."""
    rule: str
    """The name of the rule that decided the verdict."""
    span: tuple[int, int] | None
    """Characters [start, end) of the response on which the verdict is based."""
    detail: str = ""
    """For people: why a field was not read."""


PARSING_ERROR = "ERROR_PARSING"
"""The decision that the official scorer records for a judge's reply that it cannot parse."""
_HEADINGS = ("Solution Correctness", "First Error Step", "Error Reason")
_GSM8K_HEADINGS = ("Final Judgement:", "First Error Step:", "Error Analysis:")
_AFTER_HEADING = re.compile(r":?\*?\*?:?")
_STEP_WORDS = {f"step {number}": str(number) for number in range(30)}


def parse_official(text: str) -> RawFields:
    """Cut a response at the three headings. A field is empty if its heading, the next one or an earlier one is missing.

    A field ends where the next heading begins: what stands before the first one is no field.
    """
    texts_before: list[str] = []
    rest = text
    for heading in _HEADINGS:
        span = _next_heading(rest, heading, 0)
        if span is None:
            break
        texts_before.append(rest[: span[0]])
        # The source splits at a heading and takes the second part, which ends where this heading stands again.
        repeated = _next_heading(rest, heading, span[1])
        rest = rest[span[1] : repeated[0] if repeated else len(rest)]
    else:
        texts_before.append(rest)
    return RawFields(*texts_before[1:])


def parse_mr_gsm8k(text: str) -> RawFields:
    """Cut a response as MR-GSM8K does, and return the fields as its score reads them, in the words of Mr-Ben.

    A response without the three headings in their order is an error there; here its fields are empty. The source
    compares the lower-cased verdict ("incorrect" stands for "wrong") and a step that is a number or "step 3".
    """
    verdict, step = (_between(text, *pair) for pair in pairwise(_GSM8K_HEADINGS))
    if verdict is None or step is None:
        return RawFields()
    reason = text[text.index(_GSM8K_HEADINGS[2]) + len(_GSM8K_HEADINGS[2]) :].lstrip()
    correctness = {"correct": "correct", "wrong": "incorrect", "incorrect": "incorrect"}.get(verdict.lower(), "")
    return RawFields(correctness, step if step.isdigit() else _STEP_WORDS.get(step.lower(), ""), reason)


def _between(text: str, heading: str, following: str) -> str | None:
    """Return the text between a heading and the next following one, stripped; None if one of them is missing."""
    start = text.find(heading)
    end = -1 if start < 0 else text.find(following, start + len(heading))
    return None if end < 0 else text[start + len(heading) : end].strip()


def _next_heading(text: str, name: str, begin: int) -> tuple[int, int] | None:
    """Return where a heading starts and ends, with up to two asterisks on either side and its colons.

    Equivalent to the official expression, but searches for the name first: many times faster on long responses.
    """
    start = text.find(name, begin)
    if start < 0:
        return None
    before = text[max(begin, start - 2) : start]
    stars = len(before) - len(before.rstrip("*"))
    after = _AFTER_HEADING.match(text, start + len(name))
    return start - stars, after.end() if after else start + len(name)


def official_letters(field: str) -> str:
    """Return the lower-cased letters of a correctness field, which the official scorer compares with the gold word."""
    return "".join(filter(str.isalpha, field.strip().lower()))


def official_step_for_gate(field: str) -> str:
    """Return the step that decides whether the judge is asked; empty if it is not read."""
    stripped = field.strip()
    if stripped.isdigit():
        return stripped
    words = "".join(char for char in stripped.lower() if char.isalnum() or char == " ")
    return _STEP_WORDS.get(words, "")


def official_step_for_score(field: str) -> str:
    """Return the step that is scored: as for the gate, but QUIRK: blanks around a bare digit are kept and spoil it."""
    return field if field.strip().isdigit() else official_step_for_gate(field)


def read_official(text: str, parser: Parser = "mr-ben") -> MrBenReading:
    """Read a response as the official scorer does. `step` decides whether the judge is asked, `raw` the credit."""
    raw = parse_official(text) if parser == "mr-ben" else parse_mr_gsm8k(text)
    letters = official_letters(raw.correctness)
    correctness: Correctness | None = (
        "correct" if letters == "correct" else "incorrect" if letters == "incorrect" else None
    )
    has_headings = any(raw)
    return MrBenReading(
        correctness=correctness,
        step=official_step_for_gate(raw.step) or None,
        error_reason=raw.reason.strip(),
        raw=raw,
        rule="official headings" if has_headings else "headings not found",
        span=_span_of_correctness(text, raw.correctness) if has_headings and parser == "mr-ben" else None,
        detail="" if correctness else _unread_reason(raw),
    )


def official_decision(reply: str) -> str:
    """Return the official decision text: all after the first `Final Decision:`, or `ERROR_PARSING`.

    Officially, an analysis must be somewhere behind the first reasoning, and a decision behind the first analysis.
    """
    analysis, decision = "Student Error Reason Analysis:", "Final Decision:"
    reasoning_at = reply.find("Step-by-Step Reasoning:")
    has_analysis = 0 <= reasoning_at <= reply.rfind(analysis)
    has_decision = reply.find(analysis) <= reply.rfind(decision)
    if not has_analysis or not has_decision:
        return PARSING_ERROR
    return reply[reply.find(decision) + len(decision) :].lstrip()


def is_credited_official(decision: str) -> bool:
    """Whether the official scorer credits a decision. QUIRK: "Incorrect" contains "correct" and is credited."""
    return "correct" in decision.lower()


def _span_of_correctness(text: str, field: str) -> tuple[int, int] | None:
    """Return the span of the verdict without the blanks around it; `field`: all that follows its heading."""
    heading = _next_heading(text, _HEADINGS[0], 0)
    if heading is None:
        return None
    _, field_start = heading
    start = field_start + len(field) - len(field.lstrip())
    end = field_start + len(field.rstrip())
    # A field of blanks has its end before its start.
    return start, max(start, end)


def _unread_reason(raw: RawFields) -> str:
    """Return why a response has no verdict, for people."""
    if not any(raw):
        return "the three headings are not there in the official spelling and order"
    return "the correctness field has other letters than correct or incorrect"
