"""The cache folder: the user's, or a temporary one where that cannot be written."""

import os
import tempfile
from pathlib import Path

import pytest

from grader import resources
from grader.benchmark import Benchmark, Columns, Protocol, Split
from grader.errors import InfrastructureError, UsageError
from grader.files.key_value import KeyValueFile
from grader.options import Options, parse_memory
from tests.acceptance.command import grade
from tests.tables import each


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


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_the_cache_is_private_whatever_the_umask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, umask: int) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    before = os.umask(umask)
    try:
        stored = KeyValueFile(resources.cache_folder() / "kept.sqlite3", "cache")
        stored.store([(b"key", b"value")])
    finally:
        os.umask(before)
    folder = tmp_path / "grade"
    assert folder.stat().st_mode & 0o777 == 0o700
    names = ("kept.sqlite3", "kept.sqlite3-wal", "kept.sqlite3-shm")
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == dict.fromkeys(names, 0o600)
    assert stored.problem == ""
    stored.close()


def test_a_wider_cache_folder_is_narrowed_once_with_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder, file = tmp_path / "grade", tmp_path / "grade" / "kept.sqlite3"
    folder.mkdir()
    KeyValueFile(file, "cache").close()
    file.chmod(0o664)
    folder.chmod(0o775)
    done = grade("list", cwd=tmp_path)
    assert f"Other users had access to the cache folder {folder} (mode 775); now only you have." in done.stderr
    assert folder.stat().st_mode & 0o777 == 0o700
    assert grade("list", cwd=tmp_path).stderr == done.stderr.partition("\n")[2]
    KeyValueFile(file, "cache").close()
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_cache_that_cannot_be_made_private_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As that of another user, who could change verdicts in it."""
    (tmp_path / "grade").mkdir(mode=0o755)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def refused(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr("pathlib.Path.chmod", refused)
    assert resources.cache_is_temporary()
    assert resources.cache_folder() == tmp_path / f"grade-{os.getuid()}"


@each(
    ("text", "size"),
    [
        ("512M", 512 << 20), ("512MiB", 512 << 20), (" 1.5g ", 3 << 29), ("65536k", 64 << 20), ("67108864b", 64 << 20),
    ],
)  # fmt: skip
def test_a_size_is_read_as_people_write_it(text: str, size: int) -> None:
    assert parse_memory(text) == size


@each("text", ["", "g", "1t", "1 2g", "nang", "1e999g"])
def test_what_is_no_size_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_memory(text)
    assert str(caught.value) == f"{text!r} is not a size; write it like 512m or 2g."


@each("text", ["63m", "-1g"])
def test_a_size_no_program_can_run_in_is_refused(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_memory(text)
    assert str(caught.value) == f"{text!r}: a program needs at least 64m."


def test_one_supervisor_a_core_this_process_may_use_unless_told_otherwise() -> None:
    assert Options().worker_count == len(os.sched_getaffinity(0))
    assert Options(workers=7).worker_count == 7


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
    assert [OWN.resolve_protocol(name) for name in (None, "v1")] == ["v2", "v1"]


def test_an_unknown_split_or_protocol_is_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"^own has no split 'dev'; it has test, train\.$"):
        OWN.split("dev")
    with pytest.raises(UsageError, match=r"^own has no protocol 'v9'; it has v1, v2\.$"):
        OWN.resolve_protocol("v9")
