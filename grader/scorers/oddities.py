"""What every scorer adds to its samples: server failures, truncation, and the groups and the family of a task."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from grader.files.json_text import quoted
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


def with_oddities(samples: Iterable[SampleResult], oddities: Oddities) -> list[SampleResult]:
    """Return the samples with what is known beside their text: filters, broken rows, server failures, truncation.

    The careful reading changes: a reply to a broken row is not judged, a server failure is unscored, and a sentence
    that was cut off is no answer. The official reading stays, because its scorer reads any text; a row without a gold
    answer is wrong in it. Samples that the careful reading does not judge only get their filter.
    """
    return [_with_oddities(sample, oddities) for sample in samples]


def quoting_filtered_texts(
    samples: Iterable[SampleResult], predictions: Mapping[str, list[str]], oddities: Oddities
) -> list[SampleResult]:
    """Return the samples; where a log's filter made the prediction of a reply, the official reading quotes it.

    Reports show the reply, which the careful reading has read. So the official reading has no span in it.
    """
    return [
        _quoting(sample, predictions[sample.qid][sample.sample])
        if (sample.qid, sample.sample) in oddities.outputs
        else sample
        for sample in samples
    ]


def _quoting(sample: SampleResult, prediction: str) -> SampleResult:
    detail = f"The log's filter made {quoted(prediction)} of the reply. {sample.official.detail}".rstrip()
    official = msgspec.structs.replace(sample.official, detail=detail, span=msgspec.UNSET)
    return msgspec.structs.replace(sample, official=official)


def have_filters(samples: Iterable[SampleResult]) -> bool:
    """Whether several filters of a log made the samples of a task: they read one output, so they are one sample."""
    return any(isinstance(sample.groups, Mapping) and FILTER in sample.groups for sample in samples)


def _with_oddities(sample: SampleResult, oddities: Oddities) -> SampleResult:
    """Return a sample with its filter as a group, and with readings and flags as `with_oddities` says.

    For a broken row or a server failure, nothing else is added.
    """
    key = sample.qid, sample.sample
    if key in oddities.filters:
        groups = sample.groups if isinstance(sample.groups, Mapping) else {}
        sample = msgspec.structs.replace(sample, groups={**groups, FILTER: oddities.filters[key]})
    if sample.careful.outcome is Outcome.NOT_JUDGED:
        return sample
    broken = oddities.broken.get(sample.qid)
    if broken is not None:
        return _with_broken_row(sample, broken)
    failure = oddities.failures.get(key)
    if failure is not None:
        careful = Reading(
            outcome=Outcome.UNSCORED, credit=None, detail=f"the model's server failed: {failure}", rule=SERVER_FAILURE
        )
        return msgspec.structs.replace(sample, careful=careful)
    careful = sample.careful
    if key in oddities.unfinished and careful.rule_name in _IN_A_SENTENCE:
        detail = "the log says that the reply was cut off, in the sentence that would be the answer"
        careful = Reading(outcome=Outcome.NO_ANSWER, credit=0, detail=detail, rule=CUT_OFF)
    flags = sample.flags
    if key in oddities.truncated:
        flags = [*(flags if isinstance(flags, list) else []), TRUNCATED]
    return msgspec.structs.replace(sample, careful=careful, flags=flags)


def _with_broken_row(sample: SampleResult, broken: BrokenRow) -> SampleResult:
    """Return a sample without a careful reading; without a gold answer, the official scorer finds nothing right."""
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
    """Return the family of variants that a task belongs to; empty if it belongs to none."""
    value = task.row.get(columns.cluster or "")
    if value is None or value == "":
        return ""
    if not columns.cluster_pattern:
        return str(value)
    match = re.match(columns.cluster_pattern, str(value))
    return match[1] if match else ""
