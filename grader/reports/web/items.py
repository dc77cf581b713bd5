"""The data of pages with one run or several: an item's question, outputs, readings and programs; and the metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.web.highlight import lines, units
from grader.results import Outcome, Reading, SampleResult
from grader.scorers import declarations

if TYPE_CHECKING:
    from grader.reports.material import Material
    from grader.results import Report
    from grader.scorers.interface import Program
    from grader.scorers.registry import AnyScorer
    from grader.task import Task

_TOTAL = 30_000_000
"""Maximum number of characters of raw output in a report."""
_LIMITS = (200_000, 100_000, 50_000, 30_000, 20_000, 14_000, 10_000, 8_000, 6_000, 4_000, 2_000)


class Texts:
    """The outputs of a report, cut to the budget."""

    def __init__(self, material: Material, *, runs: int = 1) -> None:
        """`runs`: number of runs that share the report's budget."""
        self._texts = material.predictions
        lengths = [len(text) for texts in self._texts.values() for text in texts]
        fitting = (limit for limit in _LIMITS if sum(min(n, limit) for n in lengths) <= _TOTAL // runs)
        self._limit = next(fitting, _LIMITS[-1])
        self.cut = sum(n > self._limit for n in lengths)
        """Number of outputs that are cut."""

    def why(self) -> str:
        """Return a sentence about the outputs that are cut."""
        return f"{self.cut} outputs are longer than {self._limit:,} characters; the middle of them is left out."

    def _text(self, qid: str, sample: int) -> str | None:
        texts = self._texts.get(qid, [])
        return texts[sample] if sample < len(texts) else None

    def size(self, qid: str, sample: int) -> int:
        """Return the number of shown characters of an output."""
        return min(len(self._text(qid, sample) or ""), self._limit)

    def _gap(self, text: str) -> tuple[int, int]:
        """Return the range [start, end) of the characters that are left out."""
        if len(text) <= self._limit:
            return len(text), len(text)
        start = self._limit * 2 // 3
        return start, len(text) - (self._limit - start)

    def shown(self, qid: str, sample: int) -> dict[str, object]:
        """Return an output as the page needs it; empty if the sample has no output.

        `raw`: the text. `cut`, if a part is left out: its position in UTF-16 code units, its length in characters.
        """
        text = self._text(qid, sample)
        if text is None:
            return {}
        start, end = self._gap(text)
        if start == end:
            return {"raw": text}
        return {"raw": text[:start] + text[end:], "cut": [units(text[:start]), end - start]}

    def span(self, qid: str, sample: int, span: tuple[int, int]) -> list[int] | None:
        """Convert the range [start, end) of an output to UTF-16 code units of the shown text; None if not shown."""
        text = self._text(qid, sample)
        first, last = span
        if text is None or not 0 <= first < last <= len(text):
            return None
        start, end = self._gap(text)
        if first >= end:
            before = units(text[:start]) + units(text[end:first])
        elif last <= start:
            before = units(text[:first])
        else:
            return None
        return [before, before + units(text[first:last])]


BLURB = 240
"""Characters of a question in the index, for the list and the search."""


class Page:
    """The context that the data of every item needs."""

    def __init__(self, material: Material, places: dict[str, int], texts: Texts, scorer: AnyScorer) -> None:
        self.material, self.places, self.texts, self.scorer = material, places, texts, scorer


def head(report: Report, material: Material, scorer: AnyScorer) -> dict[str, object]:
    """Return what the index of every page begins with."""
    return {
        "benchmark": report.benchmark,
        "name": declarations.name_of(report),
        "glossary": dict(scorer.words.glossary),
        "words": dict(scorer.words.outcomes),
        "split": report.split,
        "protocol": report.protocol,
        "runsPrograms": material.runs_programs,
        "unit": material.unit,
    }


class Lines:
    """The distinct source lines of an item: programs of one task share most of their lines."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def add(self, source: str) -> list[int]:
        """Return the numbers of a source's lines."""
        return [self._numbers.setdefault(line, len(self._numbers)) for line in lines(source)]

    @property
    def table(self) -> list[list[str]]:
        """All lines, with their colour runs."""
        return [[text, runs] if runs else [text] for text, runs in self._numbers]


def blurb(task: Task | None) -> str:
    """Return a short text that identifies a task in a list: its question, or the docstring of its code."""
    if task is None:
        return ""
    text = task.text or next((block.content for block in task.blocks if block.kind == "code"), "")
    if not task.text and '"""' in text:
        text = text.split('"""')[1].partition("Parameters:")[0]
    return " ".join(text.split())[:BLURB]


def question(qid: str, page: Page, sources: Lines) -> dict[str, object] | None:
    """Return the question with its options, image and texts; None if the task is unknown."""
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


def sample_of(sample: SampleResult, programs: list[Program], page: Page, sources: Lines) -> dict[str, object]:
    """Return an output, both readings of it, and its program."""
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


def _program(run: Program, sources: Lines) -> dict[str, list[int]]:
    """Return a program's lines, and the range [from, to) of the lines that the model wrote.

    The other lines belong to the task, so they are coloured once for all its samples.
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
