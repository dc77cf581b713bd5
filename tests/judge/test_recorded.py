"""Recorded replies in place of a judge."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.errors import InputError
from grader.judge import JudgeReply, RecordedJudge, load_replies
from tests.judge.made import questions

if TYPE_CHECKING:
    from pathlib import Path


class TestRecordedJudge:
    def test_it_answers_what_was_recorded_and_says_what_was_not(self) -> None:
        it = RecordedJudge({"q0": "A", "q1": "hm"})
        assert it.ask(questions(3)) == {
            "q0": JudgeReply(text="A", tries=1),
            "q1": JudgeReply(text=None, tries=1, error="the recorded reply cannot be read", unreadable="hm"),
            "q2": JudgeReply(text=None, error="no recorded reply"),
        }

    def test_a_file_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "replies.json"
        path.write_text('\ufeff{"a/b": "A", "c": ""}', encoding="utf-8")
        assert load_replies(path) == {"a/b": "A", "c": ""}

    @pytest.mark.parametrize(
        ("text", "problems"),
        [
            (
                '{"a": "A", "b": 1, "c/d e": null, "a": "B", "f": {}, "g": [], "h": true}',
                [
                    ": $.a: appears 2 times; keep one reply",
                    ": $.b: expected the reply's text, got a number",
                    ': $["c/d e"]: expected the reply\'s text, got null',
                    ": $.f: expected the reply's text, got an object",
                    ": $.g: expected the reply's text, got an array",
                    ": $.h: expected the reply's text, got a boolean",
                ],
            ),
            ('["A"]', [": $: expected an object {qid: reply text}, got an array"]),
            ('"A"', [": $: expected an object {qid: reply text}, got text"]),
            ('{\n"a": }', [":2: $: is not JSON: Expecting value (column 6)"]),
            ("\x80", [": $: is not UTF-8 text (byte 0)"]),
        ],
    )
    def test_every_problem_of_a_file_is_told_at_once(self, tmp_path: Path, text: str, problems: list[str]) -> None:
        path = tmp_path / "replies.json"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError) as caught:
            load_replies(path)
        assert caught.value.problems == [f"{path}{problem}" for problem in problems]

    def test_a_file_that_is_not_there_or_nests_too_deep_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "replies.json"
        with pytest.raises(InputError, match="cannot be read: No such file"):
            load_replies(path)
        path.write_text("[" * 100_000)
        with pytest.raises(InputError, match=r"\$: is not"):
            load_replies(path)
