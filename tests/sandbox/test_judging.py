"""The process that forks for each time that tests run: what stays of a fork."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from typing import Any

import phases

FORKS = 5


def said_by_forks(spec: dict[str, Any], count: int) -> tuple[list[dict[str, Any]], list[list[str]]]:
    """Have one process run tests several times; return how each fork ended, and what was in its folder then."""
    ours, theirs = socket.socketpair()
    read_end, write_end = os.pipe()
    process = phases.start("judge", {}, theirs.fileno(), write_end)
    theirs.close()
    os.close(write_end)
    ends: list[dict[str, Any]] = []
    folders: list[list[str]] = []
    with os.fdopen(read_end, "rb") as file, ours:
        for _ in range(count):
            phases.wire.send(ours.send, {"task": spec, "record": "truthy", "cpu": 10})
            with contextlib.suppress(phases.wire.ClosedError):
                while "ended" not in (message := phases.wire.receive(file.read)):
                    pass
                ends.append(message)
                folders.append(sorted(path.name for path in Path(process.folder).iterdir()))
    phases.finish(process)
    return ends, folders


def test_the_folder_of_a_fork_goes_with_it() -> None:
    """A scratch file system has 4,096 of them: thousands of answers to one task are judged by one process."""
    ends, folders = said_by_forks(phases.task("assert solution(1) == 1"), FORKS)
    assert [end["left"] for end in ends] == [False] * FORKS
    assert folders == [[]] * FORKS


def test_a_folder_with_something_in_it_is_told_of() -> None:
    """Then the supervisor ends the process, and removes all that is there."""
    ends, folders = said_by_forks(phases.task("open('left', 'w').close()\nassert solution(1) == 1"), 1)
    assert [end["left"] for end in ends] == [True]
    assert [len(names) for names in folders] == [1]


def test_no_reason_has_an_address() -> None:
    """Otherwise two gradings of one file would differ."""
    source = "def solution(a):\n    raise ValueError(f'no {object()}')"
    found = phases.replayed(source, "solution(3)")
    assert found["reason"] == "ValueError: no <object object at 0x...>"
    source = "import decimal\ndef solution(a):\n    return decimal.Decimal('x')"
    assert " at 0x" not in phases.replayed(source, "solution(3)")["reason"]
