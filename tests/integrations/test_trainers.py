"""Rewards called as trainers call them: their recorded calls (recorded/*.json name the trainer's version) again.

The calls were recorded with the trainers' own code around these functions: TRL's GRPOTrainer, verl's naive and
reward loop managers, OpenRLHF's SingleTurnAgentExecutor.
"""

import inspect
import json
import pickle
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.errors import UsageError
from grader.integrations import openrlhf, rewards, trl, verl
from grader.integrations.openrlhf import response_of, without_end_marks
from grader.pool.rewards import rewarded
from grader.results import Outcome, Reading, SampleResult
from tests.asynchronous import result_of
from tests.conftest import ROOT
from tests.tables import each

QUESTIONS = ROOT / "benchmarks" / "vstar" / "sample" / "questions.jsonl"
PROGRAMS = ROOT / "benchmarks" / "humaneval-v" / "sample" / "tasks.jsonl"
OPTIONS = {"benchmark": "vstar", "data": str(QUESTIONS)}
RIGHT, WRONG = "B", "A"
"""Answers to question 0."""


def recorded(name: str) -> dict[str, Any]:
    return json.loads((Path(__file__).parent / "recorded" / f"{name}.json").read_text())


@pytest.fixture(autouse=True)
def pools(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv(rewards.VARIABLE, json.dumps(OPTIONS))
    yield
    for pool in rewards._pools.values():
        pool.close()
    rewards._pools.clear()


# --- TRL ---


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_trls_call_gets_the_rewards_that_it_got() -> None:
    """Also: what TRL passes beside the columns (its state, two functions) is taken and used."""
    (call,) = recorded("trl")["calls"]
    logged: dict[str, Any] = {}
    given = call["kwargs"] | {
        "log_metric": lambda name, value: logged.update({name: value}),
        "log_extra": lambda name, values: logged.update({name: values}),
    }
    found = trl.Reward(benchmark="humaneval-v", data=PROGRAMS, sandbox="bubblewrap", workers=1)(**given)
    assert found == call["returned"]
    assert set(found) == {0.0, 1.0}
    assert (logged["grade/suspect"], logged["grade/unscored"]) == (0.0, 0.0)
    assert [outcome == "passed" for outcome in logged["grade_outcome"]] == [value == 1.0 for value in found]


def completions() -> dict[str, Any]:
    message = {"role": "assistant", "content": RIGHT}
    return {
        "prompts": ["?"] * 5,
        "completions": [
            RIGHT,
            [message],
            [{"role": "assistant", "content": [{"type": "text", "text": WRONG}]}],
            "",
            "B",
        ],
        "completion_ids": [[1]] * 5,
        "qid": ["0", "0", "0", "0", None],
    }


EXPECTED = [1.0, 1.0, 0.0, 0.0, None]


def test_completions_are_texts_or_messages_and_rows_without_a_task_get_none() -> None:
    assert trl.Reward(**OPTIONS)(**completions()) == EXPECTED
    assert trl.reward(**completions()) == EXPECTED


REASONING = [{"type": "reasoning", "text": "It might be A."}, {"type": "text", "text": "B"}]


@each(
    ("completion", "text"),
    [
        ([{"role": "assistant", "content": REASONING}], "B"),
        ([{"role": "assistant", "content": [{"type": "text", "text": line} for line in "AB"]}], "A\nB"),
        ([{"role": "model", "content": "B"}, {"role": "tool", "content": "A"}], "B"),
        (({"content": "B"},), "B"),
        ([{"content": "A"}, {"content": "B"}], "B"),
        ({"role": "assistant", "content": "B"}, "B"),
        ([{"role": "assistant", "content": "A"}, {"role": "assistant", "content": None}], ""),
        ([{"role": "user", "content": "A"}], ""),
        ([], ""),
    ],
)
def test_messages_are_read_as_those_of_prediction_files(completion: Any, text: str) -> None:
    assert trl.text_of(completion) == text


def test_the_asynchronous_functions_are_seen_as_such_and_give_the_same() -> None:
    assert inspect.iscoroutinefunction(trl.reward_async)
    assert inspect.iscoroutinefunction(trl.AsyncReward(**OPTIONS).__call__)
    assert not inspect.iscoroutinefunction(trl.Reward(**OPTIONS).__call__)
    assert result_of(trl.reward_async(**completions())) == EXPECTED
    assert result_of(trl.AsyncReward(**OPTIONS)(**completions())) == EXPECTED


@each("function", [trl.reward, trl.reward_async, trl.Reward(**OPTIONS), verl.compute_score])
def test_reward_functions_can_be_pickled_and_have_a_name(function: Any) -> None:
    again = pickle.loads(pickle.dumps(function))
    assert again.__name__ == function.__name__


def test_a_data_set_without_the_tasks_says_which_column_is_missing() -> None:
    with pytest.raises(UsageError, match=r"no column 'task'.*it has completion_ids, qid"):
        trl.Reward(column="task", **OPTIONS)(**completions())


# --- verl ---


@each("call", recorded("verl")["calls"])
def test_verls_calls_get_what_they_got(call: dict[str, Any]) -> None:
    assert verl.compute_score(*call["args"], **call["kwargs"]) == call["returned"]
    assert result_of(verl.compute_score_async(**call["kwargs"])) == call["returned"]


@each(("truth", "extra"), [("0", None), ("0", {}), (0, {"qid": None}), ("the reference", {"qid": "0", "index": 7})])
def test_a_task_is_named_by_the_row_or_by_its_ground_truth(truth: Any, extra: Any) -> None:
    score = verl.compute_score("any", RIGHT, truth, extra, grade=OPTIONS, reward_router_address=None)
    assert (score["score"], score["acc"], score["unscored"]) == (1.0, 1.0, 0.0)


def test_a_ground_truth_that_is_no_task_costs_its_sample_the_score(caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(2):
        score = verl.compute_score("any", RIGHT, {"answer": 3}, {}, grade=OPTIONS)
        assert (score["score"], score["unscored"]) == (0.0, 1.0)
    (said,) = caplog.messages
    assert "its row is not a task" in said


def result(outcome: Outcome) -> SampleResult:
    credit = None if outcome is Outcome.UNSCORED else float(outcome is Outcome.PASSED)
    reading = Reading(outcome=outcome, credit=credit)
    return rewarded(SampleResult(qid="0", sample=0, seconds=0.5, official=reading, careful=reading))


def test_verl_gets_the_same_numbers_every_time_and_is_told_where_one_says_nothing() -> None:
    scores = [verl.score_of(result(o)) for o in (Outcome.PASSED, Outcome.UNSCORED, Outcome.SUSPECT)]
    assert {tuple(score) for score in scores} == {("score", "acc", "unscored", "suspect", "cpu_seconds")}
    assert all(type(value) is float for score in scores for value in score.values())
    assert [(score["unscored"], score["suspect"]) for score in scores] == [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]


# --- OpenRLHF ---


def test_openrlhfs_call_gets_what_it_got() -> None:
    (call,) = recorded("openrlhf")["calls"]
    found = openrlhf.reward_func(*call["args"], **call["kwargs"])
    listed = {name: values if isinstance(values, dict) else list(values) for name, values in found.items()}
    assert listed == call["returned"]


def test_openrlhfs_rewards_are_all_floats() -> None:
    """A tensor of whole numbers has no mean, and a batch in which all are right would be one."""
    passed = result(Outcome.PASSED)
    results = [msgspec.structs.replace(passed, reward=reward) for reward in (1, 0, None, 0.5)]
    assert repr(openrlhf.rewards_of(results)["rewards"]) == "[1.0, 0.0, 0.0, 0.5]"


def test_a_prompt_that_lost_its_beginning_is_still_taken_off() -> None:
    prompt = "x" * 50 + "What does this picture show, please?"
    assert response_of(prompt + " B", prompt) == " B"
    assert response_of("What does this picture show, please? B", prompt) == " B"
    assert response_of("B", prompt) == "B"


@each("end", ["<|eot_id|>\n", "<|endoftext|></s> ", "<\uff5cend\u2581of\u2581sentence\uff5c>"])
def test_marks_of_the_end_are_no_part_of_an_output(end: str) -> None:
    assert without_end_marks(f"return a</s>b{end}") == "return a</s>b"


def test_a_text_that_a_model_or_a_client_makes_long_is_read_in_linear_time() -> None:
    """In quadratic time each of these takes from minutes to hours, in which a server answers nobody."""
    blanks = " " * 500_000
    assert without_end_marks(f"{blanks}x") == f"{blanks}x"
    assert without_end_marks(f"x{blanks}</s>" * 2) == f"x{blanks}</s>x"
    assert response_of("a" * 500_000 + "b", "a" * 1_000_000 + "c") == "a" * 500_000 + "b"
    assert response_of("a" * 500_000 + "b", "c" + "a" * 500_000) == "b"


# --- which pool ---


def test_the_pool_is_named_by_a_file_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in {"pool.json": json.dumps(OPTIONS), "pool.toml": f'benchmark="vstar"\ndata="{QUESTIONS}"'}.items():
        (tmp_path / name).write_text(text)
        monkeypatch.setenv(rewards.VARIABLE, str(tmp_path / name))
        assert rewards.from_environment() == OPTIONS


@pytest.mark.parametrize("value", ["", "[]", "/nowhere.json"])
def test_a_pool_that_is_not_named_right_says_how(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(rewards.VARIABLE, value)
    with pytest.raises(UsageError, match="GRADE_POOL"):
        rewards.get_pool()
