"""Circular evaluation: the passes of one question, their rotation, and problems with them.

Officially every option moves on by one letter from pass to pass, but a last option such as "All of the above" keeps
its place. Such a question has one pass fewer than it has options. The published files are made in this way.
The `observation` of an item is the id of its question; so is `unit`, which is empty in the first pass.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.files.json_text import problem_lines
from grader.results.groups import grouped
from grader.wording import counted

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
    missing = {qid for qid in predicted if qid not in items}
    if not missing or not _are_first_passes(items.values()):
        return items
    rotations = {each.id: each for item in items.values() for each in _rotations(item, columns, stride, missing)}
    return items if missing.isdisjoint(rotations) else items | rotations


def _rotations(item: Item, columns: ChoiceColumns, stride: int, predicted: Collection[str]) -> Iterator[Item]:
    """Yield the passes 1, 2, ... of a question: in each, every option has moved on by one letter.

    A last option such as "All of the above" keeps its place if the predictions have one pass fewer than options.
    """
    letters, texts = list(item.options), list(item.options.values())
    numbers = [number for number in range(1, len(letters)) if str(int(item.id) + number * stride) in predicted]
    is_one_fewer = numbers == list(range(1, len(letters) - 1))
    if is_one_fewer and texts and _ABOUT_OTHERS.search(texts[-1]):
        letters.pop()
    moving, staying = texts[: len(letters)], texts[len(letters) :]
    for number in range(1, len(letters)):
        rotated = moving[-number:] + moving[:-number] + staying
        gold = item.gold
        if gold in letters:
            gold = letters[(letters.index(gold) + number) % len(letters)]
        qid, options = str(int(item.id) + number * stride), dict(zip(item.options, rotated, strict=True))
        row = {**item.row, **options, columns.id: qid}
        if columns.answer and gold:
            row[columns.answer] = gold
        yield msgspec.structs.replace(item, id=qid, unit=item.id, options=options, gold=gold, row=row)


def ids_of_later_passes(items: Mapping[str, Item], stride: int) -> list[str]:
    """Return the ids of all passes after the first, if the data has only first passes; else an empty list."""
    if not _are_first_passes(items.values()):
        return []
    return [
        str(int(item.id) + number * stride) for item in items.values() for number in range(1, _passes_of_first(item))
    ]


def _are_first_passes(items: Iterable[Item]) -> bool:
    """Whether all items are first passes (no `unit`), from whose indices those of the other passes follow."""
    return all(not item.unit and item.id.isdecimal() for item in items)


def _passes_of_first(item: Item) -> int:
    """Return the official number of passes of a question, from its first pass: a last "All of the above" stays."""
    has_fixed_last = len(item.options) > 2 and _ABOUT_OTHERS.search(list(item.options.values())[-1])
    return len(item.options) - bool(has_fixed_last)


def with_groups_of_first(items: dict[str, Item]) -> dict[str, Item]:
    """Give every pass the groups of its question's first pass, as officially: a rotated row may have none."""
    passes = grouped(items.values(), lambda item: item.observation)
    # The first pass is the one without a `unit`, wherever it stands; if it is missing, the first in the data.
    groups = {question: min(members, key=lambda item: bool(item.unit)).groups for question, members in passes.items()}
    return {qid: msgspec.structs.replace(item, groups=groups[item.observation]) for qid, item in items.items()}


def notes_on_passes(items: Iterable[Item]) -> list[str]:
    """Return what is wrong with the passes in the data: no score shows it."""
    passes = grouped(items, lambda item: item.observation)
    if all(len(members) == 1 for members in passes.values()):
        return ["Data and predictions have one pass per question: circular_accuracy is that of a single pass."]
    with_missing = [question for question, members in passes.items() if len(members) < _expected_passes(members)]
    orders = {question: {tuple(item.options.items()) for item in members} for question, members in passes.items()}
    with_equal_orders = [question for question, members in passes.items() if len(orders[question]) < len(members)]
    option_sets = {
        question: {frozenset(item.options.values()) for item in members} for question, members in passes.items()
    }
    with_other_options = [question for question in passes if len(option_sets[question]) > 1]
    problems = (
        (with_missing, "fewer passes in the data than their options require (scored on the passes present)"),
        (with_equal_orders, "two passes in the data with the same order of options"),
        (with_other_options, "passes in the data that do not have the same options"),
    )
    return [f"Questions with {what}: {len(ids)} ({first_ids(ids)})." for ids, what in problems if ids]


def _expected_passes(members: list[Item]) -> int:
    """Return the official number of passes of a question: that of its options, without one that keeps its place."""
    options = members[0].options
    fixed_letters = [k for k, text in options.items() if all(item.options.get(k) == text for item in members)]
    has_fixed = len(members) > 1 and len(fixed_letters) == 1
    return len(options) - has_fixed


def first_ids(ids: list[str]) -> str:
    """Return the first five ids."""
    return ", ".join(ids[:5]) + (", ..." if len(ids) > 5 else "")


def missing_note(items: Iterable[Item], predictions: Mapping[str, list[str]]) -> list[str]:
    """Return a note if questions have a prediction for only some of their passes: official ignores the others."""
    passes = grouped(items, lambda item: item.observation)
    texts = {question: [predictions[item.id] for item in members] for question, members in passes.items()}
    incomplete = [question for question, of_passes in texts.items() if any(of_passes) and not all(of_passes)]
    if not incomplete:
        return []
    which = f"{counted(len(incomplete), 'question')} without a prediction for some passes ({first_ids(incomplete)})"
    return [f"{which}: official judges by the other passes, because VLMEvalKit does not notice a missing one."]


def rounds_note(items: Iterable[Item], predictions: Mapping[str, list[str]], file: PredictionFile) -> list[str]:
    """Return a note if questions have several samples of each pass: the passes of one sample number are one round.

    Raises InputError if passes of one question have different numbers of samples.
    """
    counts: dict[str, dict[str, int]] = {}
    for item in items:
        if predictions[item.id]:
            counts.setdefault(item.observation, {})[item.id] = len(predictions[item.id])
    where = {record.qid: record.field_position("predictions") for record in file.records}
    problems = [
        f"{where[max(passes, key=passes.__getitem__)]}: question {question}: "
        "its passes have different numbers of predictions "
        f"({', '.join(f'{qid}: {n}' for qid, n in passes.items())})"
        for question, passes in counts.items()
        if len(set(passes.values())) > 1
    ]
    if problems:
        raise InputError(problem_lines(problems))
    several = sum(max(passes.values()) > 1 for passes in counts.values())
    if not several:
        return []
    return [f"Questions with several predictions per pass: {several}; each round of passes is one trial."]
