"""The folder where processes find a pool: nobody else's, and a lock that one holds at a time."""

from __future__ import annotations

import tempfile
from typing import TYPE_CHECKING

import pytest

from grader.errors import InfrastructureError
from grader.pool import place

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def test_the_folder_is_this_users_alone(temporary: Path) -> None:
    assert place.folder().stat().st_mode & 0o777 == 0o700


def test_a_folder_that_others_can_enter_is_refused(temporary: Path) -> None:
    place.folder().chmod(0o755)
    with pytest.raises(InfrastructureError, match="does not belong to this user alone"):
        place.folder()


def test_a_link_in_its_place_is_refused(temporary: Path) -> None:
    folder = place.folder()
    folder.rename(temporary / "elsewhere")
    folder.symlink_to(temporary / "elsewhere")
    with pytest.raises(InfrastructureError, match="does not belong to this user alone"):
        place.folder()


def test_a_path_that_is_too_long_for_a_socket_is_refused(temporary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = temporary / ("x" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with pytest.raises(InfrastructureError, match="TMPDIR"):
        place.socket_path("name")


def test_one_holds_the_lock_at_a_time(temporary: Path) -> None:
    with place.locked("a") as held, place.locked("a", 0) as second, place.locked("b", 0) as other:
        assert (held, second, other) == (True, False, True)
    with place.locked("a", 0) as held:
        assert held
