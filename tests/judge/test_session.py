"""Which judge a run has."""

import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.errors import InputError, UsageError
from grader.judge import JudgeQuestion, JudgeReply, RecordedJudge, load_replies
from grader.judge.session import JudgeSession, judge_session
from grader.observer import Silent
from grader.options import Options
from grader.results import JudgeProvenance
from tests.judge.made import questions
from tests.models.server import Action, Asked, ModelServer, say

QUESTION = JudgeQuestion(qid="q", prompt="which?", accept=lambda text: text in set("AB"))


@pytest.fixture(autouse=True)
def _apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in list(os.environ):
        if name.startswith("OPENAI_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def asked(came_with: dict[str, str] | None = None, **options: Any) -> tuple[str | None, JudgeSession]:
    """What the judge said, and the session after the run has left it."""
    with judge_session(Options(**options), Silent(), "choice", "", came_with) as session:
        text = session.judge.ask([QUESTION])["q"].text
    return text, session


def test_without_options_there_is_no_judge() -> None:
    with judge_session(Options(), Silent(), "choice") as session:
        assert (session.judge, session.template) == (None, None)
    assert (session.provenance, session.notes) == (None, [])


def test_an_endpoint_is_asked_and_what_it_cost_is_told(tmp_path: Path) -> None:
    with ModelServer.playing(say("A")) as server:
        text, session = asked(judge_model="m", judge_base_url=server.url)
        assert (text, server.asked[0].body["model"]) == ("A", "m")
    assert session.provenance == JudgeProvenance(
        source="endpoint", model="m", endpoint=server.url, questions=1, calls=1, prompt_tokens=11, completion_tokens=2
    )
    assert session.notes == [
        f"Judge m at {server.url}: 1 call, 0 replies from the cache; 11 prompt and 2 completion tokens."
    ]
    # A rerun needs no endpoint for what was answered.
    text, session = asked(judge_model="m", judge_base_url=server.url)
    assert (text, session.provenance.cached) == ("A", 1)


def test_the_number_of_workers_limits_the_requests_at_a_time() -> None:
    options = Options(judge_model="m", workers=2)

    def decide(request: Asked) -> Action:
        return say("A", delay=0.02)

    questions = [msgspec.structs.replace(QUESTION, qid=f"q{n}", prompt=f"p{n}") for n in range(6)]
    with ModelServer(decide) as server:
        options = msgspec.structs.replace(options, judge_base_url=server.url)
        with judge_session(options, Silent(), "choice") as session:
            replies = session.judge.ask(questions)
    assert {reply.text for reply in replies.values()} == {"A"}
    assert len(server.asked) == 6
    assert server.most_at_once == 2


def test_recorded_replies_come_before_those_that_came_with_the_predictions(tmp_path: Path) -> None:
    path = tmp_path / "replies.json"
    path.write_text(json.dumps({"q": "B"}))
    assert [asked({"q": "A"})[0], asked({"q": "A"}, judge_replies=path)[0]] == ["A", "B"]
    assert asked({"q": "A"})[1].provenance == JudgeProvenance(source="replies from the predictions")
    assert asked(judge_replies=path)[1].provenance == JudgeProvenance(source="replies from replies.json")


def test_options_that_do_not_fit_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--judge-base-url needs --judge-model"):
        asked(judge_base_url="http://localhost:1/v1")
    with pytest.raises(UsageError, match="--judge-replies and --judge-model: "):
        asked(judge_model="m", judge_replies=tmp_path / "replies.json")
    with pytest.raises(InputError, match="cannot be read: No such file"):
        asked(judge_replies=tmp_path / "replies.json")


class TestRecordedJudge:
    def test_it_answers_what_was_recorded_and_says_what_was_not(self) -> None:
        it = RecordedJudge({"q0": "A", "q1": "hm"})
        assert it.ask(questions(3)) == {
            "q0": JudgeReply(text="A"),
            "q1": JudgeReply(text=None, error="the recorded reply cannot be read", unreadable="hm"),
            "q2": JudgeReply(text=None, error="no recorded reply"),
        }

    @pytest.mark.parametrize(
        ("text", "problems"),
        [
            (
                '{"a": "A", "b": 1, "c/d e": null, "a": "B", "f": {}, "g": [], "h": true}',
                [
                    ':1: $: the key "a" is a duplicate in one object',
                    ": $.b: expected the reply's text, got the integer 1",
                    ': $["c/d e"]: expected the reply\'s text, got null',
                    ": $.f: expected the reply's text, got an object",
                    ": $.g: expected the reply's text, got a list",
                    ": $.h: expected the reply's text, got true",
                ],
            ),
            ('"A"', [': $: expected an object {qid: reply text}, got the string "A"']),
            ('{\n"a": }', [':2: $: expecting value, found "}"']),
        ],
    )
    def test_every_problem_of_a_file_is_told_at_once(self, tmp_path: Path, text: str, problems: list[str]) -> None:
        path = tmp_path / "replies.json"
        path.write_bytes(text.encode("latin-1"))
        with pytest.raises(InputError) as caught:
            load_replies(path)
        assert caught.value.problems == [f"{path}{problem}" for problem in problems]
