"""The cache folder: the user's, or a temporary one where that cannot be written."""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING

import pytest

from grader import resources
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home whose cache folder cannot be made, and a folder for temporary files."""
    (tmp_path / "file").touch()
    (tmp_path / "tmp").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    return tmp_path / "tmp"


def test_a_cache_folder_that_cannot_be_made_is_replaced_by_a_temporary_one_of_this_users_alone(blocked: Path) -> None:
    assert resources.cache_is_temporary()
    folder = resources.cache_folder()
    assert folder == blocked / f"grade-{os.getuid()}"
    assert folder.stat().st_mode & 0o777 == 0o700
    assert resources.cache_folder() == folder


def test_a_temporary_folder_that_others_may_write_is_refused(blocked: Path) -> None:
    folder = blocked / f"grade-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(InfrastructureError, match="does not belong to this user alone"):
        resources.cache_folder()
    folder.rmdir()
    folder.symlink_to(blocked.parent)
    with pytest.raises(InfrastructureError, match="does not belong to this user alone"):
        resources.cache_folder()


def test_the_users_own_folder_is_made_where_it_can_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "c"))
    assert (resources.cache_folder(), resources.cache_is_temporary()) == (tmp_path / "c" / "grade", False)


def test_a_digest_of_modules_depends_on_each_of_them() -> None:
    from grader import resources
    from grader.scorers.execution import assembly, extraction

    one, other = assembly.__name__, extraction.__name__
    assert len({resources.digest_of(one), resources.digest_of(other), resources.digest_of(one, other)}) == 3
