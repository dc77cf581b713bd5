"""Ask a judge about multiple-choice replies, and read its answers."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from grader.predictions.file import judge_key
from grader.results import READINGS, Note
from grader.scorers.choice.official import options_in_vlmevalkit, read_vlmevalkit
from grader.scorers.choice.reading import read_as
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.judge import JudgeReply
    from grader.judge.session import JudgeSession
    from grader.results import ReadingName, SampleResult
    from grader.scorers.choice.items import Item
    from grader.scorers.choice.reading import ChoiceReading
    from grader.scorers.choice.replies import ChoiceReply

_CJK = re.compile(r"[\u4e00-\u9fff]")
_READ_FOR_SURE = frozenset(("empty", "unclosed_reasoning", "refusal", "outside_options"))
"""Rules by which the careful reading is certain that the reply has no answer: the judge is not asked."""


def ask_judge(
    replies: list[ChoiceReply], unanswered: Iterable[Item], session: JudgeSession, version: str, *, is_circular: bool
) -> None:
    """Ask the judge about replies that the rules could not read, if the answer can still change the outcome.

    `unanswered`: the items without a reply. `version`: that of the official reader.
    """
    if session.judge is None:
        return
    from grader.judge import JudgeQuestion
    from grader.judge.prompts import choice_prompt

    wrong_rounds = _wrong_rounds(replies, unanswered, version) if is_circular else {}
    reply_by_key: dict[str, ChoiceReply] = {}
    for reply in replies:
        reply.readings_to_judge = frozenset(
            name
            for name in READINGS
            if _needs_judge(reply, name, version) and _round_of(reply) not in wrong_rounds.get(name, frozenset())
        )
        if reply.readings_to_judge:
            reply_by_key[judge_key(reply.item.id, reply.sample)] = reply
    questions = [
        JudgeQuestion(
            qid=key,
            prompt=choice_prompt(
                reply.item.text,
                reply.item.options,
                reply.text,
                chinese=bool(_CJK.search(reply.item.text)),
                template=session.template,
            ),
            accept=partial(_is_readable, reply, version),
        )
        for key, reply in reply_by_key.items()
    ]
    for key, answer in session.judge.ask(questions).items():
        _store_answer(reply_by_key[key], answer, version)


def _wrong_rounds(
    replies: list[ChoiceReply], unanswered: Iterable[Item], version: str
) -> dict[str, frozenset[tuple[str, int]]]:
    """Return for each reading the rounds of circular questions that are wrong, whatever a judge says of their passes.

    One wrong pass is enough. A missing pass is wrong in the careful reading only: VLMEvalKit does not notice it.
    """
    wrong = {
        name: {_round_of(reply) for reply in replies if _is_wrong_by_rules(reply, name, version)} for name in READINGS
    }
    incomplete = {item.observation for item in unanswered}
    wrong["careful"] |= {_round_of(reply) for reply in replies if reply.item.observation in incomplete}
    return {name: frozenset(rounds) for name, rounds in wrong.items()}


def judged_note(samples: list[SampleResult]) -> list[Note]:
    """Return a note on how many samples each reading has from the judge, and how many of these are correct."""

    def share_of_judge(name: ReadingName) -> str:
        readings = [sample.reading(name) for sample in samples]
        judged = [reading for reading in readings if reading.is_scored and reading.rule == "judge"]
        credit = sum(reading.points for reading in judged)
        return f"{len(judged):,} of {counted(len(samples), 'sample')} ({credit} correct)"

    official, careful = share_of_judge("official"), share_of_judge("careful")
    return [Note(f"A judge decided {official} of the official reading, and {careful} of the careful one.")]


def missing_judge_note(replies: list[ChoiceReply], version: str) -> list[Note]:
    """Return a note on the replies that VLMEvalKit would give to a judge, for a run without one."""
    number = sum(_needs_judge(reply, "official", version) for reply in replies)
    if not number:
        return []
    text = (
        "No judge: VLMEvalKit asks one about replies that its rules cannot read. For this "
        f"reason, {number:,} of {counted(len(replies), 'reply', 'replies')} got no official credit. Give "
        "`--judge-model` (and `--judge-base-url`), or recorded replies with `--judge-replies`."
    )
    return [Note(text, "official")]


def _needs_judge(reply: ChoiceReply, reading: ReadingName, version: str) -> bool:
    """Whether the rules found no answer, so that a judge may find one."""
    if not reply.text.strip() or reply.item.broken:
        return False
    if reading == "careful":
        is_unsure = reply.careful.outcome == "no_answer" and reply.careful.rule not in _READ_FOR_SURE
        return is_unsure and not reply.is_failure
    # A question whose correct option VLMEvalKit does not have is wrong, whatever its judge says.
    has_gold = reply.item.gold in options_in_vlmevalkit(reply.item.options)
    return version.startswith("vlmevalkit") and reply.official.letter is None and has_gold


def _is_wrong_by_rules(reply: ChoiceReply, reading: ReadingName, version: str) -> bool:
    """Whether rules alone have found that a reply is not correct; carefully, a server failure is unscored instead."""
    if reading == "careful" and reply.is_failure:
        return False
    choice = reply.official if reading == "official" else reply.careful
    return choice.letter != reply.item.gold and not _needs_judge(reply, reading, version)


def _round_of(reply: ChoiceReply) -> tuple[str, int]:
    """Return the question and the sample number, which the passes of one round share."""
    return reply.item.observation, reply.sample


def _is_readable(reply: ChoiceReply, version: str, text: str) -> bool:
    return all(_judge_reading(name, reply, version, text) is not None for name in reply.readings_to_judge)


def _store_answer(reply: ChoiceReply, answer: JudgeReply, version: str) -> None:
    """Store the judge's answer as each reading reads it.

    A reading that cannot read it shows `judge_problem`: nothing arrived, or not a letter (`JudgeReply.error`). Of a
    text that the two do not both read (`unreadable`), one may read a letter.
    """
    text = answer.text if answer.text is not None else answer.unreadable or ""
    reply.judge_problem = f"the rules read no letter, and the judge gave none ({answer.error})"
    readings = {name: _judge_reading(name, reply, version, text) for name in reply.readings_to_judge}
    reply.official_judged, reply.careful_judged = readings.get("official"), readings.get("careful")


def _judge_reading(reading: ReadingName, reply: ChoiceReply, version: str, text: str) -> ChoiceReading | None:
    """Read the judge's answer: a letter, or `Z` for none of the options; None if it cannot be read."""
    from grader.scorers.choice.careful import read_choice

    options = reply.item.options
    if reading == "official":
        read = read_vlmevalkit(text, options, version)
        if read.letter is None and text.strip(" .()") in options.keys() - options_in_vlmevalkit(options):
            # VLMEvalKit's judge is not shown this option.
            read = read_as("Z", "judge", None)
    else:
        # A single letter is a label, even if it is also the text of another option.
        read = read_choice(text, dict.fromkeys([*options, "Z"], ""))
        if read.letter is None:
            read = read_choice(text, options | {"Z": "none of the options"})
    return read if read.letter is not None else None
