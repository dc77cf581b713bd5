"""A benchmark's splits and protocols: the named one, or the default one."""

from __future__ import annotations

import pytest

from grader.benchmark import Benchmark, Columns, Protocol, Split
from grader.errors import UsageError

OWN = Benchmark(
    id="own",
    name="Own",
    scoring="execution",
    columns=Columns(id="qid"),
    splits={"test": Split(data="tasks.jsonl"), "train": Split()},
    protocols={"v1": Protocol(), "v2": Protocol()},
    default_split="test",
    default_protocol="v2",
)


def test_the_named_split_and_protocol_are_taken_or_the_default_ones() -> None:
    assert [OWN.split(name)[0] for name in (None, "train")] == ["test", "train"]
    assert OWN.split(None)[1].data == "tasks.jsonl"
    assert [OWN.check_protocol(name) for name in (None, "v1")] == ["v2", "v1"]


def test_an_unknown_split_or_protocol_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"^own has no split 'dev'; it has test, train\.$"):
        OWN.split("dev")
    with pytest.raises(UsageError, match=r"^own has no protocol 'v9'; it has v1, v2\.$"):
        OWN.check_protocol("v9")
