"""A grader's end, however it comes, is its sandboxes' end; and a sandbox's end is not the grader's."""

import contextlib
import json
import signal
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hostile.arena import VARIANTS, Arena, arena, outcomes, own_cache, pids
from hostile.program import SIGNATURE, TESTS, fenced

pytestmark = pytest.mark.hostile

QUICK = "def solution(x):\n    return {{3: 7392, 5: 1187}}[x] + 0 * {salt}\n"
ASLEEP = "import time\n\n\ndef solution(x):\n    time.sleep(600 + {salt})\n"
NAMED = """
import ctypes
import time
def solution(x):
    # PR_SET_NAME: what this machine then calls this process.
    ctypes.CDLL(None).prctl(15, b"{name}")
    time.sleep(600)
"""


@pytest.fixture(scope="module", params=VARIANTS)
def place(request: pytest.FixtureRequest) -> Iterator[Arena]:
    """An arena with a verdict cache of its own, checked for leftovers at the end."""
    with arena(request.param) as made:
        if not made.environment.get("XDG_CACHE_HOME", "").startswith(str(made.folder)):
            own_cache(made)
        yield made
        assert made.settled() == []


def tasks_of(sources: list[str]) -> tuple[list[dict[str, str]], list[dict[str, Any]]]:
    """Return tasks and predictions: one task, one program each."""
    names = [f"task{number:03}" for number in range(len(sources))]
    tasks = [{"qid": name, "function_signature": SIGNATURE, "test_script": TESTS} for name in names]
    texts = [fenced(source.format(salt=number)) for number, source in enumerate(sources)]
    return tasks, [{"qid": name, "predictions": [text]} for name, text in zip(names, texts, strict=True)]


def until(condition: Callable[[], Any], seconds: float = 600) -> Any:
    """Wait until something is so, on a busy machine too; return what it is."""
    deadline = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.05)
    return value


def sandboxes(place: Arena) -> list[Any]:
    """Return what holds this arena's running sandboxes: names of containers, or pids of supervisors."""
    if place.backend == "docker":
        return place.containers()
    return [pid for pid, words in place.processes() if "runner.py" in words and parent_is_bubblewrap(pid)]


def parent_is_bubblewrap(pid: int) -> bool:
    with contextlib.suppress(OSError):
        parent = int(_stat(pid)[1])
        return Path(f"/proc/{parent}/comm").read_text() == "bwrap\n" != Path(f"/proc/{pid}/comm").read_text()
    return False


def is_running(name: str) -> bool:
    """Whether a process has this name, in whatever sandbox."""
    for pid in pids():
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text() == f"{name}\n":
                return True
    return False


def _stat(pid: int) -> list[str]:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_sandboxes_do_not_outlive_a_killed_grader(place: Arena, number: signal.Signals) -> None:
    """bubblewrap dies with its parent; a container no later than the next grader starts. SIGTERM is like Ctrl-C."""
    command = place.write(f"killed-{number}", *tasks_of([QUICK, ASLEEP, ASLEEP]))
    process = place.start([*command, "--no-cache", "--timeout", "300"])
    until(lambda: sandboxes(place))
    time.sleep(0.5)
    process.send_signal(number)
    process.communicate(timeout=200)
    assert process.returncode == (130 if number == signal.SIGTERM else -number)
    if place.backend == "docker" and number == signal.SIGKILL:
        samples = place.grade(f"after-{number}", *tasks_of([QUICK]), "--no-cache")
        assert outcomes(samples["task000"][0]) == ("passed", "passed")
    assert place.settled() == []


def test_ctrl_c_leaves_nothing_and_the_same_command_resumes(place: Arena) -> None:
    """Exit 130, no files written, no sandbox left; what was finished comes from the cache the second time."""
    count, name = 4, f"zz-{uuid.uuid4().hex[:8]}"
    sources = [QUICK] * count + [NAMED.replace("{name}", name)]
    command = [*place.write("interrupted", *tasks_of(sources)), "--timeout", "6", "--workers", "1"]
    process = place.start(command)
    # The last program has begun: the others are answered.
    until(lambda: is_running(name))
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=200)
    assert process.returncode == 130, errors
    assert "Interrupted" in errors
    assert "Traceback" not in errors
    assert sorted(path.name for path in (place.folder / "interrupted").iterdir()) == ["predictions.json", "tasks.jsonl"]
    assert place.settled() == []
    place.finish(place.start(command))
    report = json.loads((place.folder / "interrupted" / "predictions_results.json").read_bytes())
    assert report["provenance"]["sandbox"]["verdicts_from_cache"] >= count // 2
    found = [outcomes(sample) for sample in report["samples"]]
    assert found == [("passed", "passed")] * count + [("timeout", "timeout")]
    again = place.finish(place.start(command))
    assert "Traceback" not in again
