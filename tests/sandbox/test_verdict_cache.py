"""The cache of verdicts: shared, survivable, and never the reason a run fails."""

import os
import resource
import signal
import sqlite3
import zlib
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox import verdict_cache as cache
from grader.sandbox.interface import Limits

LIMITS = Limits()
JOB: dict[str, object] = {"id": 1, "head": "def f(): pass\n", "test": "f()", "cpu": 2.0, "split": {"when": "passed"}}


def name(number: int) -> str:
    return f"{number:064x}"


def get(one: cache.VerdictCache, number: int) -> Any:
    return one.get([name(number)]).get(name(number))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "verdicts.sqlite3"


def test_what_is_put_is_there_for_the_next_run(path: Path) -> None:
    answer = {"run": {"result": "passé \ud83d\ude00"[:5], "evidence": {"cpu": 0.25}}}
    first = cache.VerdictCache(path)
    first.put(name(1), answer)
    first.close()
    second = cache.VerdictCache(path)
    second.put(name(0), {})
    second.flush()
    # Found at once, in the order of their names.
    assert list(second.get([name(1), name(2), name(0)]).items()) == [(name(1), answer), (name(0), {})]
    assert (second.size(), second.clear(), second.size(), get(second, 1)) == (2, 2, 0, None)
    second.close()


@pytest.mark.parametrize(
    ("job", "identity", "limits"),
    [
        (JOB | {"head": "def f(): pass\nf", "test": "()"}, "image", LIMITS), (JOB | {"cpu": 3.0}, "image", LIMITS),
        (JOB | {"split": {"when": "always"}}, "image", LIMITS), (JOB, "other image", LIMITS),
        (JOB, "image", Limits(memory_bytes=2 << 30)),
    ],
)  # fmt: skip
def test_everything_that_can_change_a_verdict_is_part_of_its_name(
    job: dict[str, object], identity: str, limits: Limits
) -> None:
    assert cache.cache_key(job, identity, limits) != cache.cache_key(JOB, "image", LIMITS)
    # Only the number that a job happens to have is no part of it.
    assert cache.cache_key(job | {"id": 99}, identity, limits) == cache.cache_key(job, identity, limits)


def test_what_was_flushed_survives_kill_9(path: Path) -> None:
    pid = os.fork()
    if pid == 0:
        one = cache.VerdictCache(path)
        one.put(name(1), {"kept": True})
        one.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(pid, 0)
    one = cache.VerdictCache(path)
    assert get(one, 1) == {"kept": True}
    one.close()


@pytest.mark.parametrize("value", [b"{}", *map(zlib.compress, (b"{nonsense", b"[]", b"\xff"))])
def test_a_garbled_row_is_no_answer(path: Path, value: bytes) -> None:
    one = cache.VerdictCache(path)
    one.put(name(1), {})
    one.close()
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE entries SET value = ?", (value,))
    raw.close()
    two = cache.VerdictCache(path)
    assert get(two, 1) is None
    two.close()


def test_a_full_disk_costs_the_rows_not_the_run(path: Path) -> None:
    """No file of this process may grow any further, as on a full disk; what was there before stays."""
    one = cache.VerdictCache(path)
    one.put(name(0), {"before": True})
    one.close()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            largest = max(item.stat().st_size for item in path.parent.iterdir())
            resource.setrlimit(resource.RLIMIT_FSIZE, (largest, largest))
            two = cache.VerdictCache(path)
            for number in range(1, 3000):
                two.put(name(number), {"padding": os.urandom(500).hex()})
            two.close()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    three = cache.VerdictCache(path)
    assert get(three, 0) == {"before": True}
    three.put(name(1), {"after": True})
    three.flush()
    assert get(three, 1) == {"after": True}
    three.close()
