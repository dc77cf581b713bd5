"""A second opinion: some of a run's samples are executed again in fresh sandboxes. No verdict of the run changes."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.errors import InfrastructureError
from grader.regrading.again import Key, grade_again, is_scored, key_of
from grader.results import READINGS, Outcome
from grader.sandbox import bubblewrap, docker
from grader.selftest import verdict
from grader.statistics.corrections import most_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from grader.grading import Graded
    from grader.observer import Observer
    from grader.options import Options
    from grader.regrading.again import Again
    from grader.results import Report, SampleResult

FEWEST = 20
SHOWN = 10


class Chosen(msgspec.Struct, frozen=True, kw_only=True):
    """The samples to execute again."""

    drawn: list[Key]
    """Drawn at random from the samples without a timeout."""
    late: list[Key]
    """Every timeout."""
    left: int = 0
    """Number of samples with a verdict that are neither."""


class SecondOpinion(msgspec.Struct, frozen=True, kw_only=True):
    """The samples that got a second verdict, and those whose verdict changed."""

    chosen: Chosen
    """Without the samples that are unscored the second time: they count as left."""
    changed: dict[Key, str]
    """Sample -> its changes: `careful failed -> passed`."""
    advice: list[str]
    sandbox: str
    """The second sandbox: `bubblewrap (Python 3.12.4)`."""


def ask(graded: Graded, options: Options, observer: Observer, *, percent: float) -> SecondOpinion:
    """Execute some samples of a run again. Raises GradeError."""
    report, sandbox = graded.report, graded.report.provenance.sandbox
    if sandbox is None or graded.file is None:
        raise InfrastructureError("this run executed no program.")
    texts = {record.qid for record in graded.file.records}
    chosen = choose(report, texts, percent, random.SystemRandom())
    backend = _other(sandbox.backend)
    runtime = options.runtime if backend == "docker" else None
    elsewhere = msgspec.structs.replace(options, sandbox=backend, runtime=runtime, isolation="container")
    again = grade_again(report, graded.file, [*chosen.late, *chosen.drawn], elsewhere, observer)
    return compare(report, again, chosen)


def choose(report: Report, texts: Collection[str], percent: float, draw: random.Random) -> Chosen:
    """Return every timeout, and a share of the other predictions with a verdict (at least 20), by ids of `texts`."""
    scored = [s for s in report.samples if s.qid in texts and is_scored(s)]
    late = [key_of(s) for s in scored if Outcome.TIMEOUT in _outcomes(s)]
    others = [key_of(s) for s in scored if Outcome.TIMEOUT not in _outcomes(s)]
    count = min(len(others), max(FEWEST, math.ceil(len(others) * percent / 100)))
    return Chosen(drawn=draw.sample(others, count), late=late, left=len(others) - count)


def _outcomes(sample: SampleResult) -> set[Outcome]:
    return {sample.reading(name).outcome for name in READINGS}


def _other(backend: str) -> Literal["docker", "bubblewrap"]:
    """Return the backend for second opinions: the other one, if this machine has it."""
    if backend == "docker":
        return "bubblewrap" if bubblewrap.executable() is not None else "docker"
    return "docker" if docker.available() else "bubblewrap"


def compare(first: Report, again: Again, chosen: Chosen) -> SecondOpinion:
    """Return which verdicts changed; samples that are unscored the second time are not counted."""
    second = again.report
    pairs = {key: pair for key, pair in again.pairs.items() if is_scored(pair[1])}
    changed = {key: change for key, pair in pairs.items() if (change := _changes(*pair))}
    checked = Chosen(
        drawn=[key for key in chosen.drawn if key in pairs],
        late=[key for key in chosen.late if key in pairs],
        left=chosen.left + sum(key not in pairs for key in chosen.drawn),
    )
    advice = _advice([pairs[key] for key in changed], first, second)
    sandbox = second.provenance.sandbox
    where = f"{sandbox.backend} (Python {sandbox.python})" if sandbox is not None else ""
    return SecondOpinion(chosen=checked, changed=changed, advice=advice, sandbox=where)


def _changes(before: SampleResult, now: SampleResult) -> str:
    return " and ".join(
        f"{name} {before.reading(name).outcome} -> {now.reading(name).outcome}"
        for name in READINGS
        if before.reading(name).outcome is not now.reading(name).outcome
    )


def _advice(changed: Collection[tuple[SampleResult, SampleResult]], first: Report, second: Report) -> list[str]:
    """Return what to do about changed verdicts, the likeliest cause first."""
    advice = []
    pythons = [report.provenance.sandbox.python for report in (first, second) if report.provenance.sandbox]
    if len(set(pythons)) > 1:
        advice.append(f"The sandboxes have different versions of Python ({' and '.join(pythons)}): this can be why.")
    either = {outcome for pair in changed for sample in pair for outcome in _outcomes(sample)}
    if Outcome.TIMEOUT in either:
        advice.append(verdict.TIME)
    if Outcome.OUT_OF_MEMORY in either:
        advice.append(verdict.MEMORY)
    return advice or ["These programs or their tests seem to depend on chance: no verdict on them is certain."]


def in_words(opinion: SecondOpinion) -> str:
    """Return what a second opinion found, and what to do."""
    checked = len(opinion.chosen.drawn) + len(opinion.chosen.late)
    changed = [f"{qid} #{sample} {change}" for (qid, sample), change in opinion.changed.items()]
    more = f" and {len(changed) - SHOWN} more" if len(changed) > SHOWN else ""
    which = f" ({', '.join(changed[:SHOWN])}{more})" if changed else ""
    found = (
        f"Second opinion: {checked} samples were executed again in fresh sandboxes, {opinion.sandbox}, and "
        f"{len(changed)} of them changed{which}. {_bounds(opinion)}"
    )
    if not changed:
        return f"{found} --second-opinion with a higher percentage lowers the bound." if opinion.chosen.left else found
    return f"{found} The verdicts of this run stay as they are. {' '.join(opinion.advice)}"


def _bounds(opinion: SecondOpinion) -> str:
    """Return how many samples of the run may change. Only the random draw says something about the others."""
    late, drawn, left = opinion.chosen.late, opinion.chosen.drawn, opinion.chosen.left
    bounds = []
    if late:
        bounds.append(f"{sum(key in opinion.changed for key in late)} of {len(late)} timeouts changed.")
    if drawn:
        changed = sum(key in opinion.changed for key in drawn)
        most = most_of(left, changed, len(drawn))
        others = f", so at most {most} of the other {left} would (95 % confidence)" if left else ""
        bounds.append(f"{changed} of {len(drawn)} randomly drawn samples changed{others}.")
    return " ".join(bounds)
