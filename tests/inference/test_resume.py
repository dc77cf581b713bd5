"""Replies that were made otherwise are never mixed with new ones."""

from pathlib import Path

import msgspec
import pytest

from grader.errors import UsageError
from grader.inference.log import Log
from grader.inference.plan import Plan
from grader.inference.resume import ResumeCheck
from tests.inference.made import plan, run, step, two_stages
from tests.models.server import ModelServer, fail, say

pytestmark = pytest.mark.usefixtures("no_servers")


def check(now: Plan, path: Path) -> None:
    """Read a log as a run of this plan does."""
    it = ResumeCheck(now)
    with Log(path, on_reply=it.compare):
        it.raise_differences(path)


def refused(now: Plan, path: Path) -> list[str]:
    """Return what differs, as it is told."""
    with pytest.raises(UsageError) as caught:
        check(now, path)
    first, *listed, last = str(caught.value).splitlines()
    assert first == f"{path} has replies to other requests than those of this command:"
    assert last == "Give the same options as before, another -o, or --fresh to start over (the old files are kept)."
    return listed


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (plan(3, 2, temperature=0.5), ["- temperature: 0.8 in the file, 0.5 now (q0, q1, q2)"]),
        (plan(3, 2), ["- temperature: 0.8 in the file, none now (q0, q1, q2)"]),
        (plan(3, 2, model="n", temperature=0.8), ["- model: m in the file, n now (q0, q1, q2)"]),
        (plan(3, 1, temperature=0.8), ["- -n: more than 1 sample a task (q0, q1, q2)"]),
        (plan(1, 2, temperature=0.8), ["- tasks that the data does not have (q1, q2)"]),
        (plan(3, 2, temperature=0.8, top_k=[1]), ["- top_k: none in the file, [1] now (q0, q1, q2)"]),
    ],
)
def test_what_differs_is_named(path: Path, now: Plan, said: list[str]) -> None:
    with ModelServer.playing(say("A")) as server:
        run(plan(3, 2, temperature=0.8), path, server, concurrency=1)
    assert refused(now, path) == said


def test_another_prompt_and_another_seed_are_named(path: Path) -> None:
    with ModelServer.playing(say("A")) as server:
        run(plan(5), path, server, concurrency=1)
    whole = plan(5)
    other = tuple(msgspec.structs.replace(each, steps=(step("another", seed=7),)) for each in whole.conversations)
    assert refused(Plan(conversations=other, model="m"), path) == [
        "- seed: different ones (q0, q1, q2 and 2 more)",
        "- prompt: a different text was sent (q0, q1, q2 and 2 more)",
    ]


def test_another_mode_and_a_description_that_is_gone_are_named(path: Path) -> None:
    with ModelServer.playing(say("a spiral")) as server:
        run(two_stages(), path, server)
    check(two_stages(), path)
    stages = two_stages().conversations[0].steps
    one_stage = tuple(msgspec.structs.replace(each, steps=stages[:1]) for each in two_stages().conversations)
    assert refused(Plan(conversations=one_stage, model="m"), path) == ["- mode: different requests were sent (q)"]
    path.write_text(path.read_text().splitlines(keepends=True)[1])
    assert refused(two_stages(), path) == [
        "- description: its line is gone, but not the code that was made from it (q)"
    ]


def test_the_same_run_more_samples_more_tasks_and_failures_are_no_difference(path: Path) -> None:
    with ModelServer.playing(say("A"), fail(400)) as server:
        run(plan(2, temperature=0.8), path, server, concurrency=1)
    for now in (plan(2, temperature=0.8), plan(2, 4, temperature=0.8), plan(9, temperature=0.8)):
        check(now, path)
