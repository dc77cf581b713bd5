"""What a worker process of a cluster does with a batch, without a cluster: real sandboxes, and messages."""

import platform
from typing import Any

import msgspec
import pytest

from grader.errors import InfrastructureError
from grader.executors import ray_task
from grader.executors.ray_task import QueueSettings
from grader.options import Options
from grader.sandbox import packages
from grader.sandbox.channel import pack_job
from grader.sandbox.interface import Limits

pytestmark = [pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]
JOB: Any = {
    "id": 0, "cpu": 2.0, "wall": 20.0, "run": True,
    "head": "def one():\n    return 1\n", "test": "assert one() == 1\n", "timed_out": "late", "failed_prefix": "no: ",
}  # fmt: skip


def settings(**options: Any) -> bytes:
    given = Options(**{"sandbox": "bubblewrap", **options})
    return msgspec.json.encode(QueueSettings(options=given, limits=Limits(), python=None), enc_hook=str)


@pytest.fixture(autouse=True)
def closed() -> Any:
    yield
    ray_task.close()


def test_answers_come_in_the_order_of_the_jobs_from_a_queue_that_stays() -> None:
    jobs = [pack_job({**JOB, "test": f"assert one() == {number}\n"}) for number in (1, 2, 1)]
    done = ray_task.run(settings(), jobs)
    assert [answer["run"]["result"] for answer in done.answers] == ["passed", "no: ", "passed"]
    assert (done.facts.host, done.facts.code) == (platform.node(), packages.code_digest())
    (queue, _), *_ = ray_task._queues.values()
    assert ray_task.run(settings(), []).answers == []
    assert [found for found, _ in ray_task._queues.values()] == [queue]
    # Other settings have a queue of their own, and the first one ends.
    ray_task.run(settings(runtime=None, timeout=3.0), [])
    assert queue not in [found for found, _ in ray_task._queues.values()]


def test_a_machine_without_a_sandbox_is_named_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(InfrastructureError, match=f"The node {platform.node()} cannot run programs: bubblewrap is not"):
        ray_task.run(settings(), [])
