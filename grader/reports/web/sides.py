"""The data of a page with two runs of one benchmark: items with every run's values, and chunks of outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from grader.decisions.comparison import RunName, item_values
from grader.reports.document import Items
from grader.reports.provenance import made_with
from grader.reports.web.items import Lines, Page, Texts, blurb, head, question, sample_of
from grader.reports.web.packing import AIM, Numbers, chunked, finite, pack, thumbnails_of
from grader.results import READINGS, ReadingName, Report, SampleResult, by_observation
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.reports.material import Material
    from grader.scorers.registry import AnyScorer


SCRIPTS = (
    *("core", "text", "sides_views", "state", "theme", "widgets", "listing", "item"),
    *("sides_list", "sides_item", "sides_report", "main"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the runs."""

    name: RunName
    report: Report
    material: Material


class _Runs:
    """The runs, with indexes for repeated lookups."""

    def __init__(self, sides: Sequence[Side]) -> None:
        self.sides = sides
        self.clusters = [by_observation(side.report.samples) for side in sides]
        self.items = list(dict.fromkeys(item for of_run in self.clusters for item in of_run))
        self.scorer: AnyScorer = scorer_of(sides[0].report)
        self.metric = next((metric.name for side in sides for metric in side.report.metrics), "")
        self.shared = _shared(sides)
        places = {key: number for number, key in enumerate(self.shared.images)}
        texts = [Texts(side.material, runs=len(sides)) for side in sides]
        self.pages = [Page(side.material, places, text, self.scorer) for side, text in zip(sides, texts, strict=True)]
        self.asked = Page(self.shared, places, texts[0], self.scorer)

    def members(self, item: str) -> list[list[SampleResult]]:
        """Return each run's samples of an item."""
        return [of_run.get(item, []) for of_run in self.clusters]

    def qids(self, item: str) -> list[str]:
        """Return the tasks of an item, in any run."""
        return list(dict.fromkeys(sample.qid for members in self.members(item) for sample in members))

    def first(self, item: str) -> SampleResult:
        """Return the item's first sample in any run."""
        return next(sample for members in self.members(item) for sample in members)


def _shared(sides: Sequence[Side]) -> Material:
    """Return the tasks and images that any of the runs can show."""
    shared = sides[0].material
    for side in sides[1:]:
        shared = msgspec.structs.replace(
            shared,
            tasks={**side.material.tasks, **shared.tasks},
            image_of={**side.material.image_of, **shared.image_of},
            images={**side.material.images, **shared.images},
        )
    return shared


def build(before: Side, after: Side) -> Items:
    """Pack two runs."""
    sides = (before, after)
    runs = _Runs(sides)
    chunks, where = chunked((_item(runs, item), _size(runs, item)) for item in runs.items)
    left = (AIM - sum(map(len, chunks))) * 3 // 4
    images = thumbnails_of(runs.shared, max(100_000, left))
    index = {
        **head(runs.sides[0].report, runs.shared, runs.scorer),
        "metric": runs.metric,
        "reading": _first_reading(runs.sides),
        "runs": [_run(side) for side in sides],
        "sizes": [image[1:] if image else None for image in images],
        **_columns(runs, where),
    }
    return Items(
        styles=("style", "sides"),
        scripts=SCRIPTS,
        index=pack(index),
        chunks=chunks,
        images=[image[0] if image else "" for image in images],
    )


def _first_reading(sides: Sequence[Side]) -> ReadingName:
    """Return the reading with which the page opens: careful, unless it is the same in all runs."""
    careful = ([sample.careful for sample in side.report.samples] for side in sides)
    first = next(careful)
    return "official" if all(other == first for other in careful) else "careful"


def _run(side: Side) -> dict[str, object]:
    return {
        "name": side.name.short,
        "file": side.name.results,
        "made": finite(made_with(side.report)),
        "notes": side.report.notes,
        "gaps": [msgspec.structs.asdict(gap) for gap in side.material.gaps],
    }


# --- items --------------------------------------------------------------------------------------------------------


def _columns(runs: _Runs, where: list[tuple[int, int]]) -> dict[str, object]:
    """Return one row per item, with each run's values and outcomes."""
    outcomes, answers, labels = (Numbers() for _ in range(3))
    values = [
        {reading: item_values(side.report, runs.scorer, runs.metric, reading) for reading in READINGS}
        for side in runs.sides
    ]
    rows = []
    for item, (chunk, place) in zip(runs.items, where, strict=True):
        groups = [labels(label) for label in runs.first(item).labels()]
        cells = [
            [[_value(by_item[reading].get(item)), _marks(members, reading, outcomes, answers)] for reading in READINGS]
            if members
            else None
            for by_item, members in zip(values, runs.members(item), strict=True)
        ]
        rows.append([item, chunk, place, groups, blurb(runs.shared.first_task(runs.qids(item))), cells])
    return {"items": rows, "outcomes": outcomes.values, "answers": answers.values, "groups": labels.values}


def _value(value: float | None) -> float | None:
    return None if value is None else round(value, 12)


def _marks(members: list[SampleResult], reading: ReadingName, outcomes: Numbers, answers: Numbers) -> list[list[int]]:
    """Return (number of the outcome, number of the answer) for each sample."""
    read = (sample.reading(reading) for sample in members)
    return [[outcomes(one.outcome.value), answers(one.answer)] for one in read]


def _size(runs: _Runs, item: str) -> int:
    pairs = zip(runs.pages, runs.members(item), strict=True)
    return sum(page.texts.size(sample.qid, sample.sample) for page, members in pairs for sample in members)


def _item(runs: _Runs, item: str) -> dict[str, object]:
    """Return an item: its tasks, each with its question once and the samples of every run."""
    sources = Lines()
    parts = [
        {
            "qid": qid,
            "question": question(qid, runs.asked, sources),
            "runs": [
                [
                    sample_of(sample, page.material.programs.get(qid, []), page, sources)
                    for sample in members
                    if sample.qid == qid
                ]
                for page, members in zip(runs.pages, runs.members(item), strict=True)
            ],
        }
        for qid in runs.qids(item)
    ]
    return {"parts": parts, "lines": sources.table}
