"""What a response and a judge say, read as a person does: right or wrong, the first wrong step, the decision.

`places` finds the fields; here is what their claims say. Decisions that matter for the metrics:

- "partially correct" and "not fully correct" are `incorrect`: a solution is correct as a whole or not at all;
- a verdict that says both right and wrong, or doubts ("mostly correct"), is none;
- a named first error step without a verdict means `incorrect`; a bare N/A means nothing.

In 832 published replies, "correct", "incorrect" or "wrong" under a heading decides every verdict. Other wordings are
those of public reports.
"""

from __future__ import annotations

import json
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal

from grader.scorers.mr_ben.official import MrBenReading
from grader.scorers.mr_ben.stance import LONGEST, Stance, stance
from grader.scorers.mr_ben.step import NOT_APPLICABLE, code_line, step_in_line, step_in_prose
from grader.scorers.patterns import Pattern
from grader.scorers.places import fields, read_review
from grader.scorers.settling import settle_fields

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.scorers.mr_ben.official import Correctness
    from grader.scorers.own_words import OwnWords
    from grader.scorers.places import Claim
    from grader.scorers.settling import Settled


def read_careful(text: str, program: str | None = None) -> MrBenReading:
    """Read a response as a person does. `program`: the solution under review, if it is code."""
    reply = read_review(text)
    if reply.problem == "unclosed_reasoning":
        return MrBenReading(
            correctness=None,
            step=None,
            error_reason="",
            rule="unfinished reasoning",
            span=None,
            detail="the reasoning block is never closed",
        )
    claims = fields(reply)
    read_step = partial(_step, reply, text, program, reads_prose=not claims["step"])
    step = settle_fields(reply, claims["step"], read_step)
    step_value = step.value if step else None
    verdict = settle_fields(reply, claims["verdict"], partial(_verdict, reply), _is_same)
    correctness, rule, detail = _verdict_with_step(verdict, step_value)
    statement = verdict.value if verdict and correctness else None
    reason = settle_fields(reply, claims["reason"], partial(_reason, reply, text))
    return MrBenReading(
        correctness=correctness,
        step=step_value,
        error_reason=(reason and reason.value) or "",
        rule=rule,
        span=(statement.start, statement.end) if statement else None,
        detail=detail,
    )


def careful_decision(text: str) -> Literal["correct", "wrong"] | None:
    """Return the judge's decision on an error reason; None if a person could not tell, and the judge is asked again."""
    reply = read_review(text)
    verdict = settle_fields(reply, fields(reply)["verdict"], partial(_verdict, reply, reads_prose=False), _is_same)
    if verdict is None or verdict.is_contradicted or verdict.value is None:
        return None
    if verdict.value.says == "right":
        return "correct"
    return "wrong" if verdict.value.says == "wrong" else None


# --- what a claim says -----------------------------------------------------------------------------------------------

_SUBJECT = Pattern(r"\b(?:solution|code|program|all (?:(?:of )?the )?steps)\b|\bno (?:errors?|mistakes?)\b")
_CLAUSE_END = Pattern(r"[^\w.,:(]*+[.,:(]|\W*+(?:(?:because|since|as)\b|(?:were found\b\W*+)?(?:in the \w++\W*+)?$)")


def _first_lines(reply: OwnWords, claim: Claim) -> Iterator[tuple[int, str]]:
    """Yield (start, line) of a claim's first lines that are not blank, each up to an end tag, unmarked, lower-case."""
    start = claim.start
    for number, line in enumerate(reply.unmarked_lower[claim.start : claim.end].split("\n")):
        if line.strip() and number < _MOST_LINES:
            yield start, line.partition("</")[0][:LONGEST]
        start += len(line) + 1


_MOST_LINES = 6
"""Lines of a field that are read: what follows is explanation."""


def _is_same(first: Stance, second: Stance) -> bool:
    return first.says == second.says


def _verdict(reply: OwnWords, claim: Claim, *, reads_prose: bool = True) -> Stance | None:
    """Return what a field or a line of its own says of the solution; with `reads_prose`, what all sentences say."""
    if claim.form == "body":
        return _verdict_in_prose(reply, claim) if reads_prose else None
    # All sentences are read together, as the body.
    if claim.form == "sentence":
        return None
    stances = ((start, statement) for start, line in _first_lines(reply, claim) if (statement := stance(line)))
    start, statement = next(stances, (0, None))
    if statement is None:
        return None
    # A line of its own must be a verdict as a whole; a field has its heading.
    ends_clause = _CLAUSE_END.match(reply.unmarked_lower, start + statement.end) is not None
    if claim.form == "line" and not (statement.is_leading and ends_clause):
        return None
    return statement._replace(start=start + statement.start, end=start + statement.end)


def _verdict_in_prose(reply: OwnWords, claim: Claim) -> Stance | None:
    """Return what sentences such as "the solution is incorrect because ..." say; unsure if they contradict.

    A sentence must begin with its subject: "with this change, the solution is correct" is about another solution.
    """
    stances: list[Stance] = []
    for start, end in reply.sentences:
        first = max(start, claim.start)
        sentence = reply.unmarked_lower[first:end]
        statement = stance(sentence) if _SUBJECT.search(sentence) else None
        if statement and statement.is_leading and _CLAUSE_END.match(sentence, statement.end):
            stances.append(statement._replace(start=first + statement.start, end=first + statement.end))
    if len({statement.says for statement in stances}) > 1:
        return stances[-1]._replace(says="unsure")
    return stances[-1] if stances else None


def _step(reply: OwnWords, raw_text: str, program: str | None, claim: Claim, *, reads_prose: bool) -> str | None:
    """Return the step that a field (a claim of the form `declaration`) names, in a program the line.

    With `reads_prose`, all sentences (`body`) are read, too, but not of a program: their numbers can be those of lines.
    """
    if claim.form == "body" and reads_prose and program is None:
        return step_in_prose(reply.unmarked_lower[claim.start : claim.end])
    if claim.form != "declaration":
        return None
    if program is not None:
        return code_line(_claim_text(reply, raw_text, claim), program)
    return next(filter(None, (step_in_line(line) for _, line in _first_lines(reply, claim))), None)


def _reason(reply: OwnWords, raw_text: str, claim: Claim) -> str | None:
    content = _claim_text(reply, raw_text, claim).strip(" \t\r\n*_`\"'|}#-")
    return content if content and claim.form == "declaration" else None


def _claim_text(reply: OwnWords, raw_text: str, claim: Claim) -> str:
    """Return a claim as it is in `raw_text`, which has the positions of `reply.text`; a JSON string is decoded."""
    # At its end, `reply.text` can have blanks in place of words that are no part of the claim.
    length = len(reply.text[claim.start : claim.end].rstrip())
    written = raw_text[claim.start : claim.start + length]
    is_json_string = claim.rule == "field" and written.lstrip().startswith('"')
    if is_json_string:
        with suppress(ValueError):
            value, _ = json.JSONDecoder(strict=False).raw_decode(written.lstrip())
            return str(value)
    return written


# --- the verdict and the step together -------------------------------------------------------------------------------


def _verdict_with_step(verdict: Settled[Stance] | None, step: str | None) -> tuple[Correctness | None, str, str]:
    """Return the verdict, its rule, and why there is none. Without one, a named step says that there is a mistake."""
    if verdict is not None and verdict.is_contradicted:
        return None, "several verdicts", "the verdicts contradict each other"
    says = verdict.value.says if verdict and verdict.value else None
    if verdict is not None and says in ("right", "wrong"):
        rule = "heading" if verdict.claim.form == "declaration" else "sentence"
        return ("correct" if says == "right" else "incorrect"), rule, ""
    if step is not None and step != NOT_APPLICABLE:
        return "incorrect", "implied by the step", ""
    if says == "unsure":
        return None, "undecided", "the verdict says both right and wrong, or doubts"
    return None, "no verdict", "no heading and no sentence gives a verdict"
