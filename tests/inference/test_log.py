"""The log: whole lines or none, one writer, and what a killed run left behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import InputError, UsageError
from grader.inference.log import Log
from grader.models.replies import Usage
from tests.conftest import ROOT
from tests.inference.made import plan, record


def kept(log: Log) -> list[int]:
    """The numbers of the tasks that have a reply."""
    return [number for number, each in enumerate(plan(9).conversations) if not log.missing(each)]


def test_a_line_is_there_when_append_returns_and_a_second_reader_finds_it(path: Path) -> None:
    with Log(path) as log:
        log.append(first := record("q0", usage=Usage(prompt_tokens=2, completion_tokens=1)))
        assert path.read_bytes().endswith(b"\n")
        log.append(record("q1", content=None, usage=Usage(prompt_tokens=2)))
        log.append(record("q2", finish_reason="length"))
        assert log.reply(("q0", 0, "answer")) == first
    with Log(path) as log:
        assert kept(log) == [0, 2]
        assert log.reply(("q0", 0, "answer")) == first
        assert (log.failures, log.truncated) == ({("q1", 0, "answer"): "no"}, {("q2", 0, "answer")})
        assert log.usage == Usage(prompt_tokens=4, completion_tokens=1)


def test_a_whole_record_without_an_end_of_line_is_kept_as_an_editor_leaves_it(path: Path) -> None:
    with Log(path) as log:
        log.append(record("q0"))
    os.truncate(path, path.stat().st_size - 1)
    with Log(path, writes=False) as log:
        assert kept(log) == [0]
    with Log(path) as log:
        assert kept(log) == [0]
        log.append(record("q1"))
        assert log.reply(("q0", 0, "answer")).qid == "q0"
        assert log.reply(("q1", 0, "answer")).qid == "q1"
    with Log(path) as log:
        assert kept(log) == [0, 1]


@pytest.mark.parametrize("cut", [2, 50, 10_000])
def test_a_line_that_was_cut_off_is_dropped_and_the_next_one_begins_cleanly(path: Path, cut: int) -> None:
    with Log(path) as log:
        log.append(record("q0"))
        whole = path.stat().st_size
        log.append(record("q1"))
    os.truncate(path, max(whole + 1, path.stat().st_size - cut))
    with Log(path) as log:
        assert kept(log) == [0]
        log.append(record("q2"))
    with Log(path) as log:
        assert kept(log) == [0, 2]


def test_a_damaged_line_is_refused_with_its_place(path: Path) -> None:
    with Log(path) as log:
        log.append(record("q0"))
    path.write_bytes(path.read_bytes() + b"{nonsense}\n" + path.read_bytes())
    with pytest.raises(InputError, match=rf"{path}:2: not a record of `grade infer`"):
        Log(path)
    # The refusal left no lock behind.
    path.write_bytes(b"")
    Log(path).close()


def test_a_file_that_is_no_log_is_refused_and_stays_as_it_was(path: Path) -> None:
    path.write_bytes(text := b"my notes\nand their last line, without an end")
    with pytest.raises(InputError, match="not a record of `grade infer`"):
        Log(path)
    assert path.read_bytes() == text


def test_a_second_run_on_the_same_file_is_refused_until_the_first_has_ended(path: Path) -> None:
    with Log(path), pytest.raises(UsageError, match="Another run is writing"):
        Log(path)
    Log(path).close()


def test_fresh_keeps_the_old_file_under_another_name(path: Path) -> None:
    for number in (1, 2):
        with Log(path, fresh=True) as log:
            log.append(record(f"q{number}"))
    with Log(path, fresh=True) as log:
        assert (kept(log), log.backup_path) == ([], path.with_name("out_requests_old-2.jsonl"))
        with pytest.raises(UsageError, match="Another run is writing"):
            Log(path)
    assert "q1" in path.with_name("out_requests_old-1.jsonl").read_text()
    assert "q2" in path.with_name("out_requests_old-2.jsonl").read_text()


def test_a_full_disk_is_told_and_leaves_no_half_of_a_line(path: Path) -> None:
    code = (
        "import sys, resource, signal; from pathlib import Path; from grader.inference.log import Log\n"
        "from tests.inference.made import record\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "log = Log(Path(sys.argv[1])); log.append(record('q0'))\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try: log.append(record('q1', content='x' * 5000))\n"
        "except OSError as error: print(error.strerror)"
    )
    done = subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("File too large\n", "")
    with Log(path) as log:
        assert kept(log) == [0]
