"""The judge of MMBench and Mr-Ben: a model that judges answers which the rules cannot read.

This module has what scorers need: questions, replies and recorded replies. `grader.judge.client` asks a server,
`grader.judge.session` stores its replies, and `grader.judge.prompts` has the prompts.
"""

from __future__ import annotations

import codecs
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import msgspec

from grader.errors import InputError
from grader.files.json_records import JsonText, Problems
from grader.files.json_text import describe_value, render_path
from grader.files.user_files import read_input

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


class JudgeQuestion(msgspec.Struct, frozen=True, kw_only=True):
    """One question to the judge."""

    qid: str
    """Id of the question, unique in one call of `ask`."""
    prompt: str
    accept: Callable[[str], bool]
    """Returns whether a reply is readable. It is called from several threads at once, so it must be pure."""


class JudgeReply(msgspec.Struct, frozen=True, kw_only=True):
    """The reply to one question, or the reason why there is none."""

    text: str | None
    """A reply that `accept` accepted, unchanged; None makes the item unscored."""
    cached: bool = False
    """Whether the reply is from an earlier run, or from an equal question of this run, without a request."""
    error: str = ""
    """The message that says why `text` is None; empty otherwise."""
    unreadable: str | None = None
    """The last reply that `accept` refused; None: there was none. Official readings may use it."""


class Judge(Protocol):
    """The interface of judges. A judge never raises because one question has no answer."""

    def ask(self, questions: Sequence[JudgeQuestion]) -> Mapping[str, JudgeReply]:
        """Return a reply for every question, by qid."""


class RecordedJudge:
    """A judge with recorded replies, or with a person's verdicts: {qid: reply text}."""

    def __init__(self, replies: Mapping[str, str]) -> None:
        self._replies = replies

    def __repr__(self) -> str:
        return f"RecordedJudge({len(self._replies)} replies)"

    def ask(self, questions: Sequence[JudgeQuestion]) -> dict[str, JudgeReply]:
        """Return the recorded reply of every question, by qid."""
        refuse_duplicates(questions)
        return {question.qid: self._reply(question) for question in questions}

    def _reply(self, question: JudgeQuestion) -> JudgeReply:
        text = self._replies.get(question.qid)
        if text is None:
            return JudgeReply(text=None, error="no recorded reply")
        if not question.accept(text):
            return JudgeReply(text=None, error="the recorded reply cannot be read", unreadable=text)
        return JudgeReply(text=text)


def refuse_duplicates(questions: Sequence[JudgeQuestion]) -> None:
    """Raise `ValueError` if two questions share a qid, because one of the replies would be lost."""
    duplicates = [qid for qid, count in Counter(question.qid for question in questions).items() if count > 1]
    if duplicates:
        raise ValueError(f"asked twice in one call: {', '.join(sorted(duplicates)[:5])}")


def load_replies(path: Path) -> dict[str, str]:
    """Read a `--judge-replies` file ({qid: reply text}). Raises `InputError` with all problems."""
    problems = Problems(str(path))
    data = read_input(path)
    text = data.removeprefix(codecs.BOM_UTF8)
    entry = JsonText(text, problems, skipped=len(data) - len(text)).single()
    replies = entry.value if entry is not None else {}
    if not isinstance(replies, dict):
        raise InputError([f"{path}: $: expected an object {{qid: reply text}}, got {describe_value(replies)}"])
    wrong = [
        f"{path}: {render_path([qid])}: expected the reply's text, got {describe_value(reply)}"
        for qid, reply in replies.items()
        if not isinstance(reply, str)
    ]
    if problems.messages or wrong:
        raise InputError([*problems.lines(), *wrong])
    return replies
