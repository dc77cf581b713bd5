"""What the grader computes from texts is computed once, and its cached results are those of the functions."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.executors.local import Local
from grader.observer import Silent
from grader.sandbox.interface import Limits
from grader.sandbox.verdict_cache import VerdictCache
from grader.scorers.execution import assembly, job_runner
from grader.scorers.execution.job_runner import JobRunner

SIGNATURE = "def solution(a):\n"
TEXTS = [
    "```python\nN = 1\ndef solution(a):\n    return N\n```",
    '```python\nfrom math import *\ndef solution(a):\n    return "\u00e9"\n```',
    "```python\ndef solution(a:\n```",
    "no code",
    "```\n  return sum(a)```",
]


class Named:
    """A backend of which only the identity is asked."""

    identity = "scripted"


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[VerdictCache]:
    found = VerdictCache(tmp_path / "verdicts")
    yield found
    found.close()


def opened(cache: VerdictCache) -> JobRunner:
    return JobRunner(Local(Named(), None, cache, Limits()), Silent())  # type: ignore[arg-type]


@pytest.mark.parametrize("rules", ["humaneval-v-v1", "humaneval-v-v2", "plain"])
@pytest.mark.parametrize("text", TEXTS)
def test_a_program_is_assembled_once_and_then_the_same(
    cache: VerdictCache, text: str, rules: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = opened(cache).assemble(text, SIGNATURE, rules)
    assert first == assembly.assemble(text, SIGNATURE, rules)
    cache.flush()
    monkeypatch.setattr(assembly, "assemble", None)
    assert opened(cache).assemble(text, SIGNATURE, rules) == first


def test_changed_code_computes_again(cache: VerdictCache, monkeypatch: pytest.MonkeyPatch) -> None:
    known = opened(cache)
    known.assemble("", SIGNATURE, "plain")
    monkeypatch.setattr(job_runner, "_ASSEMBLY_DIGEST", "changed")
    known.assemble("", SIGNATURE, "plain")
    cache.flush()
    assert cache.size() == 2


def test_code_that_changes_a_program_is_in_the_key_of_its_cached_result() -> None:
    """Every function and class of grade that these modules use is in one of them."""
    used = {
        sys.modules[value.__module__]
        for module in job_runner.ASSEMBLY_MODULES
        for value in vars(module).values()
        if getattr(value, "__module__", "").startswith("grader.")
    }
    assert used <= {*job_runner.ASSEMBLY_MODULES}
