"""What the readings are, why they differ, and why samples are unscored, in sentences: the same ones in every format."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.reports.text import clean, truncate
from grader.results import READINGS, Calls, Outcome, other_reading
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from grader.results import Metric, Reading, ReadingName, Report, SampleResult
    from grader.scorers.registry import AnyScorer

INFRASTRUCTURE = "infrastructure failed"


def why_readings_differ(scorer: AnyScorer, sample: SampleResult, reply: str | None = None) -> str:
    """Return why the readings differ: the kind of difference, else the words that led each reading to its answer.

    Empty if nothing is known. One line without control characters; words of `reply` or of a program may
    be in it.
    """
    if kind := scorer.sample_details(sample).kind:
        return clean(scorer.words.glossary.get(kind, kind))
    reasons = {name: reason(sample.reading(name), scorer.words.glossary) for name in READINGS}
    if len(set(reasons.values())) < 2:
        return ""
    if "" in reasons.values():
        return "".join(reasons.values())
    words = {name: deciding_words(sample.reading(name), reply) for name in READINGS}
    headings = {name: f"{name} {words[name]}".rstrip() for name in READINGS}
    return "; ".join(f"{headings[name]}: {_as_clause(text)}" for name, text in reasons.items())


WORDS_BEFORE = 3
LONGEST_QUOTE = 60
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
    leading_blanks = len(answer) - len(answer.lstrip())
    context = reply[max(0, start - LONGEST_QUOTE // 2) : start + leading_blanks]
    line_before = context.rpartition("\n")[2]
    words_before = " ".join(line_before.split(" ")[-WORDS_BEFORE - 1 :])  # the last one is what the answer continues
    ends_in_word = answer and not answer[-1].isspace()
    word_end = match[0] if ends_in_word and (match := _WORD_END.match(reply, end)) else ""
    quotation = clean(f"{words_before}{answer.strip()}{word_end}").replace("`", "'")
    return f"`{truncate(' '.join(quotation.split()), LONGEST_QUOTE)}`" if quotation.strip() else ""


def facts_of(scorer: AnyScorer, sample: SampleResult) -> list[tuple[str, str]]:
    """Return what a scorer knows of a sample, the first call with another answer, and the test that failed."""
    details = scorer.sample_details(sample)
    facts = list(details.facts)
    if isinstance(sample.calls, Calls) and (first := sample.calls.first) is not None:
        facts += [
            ("first call with another answer", first.call),
            ("expected", first.expected),
            ("returned", first.returned),
        ]
    return facts + ([("failed test (official run)", details.failed_test)] if details.failed_test else [])


def outcome_name(scorer: AnyScorer, reading: Reading) -> str:
    """Return the name of an outcome, in the scorer's words."""
    return scorer.words.outcomes.get(reading.outcome.value, reading.outcome.value)


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
    word, _, others = sentence.removesuffix(".").partition(" ")
    is_ordinary_word = word[1:].islower()  # not a letter, a number or an acronym
    return f"{word[:1].lower() + word[1:] if is_ordinary_word else word} {others}".strip()


def causes(report: Report) -> dict[str, int]:
    """Return cause -> number of samples, the most frequent cause first."""
    names = scorer_of(report).words.causes
    counts = Counter(cause for sample in report.samples if (cause := _cause(sample, names)))
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
    """Return the worst and the best case of a metric, and how many items are not in its value."""
    assert metric.bounds is not msgspec.UNSET
    words = f"{metric.bounds[0]:.1f} to {metric.bounds[1]:.1f}"
    if metric.dropped is msgspec.UNSET:
        return words
    total = metric.dropped + metric.n
    return f"{words}; {metric.dropped} of {total} items left out: too few scored samples"


def _cause(sample: SampleResult, names: Mapping[str, str]) -> str:
    """Return why a sample is unscored, by the rule of its careful reading or else its official one; empty if it is not.

    `names`: rule -> cause.
    """
    for name in reversed(READINGS):
        reading = sample.reading(name)
        if reading.outcome is Outcome.UNSCORED:
            return names.get(reading.rule_name, INFRASTRUCTURE)
    return ""


_PUBLISHED_SCORER = "of the published scorer, bug for bug"
_PROTOCOL_RULES = "of the rules that the benchmark's protocol names"


def about_readings(benchmarks: Iterable[str]) -> str:
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
