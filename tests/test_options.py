"""What a run is asked to do."""

from __future__ import annotations

import contextlib
import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import UsageError
from grader.options import Options, parse_size


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("512m", 512 << 20), ("512M", 512 << 20), ("512mb", 512 << 20), ("512MiB", 512 << 20), (" 2g ", 2 << 30),
        ("1.5g", 3 << 29), ("65536k", 64 << 20), ("67108864", 64 << 20), ("67108864b", 64 << 20),
    ],
)  # fmt: skip
def test_a_size_is_read_as_people_write_it(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize("text", ["", "g", "b", "much", "1t", "1gg", "1 2g", "nang", "infg", "0x10m", "1e999g"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_size(text)
    assert str(caught.value) == f"{text!r} is not a size; write it like 512m or 2g."


@pytest.mark.parametrize("text", ["63m", "0", "-1g", "1k"])
def test_a_size_no_program_can_run_in_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_size(text)
    assert str(caught.value) == f"{text!r}: a program needs at least 64m."


@given(st.text(max_size=12))
def test_any_text_is_a_size_or_a_usage_error(text: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse_size(text) >= 64 << 20


def test_one_supervisor_a_core_this_process_may_use_unless_told_otherwise() -> None:
    assert Options().worker_count == len(os.sched_getaffinity(0))
    assert Options(workers=7).worker_count == 7
