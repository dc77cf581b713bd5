"""Two processes never write the same file at once, and a dead one holds nothing."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.files.claims import Claims

HOLD = """
import sys
from pathlib import Path
from grader.files.claims import Claims
with Claims() as claims:
    claims.take(Path(sys.argv[1]))
    print("held", flush=True)
    sys.stdin.read()
"""


def _holding(path: Path) -> subprocess.Popen[str]:
    """Start a process that claims `path` until its standard input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "held\n"
    return process


def test_what_a_killed_process_left_behind_claims_nothing(tmp_path: Path) -> None:
    path = tmp_path / "p_results.json"
    with _holding(path) as first:
        first.send_signal(signal.SIGKILL)
        first.wait()
        assert (tmp_path / ".p_results.json.lock").exists()
        with Claims() as claims:
            claims.take(path)
            with pytest.raises(UsageError, match=f"process {os.getpid()}"), Claims() as second:
                second.take(path)


def test_nothing_is_left_behind_and_one_process_may_claim_a_file_twice(tmp_path: Path) -> None:
    with Claims() as claims:
        claims.take(tmp_path / "p_results.json")
        claims.take(tmp_path / "x" / ".." / "p_results.json")
        assert [path.name for path in tmp_path.iterdir()] == [".p_results.json.lock"]
    assert not list(tmp_path.iterdir())


def test_many_at_once_leave_one_holder(tmp_path: Path) -> None:
    path = tmp_path / "p_results.json"
    code = HOLD.replace("    claims.take", "    try: claims.take").replace(
        '    print("held"', '    except Exception: sys.exit(7)\n    print("held"'
    )
    crowd = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for _ in range(4)
    ]
    said = [process.stdout.readline() for process in crowd if process.stdout is not None]
    for process in crowd:
        process.communicate("")
    assert sorted(said) == ["", "", "", "held\n"]
    assert sorted(process.returncode for process in crowd) == [0, 7, 7, 7]


def test_a_link_or_a_pipe_in_place_of_the_lock_file_changes_no_other_file(tmp_path: Path) -> None:
    """In a folder that others can write to, anybody can put it there."""
    mine = tmp_path / "mine.txt"
    mine.write_text("years of work")
    (tmp_path / ".a_results.json.lock").symlink_to(mine)
    os.mkfifo(tmp_path / ".b_results.json.lock")
    with Claims() as claims:
        claims.take(tmp_path / "a_results.json")
        claims.take(tmp_path / "b_results.json")
    assert mine.read_text() == "years of work"
