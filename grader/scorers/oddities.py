"""What every scorer adds to its samples: server failures, truncation, and the groups and the family of a task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from grader.predictions.outcomes import TRUNCATED
from grader.results import Outcome, Reading

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.benchmark import Columns
    from grader.predictions.outcomes import BrokenRow, Oddities
    from grader.results import SampleResult
    from grader.task import Task

FILTER = "filter"
"""The group of samples that one filter of a harness made."""
SERVER_FAILURE = "server_failure"
"""The rule of a reading that is unscored because the model's server failed."""

CUT_OFF = "cut_off"
"""The rule of a reading without an answer, because the log says that the reply was cut off in its last sentence."""
_IN_A_SENTENCE = frozenset(("conclusion", "sentence", "only_letter"))
"""The rules of careful readings of a sentence, not of a form such as a box or a declaration."""

BROKEN_ROW = "broken_row"
"""The rule of the readings of a task whose row is broken."""

NOT_JUDGED = "not_judged"
"""The rule of a reading that is unscored because it needed a judge, but the judge was missing or not understood."""

CAUSES = {
    NOT_JUDGED: "not judged",
    "judge": "not judged",
    BROKEN_ROW: "broken row of the data",
    SERVER_FAILURE: "the model's server failed",
}
"""Rule of an unscored reading -> why it is unscored, with any scorer."""


def marked(samples: Iterable[SampleResult], oddities: Oddities) -> list[SampleResult]:
    """Return the samples with their oddities.

    In the careful reading, a reply to a broken row and a server failure are unscored, and a sentence that was cut off
    is no answer; truncation is flagged. The
    official reading stays: its scorer reads whatever is there. Without a gold answer it finds nothing right. A task
    that careful does not judge stays outside of it.
    """
    return [_with_oddities(sample, oddities) for sample in samples]


def _with_oddities(sample: SampleResult, oddities: Oddities) -> SampleResult:
    place = sample.qid, sample.sample
    if sample.careful.outcome is Outcome.NOT_JUDGED:
        return sample
    if place in oddities.filters:
        groups = sample.groups if isinstance(sample.groups, Mapping) else {}
        sample = msgspec.structs.replace(sample, groups={**groups, FILTER: oddities.filters[place]})
    broken = oddities.broken.get(sample.qid)
    if broken is not None:
        return _of_broken_row(sample, broken)
    failure = oddities.failures.get(place)
    if failure is not None:
        careful = Reading(outcome=Outcome.UNSCORED, credit=None, detail=failure.sentence, rule=SERVER_FAILURE)
        return msgspec.structs.replace(sample, careful=careful)
    careful = sample.careful
    if place in oddities.whole:
        # The span is one of the whole output, and what is shown is the prediction.
        careful = msgspec.structs.replace(careful, span=msgspec.UNSET)
    if place in oddities.unfinished and careful.rule_name in _IN_A_SENTENCE:
        said = "the log says that the reply was cut off, in the sentence that would be the answer"
        careful = Reading(outcome=Outcome.NO_ANSWER, credit=0, detail=said, rule=CUT_OFF)
    flags = sample.flags
    if place in oddities.truncated:
        flags = [*(flags if isinstance(flags, list) else []), TRUNCATED]
    return msgspec.structs.replace(sample, careful=careful, flags=flags)


def _of_broken_row(sample: SampleResult, broken: BrokenRow) -> SampleResult:
    """Return a sample that careful does not judge; without a gold answer, it is wrong officially."""
    official = sample.official
    careful = Reading(outcome=Outcome.NOT_JUDGED, credit=None, detail=broken.reason, rule=BROKEN_ROW)
    if not broken.has_gold:
        official = msgspec.structs.replace(careful, outcome=Outcome.WRONG, credit=0, answer=official.answer)
    return msgspec.structs.replace(sample, careful=careful, official=official)


def with_groups(samples: Iterable[SampleResult], tasks: Mapping[str, Task]) -> list[SampleResult]:
    """Return the samples, those without groups with the groups of their task."""
    groups = {qid: task.groups for qid, task in tasks.items() if task.groups}
    return [
        msgspec.structs.replace(sample, groups=groups[sample.qid])
        if sample.groups is msgspec.UNSET and sample.qid in groups
        else sample
        for sample in samples
    ]


def with_families(samples: Iterable[SampleResult], tasks: Mapping[str, Task], columns: Columns) -> list[SampleResult]:
    """Return the samples with the family of their task; unchanged if the benchmark declares none."""
    if columns.cluster is None:
        return list(samples)
    families = {qid: family_of(task, columns) for qid, task in tasks.items()}
    return [
        msgspec.structs.replace(sample, family=families[sample.qid]) if families.get(sample.qid) else sample
        for sample in samples
    ]


def family_of(task: Task, columns: Columns) -> str:
    """Return the family of a task; empty if it is a family of its own."""
    value = task.row.get(columns.cluster or "")
    if value is None or value == "":
        return ""
    if not columns.cluster_pattern:
        return str(value)
    found = re.match(columns.cluster_pattern, str(value))
    return found[1] if found else ""
