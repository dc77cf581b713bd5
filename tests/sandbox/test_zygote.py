"""The processes that programs are forked from: which one serves whom, and what a fork has of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from grader.observer import Silent
from grader.options import Options
from grader.sandbox import bubblewrap, choice
from grader.sandbox.interface import Limits
from tests.sandbox import inside

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.sandbox.interface import Supervisor

zygote = inside.load("zygote")
placeholder = inside.load("placeholder")

FORKING = """
import json, os, random, sys, threading
sys.path.insert(0, sys.argv[1])
import confine
found = []
for _ in range(3):
    read_end, write_end = os.pipe()
    pid = confine.fork()
    if pid == 0:
        thread = threading.Thread(target=lambda: None)
        thread.start()
        thread.join()
        said = [random.random(), threading.main_thread().native_id == os.getpid(), os.getpid(), thread.is_alive()]
        os.write(write_end, json.dumps(said).encode())
        os._exit(7)
    found.append([*json.loads(os.read(read_end, 1000)), pid, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])])
print(json.dumps(found))
"""
HEAD = "import sys\n\nfound = 'num' + 'py' in sys.modules\n"
WANTED = {
    "numpy is named": ({"source": "import numpy as np"}, True),
    "its alias is": ({"test": "assert np.allclose(f(1), 2)"}, True),
    "a library that loads it is": ({"program": "import pandas"}, True),
    "a word has its letters": ({"source": "print(input('numbers'))", "signature": "", "test": "x = 1"}, False),
    "a call brings an array": ({"source": "", "calls": ['{"n":[["array","<f8",[0],"",""]]}']}, True),
    "an answer brings a scalar": ({"test": "", "replies": ['{"n":[["scalar","<f8","AA=="]]}']}, True),
    "an answer brings a list": ({"test": "", "replies": ['{"v":{"r":0},"n":[["list",[1]]]}']}, False),
}


@pytest.mark.parametrize("case", WANTED)
def test_numpy_is_loaded_where_a_text_or_data_needs_it(case: str) -> None:
    spec, wanted = WANTED[case]
    assert zygote.needs_numpy(spec) is wanted


def test_the_names_of_arrays_are_those_of_numpy() -> None:
    """Whether a method of an answer is a plain one hangs on no module that is loaded."""
    names = {name for name in dir(np.ndarray) if not name.startswith("_")}
    assert {name for name in names if not placeholder.is_local(name, [])} == set()


def test_forks_have_random_numbers_and_threads_of_their_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING, inside.FOLDER], capture_output=True, text=True, check=True, timeout=60
    )
    found = json.loads(done.stdout)
    assert len({drawn for drawn, *_ in found}) == 3
    assert [(is_main, alive, status) for _, is_main, _, alive, _, status in found] == [(True, False, 7)] * 3
    assert [inner for _, _, inner, *_ in found] == [outer for *_, outer, _ in found]


@pytest.fixture
def supervisor() -> Iterator[Supervisor]:
    if bubblewrap.executable() is None:
        pytest.skip("bubblewrap is not installed")
    started = choice.open_backend(Options(sandbox="bubblewrap"), Limits(), Silent()).start(0, lint=False)
    yield started
    started.close()


def _official(supervisor: Supervisor, program: str) -> Any:
    job = {"id": 0, "cpu": 2, "wall": 20, "run": True, "timed_out": "", "failed_prefix": "", "test": ""}
    supervisor.send(job | {"head": f"{HEAD}{program}\nraise SystemExit(str(found))"}, 60)
    return supervisor.receive(60)["run"]["result"]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_a_program_finds_numpy_loaded_only_where_it_names_it(supervisor: Supervisor) -> None:
    assert _official(supervisor, "") == "False"
    assert _official(supervisor, "import numpy") == "True"
    # What it does not name it can load all the same.
    assert _official(supervisor, "found = __import__('num' + 'py').arange(3).sum()") == "3"
    assert _official(supervisor, "") == "False"


LEAVING = """
import os
open("left", "w").write("by the tests")
assert solution(sorted(os.listdir(".."))) == 1
"""


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_what_tests_leave_is_gone_before_the_next_ones_run(supervisor: Supervisor) -> None:
    """One process records task after task; each run finds its own folder and no other."""
    job = {"id": 0, "cpu": 8, "wall": 20}
    task = {"signature": "def solution(a):\n    pass\n", "classes": [], "stubs": ["solution"], "test": LEAVING}
    for _ in range(2):
        supervisor.send(job | {"record": task}, 60)
        recorded = supervisor.receive(60)["record"]["recorded"]
        for said in recorded.values():
            (call,) = said["calls"]
            ((kind, names),) = json.loads(call)["n"]
            assert (kind, len(names)) == ("list", 1)


REMEMBERING = """
import math
math.before = getattr(math, "before", 0) + 1
assert solution(math.before) == 1
"""


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_the_two_recordings_of_a_task_do_not_disturb_each_other(supervisor: Supervisor) -> None:
    """They are made in one process only if they are the same there."""
    task = {"signature": "def solution(a):\n    pass\n", "classes": [], "stubs": ["solution"], "test": REMEMBERING}
    supervisor.send({"id": 0, "cpu": 8, "wall": 20, "record": task}, 60)
    recorded = supervisor.receive(60)["record"]["recorded"]
    for said in recorded.values():
        (call,) = said["calls"]
        assert json.loads(call)["v"] == [1]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_tests_that_do_not_end_are_stopped_and_the_next_ones_run(supervisor: Supervisor) -> None:
    job = {"id": 0, "cpu": 0.3, "wall": 20}
    task = {"signature": "def solution(a):\n    pass\n", "classes": [], "stubs": ["solution"]}
    supervisor.send(job | {"record": task | {"test": "while True:\n    pass\n"}}, 60)
    seen = supervisor.receive(60)["record"]
    assert seen["evidence"]["stopped"] is not None
    assert "recorded" not in seen
    supervisor.send(job | {"record": task | {"test": "import os\nos._exit(3)\n"}}, 60)
    assert supervisor.receive(60)["record"]["recorded"]["truthy"] == {"refused": "the recording did not end"}
    supervisor.send(job | {"record": task | {"test": "assert solution(1) == 2\n"}}, 60)
    assert len(supervisor.receive(60)["record"]["recorded"]["truthy"]["calls"]) == 1
