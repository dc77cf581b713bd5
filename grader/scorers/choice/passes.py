"""Circular evaluation: the passes of one question, their rotation, and problems with them.

Officially every option moves on by one letter from pass to pass, but a last option such as "All of the above" keeps
its place. Such a question has one pass fewer than it has options. The published files are made in this way.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.files.json_text import problem_lines
from grader.results.groups import grouped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from grader.predictions.file import PredictionFile
    from grader.scorers.choice.declaration import ChoiceColumns
    from grader.scorers.choice.items import Item

_ABOUT_OTHERS = re.compile(r"\b(?:all|both|none|neither|above|others?)\b|以上|都", re.IGNORECASE)


def with_rotations(
    items: dict[str, Item], predicted: Iterable[str], columns: ChoiceColumns, stride: int
) -> dict[str, Item]:
    """Add passes that have predictions but are missing in the data, by rotating the options."""
    strangers = {qid for qid in predicted if qid not in items}
    if not strangers or not all(not item.unit and item.id.isdigit() for item in items.values()):
        return items
    made = {rolled.id: rolled for item in items.values() for rolled in _rotations(item, columns, stride, strangers)}
    return items if strangers.isdisjoint(made) else items | made


def _rotations(item: Item, columns: ChoiceColumns, stride: int, predicted: Collection[str]) -> Iterator[Item]:
    """Yield the passes 1, 2, ... of a question: in each, every option has moved on by one letter."""
    letters, texts = list(item.options), list(item.options.values())
    numbers = [number for number in range(1, len(letters)) if str(int(item.id) + number * stride) in predicted]
    if numbers == list(range(1, len(letters) - 1)) and _ABOUT_OTHERS.search(texts[-1]):
        letters.pop()
    for number in range(1, len(letters)):
        turned = texts[len(letters) - number : len(letters)] + texts[: len(letters) - number] + texts[len(letters) :]
        gold = item.gold
        if gold in letters:
            gold = letters[(letters.index(gold) + number) % len(letters)]
        qid, options = str(int(item.id) + number * stride), dict(zip(item.options, turned, strict=True))
        own = {columns.id: qid} | ({columns.answer: gold} if columns.answer and gold else {})
        row = {**item.row, **options, **own}
        yield msgspec.structs.replace(item, id=qid, unit=item.id, options=options, gold=gold, row=row)


def ids_due(items: Mapping[str, Item], stride: int) -> list[str]:
    """Return the ids of all passes, if the data has only first passes; else an empty list."""
    if any(item.unit or not item.id.isdigit() for item in items.values()):
        return []
    return [
        str(int(item.id) + number * stride) for item in items.values() for number in range(1, _passes_of_first(item))
    ]


def _passes_of_first(item: Item) -> int:
    """Return the official number of passes of a question, from its first pass: a last "All of the above" stays."""
    stays = len(item.options) > 2 and _ABOUT_OTHERS.search(list(item.options.values())[-1])
    return len(item.options) - bool(stays)


def with_groups_of_first(items: dict[str, Item]) -> dict[str, Item]:
    """Give every pass the groups of its question's first pass, as officially: a rotated row may have none."""
    lead = {item.observation: item.groups for item in reversed(items.values())}
    lead |= {item.observation: item.groups for item in items.values() if not item.unit}
    return {
        qid: item
        if item.groups == lead[item.observation]
        else msgspec.structs.replace(item, groups=lead[item.observation])
        for qid, item in items.items()
    }


def notes_on_passes(items: Iterable[Item]) -> list[str]:
    """Return problems with the data's passes, which would stay hidden if all present passes are correct."""
    passes = grouped(items, lambda item: item.observation)
    if all(len(members) == 1 for members in passes.values()):
        return ["Data and predictions have one pass per question: circular_accuracy is that of a single pass."]
    few = [unit for unit, members in passes.items() if len(members) < _passes_due(members)]
    orders = {unit: {tuple(member.options.items()) for member in members} for unit, members in passes.items()}
    twice = [unit for unit, members in passes.items() if len(orders[unit]) < len(members)]
    strange = [unit for unit, members in passes.items() if len({frozenset(m.options.values()) for m in members}) > 1]
    reported = (
        (few, "fewer passes in the data than their options require (scored on the passes present)"),
        (twice, "two passes in the data with the same order of options"),
        (strange, "passes in the data that do not have the same options"),
    )
    return [f"Questions with {what}: {len(units)} ({some(units)})." for units, what in reported if units]


def _passes_due(members: list[Item]) -> int:
    """Return the official number of passes of a question: one for each option that does not keep its place."""
    options = members[0].options
    staying = sum(all(m.options.get(letter) == text for m in members) for letter, text in options.items())
    return len(options) - (staying if len(members) > 1 and staying == 1 else 0)


def some(units: list[str]) -> str:
    """Return the first five ids."""
    return ", ".join(units[:5]) + (", ..." if len(units) > 5 else "")


def check_rounds(
    items: Iterable[Item], predictions: Mapping[str, list[str]], file: PredictionFile, notes: list[str]
) -> None:
    """Raise InputError if passes of one question have different numbers of samples."""
    counts: dict[str, dict[str, int]] = {}
    for item in items:
        if predictions[item.id]:
            counts.setdefault(item.observation, {})[item.id] = len(predictions[item.id])
    where = {record.qid: record.place("predictions") for record in file.records}
    problems = [
        f"{where[max(passes, key=passes.__getitem__)]}: question {unit}: "
        "its passes have different numbers of predictions "
        f"({', '.join(f'{qid}: {n}' for qid, n in passes.items())})"
        for unit, passes in counts.items()
        if len(set(passes.values())) > 1
    ]
    if problems:
        raise InputError(problem_lines(problems))
    several = sum(max(passes.values()) > 1 for passes in counts.values())
    if several:
        notes.append(f"Questions with several predictions per pass: {several}; each round of passes is one trial.")
