"""What needs no sandbox runs without anything that only Linux and macOS have (tried on neither macOS nor Windows)."""

import http.server
import json
import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from pathlib import Path

from tests.made_runs import BENCHMARKS, SAMPLES
from tests.models.server import ModelServer, say

WITHOUT_LINUX = """
import builtins, io, sys, types

# Hidden from grade only: other packages look at `sys.platform`, which cannot be changed for a test.
GONE = {"fcntl", "resource", "pwd", "grp", "spwd", "termios", "tty", "pty", "_posixshmem"}
FEWER = {
    "os": "sched_getaffinity sched_setaffinity memfd_create pidfd_open splice eventfd unshare setns prlimit getrandom "
          "copy_file_range posix_fallocate fork forkpty register_at_fork getuid geteuid getgid getgroups pread pwrite "
          "O_CLOEXEC O_NOFOLLOW O_NONBLOCK fchmod chown statvfs sysconf mkfifo killpg setsid getpgid uname wait4",
    "signal": "SIGALRM setitimer alarm SIGPWR SIGSTKFLT pidfd_send_signal SIGKILL SIGHUP SIGPIPE SIGUSR1 SIGCHLD",
    "select": "poll epoll",
    "socket": "AF_UNIX socketpair",
}
real_import, proxies = builtins.__import__, {}

def without(name, globals=None, *rest, **more):
    made = real_import(name, globals, *rest, **more)
    if str((globals or {}).get("__name__", "")).partition(".")[0] != "grader":
        return made
    if name.partition(".")[0] in GONE:
        raise ImportError(f"no module named {name} on this system, wanted by {globals['__name__']}")
    if name not in FEWER:
        return made
    if name not in proxies:
        proxies[name] = types.ModuleType(name)
        proxies[name].__dict__.update({k: v for k, v in vars(made).items() if k not in FEWER[name].split()})
    return proxies[name]

builtins.__import__ = without

def refuse(event, args):
    if event == "open" and isinstance(args[0], str) and args[0].startswith(("/proc", "/sys")):
        raise FileNotFoundError(2, "there is no such folder on this system", args[0])

sys.addaudithook(refuse)
"""
RUN = """
import json, os, shutil
from grader.cli import run

for words in json.load(sys.stdin):
    if words[0] == "copy":
        shutil.copy(*words[1:])
    elif words[0] == "cd":
        os.chdir(words[1])
    elif code := run(words):
        sys.exit(code)
"""


def run(*commands: list[object], cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run `grade` with the words of each command in one process until one fails; `copy` and `cd` do what they say."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT_LINUX + RUN],
        input=json.dumps([[*map(str, words)] for words in commands]),
        capture_output=True,
        text=True,
        cwd=cwd,
        check=False,
        env={**os.environ, "XDG_CACHE_HOME": str(cwd / "cache")},
    )


def succeed(*commands: list[object], cwd: Path) -> str:
    """Run commands that succeed; return what they write."""
    done = run(*commands, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout


def words_of(benchmark: str, place: Path) -> list[object]:
    folder = BENCHMARKS / benchmark / "sample"
    shutil.copy(folder / "predictions.json", place)
    replies = folder / "judge_replies.json"
    judged = ["--judge-replies", replies] if replies.exists() else []
    return ["predictions.json", "-b", benchmark, "--data", folder / SAMPLES[benchmark], *judged]


OWN = """
id = "own"
name = "Own"
scoring = "multiple_choice"
default_split = "all"
default_protocol = "rules"

[columns]
id = "id"
question = "q"
answer = "right"

[splits.all]
url = "{url}"

[protocols.rules]
reader = "vlmevalkit-2026-06"
"""


def test_what_only_linux_has_is_really_gone() -> None:
    lines = [
        "import os; os.sched_getaffinity(0)",
        "open('/proc/self/stat')",
        "import signal; signal.SIGALRM",
        "import fcntl",
    ]
    code = f"{WITHOUT_LINUX}\n__name__ = 'grader.x'\nfor line in {lines}:\n  try: exec(line)\n"
    code += "  except (AttributeError, OSError, ImportError): print('gone')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split() == [b"gone"] * 4


def test_scoring_reports_and_comparisons_need_nothing_that_only_linux_has(tmp_path: Path) -> None:
    reports = [word for name in ("report.md", "report.csv", "report.xml", "report.html") for word in ("-o", name)]
    two = ["predictions_results.json", "other_results.json"]
    commands: list[list[object]] = []
    for benchmark in SAMPLES:
        folder = tmp_path / benchmark
        folder.mkdir()
        words = words_of(benchmark, folder)
        commands += [
            ["cd", folder],
            [*words, *reports],
            ["check", *words[:5]],
            ["copy", *two],
            [*words[:5], "--score-only"],
            ["report", "predictions_results.json", "-o", "again.md"],
            ["compare", *two, "-o", "compared.html", *words[3:5]],
            ["leaderboard", *two, "-o", "board.html"],
        ]
    said = succeed(["--help"], ["list"], *commands, cwd=tmp_path)
    assert "usage" in said.lower()
    assert "vstar" in said
    for benchmark in SAMPLES:
        again, first = (json.loads((tmp_path / benchmark / name).read_text()) for name in two)
        assert again["metrics"] == first["metrics"]
        for name in ("report.md", "again.md", "report.html", "compared.html", "board.html"):
            assert (tmp_path / benchmark / name).stat().st_size


def test_a_model_is_asked_and_a_run_continues(tmp_path: Path) -> None:
    data = BENCHMARKS / "vstar" / "sample" / SAMPLES["vstar"]
    with ModelServer(lambda asked: say("B")) as server:
        words = ["infer", "-b", "vstar", "--data", data, "--model", "m", "--base-url", server.url, "-o", "p.json"]
        words += ["--limit", 4]
        succeed(words, [*words, "--fresh"], ["p.json", "-b", "vstar", "--data", data, "--limit", 4], cwd=tmp_path)
        assert len(server.asked) == 8
    assert (tmp_path / "p_requests_old-1.jsonl").read_bytes().count(b"\n") == 4
    assert not list(tmp_path.glob(".*"))


def test_data_is_fetched_and_shown(tmp_path: Path) -> None:
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "t.csv").write_text("id,q,A,B,right\n1,Which?,red,blue,B\n")
    (tmp_path / "own").mkdir()
    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(http.server.SimpleHTTPRequestHandler, directory=tmp_path / "served")
    ) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/t.csv"
        (tmp_path / "own" / "benchmark.toml").write_text(OWN.format(url=url))
        assert "Which?" in succeed(["fetch", "own"], ["show", "own", "1"], cwd=tmp_path)
        server.shutdown()


def test_what_needs_linux_says_so_in_one_sentence(tmp_path: Path) -> None:
    folder = BENCHMARKS / "humaneval" / "sample"
    shutil.copy(folder / "predictions.json", tmp_path)
    graded = run(["predictions.json", "-b", "humaneval", "--data", folder / "tasks.jsonl"], cwd=tmp_path)
    assert (graded.returncode, graded.stderr.count("A sandbox needs Linux, and this is ")) == (3, 1)
    doctor = run(["doctor"], cwd=tmp_path)
    assert doctor.returncode == 3
    assert "none     A sandbox needs Linux, and this is " in doctor.stdout
    assert "WSL 2" in doctor.stdout
    assert "Traceback" not in graded.stderr + doctor.stderr
