"""What a benchmark.toml says of a multiple-choice benchmark."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from grader.benchmark import Benchmark, Columns, Protocol
from grader.files.json_text import quoted

DEFAULT_LETTERS = "ABCD"
CIRCULAR = "circular"


class ChoiceColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    answer: str | None = None
    hint: str | None = None
    options: str | None = None
    """A column that holds the options together (a list, or letter -> text)."""
    group_index: str | None = None
    """Circular: a column that names the question a pass belongs to."""


class ChoiceProtocol(Protocol, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of an official reader."""

    reader: str = ""
    """Version name of the official reader."""


class Derived(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A grouping that follows from a column."""

    source: str
    values: dict[str, str]


class ChoiceBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A multiple-choice benchmark, with one pass a question or several (circular)."""

    columns: ChoiceColumns
    protocols: Mapping[str, ChoiceProtocol]
    letters: str = DEFAULT_LETTERS
    """Letters that an option can have."""
    options_in_text: bool = False
    """The options are part of the question's text, as "(A) ... (B) ..."."""
    prompt: str = ""
    """What the question's text ends with, behind its options."""
    pass_stride: int = 1_000_000
    """Circular: a pass's index is the question's plus a multiple of this."""
    derived: dict[str, Derived] = {}
    """Name of a further grouping -> how it follows from a column."""
    baselines: bool = False
    """Report what chance and a constant letter would score."""

    @property
    def is_circular(self) -> bool:
        """Whether a question is asked in several passes."""
        return self.scoring == CIRCULAR


def letters_problem(letters: str) -> str:
    """Return what is wrong with the letters that options can have; empty: nothing."""
    duplicates = sorted({letter for letter in letters if letters.count(letter) > 1})
    if not letters:
        return 'letters is empty: name those that options can have (letters = "ABCD"), or leave it out for ABCD'
    if duplicates:
        return f"letters = {quoted(letters)}: {', '.join(duplicates)} is a duplicate"
    return ""
