"""A cache that cannot be used is named at the end of a run, which does not need it."""

from pathlib import Path

from grader.executors.local import Local
from grader.sandbox.interface import Limits
from grader.sandbox.queue import JobQueue
from grader.sandbox.verdict_cache import VerdictCache
from tests.observers import Noting


class Backend:
    """A backend that starts nothing."""

    identity = "none"


def messages(path: Path | None) -> list[str]:
    told, backend = Noting(), Backend()
    with Local(backend, JobQueue(backend, 1, 1), VerdictCache(path), Limits(), told) as executor:  # type: ignore[arg-type]
        executor.cache.put("ab", {"run": {}})
        assert executor.cache.get(["cd"]) == {}
    return told.messages


def test_a_cache_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    (said,) = messages(tmp_path)
    assert said.startswith(f"The verdict cache {tmp_path} cannot be used (")


def test_a_damaged_cache_is_named(tmp_path: Path) -> None:
    path = tmp_path / "verdicts.sqlite3"
    path.write_bytes(b"not a database, but long enough to be read as one" * 99)
    assert messages(path) == [
        f"The verdict cache {path} was damaged; it is kept as verdicts.sqlite3.damaged, and a new one was created"
    ]
    assert messages(path) == messages(None) == []
