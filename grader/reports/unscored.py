"""The reasons why samples are unscored: no judge, a failing server or checker, or a failure of the grader."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from grader.results import READINGS, Outcome

if TYPE_CHECKING:
    from grader.results import Metric, Report, SampleResult

_CAUSES = {
    "not_judged": "not judged",
    "judge": "not judged",
    "server_failure": "the model's server failed",
    "checker": "the checker in the data failed",
}
"""Rule of the reading -> reason. With any other rule, the sandbox or the grader itself failed."""
INFRASTRUCTURE = "infrastructure failed"


def causes(report: Report) -> dict[str, int]:
    """Return cause -> number of samples, the most frequent cause first."""
    found = (cause for sample in report.samples if (cause := _cause(sample)))
    return dict(Counter(found).most_common())


def in_words(report: Report) -> str:
    """Return the causes in one line: `not judged 12, infrastructure failed 1`; a single cause has no number."""
    found = causes(report)
    return next(iter(found)) if len(found) == 1 else ", ".join(f"{cause} {number}" for cause, number in found.items())


def bounds_in_words(metric: Metric) -> str:
    """Return the worst and the best case of a metric, and how many items are not in its value."""
    assert metric.bounds is not msgspec.UNSET
    words = f"{metric.bounds[0]:.1f} to {metric.bounds[1]:.1f}"
    if metric.dropped is msgspec.UNSET:
        return words
    total = metric.dropped + metric.n
    return f"{words}; {metric.dropped} of {total} items have too few scored samples and are left out"


def _cause(sample: SampleResult) -> str:
    for name in reversed(READINGS):
        reading = sample.reading(name)
        if reading.outcome is Outcome.UNSCORED:
            # Results of schema 1 have the parser's rule here; their detail shows the reason.
            by_detail = "not judged" if reading.detail.startswith("the judge's word") else INFRASTRUCTURE
            return _CAUSES.get(reading.rule if isinstance(reading.rule, str) else "", by_detail)
    return ""
