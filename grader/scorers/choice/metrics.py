"""Accuracy over questions and circular groups, overall and by group, in both readings; position bias; baselines."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.results import READINGS, Outcome, ReadingName, SampleResult, facts_as
from grader.results.groups import by_observation, by_round, grouped
from grader.scorers.choice.facts import ChoiceFacts, LetterCounts, PositionBias, UnitOutcome
from grader.scorers.interface import MISSING_RULE
from grader.scorers.means import (
    Observation,
    Observe,
    each_observation,
    judged_samples,
    mean_credit,
    mean_of_observations,
    mean_of_samples,
    weight_observations,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from grader.scorers.choice.items import Item

ALL_PASSES = "vanilla_accuracy_all_passes"


def vanilla_observations(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per question, of the pass with its id, else of the first one (vanilla evaluation)."""
    first = {
        question: question if question in {member.qid for member in members} else members[0].qid
        for question, members in by_observation(samples).items()
    }
    return each_observation([sample for sample in samples if sample.qid == first[sample.observation]], reading)


def pass_observations(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per question; their mean is the mean over all passes, as in VLMEvalKit.

    A question with more passes moves this mean more, so it is a weighted one. Without any reply, a question keeps all
    its passes: they are wrong.
    """
    questions = [_noticed_passes(members, reading) or members for members in by_observation(samples).values()]
    shares = [mean_of_samples(members, reading) for members in questions]
    scored_counts = [sum(member.reading(reading).is_scored for member in members) for members in questions]
    return weight_observations(shares, bound_weights=[*map(len, questions)], value_weights=scored_counts)


def circular_observations(samples: list[SampleResult], reading: ReadingName) -> list[Observation]:
    """Return one observation per question: correct if every pass is; several samples are separate rounds."""
    observations = []
    for members in by_observation(samples).values():
        rounds = by_round(members).values()
        observations.append(mean_of_observations([_all_passes_correct(passes, reading) for passes in rounds]))
    return observations


def with_unit_outcomes(samples: list[SampleResult]) -> list[SampleResult]:
    """Return the samples, each with its question's outcome, which explains why a correct letter may earn no credit."""
    rounds = grouped(samples, lambda sample: (sample.observation, sample.sample))
    outcomes = {
        key: UnitOutcome(official=_outcome(members, "official"), careful=_outcome(members, "careful"))
        for key, members in rounds.items()
    }
    return [_with_outcome(sample, outcomes[sample.observation, sample.sample]) for sample in samples]


def _outcome(members: list[SampleResult], reading: ReadingName) -> Outcome:
    """Return the outcome of one round of a question's passes."""
    judged = judged_samples(members, reading)
    if not judged:
        return Outcome.NOT_JUDGED
    question = _all_passes_correct(judged, reading)
    if question.low != question.high:
        return Outcome.UNSCORED
    return Outcome.CORRECT if question.high else Outcome.WRONG


def _with_outcome(sample: SampleResult, outcome: UnitOutcome) -> SampleResult:
    facts = ChoiceFacts(gold=facts_of(sample).gold, question=outcome)
    return msgspec.structs.replace(sample, facts=facts)


def facts_of(sample: SampleResult) -> ChoiceFacts:
    """Return the scorer's own data of a sample."""
    return facts_as(ChoiceFacts, sample.facts)


def _all_passes_correct(members: list[SampleResult], reading: ReadingName) -> Observation:
    """Score a question: correct if all its passes are. A question with an unscored pass is unscored.

    It is unscored even if another pass is wrong: if only the wrong ones of the incomplete questions counted, the mean
    would be too low. The bounds of such an observation cover every outcome that is possible.
    """
    passes = [sample.reading(reading) for sample in _noticed_passes(members, reading)]
    scored = [each for each in passes if each.is_scored]
    is_complete = len(scored) == len(passes)
    may_be_correct = bool(passes) and all(each.points >= 1 for each in scored)
    return Observation(
        value=float(may_be_correct) if is_complete else None,
        low=float(may_be_correct and is_complete),
        high=float(may_be_correct),
        cluster=members[0].independent_unit,
    )


def _noticed_passes(passes: list[SampleResult], reading: ReadingName) -> list[SampleResult]:
    """Return all passes; in the official reading, those with a reply: VLMEvalKit does not notice a missing one."""
    return [each for each in passes if not (reading == "official" and each.official.rule == MISSING_RULE)]


def position_bias(samples: list[SampleResult]) -> PositionBias:
    """Return, by reading and letter, how often it was predicted, how often it is gold, and the accuracy if it is."""
    official, careful = (_letter_counts(samples, name) for name in READINGS)
    return PositionBias(official=official, careful=careful)


def _letter_counts(samples: list[SampleResult], name: ReadingName) -> dict[str, LetterCounts]:
    """Count letters over the scored samples of a reading; a question without a gold letter counts under ""."""
    chosen: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    for sample in samples:
        reading = sample.reading(name)
        if not reading.is_scored:
            continue
        gold_letter = facts_of(sample).gold or ""
        gold[gold_letter] += 1
        hits[gold_letter] += reading.points >= 1
        if reading.answer:
            chosen[reading.answer] += 1
    return {
        letter: LetterCounts(
            chosen=chosen[letter],
            right=gold[letter],  # how often it is the right letter
            accuracy=100 * hits[letter] / gold[letter] if gold[letter] else None,
        )
        for letter in sorted(chosen.keys() | gold.keys())
    }


def observe(name: str) -> Observe | None:
    """Return the function that gives an observation's value in a metric of this module; None for another metric."""
    return _OBSERVE.get(name)


def pass_values(groups: Mapping[str, list[SampleResult]], reading: ReadingName) -> dict[str, float | None]:
    """Return each question's value in the mean over all passes, which depends on the passes of the others."""
    observations = pass_observations([sample for members in groups.values() for sample in members], reading)
    return {question: each.value for question, each in zip(groups, observations, strict=True)}


def _of_one_question(observe_all: Callable[[list[SampleResult], ReadingName], list[Observation]]) -> Observe:
    """Return a function that gives one question's value, from one that gives the observations of many."""

    def value_of_question(members: Sequence[SampleResult], reading: ReadingName) -> float | None:
        # As in its mean, a pass that is not judged (a broken row) is left out.
        observations = observe_all(judged_samples(members, reading), reading)
        return observations[0].value if observations else None

    return value_of_question


_OBSERVE: dict[str, Observe] = {
    "accuracy": mean_credit,
    "circular_accuracy": _of_one_question(circular_observations),
    "vanilla_accuracy": _of_one_question(vanilla_observations),
    ALL_PASSES: mean_credit,
}


def baselines(items: Iterable[Item]) -> dict[str, dict[str, float]]:
    """Return the scores of chance and of always the first letter in percent, by group (`all`: every question)."""
    groups: dict[str, list[Item]] = {"all": [item for item in items if item.options]}
    for item in groups["all"]:
        for name, labels in item.groups.items():
            for label in [labels] if isinstance(labels, str) else labels:
                groups.setdefault(f"{name}={label}", []).append(item)
    return {
        group: {
            "chance": 100 * sum(1 / len(item.options) for item in members) / len(members),
            "always_first_letter": 100 * sum(item.gold == next(iter(item.options)) for item in members) / len(members),
        }
        for group, members in groups.items()
    }


GLOSSARY: Mapping[str, str] = {
    "accuracy": "The share of questions that are answered correctly.",
    "circular_accuracy": "The share of questions that are answered correctly in every rotation of their options.",
    "vanilla_accuracy": "The share of questions that are answered correctly with the options in their first order.",
    "vanilla_accuracy_all_passes": "The share of correct answers over all rotations of all questions.",
    "starts_with_letter": "The text begins with the letter.",
    "answer_is": 'The letter follows the words "answer is".',
    "answer_word": "The letter follows the word answer, choice or option.",
    "parenthesised": "The letter is in parentheses.",
    "letter_and_mark": "The letter is followed by a full stop or a closing bracket.",
    "standalone": "The letter is a word by itself, between blanks.",
    "none_matched": "No rule found an answer.",
    "answer_colon": 'The letter follows "Answer:".',
    "first_letter": "The letter is the first capital that is an option's letter.",
    "last_letter": "The letter is the last one of the text.",
    "between_blanks": "The letter is the last option's letter between blanks.",
    "before_blank": "The letter ends a word; of several letters, it is the last one between blanks.",
    "before_full_stop": "The letter is followed by a full stop; of several letters, it is the last one between blanks.",
    "nearest_text": "The text is nearest to the wording of this option.",
    "parentheses": "The letter is in parentheses, the last one.",
    "period": "The letter is followed by a full stop, the last one.",
    "colon": "The letter is followed by a colon, the last one.",
    "right_paren": "The letter is followed by a closing bracket, the last one.",
    "space": "The letter is followed by a blank, the last one.",
    "phrase": 'The letter follows a phrase such as "the answer is".',
    "start": "The text begins with the letter.",
    "end": "The text ends with the letter.",
    "fallback": "The letter is somewhere in the text, the last one.",
    "yes_or_no": "The reply agrees or disagrees with a question that has the options yes and no.",
    "token": "The letter is the only option letter in the text that is a word by itself.",
    "option_text": "The text contains the wording of exactly one option.",
    "answer_tag": "The answer is in an answer tag.",
    "bare_letter": "The text is little more than the letter.",
    "only_letter": "The letter is the only option that the text names.",
    "own_line": "The letter or text is on a line by itself.",
    "leading": "The reply begins with the letter or text.",
    "boxed": "The answer is in a LaTeX box.",
    "json": "The answer is a field of a JSON object.",
    "ordinal": "The text is the number of the option.",
    "conclusion": "The text draws this answer as its conclusion.",
    "declaration": "The text declares this to be its answer.",
    "refusal": "The text refuses to answer.",
    "unclosed_reasoning": "The reasoning was cut off before an answer.",
    "cut_off": "The reply was cut off in the sentence that would be its answer.",
    "several_answers": "The text names several answers.",
    "several_letters": "The text names several letters.",
    "letter_and_text_disagree": "The letter and the wording name different options.",
    "outside_options": "The letter is not among the options.",
    "empty": "The reply is empty, or has nothing after its reasoning.",
    "mark": "The answer stands behind or between the benchmark's marks, such as ####.",
    "bracket": "The answer is in brackets at the end of the text.",
    "nothing_read": "The text names no option as its answer.",
    "judge": "A judge model read the answer.",
    "missing": "The prediction file has no answer to this task.",
    "broken_row": "The row of the data is broken: no answer to it can be right.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}
