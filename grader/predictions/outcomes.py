"""Find predictions that are not normal answers: server failures, truncated answers and empty texts."""

from __future__ import annotations

from collections import Counter
from itertools import islice, repeat
from typing import TYPE_CHECKING, Literal

import msgspec

from grader.files.json_text import quoted
from grader.predictions.file import NOTHING
from grader.predictions.reasoning import hide_reasoning
from grader.predictions.server_failures import error_excerpt, read_failure
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.predictions.file import Ending, PredictionFile
    from grader.task import Task

PredictionKey = tuple[str, int]
"""A qid, and a position among its predictions."""
TRUNCATED: Literal["truncated"] = "truncated"
_LAST_CHARACTERS = tuple(".!?\u3002)]}")
"""Of a sentence, a box or an object."""
_TAG_STARTS = ("<", "[", "\u25c1")
"""First characters of the tags around reasoning."""
_LEADING_BLANKS = 200
"""Only so many blanks before a tag are looked past: each prediction is tested, and some are long."""
BROKEN_SHOWN = 5
"""Number of reasons that a note on broken rows gives; rows with others are only named."""
EMPTY = "{} without any text: the model answered nothing, or its answers were lost on their way to the file."


class BrokenRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of the data that no reply can be judged by."""

    reason: str
    has_gold: bool
    """Whether the published scorer can still find a reply to it right."""


class Oddities(msgspec.Struct, frozen=True, kw_only=True):
    """Broken rows; server failures, truncated answers and empty texts among the predictions of a run."""

    broken: dict[str, BrokenRow] = {}
    """By qid."""

    filters: dict[PredictionKey, str] = {}
    """The harness' filter that made a prediction, if several filters made predictions of one output."""
    outputs: dict[PredictionKey, str] = {}
    """The model's whole output, where the prediction is what a tool made of it."""
    unfinished: frozenset[PredictionKey] = frozenset()
    """Predictions that end inside a sentence, and whose log says that they were cut off."""
    failures: dict[PredictionKey, str] = {}
    """What a failing server left in place of a prediction, on one line."""
    truncated: frozenset[PredictionKey] = frozenset()
    empty: int = 0
    """Number of predictions that are neither, and have no character but blanks."""

    def notes(self) -> list[str]:
        """Return notes on them for a reader of the report."""
        return [
            *_broken_notes(self.broken),
            *_failure_notes(list(self.failures.values())),
            *_truncated_notes(len(self.truncated)),
            *([EMPTY.format(counted(self.empty, "prediction"))] if self.empty else []),
        ]


def find_oddities(tasks: Mapping[str, Task], predictions: Mapping[str, list[str]], file: PredictionFile) -> Oddities:
    """Return the oddities of the predictions of a run and of their tasks.

    A prediction is truncated if its log says so, or if it is only reasoning that is never closed. If its log says so,
    and it does not end as a sentence does, it is also unfinished. A failure is neither, whatever its log says.
    """
    endings = {record.qid: record.endings for record in file.records if record.endings is not None}
    failures: dict[PredictionKey, str] = {}
    truncated, unfinished = set(), set()
    empty = 0
    for qid, texts in predictions.items():
        for index, (text, ending) in enumerate(zip(texts, endings.get(qid) or repeat(NOTHING), strict=False)):
            failure = _failure(text, ending, tasks[qid])
            if failure is not None:
                failures[qid, index] = failure
            elif ending.is_cut or _is_unclosed_reasoning(text):
                truncated.add((qid, index))
                if ending.is_cut and not text.rstrip().endswith(_LAST_CHARACTERS):
                    unfinished.add((qid, index))
            elif not text.strip():
                empty += 1
    return Oddities(
        filters=_filters_by_prediction(predictions, file),
        outputs={(r.qid, index): text for r in file.records for index, text in enumerate(r.outputs or ())},
        unfinished=frozenset(unfinished),
        broken=_broken_rows(tasks, predictions),
        failures=failures,
        truncated=frozenset(truncated),
        empty=empty,
    )


def _broken_rows(tasks: Mapping[str, Task], qids: Iterable[str]) -> dict[str, BrokenRow]:
    return {
        qid: BrokenRow(reason=task.broken, has_gold=task.has_gold_option) for qid in qids if (task := tasks[qid]).broken
    }


def _filters_by_prediction(predictions: Mapping[str, list[str]], file: PredictionFile) -> dict[PredictionKey, str]:
    """Return the filter of each prediction; with a single filter there is nothing to tell apart.

    A task without predictions counts as wrong for each filter.
    """
    filters = {record.qid: record.filters for record in file.records if record.filters and record.qid in predictions}
    if len({name for names in filters.values() for name in names}) < 2:
        return {}
    usual = max(filters.values(), key=len)
    return {
        (qid, index): name
        for qid, texts in predictions.items()
        for index, name in enumerate(filters.get(qid, []) if texts else usual)
    }


def _failure(text: str, ending: Ending, task: Task) -> str | None:
    if not text.strip():
        return error_excerpt(ending.error) or None
    return read_failure(text, task.options.values())


def _is_unclosed_reasoning(text: str) -> bool:
    """Whether a text is only reasoning that is never closed."""
    if not text[:_LEADING_BLANKS].lstrip().startswith(_TAG_STARTS):  # a test that is cheaper than the next one
        return False
    visible_text, is_unclosed = hide_reasoning(text)
    return is_unclosed and not visible_text.strip()


def _broken_notes(broken: Mapping[str, BrokenRow]) -> list[str]:
    if not broken:
        return []
    qids_by_reason: dict[str, list[str]] = {}
    for qid, row in broken.items():
        qids_by_reason.setdefault(row.reason, []).append(quoted(qid))
    explained = [f"{', '.join(qids)} ({reason})" for reason, qids in islice(qids_by_reason.items(), BROKEN_SHOWN)]
    unexplained = [qid for qids in islice(qids_by_reason.values(), BROKEN_SHOWN, None) for qid in qids]
    subject = "1 row of the data is broken" if len(broken) == 1 else f"{len(broken)} rows of the data are broken"
    return [
        f"{subject}: {', '.join([*explained, *unexplained])}. The careful reading leaves broken rows out. The official "
        "reading counts them as the published scorer does; it is unscored where that is not known."
    ]


def _failure_notes(failures: Sequence[str]) -> list[str]:
    if not failures:
        return []
    subject = "1 prediction is" if len(failures) == 1 else f"{len(failures)} predictions are"
    usual, _ = Counter(failures).most_common(1)[0]
    return [
        f"{subject} not an answer but the error text of a failing server, such as {quoted(usual, 100)}: unscored in "
        "the careful reading; the official reading scores the text. Ask the model again for them."
    ]


def _truncated_notes(count: int) -> list[str]:
    if not count:
        return []
    subject = "1 answer was" if count == 1 else f"{count} answers were"
    return [
        f"{subject} cut off before the end (token limit, or reasoning that is never closed). Without an answer in it, "
        "such an output counts as wrong. Raise the token limit."
    ]
