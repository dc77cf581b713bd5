"""Circular evaluation: the passes of one question, their rotation, and what is amiss with them.

Officially every option moves one letter on from pass to pass, but a last option such as "All of the above" stays
where it is; such a question has one pass fewer than options. This is how the published files are made.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from grader.predictions.read import PredictionFile
    from grader.scorers.choice.items import Item
    from grader.scorers.selection import Selection

_ABOUT_OTHERS = re.compile(r"\b(?:all|both|none|neither|above|others?)\b|以上|都", re.IGNORECASE)


def with_rotations(items: dict[str, Item], selection: Selection, notes: list[str]) -> dict[str, Item]:
    """Add the passes that the data lacks and the predictions have, by rotating the options."""
    strangers = {record.qid for record in selection.file.records if record.qid not in items}
    if not strangers or not all(item.qid == item.unit and item.qid.isdigit() for item in items.values()):
        return items
    made = {rolled.qid: rolled for item in items.values() for rolled in _rotations(item, selection, strangers)}
    if strangers.isdisjoint(made):
        return items
    notes.append("The data has first passes only; the other passes were made by rotating their options.")
    return items | made


def _rotations(item: Item, selection: Selection, predicted: Collection[str]) -> Iterator[Item]:
    """Yield the passes 1, 2, ... of a question: in each, every option has moved one letter on."""
    columns, stride = selection.benchmark.columns, selection.benchmark.pass_stride
    letters, texts = list(item.options), list(item.options.values())
    numbers = [number for number in range(1, len(letters)) if str(int(item.qid) + number * stride) in predicted]
    if numbers == list(range(1, len(letters) - 1)) and _ABOUT_OTHERS.search(texts[-1]):
        letters.pop()
    for number in range(1, len(letters)):
        turned = texts[len(letters) - number : len(letters)] + texts[: len(letters) - number] + texts[len(letters) :]
        answer = item.answer
        if answer in letters:
            answer = letters[(letters.index(answer) + number) % len(letters)]
        qid, options = str(int(item.qid) + number * stride), dict(zip(item.options, turned, strict=True))
        row = item.row | options | {columns.id: qid} | ({columns.answer: answer} if columns.answer and answer else {})
        yield msgspec.structs.replace(item, qid=qid, options=options, answer=answer, row=row)


def with_groups_of_first(items: dict[str, Item]) -> dict[str, Item]:
    """Give every pass the groups of its question's first pass, as officially: a rolled row may lack them."""
    lead = {item.unit: item.groups for item in reversed(items.values())}
    lead |= {item.unit: item.groups for item in items.values() if item.qid == item.unit}
    return {
        qid: item if item.groups == lead[item.unit] else msgspec.structs.replace(item, groups=lead[item.unit])
        for qid, item in items.items()
    }


def of_whole_questions(selection: Selection, items: Mapping[str, Item]) -> Selection:
    """Make `--id` and `--limit` choose questions with all their passes; raises UsageError for an id not there."""
    options = selection.options
    if not options.ids and options.limit is None:
        return selection
    units = list(dict.fromkeys(item.unit for item in items.values()))
    if options.ids:
        named = {items[qid].unit if qid in items else qid: qid for qid in options.ids}
        strangers = [qid for unit, qid in named.items() if unit not in units]
        if strangers:
            raise UsageError(f"--id {strangers[0]}: the benchmark has no such {selection.benchmark.unit}.")
        units = [unit for unit in units if unit in named]
    kept = set(units[: options.limit])
    ids = tuple(qid for qid, item in items.items() if item.unit in kept)
    return msgspec.structs.replace(selection, options=msgspec.structs.replace(options, ids=ids, limit=None))


def notes_on_passes(items: Iterable[Item]) -> list[str]:
    """Return what is amiss with the data's passes, which a group that is right in all it has would hide."""
    passes: dict[str, list[Item]] = {}
    for item in items:
        passes.setdefault(item.unit, []).append(item)
    if all(len(members) == 1 for members in passes.values()):
        return ["Data and predictions have one pass a question: circular accuracy is that of a single pass."]
    few = [unit for unit, members in passes.items() if len(members) < _passes_due(members)]
    twice = [unit for unit, members in passes.items() if len(_orders(members)) < len(members)]
    strange = [unit for unit, members in passes.items() if len({frozenset(m.options.values()) for m in members}) > 1]
    reported = (
        (few, "fewer passes in the data than their options need, counted by those they have"),
        (twice, "two passes in the data with the same order of options"),
        (strange, "passes in the data that do not have the same options"),
    )
    return [f"Questions with {what}: {len(units)} ({_some(units)})." for units, what in reported if units]


def _passes_due(members: list[Item]) -> int:
    """Return how many passes a question has officially: one for each option that does not stay where it is."""
    options = members[0].options
    staying = sum(all(m.options.get(letter) == text for m in members) for letter, text in options.items())
    return len(options) - (staying if len(members) > 1 and staying == 1 else 0)


def _orders(members: list[Item]) -> set[tuple[tuple[str, str], ...]]:
    return {tuple(member.options.items()) for member in members}


def _some(units: list[str]) -> str:
    return ", ".join(units[:5]) + (", ..." if len(units) > 5 else "")


def check_rounds(
    items: Iterable[Item], predictions: Mapping[str, list[str]], file: PredictionFile, notes: list[str]
) -> None:
    """Raise InputError where passes of one question have different numbers of samples."""
    counts: dict[str, dict[str, int]] = {}
    for item in items:
        if predictions[item.qid]:
            counts.setdefault(item.unit, {})[item.qid] = len(predictions[item.qid])
    where = {record.qid: record.where for record in file.records}
    problems = [
        f"{where[max(passes, key=passes.__getitem__)]}: $.predictions: question {unit}: "
        "its passes have different numbers of predictions "
        f"({', '.join(f'{qid}: {n}' for qid, n in passes.items())})"
        for unit, passes in counts.items()
        if len(set(passes.values())) > 1
    ]
    if problems:
        raise InputError(problems[:50])
    several = sum(max(passes.values()) > 1 for passes in counts.values())
    if several:
        notes.append(f"Questions with several predictions a pass: {several}; each round of passes counts as one trial.")
