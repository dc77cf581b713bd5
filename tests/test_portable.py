"""What needs no sandbox runs without anything that only Linux has, and so on macOS too (not tried on a Mac).

`fcntl`, which locks files, is on macOS as well.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from grader.sandbox import packages
from tests.made_runs import BENCHMARKS, SAMPLES

if TYPE_CHECKING:
    from pathlib import Path

WITHOUT_LINUX = """
import builtins, io, os, signal, sys

GONE = {"resource", "grp", "spwd", "_posixshmem"}
for owner, names in (
    (os, ("sched_getaffinity", "sched_setaffinity", "memfd_create", "pidfd_open", "splice", "eventfd", "unshare",
          "setns", "prlimit", "getrandom", "copy_file_range", "posix_fallocate")),
    (signal, ("SIGALRM", "setitimer", "alarm", "SIGPWR", "SIGSTKFLT", "pidfd_send_signal")),
):
    for name in names:
        if hasattr(owner, name):
            delattr(owner, name)

real_import = builtins.__import__

def without(name, globals=None, *rest, **more):
    if name.partition(".")[0] in GONE and str((globals or {}).get("__name__", "")).partition(".")[0] == "grader":
        raise ImportError(f"no module named {name} on this system, wanted by {globals['__name__']}")
    return real_import(name, globals, *rest, **more)

builtins.__import__ = without

def refuse(event, args):
    if event == "open" and isinstance(args[0], str) and args[0].startswith(("/proc", "/sys")):
        raise FileNotFoundError(2, "there is no such folder on this system", args[0])

sys.addaudithook(refuse)
"""
RUN = """
import json
from grader.cli import run

for words in json.load(sys.stdin):
    code = run(words)
    if code:
        sys.exit(f"grade {' '.join(words)}: exit {code}")
"""


def succeed(*commands: list[object], cwd: Path) -> str:
    """Run `grade` with the words of each command, all in one process; return what they write."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_LINUX + RUN],
        input=json.dumps([[*map(str, words)] for words in commands]),
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def words_of(benchmark: str, place: Path) -> list[object]:
    folder = BENCHMARKS / benchmark / "sample"
    shutil.copy(folder / "predictions.json", place)
    replies = folder / "judge_replies.json"
    judged = ["--judge-replies", replies] if replies.exists() else []
    return ["predictions.json", "-b", benchmark, "--data", folder / SAMPLES[benchmark], *judged]


@pytest.mark.parametrize(
    "line",
    [
        "os.sched_getaffinity(0)",
        "open('/proc/self/stat')",
        "signal.SIGALRM",
        "globals()['__name__'] = 'grader.x'; import resource",
    ],
)
def test_what_only_linux_has_is_really_gone(line: str) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_LINUX + line], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(("AttributeError", "FileNotFoundError", "ImportError"))


@pytest.mark.parametrize("benchmark", sorted(SAMPLES))
def test_scoring_reports_and_comparisons_need_nothing_that_only_linux_has(benchmark: str, tmp_path: Path) -> None:
    words = words_of(benchmark, tmp_path)
    reports = [word for name in ("report.md", "report.csv", "report.xml", "report.html") for word in ("-o", name)]
    succeed([*words, *reports], ["check", *words[:5]], cwd=tmp_path)
    first = shutil.copy(tmp_path / "predictions_results.json", tmp_path / "other_results.json")
    two = ["predictions_results.json", "other_results.json"]
    succeed(
        [*words[:5], "--score-only"],
        ["report", "predictions_results.json", "-o", "again.md"],
        ["compare", *two, "-o", "compared.html", *words[3:5]],
        ["leaderboard", *two, "-o", "board.html"],
        cwd=tmp_path,
    )
    again = json.loads((tmp_path / "predictions_results.json").read_text())
    assert again["metrics"] == json.loads(first.read_text())["metrics"]
    for name in ("report.md", "again.md", "report.html", "compared.html", "board.html"):
        assert (tmp_path / name).stat().st_size


def test_the_command_itself_needs_nothing_that_only_linux_has(tmp_path: Path) -> None:
    assert "usage" in succeed(["--help"], cwd=tmp_path).lower()
    assert "vstar" in succeed(["list"], cwd=tmp_path)


def test_wheels_for_the_sandbox_are_those_of_linux_wherever_they_are_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platform.machine", lambda: "arm64")
    assert packages._platforms()[0] == "manylinux_2_28_aarch64"
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert packages._platforms()[-1] == "manylinux2014_x86_64"
