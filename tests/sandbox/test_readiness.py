"""Waiting for descriptors, of any number."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
from typing import TYPE_CHECKING

import pytest

from grader.sandbox.readiness import wait

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    assert not wait(0, readable=[read_end])
    assert wait(0, writable=[write_end])
    assert wait(0, readable=[read_end], writable=[write_end])
    os.write(write_end, b"x")
    assert wait(0, readable=[read_end])


def test_the_end_of_a_stream_is_noticed(pipe: tuple[int, int]) -> None:
    read_end, write_end = pipe
    os.close(write_end)
    assert wait(5, readable=[read_end])


def test_a_full_pipe_is_not_ready(pipe: tuple[int, int]) -> None:
    _, write_end = pipe
    os.set_blocking(write_end, False)
    written = 0
    while wait(0, writable=[write_end]):
        written += os.write(write_end, b"x" * 4096)
    assert written >= 4096
    assert not wait(0.01, writable=[write_end])


def test_a_closed_file_is_an_error() -> None:
    class Closed:
        def fileno(self) -> int:
            return -1

    with pytest.raises(ValueError, match="closed"):
        wait(0, readable=[Closed()])
