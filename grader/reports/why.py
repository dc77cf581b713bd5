"""What the readings are, why they differ, and why samples are unscored, in sentences: the same ones in every format."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.reports.text import truncate
from grader.results import READINGS, Outcome, other_reading
from grader.scorers.registry import scorer_of
from grader.wording import all_of, clean, decimal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.results import Metric, Reading, ReadingName, Report, SampleResult
    from grader.scorers.registry import AnyScorer

INFRASTRUCTURE = "infrastructure failed"


def why_readings_differ(scorer: AnyScorer, sample: SampleResult, reply: str | None = None) -> str:
    """Return why the readings differ, in one line without control characters; empty if nothing is known.

    It is the kind of difference, if the scorer knows it. Else it is the reason of each reading, after the words of
    `reply` that led to it; if only one reading has a reason, that one.
    """
    if kind := scorer.sample_details(sample).kind:
        return clean(scorer.words.glossary.get(kind, kind))
    reasons = {name: reason(sample.reading(name), scorer.words.glossary) for name in READINGS}
    official, careful = reasons["official"], reasons["careful"]
    if official == careful:
        return ""
    if not official or not careful:
        return official or careful
    parts = []
    for name, text in reasons.items():
        heading = f"{name} {deciding_words(sample.reading(name), reply)}".rstrip()
        parts.append(f"{heading}: {_as_clause(text)}")
    return "; ".join(parts)


WORDS_BEFORE = 3
LONGEST_QUOTE = 60
"""Characters of a quotation; the words before an answer are at most half of them."""
_WORD_END = re.compile(r"[^\s.,;:]{0,15}")


def deciding_words(reading: Reading, reply: str | None) -> str:
    """Return the words of a reply from which a reading has its answer, with three before them on their line.

    If the answer `B` was read in "I am sure: the answer is B.", they are "`the answer is B`". They are one line without
    control characters; empty if it is not known where the answer was read.
    """
    if reply is None or not isinstance(reading.span, tuple):
        return ""
    start, end = reading.span
    answer = reply[start:end]
    ends_in_word = answer and not answer[-1].isspace()
    word_end = match[0] if ends_in_word and (match := _WORD_END.match(reply, end)) else ""
    text = clean(f"{_words_before(reply, start, answer)}{answer.strip()}{word_end}").replace("`", "'")
    quotation = " ".join(text.split())
    return f"`{truncate(quotation, LONGEST_QUOTE)}`" if quotation else ""


def _words_before(reply: str, start: int, answer: str) -> str:
    """Return the words before an answer on its line, and the beginning of its own word: `(` if `B` is read in `(B)`."""
    leading_blanks = len(answer) - len(answer.lstrip())
    context = reply[max(0, start - LONGEST_QUOTE // 2) : start + leading_blanks]
    line_before = context.rpartition("\n")[2]
    *words, beginning_of_own_word = line_before.split(" ")
    return " ".join([*words[-WORDS_BEFORE:], beginning_of_own_word])


def agreement(report: Report) -> str:
    """Return on how many samples the readings agree, if they differ on none; empty if careful judges no sample."""
    judged = sum(sample.careful.outcome not in {Outcome.NOT_JUDGED, Outcome.UNSCORED} for sample in report.samples)
    if not judged:
        return ""
    restriction = " that both judge" if judged < len(report.samples) else ""
    return f"Official and careful agree on {all_of(judged, 'sample')}{restriction}."


def labelled_facts(scorer: AnyScorer, sample: SampleResult) -> list[tuple[str, str]]:
    """Return (label, text) of what is known: the scorer's facts, the first call with another answer, a failed test."""
    details = scorer.sample_details(sample)
    facts = list(details.facts)
    if (call := sample.first_difference) is not None:
        facts += [
            ("first call with another answer", call.call),
            ("expected", call.expected),
            ("returned", call.returned),
        ]
    if details.failed_test:
        facts.append(("failed test (official run)", details.failed_test))
    return facts


def outcome_name(scorer: AnyScorer, reading: Reading) -> str:
    """Return the name of an outcome, in the scorer's words."""
    return scorer.words.outcomes.get(reading.outcome.value, reading.outcome.value)


def partial_credit(reading: Reading) -> str:
    """Return the credit of a reading that is neither none nor all; else an empty text."""
    return f"credit {reading.points:g}" if 0 < reading.points < 1 else ""


def distinguishing_facts(scorer: AnyScorer, sample: SampleResult) -> dict[ReadingName, str]:
    """Return what else tells the readings apart if they have the same outcome and answer: credit, and facts."""
    if (sample.official.outcome, sample.official.answer) != (sample.careful.outcome, sample.careful.answer):
        return dict.fromkeys(READINGS, "")
    details = scorer.sample_details(sample)
    facts: dict[ReadingName, list[str]] = {
        "official": _facts_in_words(sample.official, details.official),
        "careful": _facts_in_words(sample.careful, details.careful),
    }
    return {
        name: ", ".join(fact for fact in facts[name] if fact not in facts[other_reading(name)]) for name in READINGS
    }


def _facts_in_words(reading: Reading, facts: Iterable[tuple[str, str | bool | None]]) -> list[str]:
    words = {True: "credited", False: "not credited", None: "not judged"}
    parts = (f"{name} {value if isinstance(value, str) else words[value]}" for name, value in facts)
    return [f"credit {reading.points:g}", *parts]


def reason(reading: Reading, glossary: Mapping[str, str]) -> str:
    """Return what led a reading to its outcome: its detail, else the meaning of its rule."""
    rule = reading.rule_name
    return clean("; ".join((reading.detail or glossary.get(rule, rule)).splitlines()))


def _as_clause(sentence: str) -> str:
    """Return a sentence as a part of another one: without its full stop, its first word in lower case."""
    first_word, _, other_words = sentence.removesuffix(".").partition(" ")
    is_ordinary_word = first_word[1:].islower()  # not a single letter, a number or an acronym
    if is_ordinary_word:
        first_word = first_word[0].lower() + first_word[1:]
    return f"{first_word} {other_words}".strip()


def causes(report: Report) -> dict[str, int]:
    """Return cause -> number of samples, the most frequent cause first."""
    cause_of_rule = scorer_of(report).words.causes
    counts = Counter(cause for sample in report.samples if (cause := _unscored_cause(sample, cause_of_rule)))
    return dict(counts.most_common())


def why_unscored(report: Report) -> str:
    """Return the causes in one line: `not judged 12, infrastructure failed 1`; a single cause has no number.

    If the readings have different numbers of unscored samples, these follow: `not judged; official 7, careful 12`.
    """
    counts = causes(report)
    names = list(counts) if len(counts) == 1 else [f"{cause} {number}" for cause, number in counts.items()]
    unscored = report.unscored_by_reading
    if unscored.official == unscored.careful:
        return ", ".join(names)
    return f"{', '.join(names)}; official {unscored.official}, careful {unscored.careful}"


def bounds_in_words(metric: Metric) -> str:
    """Return the worst and the best case of a metric, and how many items are not in its value, if there are such."""
    assert metric.bounds is not msgspec.UNSET
    words = " to ".join(map(decimal, metric.bounds))
    if metric.dropped is msgspec.UNSET:
        return words
    total = metric.dropped + metric.n
    return f"{words}; {metric.dropped} of {total} items left out: too few scored samples"


def _unscored_cause(sample: SampleResult, cause_of_rule: Mapping[str, str]) -> str:
    """Return why a sample is unscored; empty if it is scored.

    The careful reading's cause comes first. Scorers name causes of their own; all other rules are the infrastructure's.
    """
    for name in reversed(READINGS):
        reading = sample.reading(name)
        if reading.outcome is Outcome.UNSCORED:
            return cause_of_rule.get(reading.rule_name, INFRASTRUCTURE)
    return ""


_PUBLISHED_SCORER = "of the published scorer, bug for bug"
_PROTOCOL_RULES = "of the rules that the benchmark's protocol names"


def metrics_lead(benchmarks: Iterable[str]) -> str:
    """Return the sentences above a table of metrics of these benchmarks, given by id."""
    are_bundled = set(benchmarks) <= set(resources.bundled_benchmarks())
    official = _PUBLISHED_SCORER if are_bundled else _PROTOCOL_RULES
    return (
        f"In percent, with 95 % intervals. Official is the verdict {official}; careful is the verdict of an attentive "
        "person."
    )


def about_official(benchmark: str) -> str:
    """Return the explanation of the official reading of a benchmark, given by id."""
    if benchmark in resources.bundled_benchmarks():
        return (
            "The verdict of the benchmark's published scorer, bug for bug, under the protocol named above. Compare "
            "this number with a leaderboard."
        )
    return "The verdict of the rules that the protocol named above stands for. This benchmark has no published scorer."
