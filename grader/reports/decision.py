"""The page for people who decide: one printed sheet, in plain words, of one run.

A file `.html` with `decision` in its name is this page. It says what was measured, how sure it is, what could not be
measured, which samples to look at, and how to check it.
"""

from __future__ import annotations

import math
import shlex
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.predictions.record import all_of, counted
from grader.predictions.select import PARTIAL
from grader.reports import provenance
from grader.reports.document import interval
from grader.reports.text import cut
from grader.reports.why import also_found, readings_differ, reason, why_unscored
from grader.reports.why import outcome as outcome_name
from grader.results import Outcome, excluded_from, in_percent, is_same
from grader.results.destination import results_path, stem_in
from grader.scorers import declarations
from grader.scorers.interface import BASELINES, JUDGED, OFFICIAL_MARK, WHY_DIFFERENT
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from grader.decisions.gate import GateResult
    from grader.results import Metric, Report, SampleResult
    from grader.scorers.registry import AnyScorer

MOST_SAMPLES = 6
MOST_METRICS = 4
MOST_NOTES = 3
"""What fits on one sheet."""
LONGEST_NAME, LONGEST_ANSWER, LONGEST_REASON, LONGEST_NOTE = 32, 24, 190, 240
FEW = 100
"""Fewer tasks than this are called few."""
_PLAIN = {
    Outcome.PASSED: "solved",
    Outcome.FAILED: "wrong",
    Outcome.ERROR: "stopped with an error",
    Outcome.TIMEOUT: "too slow",
    Outcome.OUT_OF_MEMORY: "used too much memory",
    Outcome.LINT_FAILED: "rejected before it ran",
    Outcome.SUSPECT: "not believed",
    Outcome.AMBIGUOUS: "unclear",
    Outcome.UNSCORED: "not scored",
}
"""Outcome -> words for people who do not know the outcomes' names."""
_OF_VALUES = (BASELINES, JUDGED, OFFICIAL_MARK, WHY_DIFFERENT, provenance.SELF_TESTED)
"""Beginnings of notes that explain the values or why to believe them, and name nothing that could not be measured."""
_STATES = {"met": "met", "failed": "not met", "inconclusive": "not decided by these data", "unscored": "not decided"}


def make(report: Report, _: object, gates: Sequence[GateResult] = (), /, **__: object) -> bytes:
    """Return the page; see `grader.reports.interface.Format`."""
    from grader.reports.web import page

    name = declarations.name_of(report)
    scorer, different, looked_at = scorer_of(report), report.differences(), _to_look_at(report)
    return page.render(
        "decision.html.j2",
        styles=("style", "decision"),
        scripts=("core", "theme", "static"),
        title=" · ".join(filter(None, ("What this result says", report.model, name))),
        heading=f"{name}: what this result says",
        facts=[report.model] if report.model else [],
        is_qualified=bool(provenance.official_mark(report)),
        gates=[(gate, _STATES[gate.state]) for gate in gates],
        metrics=list(_metrics(report, scorer.glossary)),
        measured=list(_measured(report, name)),
        sure=list(_sure(report, different)),
        open=list(_open(report)),
        is_sampled=_is_sampled(report),
        samples=[_sample(report, scorer, sample) for sample in looked_at[:MOST_SAMPLES]],
        left=_left(looked_at[MOST_SAMPLES:]),
        checks=list(_checks(report)),
        folder="" if report.benchmark in declarations.names() else report.benchmark,
    )


def _metrics(report: Report, glossary: Mapping[str, str]) -> Iterator[dict[str, object]]:
    """Yield the overall metrics with their meaning, the first one first."""
    for name, (official, careful) in list(report.overall().items())[:MOST_METRICS]:
        yield {
            "name": _plain_name(name),
            "meaning": _meaning(name, glossary),
            "careful": in_percent(careful),
            "range": _range(careful, is_lost=bool(report.unscored_by_reading.careful)),
            "official": None if official is None else in_percent(official),
            "is_same": is_same(official, careful),
        }


def _plain_name(name: str) -> str:
    return name.replace("_", " ")


def _range(metric: Metric | None, *, is_lost: bool) -> str:
    """Return the sentence on where a value is likely to be, or must be; or that this is not known."""
    if metric is None:
        return "The careful reading could not score any answer." if is_lost else ""
    if metric.value is None:
        return "Some answers were not scored: the lower value holds if all of them are wrong, the higher if all right."
    if metric.ci95 is None:
        return "No interval is computed for it."
    return f"Likely between {interval(metric).replace(' to ', ' and ')}."


def _meaning(name: str, glossary: Mapping[str, str]) -> str:
    base, _, k = name.partition("@")
    attempts = "an attempt" if k == "1" else f"at least one of {k} attempts"
    return glossary.get(name) or glossary.get(f"{base}@*", "").replace("at least one of k samples", attempts)


def _measured(report: Report, name: str) -> Iterator[tuple[str, str]]:
    """Yield (question, answer) about what was measured."""
    provenance, counts = report.provenance, Counter(sample.cluster for sample in report.samples).values()
    items, least, most = len(counts), min(counts, default=0), max(counts, default=0)
    unknown = 'not recorded: nothing here says whose answers these are (a field "model" in each record says it)'
    yield "Model", report.model or unknown
    if report.benchmark_description:
        yield "Benchmark", report.benchmark_description
    of = counted(items, "task") if report.part is None else f"{items:,} of the {counted(report.part.of, 'task')}"
    yield "Tasks", f"{of} of {name} ({report.split})"
    several = f", {most if least == most else f'{least} to {most}'} for each task" if most > 1 else ""
    file = provenance.predictions or "an unnamed file"
    yield "Answers", f"{counted(len(report.samples), 'answer')} in {file}{several}"
    rules = f"by the rules of the benchmark's own scorer (version {report.protocol}), and by the careful reading"
    yield "Graded", f"with grade {provenance.grade}, each answer twice: {rules}"
    if provenance.sandbox is not None:
        yield "Programs ran in", f"a sandbox ({provenance.sandbox.backend}, Python {provenance.sandbox.python})"
    if provenance.judge is not None:
        judge = provenance.judge
        asked = f" ({counted(judge.questions, 'question')})" if judge.questions else ""
        yield "Judge", f"{judge.model or judge.source}{asked}: it read what rules cannot read"


def _sure(report: Report, different: Sequence[SampleResult]) -> Iterator[str]:
    """Yield sentences about chance, and about the two readings."""
    first = next((m for m in report.metrics if m.group is None and m.reading == "careful"), None)
    if first is not None and first.ci95 is not None:
        low, high = first.ci95
        yield (
            f"Other tasks of this kind would give another {_plain_name(first.name)}, by chance. The 95 % interval for "
            f"this is {low:.1f} to {high:.1f}. Errors in reading the answers are not part of it."
        )
        if first.n < FEW:
            # The interval of a difference between two such values, if they are independent, is sqrt(2) times as wide.
            task = "task" if first.bounds is msgspec.UNSET else "scored task"
            yield (
                f"{counted(first.n, task)} {'is' if first.n == 1 else 'are'} few: between two models, a difference "
                f"of up to {math.sqrt(2) * (high - low) / 2:.0f} points can be chance."
            )
    elif first is not None and first.value is None and first.bounds is not msgspec.UNSET:
        yield (
            f"{in_percent(first)} is not an uncertainty interval. It is the worst and the best case for the answers "
            "that were not scored. Chance comes on top of it."
        )
    if not report.samples:
        return
    if not different:
        agreed = all_of(len(report.samples), "answer")
        yield f"The benchmark's own scorer and the careful reading agree on {agreed}."
    else:
        of = counted(len(report.samples), "answer")
        yield (
            f"The benchmark's own scorer and the careful reading disagree on {len(different):,} of {of}: "
            f"{_who_is_right(different)}. Look at some of them below."
        )
    suspects = sum(sample.careful.outcome is Outcome.SUSPECT for sample in report.samples)
    if suspects:
        yield (
            f"{counted(suspects, 'answer')} {'is' if suspects == 1 else 'are'} not believed, and counted as not "
            "solved: the program passes when it runs together with its tests, but not when the tests get only the "
            "values that it returns. A program that manipulates its tests does this; an honest one seldom does."
        )
    yield from (
        note.removeprefix(f"{OFFICIAL_MARK} ") for note in provenance.notes(report) if note.startswith(_OF_VALUES)
    )
    best = max(report.baselines.get("all", {}).values(), default=None)
    if best is not None and first is not None and first.ci95 is not None and first.ci95[0] <= best:
        yield f"The 95 % interval begins below {best:.1f}: the result is not shown to be better than this baseline."


def _who_is_right(different: Sequence[SampleResult]) -> str:
    """Return how many of these answers each reading gives more credit."""
    found = Counter(map(_more_credit, different))
    words = {
        "careful": ("gets more credit", "get more credit", "in the careful reading"),
        "official": ("gets more credit", "get more credit", "from the benchmark's own scorer"),
        "same": (
            "gets the same credit from both, but was read",
            "get the same credit from both, but were read",
            "differently",
        ),
        "unscored": ("is", "are", "not scored by at least one of them"),
    }
    return ", ".join(
        f"{found[which]:,} {singular if found[which] == 1 else plural} {text}"
        for which, (singular, plural, text) in words.items()
        if found[which]
    )


def _more_credit(sample: SampleResult) -> str:
    if Outcome.UNSCORED in {sample.careful.outcome, sample.official.outcome}:
        return "unscored"
    more = sample.careful.credit - sample.official.credit
    return "same" if not more else "careful" if more > 0 else "official"


def _open(report: Report) -> Iterator[str]:
    """Yield what could not be measured."""
    if report.unscored:
        yield (
            f"{report.unscored:,} of {counted(len(report.samples), 'answer')} could not be scored "
            f"({why_unscored(report)}). They are excluded from {_plain_name(excluded_from(report))}, "
            "not counted as wrong."
        )
        for metric in report.metrics:
            is_shown = metric.group is None and metric.reading == "careful" and metric.value is not None
            if is_shown and metric.bounds is not msgspec.UNSET:
                low, high = metric.bounds
                name = _plain_name(metric.name)
                yield f"If all of them were wrong, {name} would be {low:.1f}; if all were right, {high:.1f}."
    else:
        is_one = len(report.samples) == 1
        scored = f"{all_of(len(report.samples), 'answer').capitalize()} {'was' if is_one else 'were'} scored"
        yield f"{scored}: the values leave none out."
    if report.part is not None:
        yield f"Only {report.part.n} of {report.part.of} tasks were graded. This value is not that of the benchmark."
    notes = [note for note in provenance.notes(report) if not note.startswith((PARTIAL, *_OF_VALUES))]
    yield from (cut(note, LONGEST_NOTE) for note in notes[:MOST_NOTES])
    if len(notes) > MOST_NOTES:
        yield f"{counted(len(notes) - MOST_NOTES, 'further note')} in the results file."
    yield "Whether the model saw these tasks in its training cannot be known from its answers."


def _to_look_at(report: Report) -> list[SampleResult]:
    """Return the samples that decide whether to believe the values: where the readings disagree, then unclear ones."""
    different = report.differences()
    known = {(sample.qid, sample.sample) for sample in different}
    unclear = {Outcome.UNSCORED, Outcome.AMBIGUOUS, Outcome.SUSPECT, Outcome.NO_ANSWER}
    more = [s for s in report.samples if s.careful.outcome in unclear and (s.qid, s.sample) not in known]
    return [*_in_turn(different), *more]


def _in_turn(samples: Iterable[SampleResult]) -> list[SampleResult]:
    """Order samples so that each pair of outcomes has its first one before any pair has its second."""
    turns: Counter[tuple[Outcome, Outcome]] = Counter()
    placed = []
    for sample in samples:
        kind = (sample.official.outcome, sample.careful.outcome)
        placed.append((turns[kind], sample))
        turns[kind] += 1
    return [sample for _, sample in sorted(placed, key=lambda pair: pair[0])]


def _left(samples: Sequence[SampleResult]) -> str:
    """Return how many samples are not shown, and why one would look at them; empty if there are none."""
    different = sum(sample.differs for sample in samples)
    kinds = (
        (different, "on which the two disagree"),
        (len(samples) - different, "on which they agree, without a clear answer or a score"),
    )
    return " and ".join(f"{counted(number, 'answer')} {why}" for number, why in kinds if number)


def _is_sampled(report: Report) -> bool:
    """Whether a task has several samples."""
    return any(sample.sample for sample in report.samples)


def _sample(report: Report, scorer: AnyScorer, sample: SampleResult) -> dict[str, str]:
    why = readings_differ(scorer, sample, "benchmark's own scorer", LONGEST_REASON)
    why = why or reason(sample.careful, scorer.glossary)
    readings: dict[str, str] = {
        name: ", ".join(filter(None, (cut(reading.answer or "", LONGEST_ANSWER), outcome, more)))
        for name, more in also_found(scorer, sample).items()
        for reading in [sample.reading(name)]
        for outcome in [_PLAIN.get(reading.outcome, outcome_name(scorer, reading).replace("_", " "))]
    }
    name = cut(sample.qid, LONGEST_NAME) + ("" if sample.cluster == sample.qid else f" (of {sample.cluster})")
    return {
        "name": f"{name} #{sample.sample}" if _is_sampled(report) else name,
        "why": cut(f"{why[:1].upper()}{why[1:]}", LONGEST_REASON),
        **readings,
    }


def _checks(report: Report) -> Iterator[tuple[str, str]]:
    """Yield (purpose, command). The commands are for the folder that has the results file."""
    predictions = Path(report.provenance.predictions or "PREDICTIONS")
    stem = stem_in(None, Path(predictions.name), report.part)
    assert stem is not None
    results = shlex.quote(results_path(stem).name)
    is_bundled = report.benchmark in declarations.names()
    bench = shlex.quote(report.benchmark) if is_bundled else "FOLDER"
    look = (_to_look_at(report) or report.samples)[:1]
    if look:
        one = f"{shlex.quote(look[0].qid)} --sample {look[0].sample} --results {results}"
        yield "See one answer and why it was judged so", f"grade show {bench} {one}"
    own = "" if is_bundled else " -b FOLDER"
    yield "See all answers", f"grade report {results}{own} -o report.html"
    if report.part is None:
        again = f"grade {shlex.quote(predictions.name)} -b {bench} --score-only"
        yield "Compute the values again from what is recorded", again
    yield "Check that this machine grades correctly (takes minutes)", "grade selftest"
