"""Messages to and from a supervisor: both sides may have more to say than fits on the way."""

import contextlib
import fcntl
import os
import resource
import struct
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from grader.observer import Silent
from grader.options import Options
from grader.sandbox import bubblewrap, choice
from grader.sandbox.channel import Channel, wait_ready
from grader.sandbox.interface import Limits, Supervisor, SupervisorLostError

JOBS = 60
"""So many answers of 20,000 characters are more than what the pipes and sockets on the way hold, and the jobs too."""


@pytest.fixture(
    params=[
        pytest.param("bubblewrap", marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]),
        pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    ]
)
def supervisor(request: pytest.FixtureRequest) -> Iterator[Supervisor]:
    if request.param == "bubblewrap" and bubblewrap.executable() is None:
        pytest.skip("bubblewrap is not installed")
    started = choice.open_backend(Options(sandbox=request.param), Limits(), Silent()).start(0, for_linting=False)
    yield started
    started.close()


def test_jobs_and_answers_that_do_not_fit_on_the_way_pass_each_other(supervisor: Supervisor) -> None:
    """All jobs are sent before an answer is read."""
    job = {"id": 0, "cpu": 8, "wall": 20, "run": True, "timed_out": "", "failed_prefix": "", "test": ""}
    for number in range(JOBS):
        text = f"{number:04}" * 50_000
        supervisor.send(job | {"head": f"text = {text!r}\nraise SystemExit(text[:19_996])"}, 60)
    for number in range(JOBS):
        seen: Any = supervisor.receive(60)
        assert seen["run"]["result"] == f"{number:04}" * 4_999


def test_a_supervisor_that_is_closed_while_jobs_are_sent_is_lost(supervisor: Supervisor) -> None:
    """As at Ctrl-C, where another thread closes it."""
    job = {"id": 0, "cpu": 8, "wall": 20, "run": True, "timed_out": "", "failed_prefix": "", "test": ""}

    def send_many() -> None:
        for _ in range(200):
            supervisor.send(job | {"head": f"while True: pass\n# {'x' * 500_000}"}, 60)

    threading.Timer(0.5, supervisor.close).start()
    with pytest.raises(SupervisorLostError, match=r"cannot send|has ended"):
        send_many()


class Still(Channel):
    """A stream that takes a little and then stands still."""

    def __init__(self) -> None:
        super().__init__()
        self.taken = b""

    def write(self, data: memoryview) -> int:
        part = bytes(data[: max(0, 10 - len(self.taken))])
        self.taken += part
        return len(part)

    def wait(self, timeout: float) -> None:
        if len(self.taken) == 10:
            raise TimeoutError(f"no data went through for {timeout:.0f} s")

    def read(self, timeout: float) -> bytes:
        raise TimeoutError


def test_a_supervisor_that_takes_nothing_more_is_lost() -> None:
    stream = Still()
    with pytest.raises(SupervisorLostError, match="cannot send: no data went through for 7 s"):
        stream.send({"id": 1, "text": "long"}, 7)
    assert struct.unpack(">I", stream.taken[:4]) == (4 + len('{"id":1,"text":"long"}'),)


HIGH = 1500
"""`select` stops at 1023."""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """A pipe whose ends have high numbers."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < HIGH + 10:
        pytest.skip("this machine allows too few open files")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, HIGH + 10), hard))
    low = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD, HIGH) for end in low]
    for end in low:
        os.close(end)
    yield high[0], high[1]
    for end in high:
        with contextlib.suppress(OSError):
            os.close(end)
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_descriptor_is_ready_when_it_can_be_used(pipe: tuple[int, int]) -> None:
    read_end, write_end = pipe
    assert not wait_ready(0, readable=[read_end])
    assert wait_ready(0, writable=[write_end])
    assert wait_ready(0, readable=[read_end], writable=[write_end])
    os.write(write_end, b"x")
    assert wait_ready(0, readable=[read_end])
    os.set_blocking(write_end, False)
    while wait_ready(0, writable=[write_end]):
        os.write(write_end, b"x" * 4096)
