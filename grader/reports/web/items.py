"""The items of a page: one list, whose samples have the names of the results file. One run, or two side by side.

`build` returns what the page's script (`page.js`) unpacks: `{runs, items, ...}`. An item is a task, or the tasks that
are judged together; it has the samples of each run. What lists and searches need is one pack; the texts of items are
in packs of their own, because to unpack 12,020 items with their texts takes 1.9 seconds, without them 0.5.
"""

from __future__ import annotations

import base64
import json
import math
import zlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from grader.reports.document import Items
from grader.reports.questions import Gap
from grader.reports.views.sample_rows import reply_of
from grader.reports.web import images
from grader.results import READINGS, Reading, ReadingName, SampleResult
from grader.results.groups import by_observation, by_round, by_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from grader.reports.findings import Findings
    from grader.reports.material import Material
    from grader.results import Report
    from grader.scorers.interface import ExecutedProgram
    from grader.scorers.registry import AnyScorer

_MAX_REPLY_CHARACTERS = 30_000_000
"""Maximum number of characters of replies in a page."""
_REPLY_LIMITS = (200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000)
"""Characters of one reply: the largest of these limits with which all replies fit in a page."""
_MAX_PACKS = 64
"""Maximum number of packs of items with their texts: one is unpacked to open an item."""
_BLURB_CHARACTERS = 240
"""Characters of a question in lists."""
_LIST_CHARACTERS = 400
"""Characters of any other text in lists."""
_MAX_CHARACTERS = 8_000
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


ItemValues = Mapping[ReadingName, Mapping[str, float | None]]
"""Reading -> item -> its value in a metric, from 0 to 1; None: it is unscored."""


def build(*runs: PageRun, values: Sequence[ItemValues] = ()) -> Items:
    """Pack the items of one run, or of two.

    `values`: those of two runs in the metric in which they are compared.
    """
    first_report, scorer = runs[0].report, runs[0].findings.scorer
    replies = _ShownReplies(runs)
    pictures, image_of = _images_of(runs)
    items = _items(runs, scorer, replies, list(pictures), values)
    page_runs = [_run(run) for run in runs]
    thumbnails = images.thumbnails(pictures, image_of)
    per_pack = max(1, math.ceil(len(items) / _MAX_PACKS))
    data = {
        "benchmark": first_report.benchmark,
        "name": runs[0].findings.name,
        "glossary": dict(scorer.words.glossary),
        "words": dict(scorer.words.outcomes),
        "split": first_report.split,
        "protocol": first_report.protocol,
        "runsPrograms": any(run.material.runs_programs for run in runs),
        # Whether an item is all tasks of a unit; `itemNoun` and `taskNoun` are the words for an item and a task of it.
        "wholeUnits": scorer.has_units,
        "itemNoun": _item_noun(runs),
        "taskNoun": "pass" if scorer.has_units else runs[0].material.unit,
        "aboutOfficial": runs[0].findings.about_official,
        "sizes": [(image.width, image.height) if image is not None else None for image in thumbnails],
        "runs": page_runs,
        "perPack": per_pack,
        "items": [_list_entry(item) for item in items],
    }
    gaps = list(dict.fromkeys(gap for run in runs for gap in run.material.gaps))
    if replies.shortened:
        gaps.append(Gap(kind="predictions", reason=replies.why_shortened()))
    if broken := thumbnails.count(None):
        gaps.append(Gap(kind="images", reason=f"{broken} of {len(thumbnails)} images cannot be read."))
    return Items(
        data=_pack(data),
        packs=[_pack(items[start : start + per_pack]) for start in range(0, len(items), per_pack)],
        images=[image.url if image is not None else "" for image in thumbnails],
        gaps=gaps,
        runs=len(runs),
        reading=_initial_reading(runs),
    )


def _item_noun(runs: Sequence[PageRun]) -> str:
    """Return the benchmark's word for an item; an item of two runs may be several rows, which are about a question."""
    has_rows = not runs[0].findings.scorer.has_units and any(
        sample.observation != sample.qid for run in runs for sample in run.report.samples
    )
    return "question" if len(runs) > 1 and has_rows else runs[0].material.unit


def _pack(value: object) -> str:
    """Return a value as base64 of deflated JSON, which has no character with a meaning in HTML."""
    data = json.dumps(value, ensure_ascii=True, separators=(",", ":"), allow_nan=False, default=str).encode()
    return base64.b64encode(zlib.compress(data, 7)).decode()


def _initial_reading(runs: Sequence[PageRun]) -> str:
    """Return the reading with which two runs open: careful, unless it is the same in both."""
    careful = [[sample.careful for sample in run.report.samples] for run in runs]
    return "official" if careful[0] == careful[-1] else "careful"


def _images_of(runs: Sequence[PageRun]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the images that any run can show, and task -> key of its image."""
    pictures = {key: image for run in reversed(runs) for key, image in run.material.images.items()}
    return pictures, {qid: key for run in reversed(runs) for qid, key in run.material.image_of.items()}


def _run(run: PageRun) -> dict[str, object]:
    """Return what a page shows of a whole run. `made` is its provenance."""
    report, findings = run.report, run.findings
    return {
        "name": run.name,
        "model": report.model or "",
        "file": report.provenance.predictions,
        "made": dict(_flatten(findings.provenance)),
        "notes": [*findings.reading_difference_notes, *findings.notes],
        "agreement": findings.agreement,
        "unscored": report.unscored,
        "whyUnscored": findings.why_unscored,
        "excludedFrom": findings.metrics_leaving_out_unscored,
        "gaps": [{"what": gap.kind, "why": gap.reason} for gap in run.material.gaps],
    }


def _flatten(facts: Mapping[str, Any], prefix: str = "") -> Iterable[tuple[str, str]]:
    """Yield facts as (name, text); a part of a fact is named `fact: part`."""
    for name, value in facts.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}: ")
        else:
            yield f"{prefix}{name}", ", ".join(map(str, value)) if isinstance(value, list) else str(value)


# --- items --------------------------------------------------------------------------------------------------------


def _list_entry(item: dict[str, Any]) -> dict[str, object]:
    """Return what lists and searches need of an item. `values` are only in comparisons, `rounds` only in units."""
    names = ("name", "unit", "groups", "values", "rounds")
    return {name: item[name] for name in names if name in item} | {
        "blurb": _blurb(item["tasks"][0]),
        "runs": [[_list_sample(sample) for sample in samples] for samples in item["runs"]],
    }


def _list_sample(sample: dict[str, Any]) -> dict[str, object]:
    """Return what lists and searches need of a sample."""
    entry: dict[str, object] = {
        name: sample[name] for name in ("qid", "sample", "seconds", "differs") if name in sample
    }
    for name in READINGS:
        reading = sample[name]
        parts = ("outcome", "answer", "rule", "detail")
        entry[name] = {part: reading[part][:_LIST_CHARACTERS] for part in parts if part in reading}
    if test := " ".join(sample.get("failedTest", "").split())[:_BLURB_CHARACTERS]:
        entry["failedTest"] = test
    return entry


def _blurb(task: dict[str, Any]) -> str:
    """Return a short text that identifies a task: its question, or the docstring of its code."""
    text = task.get("text")
    if not text:
        code = next((block["content"] for block in task.get("blocks", ()) if block["kind"] == "code"), "")
        text = _docstring_beginning(code) if '"""' in code else code
    return " ".join(text.split())[:_BLURB_CHARACTERS]


def _docstring_beginning(code: str) -> str:
    """Return the docstring up to its list of parameters, which is alike in many tasks (the style of HumanEval-V)."""
    return code.split('"""')[1].partition("Parameters:")[0]


def _items(
    runs: Sequence[PageRun],
    scorer: AnyScorer,
    replies: _ShownReplies,
    image_keys: list[str],
    values_by_run: Sequence[ItemValues],
) -> list[dict[str, Any]]:
    """Return all items, with everything that a page shows of them. `image_keys`: in the order of the page's images."""
    # Two runs are compared, and units judged, by observation, which may have several tasks.
    split_into_items = by_observation if len(runs) > 1 or scorer.has_units else by_task
    samples_by_run = [split_into_items(run.report.samples) for run in runs]
    image_indexes = {key: index for index, key in enumerate(image_keys)}
    items = []
    for name in dict.fromkeys(name for samples in samples_by_run for name in samples):
        item_samples = [samples.get(name, []) for samples in samples_by_run]
        item = _item(name, item_samples, runs, replies=replies, image_indexes=image_indexes)
        if values_by_run:
            item["values"] = [
                {reading: value_by_item.get(name) for reading, value_by_item in readings.items()}
                for readings in values_by_run
            ]
        if scorer.has_units:
            item["rounds"] = [_rounds(samples, scorer) for samples in item_samples]
        items.append(item)
    return items


def _item(
    name: str,
    item_samples: Sequence[list[SampleResult]],
    runs: Sequence[PageRun],
    *,
    replies: _ShownReplies,
    image_indexes: dict[str, int],
) -> dict[str, Any]:
    """Return an item with its tasks and its samples. `item_samples`: those of each run.

    `unit` is its observation: if an item is one task, the page links the other tasks of the same observation.
    """
    scorer = runs[0].findings.scorer
    all_samples = [sample for samples in item_samples for sample in samples]
    return {
        "name": name,
        "unit": all_samples[0].observation,
        "groups": list(all_samples[0].group_names()),
        "tasks": [_task(qid, runs, image_indexes) for qid in dict.fromkeys(sample.qid for sample in all_samples)],
        "runs": [
            [_sample(sample, run, scorer, replies) for sample in samples]
            for samples, run in zip(item_samples, runs, strict=True)
        ],
    }


def _rounds(members: list[SampleResult], scorer: AnyScorer) -> list[dict[str, str]]:
    """Return the outcomes of a unit in both readings, for each of its rounds."""
    units = (scorer.sample_details(samples[0]).unit for _, samples in sorted(by_round(members).items()))
    return [{reading: outcome.value for reading, outcome in unit.items()} for unit in units if unit]


def _task(qid: str, runs: Sequence[PageRun], image_indexes: dict[str, int]) -> dict[str, object]:
    """Return a task's question with its options, gold answer, image and texts; only its id if it is not known."""
    task = next((run.material.tasks[qid] for run in runs if qid in run.material.tasks), None)
    if task is None:
        return {"qid": qid}
    image = next((key for run in runs if (key := run.material.image_of.get(qid))), "")
    return {
        "qid": qid,
        "text": task.text,
        "options": list(task.options.items()),
        "gold": task.gold,
        **({"image": image_indexes[image]} if image in image_indexes else {}),
        "blocks": [
            {"kind": block.kind, "title": block.title, "content": block.content, "open": block.is_open}
            for block in task.blocks
        ],
    }


def _sample(sample: SampleResult, run: PageRun, scorer: AnyScorer, replies: _ShownReplies) -> dict[str, object]:
    """Return a sample: both readings, its reply, and its program."""
    details = scorer.sample_details(sample)
    programs = run.material.programs.get(sample.qid, [])
    reply = reply_of(run.material.replies, sample)
    call = sample.first_difference
    facts: dict[str, object] = {
        "qid": sample.qid,
        "sample": sample.sample,
        "seconds": round(sample.seconds, 3),
        "differs": sample.differs,
        "official": _reading(sample.official, reply, replies, details.official),
        "careful": _reading(sample.careful, reply, replies, details.careful),
        "kind": details.kind,
        "facts": details.facts,
        "failedTest": details.failed_test[:_MAX_CHARACTERS],
        "call": call and [part[:_MAX_CHARACTERS] for part in (call.call, call.expected, call.returned)],
    }
    if sample.sample < len(programs):
        facts["program"] = _program(programs[sample.sample], details.failed_line)
    # An empty reply is not the same as none.
    return _without_empty(facts) | (replies.page_values(reply) if reply is not None else {})


def _reading(
    reading: Reading, reply: str | None, replies: _ShownReplies, facts: list[tuple[str, str | bool | None]]
) -> dict[str, object]:
    """Return a reading, with its span in the shown reply. `facts`: (name, value) from the scorer; None: unknown."""
    span = replies.shown_span(reply, reading.span) if reply is not None and isinstance(reading.span, tuple) else None
    return _without_empty(
        {
            "outcome": reading.outcome.value,
            "credit": reading.credit,
            "answer": reading.answer,
            "detail": reading.detail[:_MAX_CHARACTERS],
            "rule": reading.rule_name,
            "span": span,
            "facts": facts,
        }
    )


def _without_empty(facts: Mapping[str, object]) -> dict[str, object]:
    """Return the facts that say something: most samples have few of them. 0 says something."""
    return {
        name: value
        for name, value in facts.items()
        if value is not None and value is not False and value not in ("", [])
    }


def _program(run: ExecutedProgram, failed_line: int | None) -> dict[str, object]:
    """Return a program, its result, the model's lines [from, to), and the failed test's line; both count from 0."""
    return {
        "text": run.program.rstrip("\n"),
        "result": run.result[:_MAX_CHARACTERS],
        "own": _completion_lines(run),
        "failed": None if failed_line is None else failed_line - 1,
    }


def _completion_lines(run: ExecutedProgram) -> list[int] | None:
    """Return the lines [from, to) of a program that are the model's; None if they are not whole lines of it."""
    completion = run.completion.rstrip("\n")
    start = run.program.rfind(completion) if completion else -1
    if start < 0:
        return None
    end = start + len(completion)
    begins_line = run.program[start - 1 : start] in {"", "\n"}
    ends_line = run.program[end : end + 1] in {"", "\n"}
    if not begins_line or not ends_line:
        return None
    first = run.program.count("\n", 0, start)
    return [first, first + completion.count("\n") + 1]


# --- replies ------------------------------------------------------------------------------------------------------


class _ShownReplies:
    """The replies of a page, of which long ones lose their middle if all together are too long."""

    def __init__(self, runs: Sequence[PageRun]) -> None:
        lengths = Counter(len(text) for run in runs for texts in run.material.replies.values() for text in texts)
        self._limit = _REPLY_LIMITS[-1]
        for limit in _REPLY_LIMITS:
            if sum(min(length, limit) * number for length, number in lengths.items()) <= _MAX_REPLY_CHARACTERS:
                self._limit = limit
                break
        self.shortened = sum(number for length, number in lengths.items() if length > self._limit)
        """Number of replies without their middle."""

    def why_shortened(self) -> str:
        """Return a sentence about the replies without their middle."""
        longer = f"longer than {self._limit:,} characters"
        if self.shortened == 1:
            return f"1 output is {longer}; its middle is left out."
        return f"{self.shortened:,} outputs are {longer}; the middle of them is left out."

    def _middle(self, text: str) -> tuple[int, int]:
        """Return the range [start, end) that is left out, if any. Two thirds of the shown characters are before it."""
        if len(text) <= self._limit:
            return len(text), len(text)
        start = self._limit * 2 // 3
        return start, len(text) - (self._limit - start)

    def page_values(self, text: str) -> dict[str, object]:
        """Return `output`, and `cut` if a part is left out: its position in UTF-16 code units, and its length."""
        start, end = self._middle(text)
        if start == end:
            return {"output": text}
        return {"output": text[:start] + text[end:], "cut": [_code_units(text[:start]), end - start]}

    def shown_span(self, text: str, span: tuple[int, int]) -> list[int] | None:
        """Convert the range [start, end) of a reply to UTF-16 code units of the shown text; None if not shown."""
        start, end = span
        middle_start, middle_end = self._middle(text)
        is_valid = 0 <= start < end <= len(text)
        overlaps_middle = start < middle_end and end > middle_start
        if not is_valid or overlaps_middle:
            return None
        if end <= middle_start:
            shown_start = _code_units(text[:start])
        else:
            shown_start = _code_units(text[:middle_start]) + _code_units(text[middle_end:start])
        return [shown_start, shown_start + _code_units(text[start:end])]


def _code_units(text: str) -> int:
    """Return the length of a text in UTF-16 code units, as a browser counts it."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2
