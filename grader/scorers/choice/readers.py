"""The official readers of letters, by the name that a protocol gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.scorers.choice import official
from grader.scorers.choice.published import READERS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from grader.scorers.choice.reading import ChoiceReading


def official_readers() -> list[str]:
    """Return the names of all official readers."""
    return [*READERS, *official.VLMEVALKIT_VERSIONS, *official.LMMS_EVAL_VERSIONS]


def official_reader(version: str) -> Callable[[str, Mapping[str, str]], ChoiceReading]:
    """Return the official reader that a declared protocol names."""
    if version in official.LMMS_EVAL_VERSIONS:
        return lambda text, _options: official.read_lmms_eval(text, version)
    if version in official.VLMEVALKIT_VERSIONS:
        return lambda text, options: official.read_vlmevalkit_reply(text, options, version)
    return READERS[version].read


def reader_problem(version: str) -> str:
    """Return that no official reader has this name; empty if one has it."""
    known = sorted(official_readers())
    what = f"{version!r} is unknown" if version else "is missing"
    return "" if version in known else f"reader {what}; known: {', '.join(known)}"
