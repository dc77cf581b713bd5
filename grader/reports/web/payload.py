"""A report and its material as the page reads them: a small index, and chunks of items unpacked on demand."""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.reports import selftested
from grader.reports.provenance import made_with
from grader.reports.table import OTHER_PYTHON, is_marked
from grader.reports.unscored import in_words
from grader.reports.web import images
from grader.reports.web.figures import breakdown
from grader.reports.web.highlight import lines
from grader.reports.web.texts import Texts
from grader.results import READINGS, Outcome, Reading, SampleResult
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from grader.reports.material import Material
    from grader.results import Report
    from grader.scorers.interface import Program
    from grader.scorers.registry import AnyScorer
    from grader.task import Task

_CHUNK = 96_000
"""Characters of JSON from which a chunk is full: small ones compress badly, large ones take long to open."""
_AIM = 18_000_000
"""Bytes that a report should not exceed: it is mailed, attached to a build, opened on a laptop."""
_BLURB = 240
"""Characters of a question that the index keeps, to list and to search."""


class Payload(msgspec.Struct, frozen=True, kw_only=True):
    """What the page carries."""

    index: str
    """Packed: everything but the texts of items."""
    chunks: list[str]
    """Packed: items with questions, outputs and programs."""
    images: list[str]
    """Data URLs."""


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """What one row of the list is: a task or question, with all its passes and samples."""

    name: str
    qids: list[str]
    samples: list[SampleResult]


def items_of(report: Report, material: Material) -> list[Item]:
    """Group the samples; the tasks of a unit are one item where they belong together."""
    groups: dict[str, list[SampleResult]] = {}
    for sample in report.samples:
        groups.setdefault(sample.cluster if material.whole_units else sample.qid, []).append(sample)
    return [
        Item(name=name, qids=list(dict.fromkeys(s.qid for s in members)), samples=members)
        for name, members in groups.items()
    ]


def pack(value: object) -> str:
    """Return a value as base64 of deflated JSON: no character of it can mean anything to a parser of HTML."""
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str).encode()
    return base64.b64encode(zlib.compress(data, 7)).decode()


def build(report: Report, material: Material) -> Payload:
    """Pack a report."""
    items = items_of(report, material)
    gaps = [msgspec.structs.asdict(gap) for gap in material.gaps]
    texts = Texts(material)
    if texts.cut:
        gaps.append({"what": "predictions", "why": texts.why()})
    scorer = scorer_of(report)
    places = {key: number for number, key in enumerate(material.images)}
    chunks, where = _chunks(items, _Page(material, places, texts, scorer))
    # Texts are what a report is for; images get what they leave.
    left = (_AIM - sum(map(len, chunks))) * 3 // 4
    found = _thumbnails(material, max(images.LEAST, min(images.BUDGET, left)))
    broken = sum(image is None for image in found)
    if broken:
        gaps.append({"what": "images", "why": f"{broken} of {len(found)} images cannot be read."})
    index = {
        **_head(report, material),
        "gaps": gaps,
        "sizes": [image[1:] if image else None for image in found],
        "breakdown": breakdown(report),
        **_columns(report, items, material, where, scorer),
    }
    return Payload(index=pack(index), chunks=chunks, images=[image[0] if image else "" for image in found])


def _thumbnails(material: Material, budget: int) -> list[images.Thumbnail | None]:
    """Return the images made small; raises InputError naming the tasks of one that is too large to be opened."""
    try:
        return images.thumbnails(material.images, budget)
    except images.TooLargeError as error:
        tasks = ", ".join(qid for qid, key in material.image_of.items() if key == error.key)
        why = str(error).rstrip(".")
        raise InputError(
            [
                f"The image of task {tasks} is too large to be opened, as a decompression bomb is: {why}. "
                "The results are written. Check the image in the data, then write the report with `grade report`."
            ]
        ) from error


def _head(report: Report, material: Material) -> dict[str, object]:
    summary = scorer_of(report).summary(report)
    return {
        "benchmark": report.benchmark,
        "model": report.model or "",
        "file": report.provenance.predictions,
        "glossary": dict(scorer_of(report).glossary),
        "words": dict(scorer_of(report).outcome_names),
        "split": report.split,
        "protocol": report.protocol,
        "wholeUnits": material.whole_units,
        "runsPrograms": material.runs_programs,
        "unit": material.unit,
        "unscored": report.unscored,
        "why_unscored": in_words(report),
        "mark": f" {OTHER_PYTHON}" if is_marked(report) else "",
        "notes": selftested.notes(report),
        "made": _finite(made_with(report)),
        "baselines": _finite(report.baselines),
        "abbreviations": report.abbreviations,
        "tables": [msgspec.to_builtins(block) for block in summary.tables],
        "curve": _finite(msgspec.to_builtins(summary.curve)),
    }


def _finite(value: object) -> object:
    """Return JSON-ready facts: a NaN, which JSON has no word for, becomes null."""
    if isinstance(value, float) and value - value != 0:
        return None
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(part) for part in value]
    return value


# --- the index --------------------------------------------------------------------------------------------------


class _Table:
    """Values by number, so that a column of the index is a list of small integers."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def __call__(self, value: object) -> int:
        return -1 if value is None else self.numbers.setdefault(str(value), len(self.numbers))

    @property
    def values(self) -> list[str]:
        return list(self.numbers)


def _columns(
    report: Report, items: list[Item], material: Material, where: list[tuple[int, int]], scorer: AnyScorer
) -> dict[str, object]:
    """Return items and samples as columns; the samples of an item stand together."""
    outcomes, answers, rules, details, labels, qids, failed = (_Table() for _ in range(7))
    rows: list[list[object]] = []
    columns: dict[str, list[object]] = {
        name: [] for name in ("q", "n", "o", "c", "oa", "ca", "or", "cr", "d", "t", "x", "f")
    }
    different = {(s.qid, s.sample) for s in report.differences()}
    for item, (chunk, place) in zip(items, where, strict=True):
        task = _first_task(item, material)
        groups = [labels(label) for label in item.samples[0].labels()]
        verdicts = [[outcomes(outcome) for outcome in pair] for pair in _verdicts(item, scorer)]
        rows.append([item.name, len(item.samples), chunk, place, groups, _blurb(task), verdicts])
        for sample in item.samples:
            columns["q"].append(qids(sample.qid))
            columns["n"].append(sample.sample)
            columns["x"].append(int((sample.qid, sample.sample) in different))
            columns["f"].append(failed(_failed_test(sample, scorer)))
            columns["t"].append(round(sample.seconds, 3))
            columns["d"].append(details(sample.careful.detail or sample.official.detail or None))
            for letter, reading in (("o", sample.official), ("c", sample.careful)):
                columns[letter].append(outcomes(reading.outcome.value))
                columns[f"{letter}a"].append(answers(reading.answer))
                columns[f"{letter}r"].append(rules(_rule(reading)))
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
    """Return what an item came to in (official, careful), one pair a round of its tasks, where its scorer says so."""
    rounds: dict[int, list[SampleResult]] = {}
    for sample in item.samples:
        rounds.setdefault(sample.sample, []).append(sample)
    pairs = ([scorer.unit_outcome(rounds[number], reading) for reading in READINGS] for number in sorted(rounds))
    return [[outcome.value for outcome in pair if outcome is not None] for pair in pairs if None not in pair]


def _first_task(item: Item, material: Material) -> Task | None:
    return next((material.tasks[qid] for qid in item.qids if qid in material.tasks), None)


def _blurb(task: Task | None) -> str:
    """Return what identifies a task in a list: its text, or what its code says of itself."""
    if task is None:
        return ""
    text = task.text or next((block.content for block in task.blocks if block.kind == "code"), "")
    if not task.text and '"""' in text:
        text = text.split('"""')[1].partition("Parameters:")[0]
    return " ".join(text.split())[:_BLURB]


def _failed_test(sample: SampleResult, scorer: AnyScorer) -> str | None:
    """Return the test that failed, in one short line."""
    test = dict(scorer.marks(sample).facts).get("failed test") if scorer.runs_programs else None
    return " ".join(test.split())[:_BLURB] if test else None


def _rule(reading: Reading) -> str | None:
    return reading.rule if isinstance(reading.rule, str) else None


# --- chunks -----------------------------------------------------------------------------------------------------


class _Page:
    """What the texts of every item are made with."""

    def __init__(self, material: Material, places: dict[str, int], texts: Texts, scorer: AnyScorer) -> None:
        self.material, self.places, self.texts, self.scorer = material, places, texts, scorer


def _chunks(items: list[Item], page: _Page) -> tuple[list[str], list[tuple[int, int]]]:
    """Return the packed chunks, and for each item its chunk and its place there."""
    packed: list[str] = []
    where: list[tuple[int, int]] = []
    waiting: list[dict[str, object]] = []
    size = 0
    for item in items:
        waiting.append(_item(item, page))
        where.append((len(packed), len(waiting) - 1))
        size += sum(page.texts.size(s.qid, s.sample) for s in item.samples) + 1_000
        if size >= _CHUNK:
            packed.append(pack(waiting))
            waiting, size = [], 0
    if waiting:
        packed.append(pack(waiting))
    return packed, where


class _Lines:
    """The source lines of an item, each kept once: twenty programs of one task share most of theirs."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def add(self, source: str) -> list[int]:
        return [self._numbers.setdefault(line, len(self._numbers)) for line in lines(source)]

    @property
    def table(self) -> list[list[str]]:
        return [[text, runs] if runs else [text] for text, runs in self._numbers]


def _item(item: Item, page: _Page) -> dict[str, object]:
    sources = _Lines()
    parts = []
    by_qid: dict[str, list[SampleResult]] = {}
    for sample in item.samples:
        by_qid.setdefault(sample.qid, []).append(sample)
    for qid, members in by_qid.items():
        programs = page.material.programs.get(qid, [])
        parts.append(
            {
                "qid": qid,
                "question": _question(qid, page, sources),
                "samples": [_sample(sample, programs, page, sources) for sample in members],
            }
        )
    return {"unit": item.samples[0].cluster, "parts": parts, "lines": sources.table}


def _question(qid: str, page: _Page, sources: _Lines) -> dict[str, object] | None:
    task = page.material.tasks.get(qid)
    if task is None:
        return None
    return {
        "text": task.text,
        "options": list(task.options.items()),
        "gold": task.gold,
        "image": page.places.get(page.material.image_of.get(qid, ""), -1),
        "texts": [[block.title, block.content, block.is_open] for block in task.blocks if block.kind == "text"],
        "code": [
            [block.title, sources.add(block.content.rstrip("\n")), block.is_open]
            for block in task.blocks
            if block.kind == "code"
        ],
    }


def _sample(sample: SampleResult, programs: list[Program], page: _Page, sources: _Lines) -> dict[str, object]:
    marks = page.scorer.marks(sample)
    made: dict[str, object] = {
        "n": sample.sample,
        "official": _reading(sample, sample.official, page.texts),
        "careful": _reading(sample, sample.careful, page.texts),
        "seconds": sample.seconds,
        "kind": marks.kind,
        "facts": marks.facts,
        "official_facts": marks.official,
        "careful_facts": marks.careful,
        "flags": sample.flags if isinstance(sample.flags, list) else [],
        **page.texts.shown(sample.qid, sample.sample),
    }
    if sample.sample < len(programs):
        found = programs[sample.sample]
        made["result"] = found.result[:8_000]
        program: dict[str, object] = {**_program(found, sources)}
        made["program"] = program | ({} if marks.failed_line is None else {"failed": marks.failed_line - 1})
    elif sample.official.outcome is not Outcome.UNSCORED and programs:
        made["program"] = None
    return made


def _program(run: Program, sources: _Lines) -> dict[str, list[int]]:
    """Return a program's lines, and which of them [from, to) are the model's.

    The frame and the tests are the task's, so they are coloured once for all its samples.
    """
    at = run.program.rfind(run.completion) if run.completion else -1
    end = at + len(run.completion)
    if at < 0 or run.program[at - 1 : at] not in {"", "\n"} or run.program[end : end + 1] not in {"", "\n"}:
        return {"lines": sources.add(run.program.rstrip("\n"))}
    before = sources.add(run.program[: at - 1]) if at else []
    own = sources.add(run.completion)
    after = sources.add(run.program[end + 1 :].rstrip("\n")) if run.program[end:].strip("\n") else []
    return {"lines": before + own + after, "own": [len(before), len(before) + len(own)]}


def _reading(sample: SampleResult, reading: Reading, texts: Texts) -> dict[str, object]:
    made: dict[str, object] = {"outcome": reading.outcome.value, "credit": reading.credit}
    if reading.answer is not None:
        made["answer"] = reading.answer
    if reading.detail:
        made["detail"] = reading.detail[:8_000]
    if isinstance(reading.rule, str):
        made["rule"] = reading.rule
    if isinstance(reading.span, tuple):
        span = texts.span(sample.qid, sample.sample, reading.span)
        if span is not None:
            made["span"] = span
    return made
