"""Multiple-choice questions: from rows to items, and both readings of every reply to them."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError
from grader.results import Outcome, Reading, SampleResult

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from grader.benchmark import Benchmark
    from grader.data import Row, Rows
    from grader.reading.choice import ChoiceReading

_MARKED = re.compile(r"\(([A-Z])\)\s*")


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One question as it was asked: in circular evaluation, one pass."""

    qid: str
    unit: str
    """The question it is a pass of (itself where there is one pass)."""
    question: str
    options: dict[str, str]
    answer: str | None
    """The right letter; None where the answers are not public."""
    groups: dict[str, str | list[str]]
    row: dict[str, Any]


def items_from(rows: Rows, benchmark: Benchmark, split: str) -> dict[str, Item]:
    """Turn rows into items; raises InputError naming every row that is wrong."""
    items: dict[str, Item] = {}
    problems: list[str] = []
    label = benchmark.splits[split].label
    for number, row in enumerate(rows.rows, 1):
        where = f"{rows.origin}: row {number}"
        try:
            item = _item(row, benchmark, label)
        except ValueError as error:
            problems.append(f"{where}: {error}")
            continue
        if item.qid in items:
            problems.append(f"{where}: {item.qid!r} stands twice")
        items[item.qid] = item
    answered = sum(item.answer is not None for item in items.values())
    if answered and answered < len(items):
        lacking = [qid for qid, item in items.items() if item.answer is None]
        problems.append(f"{rows.origin}: {len(lacking)} rows have no answer and the others do: {', '.join(lacking[:5])}")
    if problems:
        hidden = [f"... and {len(problems) - 50} more problems"] if len(problems) > 50 else []
        raise InputError(problems[:50] + hidden)
    return items


def _item(row: Row, benchmark: Benchmark, label: str) -> Item:
    """Return a row's item; raises ValueError saying what is wrong with it."""
    columns = benchmark.columns
    qid = cell(row.get(columns.id))
    if qid is None:
        raise ValueError(f"no {columns.id}")
    question = cell(row.get(columns.question or "")) or ""
    options = _options(row, question, benchmark)
    if len(options) < 2:
        raise ValueError(f"{qid}: fewer than two options (columns {benchmark.letters[0]}, {benchmark.letters[1]}, ...)")
    answer = cell(row.get(columns.answer or ""))
    if answer is not None and answer not in options:
        raise ValueError(f"{qid}: the answer {answer!r} is none of its options {', '.join(options)}")
    said = cell(row.get(columns.split or ""))
    if label and said is not None and said != label:
        raise ValueError(f"{qid}: belongs to split {said!r}, not to {label!r} (--split)")
    unit = qid
    if benchmark.scoring == "circular":
        unit = cell(row.get(columns.group_index or "")) or _base(qid, benchmark.pass_stride)
    return Item(
        qid=qid, unit=unit, question=question, options=options, answer=answer, groups=_groups(row, benchmark), row=row
    )


def cell(value: object) -> str | None:
    """Return a cell's text: numbers as decimals, empty ones as None; "None", "NA" and "nan" are texts."""
    if value is None or value == "" or value != value:  # noqa: PLR0124 - a NaN is an empty cell
        return None
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _base(qid: str, stride: int) -> str:
    if not qid.isdigit():
        raise ValueError(f"{qid!r} is no index: the passes of a question are told by their index")
    return str(int(qid) % stride)


def _options(row: Row, question: str, benchmark: Benchmark) -> dict[str, str]:
    if benchmark.options_in_text:
        return options_in(question, benchmark.prompt)
    together = row.get(benchmark.columns.options) if benchmark.columns.options else None
    if isinstance(together, dict):
        return {str(key): str(value) for key, value in together.items()}
    if isinstance(together, list):
        return {letter: str(value) for letter, value in zip(benchmark.letters, together, strict=False)}
    return {letter: text for letter in benchmark.letters if (text := cell(row.get(letter))) is not None}


def options_in(text: str, prompt: str = "") -> dict[str, str]:
    """Return the options of a question that ends with "(A) ... (B) ...", letters in order from A."""
    if prompt and prompt in text:
        text = text[: text.rindex(prompt)]
    marks = list(_MARKED.finditer(text))
    for start in range(len(marks)):
        if marks[start][1] == "A":
            run = marks[start:]
            letters = [mark[1] for mark in run]
            if letters == [chr(ord("A") + i) for i in range(len(run))]:
                ends = [mark.start() for mark in run[1:]] + [len(text)]
                return {mark[1]: text[mark.end() : end].strip() for mark, end in zip(run, ends, strict=True)}
    return {}


def _groups(row: Row, benchmark: Benchmark) -> dict[str, str | list[str]]:
    groups: dict[str, str | list[str]] = {}
    for name in benchmark.columns.groups:
        label = cell(row.get(name))
        if label is not None:
            groups[name] = label
    for name, derived in benchmark.derived.items():
        label = derived.values.get(str(groups.get(derived.source)))
        if label is not None:
            groups[name] = label
    return groups


def official_reader(version: str) -> Callable[[str, Mapping[str, str]], ChoiceReading]:
    """Return the official reader that a protocol names."""
    from grader.reading.choice_official import read_lmms_eval, read_vlmevalkit

    if version.startswith("lmms-eval"):
        return lambda text, _options: read_lmms_eval(text, version)
    return lambda text, options: read_vlmevalkit(text, options, version)


class Reply(msgspec.Struct, kw_only=True):
    """One reply to one item, with both readings as far as they have come."""

    item: Item
    sample: int
    text: str
    official: ChoiceReading
    careful: ChoiceReading
    official_judged: ChoiceReading | None = None
    """The judge's reply, read by the official rules (letter `Z`: none of the options)."""
    careful_judged: ChoiceReading | None = None
    lost: str = ""
    """Why a judge that was asked gave nothing; with it, what only the judge could read is unscored."""
    asked: frozenset[str] = frozenset()
    """The readings that needed the judge."""


def read_replies(items: Iterable[Item], predictions: Mapping[str, list[str]], version: str) -> list[Reply]:
    """Read every reply both ways. Equal replies to equal options are read once."""
    from grader.reading.choice_careful import read_choice

    official = official_reader(version)
    known: dict[tuple[object, ...], tuple[ChoiceReading, ChoiceReading]] = {}
    replies = []
    for item in items:
        shape = tuple(item.options.items())
        for number, text in enumerate(predictions[item.qid]):
            key = (text, shape, item.question)
            if key not in known:
                known[key] = official(text, item.options), read_choice(text, item.options, item.question)
            first, second = known[key]
            replies.append(Reply(item=item, sample=number, text=text, official=first, careful=second))
    return replies


def sample_of(reply: Reply) -> SampleResult:
    """Return a reply's sample result."""
    item = reply.item
    extra: dict[str, object] = {"gold": item.answer}
    return SampleResult(
        qid=item.qid,
        sample=reply.sample,
        official=_official(reply),
        careful=_careful(reply),
        unit=item.unit if item.unit != item.qid else msgspec.UNSET,
        groups=item.groups or msgspec.UNSET,
        extra=extra,
    )


def _official(reply: Reply) -> Reading:
    return _settled(reply, "official", reply.official, reply.official_judged)


def _careful(reply: Reply) -> Reading:
    if reply.careful.outcome == "ambiguous":
        read = reply.careful
        return _reading(Outcome.AMBIGUOUS, 0, None, read.rule, read.span, read.detail)
    return _settled(reply, "careful", reply.careful, reply.careful_judged)


def _settled(reply: Reply, name: str, read: ChoiceReading, judged: ChoiceReading | None) -> Reading:
    if read.letter is None and name in reply.asked:
        if judged is None:
            return Reading(outcome=Outcome.UNSCORED, credit=0, detail=reply.lost, rule="judge")
        letter = judged.letter if judged.letter in reply.item.options else None
        return _verdict(reply, letter, "judge", None, "the judge's word")
    return _verdict(reply, read.letter, read.rule, read.span, read.detail)


def _verdict(reply: Reply, letter: str | None, rule: str, span: tuple[int, int] | None, detail: str) -> Reading:
    if letter is None or letter not in reply.item.options:
        return _reading(Outcome.NO_ANSWER, 0, letter, rule, span, detail)
    right = letter == reply.item.answer
    return _reading(Outcome.CORRECT if right else Outcome.WRONG, int(right), letter, rule, span, detail)


def _reading(
    outcome: Outcome, credit: int, letter: str | None, rule: str, span: tuple[int, int] | None, detail: str
) -> Reading:
    return Reading(
        outcome=outcome, credit=credit, answer=letter, detail=detail, rule=rule, span=span or msgspec.UNSET
    )


def position_bias(samples: list[SampleResult]) -> dict[str, object]:
    """Return, by reading and letter: how often it was chosen, how often it was right, and accuracy where it was."""
    table: dict[str, object] = {}
    for name in ("official", "careful"):
        chosen: Counter[str] = Counter()
        gold: Counter[str] = Counter()
        hits: Counter[str] = Counter()
        for sample in samples:
            reading = sample.official if name == "official" else sample.careful
            right = _gold(sample)
            gold[right] += 1
            hits[right] += reading.credit >= 1
            if reading.answer:
                chosen[reading.answer] += 1
        table[name] = {
            letter: {
                "chosen": chosen[letter],
                "right": gold[letter],
                "accuracy": 100 * hits[letter] / gold[letter] if gold[letter] else None,
            }
            for letter in sorted(chosen.keys() | gold.keys())
        }
    return table


def _gold(sample: SampleResult) -> str:
    return str(sample.extra.get("gold")) if isinstance(sample.extra, dict) else ""
