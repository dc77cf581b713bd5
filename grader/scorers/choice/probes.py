"""Self-test replies whose letter is known: correct answers in many wordings, wrong answers and refusals."""

# ruff: noqa: RUF001 - replies in many scripts

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import READINGS, Outcome, ReadingName, by_observation, by_round
from grader.scorers.choice.official import options_in_vlmevalkit
from grader.scorers.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.results import Reading, Report, SampleResult
    from grader.scorers.choice.items import Item

BARE = "{letter}"
"""The only wording that every official reader reads, too (if it has the option)."""

WORDINGS = (
    "{letter}.",
    "({letter})",
    "**{letter}**",
    "{letter}. {text}",
    "({letter}) {text}",
    "Answer: {letter}",
    "The answer is {letter}.",
    "The correct answer is ({letter}) {text}.",
    "The correct option is {letter}.",
    "I would choose option {letter}.",
    "So the answer is {letter}.",
    "**Answer:** {letter}",
    "Final answer: {letter}",
    "\\boxed{{{letter}}}",
    "The final answer is $\\boxed{{{letter}}}$.",
    "<answer>{letter}</answer>",
    '{{"answer": "{letter}"}}',
    "<think>It could be {other} at first sight.</think>\n{letter}",
    "The answer is {other}. Wait, no: the answer is {letter}.",
    "I first thought {other}, but it's {letter}.",
    "答案是{letter}。",
    "答案：{letter}",
    "选{letter}。",
    "答えは{letter}です。",
    "정답은 {letter}입니다.",
    "Die Antwort ist {letter}.",
    "La réponse est {letter}.",
    "La respuesta es {letter}.",
    "La risposta è {letter}.",
    "A resposta é {letter}.",
    "Ответ: {letter}",
)
"""Wordings of a correct answer; `other` is a wrong letter."""

REFUSALS = (
    "I'm unable to view the image, so I cannot answer.",
    "I don't have enough visual information to answer this question.",
    "Cannot be determined from the image.",
    "I would need a higher resolution image to answer.",
    "抱歉，我无法从图片中判断。",
    "Ich kann das Bild leider nicht sehen.",
    "Je ne peux pas répondre à partir de l'image.",
    "No puedo determinarlo a partir de la imagen.",
)

WRONG = ("{other}", "The answer is {other}.", "<answer>{other}</answer>")


def probes(items: Mapping[str, Item]) -> Iterator[Probe]:
    """Yield the replies to every item, the same number for each."""
    for qid, item in items.items():
        if item.gold is None or len(item.options) == 1:
            continue
        letters = list(item.options)
        other = letters[(letters.index(item.gold) + 1) % len(letters)]
        values = {"letter": item.gold, "other": other, "text": item.options[item.gold]}
        yield _right(qid, BARE, values, item, official=item.gold in options_in_vlmevalkit(item.options) or None)
        for wording in WORDINGS:
            yield _right(qid, wording, values, item, official=None)
        for place, wording in enumerate(WRONG):
            official = None if place else False
            text = wording.format(**values)
            yield Probe(qid=qid, kind="wrong", title=wording, prediction=text, official=official, careful=False)
        for text in REFUSALS:
            yield Probe(qid=qid, kind="refusal", title=text, prediction=text, careful=False)


def _right(qid: str, wording: str, values: dict[str, str], item: Item, *, official: bool | None) -> Probe:
    # If an option's text is a letter ("A: B"), a letter alone is ambiguous, and the careful reader reports that.
    is_clear = "{text}" in wording or not {text.strip().upper() for text in item.options.values()} & set(item.options)
    return Probe(
        qid=qid,
        kind="wording",
        title=wording.replace("{letter}", "<letter>").replace("{other}", "<other>").replace("{text}", "<text>"),
        prediction=wording.format(**values),
        official=official,
        careful=True if is_clear else None,
    )


def recount(report: Report) -> dict[tuple[str, ReadingName], float]:
    """Return accuracy, or circular accuracy, of a whole report in percent, counted sample by sample."""
    named = {metric.name for metric in report.metrics}
    found: dict[tuple[str, ReadingName], float] = {}
    for name, of_units in (("accuracy", _means), ("circular_accuracy", _all_right)):
        for reading in READINGS if name in named else ():
            values = of_units(report, reading)
            if values:
                found[name, reading] = 100 * sum(values) / len(values)
    return found


def _means(report: Report, reading: ReadingName) -> list[float]:
    """Return the share of correct replies of each question."""
    shares = []
    for members in by_observation(report.samples).values():
        right = [r.answer is not None and r.outcome is Outcome.CORRECT for r in _scored(members, reading)]
        shares += [sum(right) / len(right)] if right else []
    return shares


def _all_right(report: Report, reading: ReadingName) -> list[float]:
    """Return the share of rounds with all passes correct, by question; empty if any sample is unscored."""
    shares = []
    for members in by_observation(report.samples).values():
        if len(_scored(members, reading)) < len(members):
            return []
        rounds = by_round(members).values()
        right = sum(all(one.reading(reading).outcome is Outcome.CORRECT for one in of_round) for of_round in rounds)
        shares.append(right / len(rounds))
    return shares


def _scored(members: list[SampleResult], reading: ReadingName) -> list[Reading]:
    readings = [member.reading(reading) for member in members]
    return [each for each in readings if each.outcome is not Outcome.UNSCORED]
