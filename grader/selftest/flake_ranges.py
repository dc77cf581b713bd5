"""A second range beside `ci95`: the metric's range if as many verdicts changed as the ledger allows.

The ledger bounds the share of verdicts that change when samples are graded again. In the worst case, all of these are
wrong in one direction, and are samples of one group. So a metric changes by at most (share x samples of the run x
change of an observation by one verdict) / observations. `ci95` only depends on the data, and is the same on every
machine.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from grader.results import FlakeProvenance, Outcome, Reading, SampleResult
from grader.scorers.interface import in_group
from grader.scorers.registry import scorer_of
from grader.selftest import ledger

if TYPE_CHECKING:
    from collections.abc import Callable

    from grader.results import Metric, Report
    from grader.scorers.interface import Observe

_PASSED = Reading(outcome=Outcome.PASSED, credit=1)
_FAILED = Reading(outcome=Outcome.FAILED, credit=0)


def from_ledger(report: Report) -> Report:
    """Return a report with the flake rate of this machine's ledger; unchanged if the ledger has no checks for it."""
    if report.provenance.sandbox is None:
        return report
    own = [c for c in ledger.read() if (c.benchmark, c.protocol) == (report.benchmark, report.protocol)]
    rate = ledger.rate(own)
    if not rate.checked:
        return report
    graded = {sample.qid for sample in report.samples}
    same = [check for check in own if check.data_digest == report.provenance.data_digest]
    tasks = {qid: (found.flips, found.checked) for qid, found in ledger.by_task(same).items() if qid in graded}
    flakes = FlakeProvenance(flips=rate.flips, checked=rate.checked, bound=rate.bound, tasks=tasks)
    return with_ranges(
        msgspec.structs.replace(report, provenance=msgspec.structs.replace(report.provenance, flakes=flakes))
    )


def with_ranges(report: Report) -> Report:
    """Return a report whose metrics have the range that follows from its `provenance.flakes`."""
    flakes = report.provenance.flakes
    if flakes is None:
        return report
    scorer = scorer_of(report)
    changed = flakes.bound * len(report.samples)
    sizes = {
        group: [len(unit) for unit in in_group(report, group).values()] for group in {m.group for m in report.metrics}
    }
    weights = {name: _weight(observe) for name in {m.name for m in report.metrics} if (observe := scorer.observe(name))}

    def ranged(metric: Metric) -> Metric:
        weight = weights.get(metric.name)
        if metric.value is None or weight is None:
            return metric
        moved = 100 * changed * max(map(weight, sizes[metric.group]), default=0.0) / metric.n
        if not moved:
            return metric
        low, high = metric.ci95 or (metric.value, metric.value)
        return msgspec.structs.replace(metric, with_flakes=(max(0.0, low - moved), min(100.0, high + moved)))

    return msgspec.structs.replace(report, metrics=[ranged(metric) for metric in report.metrics])


def _weight(observe: Observe) -> Callable[[int], float]:
    """Return a function: number of samples of an observation -> its largest change by one verdict."""

    @cache
    def weight(size: int) -> float:
        found = [observe([_sample(_PASSED if first else _FAILED), *[_sample(_FAILED)] * (size - 1)], "careful")
                 for first in (True, False)]  # fmt: skip
        one, none = (value or 0.0 for value in found)
        return one - none

    return weight


def _sample(reading: Reading) -> SampleResult:
    return SampleResult(qid="", sample=0, official=reading, careful=reading)
