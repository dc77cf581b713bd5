"""The examples for AReaL, SkyRL-gym and verifiers, called by these packages' own code."""

import asyncio
import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest

from grader.integrations import rewards
from tests.peers import peer

pytestmark = pytest.mark.peers

TASK = {"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}
RIGHT, WRONG, ENDLESS = "print(2 * int(input()))", "print(2)", "while True: pass"


@pytest.fixture(autouse=True)
def pool(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("GRADE_POOL", json.dumps({"benchmark": "rows", "sandbox": "bubblewrap", "timeout": 0.3}))
    yield
    for opened in rewards._pools.values():
        opened.close()
    rewards._pools.clear()


def test_areal_gives_up_no_right_program_beside_endless_ones() -> None:
    from examples.areal_reward import reward

    loggers = {"logging": logging}
    api = peer.loaded("areal", "areal/api/reward_api.py", areal__utils=loggers, areal__utils__logging={})
    wrapper = api.AsyncRewardWrapper(reward)
    programs = [f"{ENDLESS if number % 6 == 5 else RIGHT}  # {number}" for number in range(76)]

    async def every() -> list[float]:
        return await asyncio.gather(*(wrapper("", text, [], [], task=TASK) for text in programs))

    assert asyncio.run(every()) == [float("while" not in text) for text in programs]


def test_skyrl_gym_makes_an_environment_of_a_row() -> None:
    skyrl_gym = pytest.importorskip("skyrl_gym", reason="SkyRL-gym could not be installed")
    skyrl_gym.register("grade", "examples.skyrl_environment:Graded")
    found = []
    for text in (RIGHT, WRONG):
        made = skyrl_gym.make("grade", extras={"reward_spec": {"ground_truth": json.dumps(TASK)}})
        made.init([{"role": "user", "content": "Double it."}])
        step = made.step(text)
        assert (step["done"], step["observations"]) == (True, [])
        found.append((step["reward"], step["metadata"]["unscored"], made.get_metrics()["acc"]))
    assert found == [(1.0, 0.0, 1.0), (0.0, 0.0, 0.0)]


@pytest.mark.parametrize(("text", "expected"), [(RIGHT, 1.0), (WRONG, 0.0)])
def test_verifiers_scores_a_trace(text: str, expected: float) -> None:
    pytest.importorskip("verifiers.v1", reason="verifiers could not be installed")
    from examples.verifiers_task import Graded, GradedData

    task, trace = Graded(GradedData(prompt="Double it.", task=TASK)), _trace(text)
    asyncio.run(task.score(trace))
    assert (trace.reward, trace.rewards["graded"].value) == (expected, expected)


def test_an_unscored_sample_is_an_error_of_verifiers_and_no_reward() -> None:
    pytest.importorskip("verifiers.v1", reason="verifiers could not be installed")
    from examples.verifiers_task import Graded, GradedData

    task, trace = Graded(GradedData(prompt="Double it.", task="an unknown id")), _trace(RIGHT)
    with pytest.raises(Exception, match="an unknown id"):
        asyncio.run(task.score(trace))
    assert trace.rewards["graded"] is None


def _trace(text: str) -> Any:
    """A trace of a rollout whose last reply is a text."""
    import verifiers.v1 as vf

    return vf.Trace.model_construct(rewards={}, metrics={}, root_reply=text)
