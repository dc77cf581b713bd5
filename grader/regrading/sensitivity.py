"""Limits on trial: samples near a limit are graded again with lower, the same and higher limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.predictions.record import counted
from grader.regrading.again import Key, grade_again, is_scored, key_of, prepared
from grader.results import READINGS, Outcome
from grader.results.provenance import LimitsTrial, Sensitivity
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Collection

    from grader.observer import Observer
    from grader.options import Options
    from grader.predictions.file import PredictionFile
    from grader.regrading.again import Again
    from grader.results import Metric, Report, SampleResult, SandboxProvenance

SCALES = (0.5, 1.0, 3.0)
"""Limits relative to those of the run. Once the same: what moves there is chance, or a busy machine."""
NEAR = 0.25
"""The part of its CPU time from which a sample counts as near the limit."""
BYTES_PER_SECOND = 10 << 30
"""No program fills memory faster: so what used less CPU time cannot be near the limit of memory."""
_LIMITED = {Outcome.TIMEOUT, Outcome.OUT_OF_MEMORY}


def try_limits(report: Report, file: PredictionFile, options: Options, observer: Observer) -> Report:
    """Return a report that says how much it depends on the limits. Raises GradeError."""
    sandbox = report.provenance.sandbox
    if sandbox is None:
        raise UsageError("This run executed no programs, so it has no limits that could matter.")
    prepared(report, file, options)
    texts = {record.qid: len(record.predictions) for record in file.records}
    keys = [key for key in near(report.samples, sandbox) if key[1] < texts.get(key[0], 0)]
    trials = []
    for scale in SCALES if keys else ():
        observer.message(f"{counted(len(keys), 'sample')} near a limit, with {scale:g} times the limits")
        other = msgspec.structs.replace(options, limits_scale=scale)
        trials.append(_trial(report, grade_again(report, file, keys, other, observer), scale))
    found = Sensitivity(samples=len(keys), trials=trials)
    return msgspec.structs.replace(report, provenance=msgspec.structs.replace(report.provenance, sensitivity=found))


def near(samples: Collection[SampleResult], sandbox: SandboxProvenance) -> list[Key]:
    """Return the samples with a verdict that half or three times the limits could change."""
    least = min(NEAR * sandbox.cpu_seconds, sandbox.memory_bytes / 2 / BYTES_PER_SECOND)
    return [key_of(s) for s in samples if is_scored(s) and (s.seconds >= least or _is_limited(s))]


def _is_limited(sample: SampleResult) -> bool:
    readings = [sample.reading(name) for name in READINGS]
    return any(one.outcome in _LIMITED or "MemoryError" in one.detail for one in readings)


def _trial(report: Report, again: Again, scale: float) -> LimitsTrial:
    """Return what the second results change."""
    now = {key: msgspec.structs.replace(pair[1], sample=key[1]) for key, pair in again.pairs.items()}
    scored = {key: sample for key, sample in now.items() if is_scored(sample)}
    samples = [scored.get(key_of(sample), sample) for sample in report.samples]
    changed = msgspec.structs.replace(report, samples=samples)
    changed = msgspec.structs.replace(changed, metrics=scorer_of(report).recompute(changed))
    moved = [was.qid for was in report.samples if _credits(was) != _credits(scored.get(key_of(was), was))]
    return LimitsTrial(
        scale=scale,
        metrics={name: (_value(official), _value(careful)) for name, (official, careful) in changed.overall().items()},
        tasks=list(dict.fromkeys(moved)),
        lost=len(now) - len(scored),
    )


def _value(metric: Metric | None) -> float | None:
    return None if metric is None else metric.value


def _credits(sample: SampleResult) -> tuple[float, float]:
    return sample.official.credit, sample.careful.credit
