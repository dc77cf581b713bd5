"""The declaration of a benchmark whose answers are numbers, texts, or yes and no, with options in some rows."""

from __future__ import annotations

import string
from collections.abc import Mapping
from typing import Literal, get_args

from grader.benchmark import Benchmark, Columns, Protocol, distinct
from grader.scorers.answer.official import RULES
from grader.scorers.choice.declaration import letters_problem
from grader.scorers.choice.readers import reader_problem
from grader.task import Task

JUDGE = "judge"
"""The rule of a protocol whose scorer is a judge, and of the readings that a judge decided."""
AnswerKind = Literal["number", "expression", "text", "literal", "yes_no"]
Grade = Literal["correct", "wrong", "no_answer"]
KINDS: tuple[AnswerKind, ...] = get_args(AnswerKind)


class AnswerColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    needed = ("id", "answer")
    gold_fields = ("letter", "answer")
    option_fields = ("options",)
    answer: str
    """The gold answer: a text, or a list of accepted texts; of a row with options, a letter or an option's text."""
    kind: str | None = None
    """A column with the kind of a row's answer, in the words of `kinds`."""
    options: str | None = None
    """A column with a list of options: a row that has two or more is multiple choice."""
    letter: str | None = None
    """A column with the gold letter of rows with options, if `answer` has their texts."""


class AnswerProtocol(Protocol, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One official rule."""

    rule: str
    """Name of the official rule."""
    reader: str = ""
    """Version name of the official reader of rows with options."""


class AnswerBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark of short answers, whose rows can have options, too."""

    columns: AnswerColumns
    protocols: Mapping[str, AnswerProtocol]
    kind: AnswerKind
    """The kind of the answers, where `columns.kind` says nothing else."""
    kinds: dict[str, AnswerKind] = {}
    """Value of the column `columns.kind` -> kind."""
    letters: str = string.ascii_uppercase
    """The letters that options can have."""
    counted_in: str = ""
    """A column of `groups` with one or several labels, separated by commas. A row counts once in each, and as often in
    overall metrics."""
    tolerance: float = 0
    """The relative difference from the gold number up to which a number is right (0.04: 4 %); 0: the same number."""
    judge_prompt: str | None = None
    """The prompt of a judge model, with {question}, {gold} and {answer}; None: no judge is asked."""
    judge_grades: dict[Grade, str] = {}
    """What the judge calls each grade. The first of these names in its reply counts."""
    gold_after: str = ""
    """The gold answer follows this mark ("####"); empty: it is the whole cell."""

    def problem(self) -> str:
        """Return what is wrong with the rules, readers, letters and numbers; empty if nothing is."""
        of_protocols = (self._protocol_problem(name, protocol) for name, protocol in self.protocols.items())
        of_fields = self._judge_problem(), self._number_problem(), letters_problem(self.letters)
        return next(filter(None, (*of_protocols, *of_fields)), "")

    def _protocol_problem(self, name: str, protocol: AnswerProtocol) -> str:
        """Return what is wrong with a protocol's rule or reader; empty if they are valid."""
        if protocol.rule == JUDGE:
            needs = "rule = 'judge' needs a judge_prompt and judge_grades"
            return "" if self.judge_prompt else f"protocols.{name}: {needs}"
        if protocol.rule not in RULES:
            return f"protocols.{name}: rule = {protocol.rule!r} is unknown; the rules are {', '.join(RULES)}"
        if protocol.reader and (problem := reader_problem(protocol.reader)):
            return f"protocols.{name}: {problem}"
        if self.columns.options and not protocol.reader and not RULES[protocol.rule].reads_options:
            return f"protocols.{name}: add a `reader` for rows with options (columns.options)"
        return ""

    def _judge_problem(self) -> str:
        """Return what is wrong with the judge's prompt and grades; empty if they are valid."""
        if (self.judge_prompt is None) != (self.judge_grades == {}):
            return "judge_prompt and judge_grades belong together: give both, or none"
        names = list(self.judge_grades.values())
        has_needed = {"correct", "wrong"} <= self.judge_grades.keys()
        are_distinct = all(names) and len(set(names)) == len(names)
        if names and not (has_needed and are_distinct):
            return "judge_grades needs a name for `correct`, another one for `wrong`, and perhaps one for `no_answer`"
        return ""

    def _number_problem(self) -> str:
        if not 0 <= self.tolerance < 1:
            return f"tolerance = {self.tolerance}: expected a number from 0 to below 1, such as 0.04 for 4 %"
        if self.counted_in and self.counted_in not in self.columns.groups:
            return f"counted_in = {self.counted_in!r}: there is no such column in `groups`"
        return ""

    def scored_columns(self, split: str) -> list[str]:
        """Return the columns that scoring reads."""
        columns = self.columns
        of_answers = columns.answer, columns.kind, columns.options, columns.letter
        of_all = columns.id, columns.question, columns.split, *columns.groups, columns.cluster
        return distinct(*of_all, *of_answers)


class AnswerTask(Task, frozen=True, kw_only=True):
    """A question with its accepted answers."""

    accepted: tuple[str, ...]
    kind: AnswerKind
    tolerance: float = 0
    counted_in: str = ""
    """The grouping in each of whose groups the question counts once."""

    @property
    def golds(self) -> tuple[str, ...]:
        """The accepted answers."""
        return self.accepted
