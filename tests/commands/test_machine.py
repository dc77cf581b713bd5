"""`grade cache`: what is kept between runs."""

import tempfile
from pathlib import Path

import pytest

from grader.cli import run
from grader.judge.client import ReplyCache, default_path
from grader.sandbox import verdict_cache


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A cache folder with two replies of a judge."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with ReplyCache() as cache:
        cache.keep_reply(b"k", "A")
        cache.keep_reply(b"l", "B")
    return tmp_path / "grade"


def test_the_cache_lists_verdicts_and_judge_replies(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["cache"]) == 0
    verdicts, replies = capsys.readouterr().out.splitlines()
    assert verdicts == f"{verdict_cache.default_path()}: 0 verdicts and programs, 0.0 MB"
    assert replies == f"{default_path()}: 2 judge replies, 0.0 MB"


@pytest.mark.parametrize(
    ("option", "said", "left"),
    [
        ("--clear=judge", "2 judge replies deleted\n", 0),
        ("--clear=verdicts", "0 verdicts and programs deleted\n", 2),
        ("--clear", "0 verdicts and programs deleted\n2 judge replies deleted\n", 0),
    ],
)
def test_the_cache_forgets_what_is_named(
    kept: Path, capsys: pytest.CaptureFixture[str], option: str, said: str, left: int
) -> None:
    assert run(["cache", option]) == 0
    assert capsys.readouterr().out == said
    with ReplyCache() as cache:
        assert cache.size() == left


def test_both_caches_are_temporary_if_the_users_folder_cannot_be_used(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    assert run(["cache"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.startswith(f"{tmp_path / 'tmp'}/grade-") for line in lines] == [True, True]
