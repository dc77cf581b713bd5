"""Replies that were made otherwise are never mixed with new ones."""

from pathlib import Path

import msgspec
import pytest

from grader.errors import UsageError
from grader.inference import resume
from grader.inference.log import Log
from grader.inference.plan import Plan
from tests.inference.made import plan, run, step
from tests.models.server import ModelServer, fail, say


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "out_requests.jsonl"


def refused(now: Plan, path: Path) -> list[str]:
    """Return what differs, as it is told."""
    with Log(path) as log, pytest.raises(UsageError) as caught:
        resume.check(now, log.replies, path)
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
        (plan(3, 1, temperature=0.8), ["- -n: up to 2 samples in the file, 1 now (q0, q1, q2)"]),
        (plan(1, 2, temperature=0.8), ["- tasks that the data does not have (q1, q2)"]),
    ],
)
def test_what_differs_is_named(path: Path, now: Plan, said: list[str]) -> None:
    with ModelServer.playing(say("A")) as server:
        run(plan(3, 2, temperature=0.8), path, server)
    assert refused(now, path) == said


def test_another_prompt_and_another_seed_are_named(path: Path) -> None:
    with ModelServer.playing(say("A")) as server:
        run(plan(5), path, server)
    whole = plan(5)
    other = tuple(msgspec.structs.replace(each, steps=(step("another", seed=7),)) for each in whole.conversations)
    assert refused(Plan(conversations=other, models=whole.models), path) == [
        "- seed: a different one in the file (q0, q1, q2 and 2 more)",
        "- prompt: a different text or image was sent (q0, q1, q2 and 2 more)",
    ]


def test_the_same_run_more_samples_more_tasks_and_failures_are_no_difference(path: Path) -> None:
    with ModelServer.playing(say("A"), fail(400)) as server:
        run(plan(2, temperature=0.8), path, server, concurrency=1)
    for now in (plan(2, temperature=0.8), plan(2, 4, temperature=0.8), plan(9, temperature=0.8)):
        with Log(path) as log:
            resume.check(now, log.replies, path)
