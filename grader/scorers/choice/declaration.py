"""The declaration of a multiple-choice benchmark in its benchmark.toml."""

from __future__ import annotations

import string
from collections.abc import Iterable, Mapping

import msgspec

from grader.benchmark import Benchmark, Columns, Protocol, distinct
from grader.files.json_text import quoted
from grader.scorers.choice.readers import reader_problem

DEFAULT_LETTERS = "ABCD"
CIRCULAR = "circular"


class ChoiceColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    needed = ("id", "question", "answer", "options")
    gold_fields = ("answer",)
    option_fields = ("options",)
    answer: str | None = None
    hint: str | None = None
    options: str | None = None
    """A column with all options of a question: a list, letter -> text, or `{"text": [...], "label": [...]}`."""
    group_index: str | None = None
    """Circular: a column with the id of the question that a pass belongs to."""


class Shuffled(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Options in columns of their own, which are shown in an order that a seed gives."""

    columns: list[str]
    """The first has the right option."""
    seed: int = 0
    """Of Python's `random`: one `sample` of the places for each row, in the data's order."""


class ChoiceProtocol(Protocol, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One version of an official reader."""

    reader: str = ""
    """Version name of the official reader."""


class ChoiceBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A multiple-choice benchmark, with one pass per question or several (circular)."""

    columns: ChoiceColumns
    protocols: Mapping[str, ChoiceProtocol]
    letters: str = DEFAULT_LETTERS
    """The letters that options can have."""
    shuffled: Shuffled | None = None
    """The columns of the options, if they are not in the order in which they are shown."""
    answer_from: int | None = None
    """The number of the first option, if the answers are numbers of options."""
    other_answers: str = ""
    """The text of the second option of rows without options, whose first is the answer; empty: such rows are broken."""
    options_in_text: bool = False
    """The options are part of the question's text, as "(A) ... (B) ..."."""
    prompt: str = ""
    """The text at the end of every question, after its options."""
    judge_prompt: str = ""
    """A template that replaces the built-in prompt of the judge; empty: the built-in prompt."""
    pass_stride: int = 1_000_000
    """Circular: a pass's index is the question's index plus a multiple of this."""
    baselines: bool = False
    """Report the scores that chance and a constant letter would get."""

    def problem(self) -> str:
        """Return what is wrong with the declared letters and readers; empty if they are valid."""
        for name, protocol in self.protocols.items():
            if problem := reader_problem(protocol.reader):
                return f"protocols.{name}: {problem}"
        if self.shuffled is not None and len(self.shuffled.columns) > len(self.letters):
            return f"shuffled has {len(self.shuffled.columns)} columns, and letters = {self.letters!r}"
        return letters_problem(self.letters)

    def scored_columns(self, split: str) -> list[str] | None:
        """Return the columns that scoring reads; None, all but the image, if the split has a submission."""
        if not self.splits[split].scored:
            return None
        columns = self.columns
        named = (columns.id, columns.question, columns.answer, columns.options, columns.split, columns.group_index)
        return distinct(*named, *columns.groups, *self._option_columns(), columns.cluster)

    def _option_columns(self) -> Iterable[str]:
        """Return the columns of the letters and, if they hold the options, that of the first undeclared letter.

        An option in that one is an error. Those of the letters are listed also if the options are elsewhere.
        """
        if self.shuffled is not None:
            return self.shuffled.columns
        have_columns = not self.options_in_text and self.columns.options is None
        return self.letters + self.letter_beyond if have_columns else self.letters

    @property
    def letter_beyond(self) -> str:
        """The letter after the last one; empty if there is none. A column of this name has options without a letter."""
        return string.ascii_uppercase.partition(self.letters)[2][:1]

    @property
    def is_circular(self) -> bool:
        """Whether a question is asked in several passes."""
        return self.scoring == CIRCULAR


def letters_problem(letters: str) -> str:
    """Return what is wrong with the declared letters; empty if they are valid."""
    duplicates = sorted({letter for letter in letters if letters.count(letter) > 1})
    if not letters:
        return 'letters is empty: name the letters that options can have (letters = "ABCD"), or omit it for ABCD'
    if duplicates:
        return f"letters = {quoted(letters)}: {', '.join(duplicates)} is a duplicate"
    return ""
