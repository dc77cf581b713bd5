"""The data of a page with one report: a small index, and chunks of items that are unpacked on demand."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.reports.document import Items
from grader.reports.web import images
from grader.reports.web.items import BLURB, Lines, Page, Texts, blurb, head, question, sample_of
from grader.reports.web.packing import AIM, Numbers, chunked, finite, pack, thumbnails_of
from grader.reports.why import about_official
from grader.results import READINGS, SampleResult, by_round, by_task
from grader.scorers.capabilities import HasUnits

if TYPE_CHECKING:
    from grader.reports.findings import Findings
    from grader.reports.material import Material
    from grader.results import Report
    from grader.scorers.registry import AnyScorer


SCRIPTS = (
    *("core", "text", "views", "state", "theme", "widgets", "listing", "list", "item", "one"),
    *("differences", "about", "report", "main"),
)


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the list: a task or question, with all its passes and samples."""

    name: str
    qids: list[str]
    samples: list[SampleResult]


def _items(run: Findings) -> list[Item]:
    return [
        Item(name=name, qids=list(dict.fromkeys(s.qid for s in members)), samples=members)
        for name, members in run.items.items()
    ]


def build(run: Findings, material: Material) -> Items:
    """Pack a report."""
    items = _items(run)
    gaps = [msgspec.structs.asdict(gap) for gap in material.gaps]
    texts = Texts(material)
    if texts.cut:
        gaps.append({"what": "predictions", "why": texts.why()})
    places = {key: number for number, key in enumerate(material.images)}
    page = Page(material, places, texts, run.scorer)
    chunks, where = chunked(
        (_item(item, page), sum(texts.size(sample.qid, sample.sample) for sample in item.samples)) for item in items
    )
    # Texts are more important in a report; images get the remaining space.
    left = (AIM - sum(map(len, chunks))) * 3 // 4
    found = thumbnails_of(material, max(images.LEAST, min(images.BUDGET, left)))
    broken = sum(image is None for image in found)
    if broken:
        gaps.append({"what": "images", "why": f"{broken} of {len(found)} images cannot be read."})
    index = {
        **_head(run, material),
        "gaps": gaps,
        "sizes": [image[1:] if image else None for image in found],
        **_columns(run, items, material, where),
    }
    return Items(
        styles=("style",),
        scripts=SCRIPTS,
        index=pack(index),
        chunks=chunks,
        images=[image[0] if image else "" for image in found],
    )


def _head(run: Findings, material: Material) -> dict[str, object]:
    report = run.report
    return {
        **head(report, material, run.scorer),
        "aboutOfficial": about_official(report.benchmark),
        "model": report.model or "",
        "file": report.provenance.predictions,
        "wholeUnits": isinstance(run.scorer, HasUnits),
        "why_unscored": run.why_unscored,
        "excluded_from": _with_words(run.excluded_from, report),
        "notes": [_with_words(note, report) for note in (*run.between_readings, *run.notes)],
        "made": finite(dict(run.made)),
    }


def _with_words(note: str, report: Report) -> str:
    """Return a note that names metrics as the tables do: `parse success rate`."""
    names = "|".join({re.escape(metric.name) for metric in report.metrics})
    return re.sub(rf"\b(?:{names})\b", lambda name: name[0].replace("_", " "), note)


# --- the index --------------------------------------------------------------------------------------------------


def _columns(run: Findings, items: list[Item], material: Material, where: list[tuple[int, int]]) -> dict[str, object]:
    """Return items and samples as columns; the samples of an item are adjacent."""
    outcomes, answers, rules, details, labels, qids, failed = (Numbers() for _ in range(7))
    rows: list[list[object]] = []
    columns: dict[str, list[object]] = {
        name: [] for name in ("q", "n", "o", "c", "oa", "ca", "or", "cr", "d", "t", "x", "f")
    }
    different = {(s.qid, s.sample) for s in run.different}
    for item, (chunk, place) in zip(items, where, strict=True):
        groups = [labels(label) for label in item.samples[0].labels()]
        verdicts = [[outcomes(outcome) for outcome in pair] for pair in _verdicts(item, run.scorer)]
        rows.append(
            [item.name, len(item.samples), chunk, place, groups, blurb(material.first_task(item.qids)), verdicts]
        )
        for sample in item.samples:
            columns["q"].append(qids(sample.qid))
            columns["n"].append(sample.sample)
            columns["x"].append(int((sample.qid, sample.sample) in different))
            columns["f"].append(failed(_failed_test(sample, run.scorer)))
            columns["t"].append(round(sample.seconds, 3))
            columns["d"].append(details(sample.careful.detail or sample.official.detail or None))
            for letter, reading in (("o", sample.official), ("c", sample.careful)):
                columns[letter].append(outcomes(reading.outcome.value))
                columns[f"{letter}a"].append(answers(reading.answer))
                columns[f"{letter}r"].append(rules(reading.rule_name or None))
    return {
        "items": rows,
        "samples": columns,
        "qids": qids.values,
        "outcomes": outcomes.values,
        "answers": answers.values,
        "rules": rules.values,
        "details": [detail[:400] for detail in details.values],
        "groups": labels.values,
        "failed": failed.values,
    }


def _verdicts(item: Item, scorer: AnyScorer) -> list[list[str]]:
    """Return (official, careful) outcomes of an item, one pair per round, if its scorer has outcomes of units."""
    rounds, units = by_round(item.samples), HasUnits.of(scorer)
    pairs = ([units.unit_outcome(rounds[number], reading) for reading in READINGS] for number in sorted(rounds))
    return [[outcome.value for outcome in pair if outcome is not None] for pair in pairs if None not in pair]


def _failed_test(sample: SampleResult, scorer: AnyScorer) -> str | None:
    """Return the failed test as one short line."""
    test = dict(scorer.marks(sample).facts).get("failed test (official run)")
    return " ".join(test.split())[:BLURB] if test else None


# --- items ------------------------------------------------------------------------------------------------------


def _item(item: Item, page: Page) -> dict[str, object]:
    sources = Lines()
    parts = []
    for qid, members in by_task(item.samples).items():
        programs = page.material.programs.get(qid, [])
        parts.append(
            {
                "qid": qid,
                "question": question(qid, page, sources),
                "samples": [sample_of(sample, programs, page, sources) for sample in members],
            }
        )
    return {"unit": item.samples[0].cluster, "parts": parts, "lines": sources.table}
