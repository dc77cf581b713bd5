"""A file of entries is an economy, not a need: it never is the reason that a run fails."""

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from grader.errors import InfrastructureError
from grader.files.key_value import KeyValueFile


def test_what_is_kept_is_there_for_the_next_who_opens_it(tmp_path):
    first = KeyValueFile(tmp_path / "new" / "file", "cache")
    first.store([(b"a", b"1"), (b"b", b"2")])
    first.close()
    second = KeyValueFile(tmp_path / "new" / "file", "cache")
    assert second.find([b"a", b"c", b"a"]) == {b"a": b"1"}
    assert (second.has(b"b"), second.has(b"c"), second.size(), second.problem) == (True, False, 2, "")
    second.close()


def test_a_file_that_is_not_a_database_is_put_aside_and_said(tmp_path):
    path = tmp_path / "file"
    path.write_text("not a database" * 99)
    file = KeyValueFile(path, "cache")
    assert "was damaged; it is kept as file.damaged" in file.problem
    file.store([(b"a", b"1")])
    assert file.find([b"a"]) == {b"a": b"1"}
    file.close()
    assert (tmp_path / "file.damaged").read_text().startswith("not a database")


def test_a_file_that_cannot_be_used_has_nothing_and_says_why(tmp_path):
    (tmp_path / "file").mkdir()
    file = KeyValueFile(tmp_path / "file", "cache")
    file.store([(b"a", b"1")])
    assert (file.find([b"a"]), file.size(), file.has(b"a")) == ({}, 0, False)
    assert "the cache" in file.problem
    assert "cannot be used" in file.problem
    with pytest.raises(InfrastructureError, match="cannot be used"):
        file.clear()


def test_without_a_path_and_after_closing_nothing_is_kept(tmp_path):
    closed = KeyValueFile(tmp_path / "file", "cache")
    closed.close()
    for file in (KeyValueFile(None, "cache"), closed):
        file.store([(b"a", b"1")])
        assert (file.find([b"a"]), file.size(), file.clear(), file.problem) == ({}, 0, 0, "")
        file.close()


def test_the_oldest_go_until_the_others_need_no_more_than_the_limit(tmp_path):
    file = KeyValueFile(tmp_path / "file", "cache")
    file.store((number.to_bytes(2, "big"), bytes(5000)) for number in range(100))
    file.trim(2 << 20)
    assert file.size() == 100
    file.trim(300_000)
    assert 20 < file.size() <= 50
    assert file.find([b"\x00\x00", b"\x00\x63"]) == {b"\x00\x63": bytes(5000)}
    file.close()


def test_threads_and_processes_at_once_lose_nothing(tmp_path, root):
    path = tmp_path / "file"
    script = (
        "import sys; from pathlib import Path; from grader.files.key_value import KeyValueFile\n"
        "file = KeyValueFile(Path(sys.argv[1]), 'cache')\n"
        "for n in range(100): file.store([((sys.argv[2] + str(n)).encode(), b'v')])\n"
        "file.close(); print(file.problem)"
    )
    environment = {**os.environ, "PYTHONPATH": str(root)}
    others = [
        subprocess.Popen([sys.executable, "-c", script, str(path), name], env=environment, stdout=subprocess.PIPE)
        for name in "xy"
    ]
    file = KeyValueFile(path, "cache")
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: file.store([(f"t{n}".encode(), b"v")]), range(100)))
    assert [other.communicate()[0].strip() for other in others] == [b"", b""]
    assert (file.size(), file.problem) == (300, "")
    file.close()
