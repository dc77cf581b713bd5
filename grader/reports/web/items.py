"""The items of a page: one list, whose samples have the names of the results file. One run, or two side by side.

`build` returns what the page's script (`page.js`) unpacks: `{runs, items, ...}`. An item is a task, or the tasks that
are judged together; it has the samples of each run. What lists and searches need is one pack; the texts of items are
in packs of their own, because to unpack 12,020 items with their texts takes 1.9 seconds, without them 0.5.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.decisions.comparison import item_values
from grader.reports.document import Items
from grader.reports.questions import Gap
from grader.reports.web import images
from grader.reports.why import about_official
from grader.results import READINGS, Calls, Reading, SampleResult
from grader.results.groups import by_observation, by_round, by_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from grader.reports.findings import Findings
    from grader.reports.material import Material
    from grader.results import Report
    from grader.scorers.interface import ExecutedProgram
    from grader.scorers.registry import AnyScorer
    from grader.task import Task

_TOTAL = 30_000_000
"""Maximum number of characters of raw output in a page."""
_LIMITS = (200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000)
_PACKS = 64
"""Maximum number of packs of items with their texts: one is unpacked to open an item."""
_BLURB = 240
"""Characters of a question in lists."""
_LONGEST = 8_000
"""Characters of any other text of a sample."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRun:
    """A run on a page."""

    name: str
    """Its name beside another run."""
    findings: Findings
    material: Material

    @property
    def report(self) -> Report:
        """The run's report."""
        return self.findings.report


def build(*runs: PageRun) -> Items:
    """Pack the items of one run, or of two."""
    first, scorer = runs[0].report, runs[0].findings.scorer
    texts = _Texts(runs)
    pictures, tasks = _images_of(runs)
    thumbnails = images.thumbnails_of(pictures, tasks)
    items = _items(runs, scorer, texts, list(pictures))
    per_pack = max(1, -(-len(items) // _PACKS))
    data = {
        "benchmark": first.benchmark,
        "name": runs[0].findings.name,
        "glossary": dict(scorer.words.glossary),
        "words": dict(scorer.words.outcomes),
        "split": first.split,
        "protocol": first.protocol,
        "runsPrograms": any(run.material.runs_programs for run in runs),
        "wholeUnits": scorer.has_units,
        "unit": runs[0].material.unit,
        "aboutOfficial": about_official(first.benchmark),
        "sizes": [image and image[1:] for image in thumbnails],
        "runs": [_run(run) for run in runs],
        "perPack": per_pack,
        "items": [_in_lists(item) for item in items],
    }
    broken = sum(image is None for image in thumbnails)
    return Items(
        data=_pack(data),
        packs=[_pack(items[at : at + per_pack]) for at in range(0, len(items), per_pack)],
        images=[image[0] if image else "" for image in thumbnails],
        gaps=[
            *dict.fromkeys(gap for run in runs for gap in run.material.gaps),
            *([Gap(what="predictions", why=texts.why())] if texts.cut else []),
            *([Gap(what="images", why=f"{broken} of {len(thumbnails)} images cannot be read.")] if broken else []),
        ],
        runs=len(runs),
        reading=_first_reading(runs),
    )


def _pack(value: object) -> str:
    """Return a value as base64 of deflated JSON, which has no character with a meaning in HTML."""
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str).encode()
    return base64.b64encode(zlib.compress(data, 7)).decode()


def _first_reading(runs: Sequence[PageRun]) -> str:
    """Return the reading with which two runs open: careful, unless it is the same in both."""
    careful = [[sample.careful for sample in run.report.samples] for run in runs]
    return "official" if careful[0] == careful[-1] else "careful"


def _images_of(runs: Sequence[PageRun]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the images that any run can show, and task -> key of its image."""
    pictures = {key: image for run in reversed(runs) for key, image in run.material.images.items()}
    return pictures, {qid: key for run in reversed(runs) for qid, key in run.material.image_of.items()}


def _run(run: PageRun) -> dict[str, object]:
    report, findings = run.report, run.findings
    return {
        "name": run.name,
        "model": report.model or "",
        "file": report.provenance.predictions,
        "made": dict(_flat(findings.provenance)),
        "notes": [*findings.between_readings, *findings.notes],
        "unscored": report.unscored,
        "whyUnscored": findings.why_unscored,
        "excludedFrom": findings.metrics_without_unscored,
        "gaps": [{"what": gap.what, "why": gap.why} for gap in run.material.gaps],
    }


def _flat(facts: Mapping[str, Any], before: str = "") -> Iterable[tuple[str, str]]:
    """Yield facts as (name, text); a part of a fact is named `fact: part`."""
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{name}: ")
        else:
            yield f"{before}{name}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# --- items --------------------------------------------------------------------------------------------------------


def _in_lists(item: dict[str, Any]) -> dict[str, object]:
    """Return what lists and searches need of an item."""
    names = ("name", "unit", "groups", "values", "rounds")
    return {name: item[name] for name in names if name in item} | {
        "blurb": _blurb(item["tasks"][0]),
        "runs": [[_in_list(sample) for sample in samples] for samples in item["runs"]],
    }


def _in_list(sample: dict[str, Any]) -> dict[str, object]:
    found: dict[str, object] = {
        name: sample[name] for name in ("qid", "sample", "seconds", "differs") if name in sample
    }
    for name in READINGS:
        reading = sample[name]
        found[name] = {part: reading[part][:400] for part in ("outcome", "answer", "rule", "detail") if part in reading}
    test = " ".join(sample.get("failedTest", "").split())[:_BLURB]
    return found | ({"failedTest": test} if test else {})


def _blurb(task: dict[str, Any]) -> str:
    """Return a short text that identifies a task: its question, or the docstring of its code."""
    text = task.get("text") or next(
        (block["content"] for block in task.get("blocks", ()) if block["kind"] == "code"), ""
    )
    if not task.get("text") and '"""' in text:
        text = text.split('"""')[1].partition("Parameters:")[0]
    return " ".join(text.split())[:_BLURB]


def _items(runs: Sequence[PageRun], scorer: AnyScorer, texts: _Texts, pictures: list[str]) -> list[dict[str, Any]]:
    group = by_observation if len(runs) > 1 or scorer.has_units else by_task
    members = [group(run.report.samples) for run in runs]
    values = _values(runs, scorer) if len(runs) > 1 else []
    differing = [{(s.qid, s.sample) for s in run.findings.differing_samples} for run in runs]
    places = {key: at for at, key in enumerate(pictures)}
    made = []
    for name in dict.fromkeys(item for of_run in members for item in of_run):
        samples = [of_run.get(name, []) for of_run in members]
        every = [sample for of_run in samples for sample in of_run]
        item: dict[str, Any] = {
            "name": name,
            "unit": every[0].observation,
            "groups": list(every[0].labels()),
            "tasks": [_task(qid, runs, places) for qid in dict.fromkeys(sample.qid for sample in every)],
            "runs": [
                [_sample(sample, run, scorer, texts, (sample.qid, sample.sample) in differ) for sample in of_run]
                for of_run, run, differ in zip(samples, runs, differing, strict=True)
            ],
        }
        if values:
            item["values"] = [{reading: found.get(name) for reading, found in of_run.items()} for of_run in values]
        if scorer.has_units:
            item["rounds"] = [_rounds(of_run, scorer) for of_run in samples]
        made.append(item)
    return made


def _values(runs: Sequence[PageRun], scorer: AnyScorer) -> list[dict[str, dict[str, float | None]]]:
    """Return, for each run, reading -> item -> its value in the first metric, from 0 to 1."""
    metric = next((metric.name for run in runs for metric in run.report.metrics), "")
    return [{reading: item_values(run.report, scorer, metric, reading) for reading in READINGS} for run in runs]


def _rounds(members: list[SampleResult], scorer: AnyScorer) -> list[dict[str, str]]:
    """Return the outcomes of a unit in both readings, for each of its rounds."""
    rounds = by_round(members)
    found = (scorer.sample_details(rounds[at][0]).unit for at in sorted(rounds))
    return [{name: outcome.value for name, outcome in one.items()} for one in found if one]


def _task(qid: str, runs: Sequence[PageRun], places: dict[str, int]) -> dict[str, object]:
    """Return a task's question with its options, gold answer, image and texts; only its id if it is not known."""
    task: Task | None = next((found for run in runs if (found := run.material.tasks.get(qid))), None)
    if task is None:
        return {"qid": qid}
    image = next((key for run in runs if (key := run.material.image_of.get(qid))), "")
    return {
        "qid": qid,
        "text": task.text,
        "options": list(task.options.items()),
        "gold": task.gold,
        **({"image": places[image]} if image in places else {}),
        "blocks": [
            {"kind": block.kind, "title": block.title, "content": block.content, "open": block.is_open}
            for block in task.blocks
        ],
    }


def _sample(
    sample: SampleResult, run: PageRun, scorer: AnyScorer, texts: _Texts, is_different: bool
) -> dict[str, object]:
    """Return a sample: both readings, its output, and its program."""
    details = scorer.sample_details(sample)
    programs = run.material.programs.get(sample.qid, [])
    text = run.material.predictions.get(sample.qid, [])[sample.sample : sample.sample + 1]
    first = sample.calls.first if isinstance(sample.calls, Calls) else None
    found: dict[str, object] = {
        "qid": sample.qid,
        "sample": sample.sample,
        "seconds": round(sample.seconds, 3),
        "differs": is_different,
        "official": _reading(sample.official, text, texts, details.official),
        "careful": _reading(sample.careful, text, texts, details.careful),
        "kind": details.kind,
        "facts": details.facts,
        "failedTest": details.failed_test[:_LONGEST],
        "call": first and [part[:_LONGEST] for part in (first.call, first.expected, first.returned)],
    }
    if sample.sample < len(programs):
        found["program"] = _program(programs[sample.sample], details.failed_line)
    # An empty output is not the same as none.
    return _without_empty(found) | (texts.output(text[0]) if text else {})


def _reading(
    reading: Reading, text: list[str], texts: _Texts, facts: list[tuple[str, str | bool | None]]
) -> dict[str, object]:
    span = texts.span(text[0], reading.span) if text and isinstance(reading.span, tuple) else None
    found = {
        "outcome": reading.outcome.value,
        "credit": reading.credit,
        "answer": reading.answer,
        "detail": reading.detail[:_LONGEST],
        "rule": reading.rule_name,
        "span": span,
        "facts": facts,
    }
    return _without_empty(found)


def _without_empty(facts: Mapping[str, object]) -> dict[str, object]:
    """Return the facts that say something: most samples have few of them. 0 says something."""
    return {
        name: value
        for name, value in facts.items()
        if value is not None and value is not False and value not in ("", [])
    }


def _program(run: ExecutedProgram, failed_line: int | None) -> dict[str, object]:
    """Return a program, its result, the lines [from, to) that the model wrote, and the line of the failed test."""
    at = run.program.rfind(run.completion) if run.completion else -1
    end = at + len(run.completion)
    is_whole = at >= 0 and run.program[at - 1 : at] in {"", "\n"} and run.program[end : end + 1] in {"", "\n"}
    before = run.program.count("\n", 0, max(0, at))
    return {
        "text": run.program.rstrip("\n"),
        "result": run.result[:_LONGEST],
        "own": [before, before + run.completion.rstrip("\n").count("\n") + 1] if is_whole else None,
        "failed": None if failed_line is None else failed_line - 1,
    }


# --- outputs ------------------------------------------------------------------------------------------------------


class _Texts:
    """The outputs of a page, of which long ones lose their middle if all together are too long."""

    def __init__(self, runs: Sequence[PageRun]) -> None:
        lengths: dict[int, int] = defaultdict(int)
        for run in runs:
            for texts in run.material.predictions.values():
                for text in texts:
                    lengths[len(text)] += 1
        fitting = (
            limit for limit in _LIMITS if sum(min(size, limit) * many for size, many in lengths.items()) <= _TOTAL
        )
        self._limit = next(fitting, _LIMITS[-1])
        self.cut = sum(many for size, many in lengths.items() if size > self._limit)
        """Number of outputs that are cut."""

    def why(self) -> str:
        """Return a sentence about the outputs that are cut."""
        return f"{self.cut} outputs are longer than {self._limit:,} characters; the middle of them is left out."

    def _gap(self, text: str) -> tuple[int, int]:
        """Return the range [start, end) of the characters that are left out."""
        if len(text) <= self._limit:
            return len(text), len(text)
        start = self._limit * 2 // 3
        return start, len(text) - (self._limit - start)

    def output(self, text: str) -> dict[str, object]:
        """Return `output`, and `cut` if a part is left out: its position in UTF-16 code units, and its length."""
        start, end = self._gap(text)
        if start == end:
            return {"output": text}
        return {"output": text[:start] + text[end:], "cut": [_units(text[:start]), end - start]}

    def span(self, text: str, span: tuple[int, int]) -> list[int] | None:
        """Convert the range [start, end) of an output to UTF-16 code units of the shown text; None if not shown."""
        first, last = span
        start, end = self._gap(text)
        if not 0 <= first < last <= len(text) or (first < end and last > start):
            return None
        before = _units(text[:first]) if last <= start else _units(text[:start]) + _units(text[end:first])
        return [before, before + _units(text[first:last])]


def _units(text: str) -> int:
    """Return the length of a text in UTF-16 code units, as a browser counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
