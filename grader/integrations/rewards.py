"""The pool from which a process gets its rewards."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import UsageError
from grader.pool.client import Pool
from grader.results import Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.results import SampleResult

VARIABLE = "GRADE_POOL"
"""The environment variable with a pool's keywords: JSON, or the path of a JSON or TOML file."""
_pools: dict[str, Pool] = {}
_lock = threading.Lock()


def get_pool(options: Mapping[str, Any] | None = None) -> Pool:
    """Return this process's pool with these keywords, else with those of `GRADE_POOL`; raises UsageError.

    It stays open until the process ends.
    """
    keywords = dict(options) if options else from_environment()
    name = repr(sorted((key, str(value)) for key, value in keywords.items()))
    with _lock:
        if name not in _pools:
            _pools[name] = Pool(**keywords)
        return _pools[name]


def _renew_lock() -> None:
    """Replace the lock after a fork, because another thread of the parent may have held it."""
    global _lock  # noqa: PLW0603 - a lock cannot be reset
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew_lock)


def from_environment() -> dict[str, Any]:
    """Return the keywords in `GRADE_POOL`; raises UsageError."""
    text = os.environ.get(VARIABLE, "").strip()
    if not text:
        raise UsageError(
            f"The benchmark of the samples is unknown. Set {VARIABLE} to a pool's keywords as JSON, for example "
            f"""{VARIABLE}='{{"benchmark": "humaneval-v", "data": "/data/tasks.jsonl"}}', or to a file with them."""
        )
    try:
        if text.startswith("{"):
            keywords = msgspec.json.decode(text)
        elif text.endswith(".toml"):
            keywords = msgspec.toml.decode(Path(text).read_bytes())
        else:
            keywords = msgspec.json.decode(Path(text).read_bytes())
    except (ValueError, RecursionError, msgspec.DecodeError, OSError) as error:
        raise UsageError(f"{VARIABLE}={text[:80]!r} cannot be read: {error}") from error
    if not isinstance(keywords, dict):
        raise UsageError(f"{VARIABLE}: expected a JSON object of keywords, not {text[:80]!r}")
    return keywords


def is_unscored(result: SampleResult) -> bool:
    """Whether a sample has no careful verdict."""
    return not result.careful.is_scored


def is_suspect(result: SampleResult) -> bool:
    """Whether a sample cannot be judged apart from its tests, or passes only in the same process as its tests."""
    return result.careful.outcome is Outcome.SUSPECT
