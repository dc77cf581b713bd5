"""The processes that programs are forked from: which one serves whom, and what a fork has of its own."""

import json
import subprocess
import sys
from typing import Any

import inside
import phases
import pytest

from tests.tables import each

zygote = inside.load("supervise.zygote")

FORKING = """
import json, os, random, sys, threading
sys.path.insert(0, sys.argv[1])
from grade_sandbox.confine import process
found = []
for _ in range(3):
    read_end, write_end = os.pipe()
    pid = process.fork()
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
    "numpy is named": ("import numpy as np", "", True),
    "a library that loads it is": ("import pandas", "", True),
    "a word has its letters": ("print(input('numbers'))", "", False),
    "a call brings an array": ("", '{"nodes":[["array","<f8",[0],"",""]]}', True),
    "an answer brings a scalar": ("", '{"nodes":[["scalar","<f8","AA=="]]}', True),
}


@each("case", list(WANTED))
def test_numpy_is_loaded_where_a_text_or_data_needs_it(case: str) -> None:
    code, message, wanted = WANTED[case]
    assert zygote.needs_numpy(["x = 1", code], ["", message]) is wanted


def test_forks_have_random_numbers_and_threads_of_their_own() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKING, inside.FOLDER], capture_output=True, text=True, check=True, timeout=60
    )
    found = json.loads(done.stdout)
    assert len({drawn for drawn, *_ in found}) == 3
    assert [(is_main, alive, status) for _, is_main, _, alive, _, status in found] == [(True, False, 7)] * 3
    assert [inner for _, _, inner, *_ in found] == [outer for *_, outer, _ in found]


def _official(program: str) -> Any:
    head = f"{HEAD}{program}\nraise SystemExit(str(found))"
    return phases.do("run", head=head, test="", timed_out="", failed_prefix="")["result"]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_a_program_finds_numpy_loaded_only_where_it_names_it() -> None:
    assert _official("") == "False"
    assert _official("import numpy") == "True"
    # What it does not name it can load all the same.
    assert _official("found = __import__('num' + 'py').arange(3).sum()") == "3"
    assert _official("") == "False"


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
@pytest.mark.parametrize("leaves", ["", "open('left', 'w').write('by the tests')", "math.before = 1"])
def test_what_tests_leave_is_gone_before_the_next_ones_run(leaves: str) -> None:
    """One process records task after task; each run has its own folder and memory, and finds no other."""
    found = "[*(name for name in os.listdir('..') if not name.isdigit()), getattr(math, 'before', 0)]"
    test = f"import os, math\nassert solution({found})\n{leaves}"
    for _ in range(2):
        (call,) = phases.calls_of(phases.task(test), "def solution(a):\n    return a")["calls"]
        _, (given,), _, _ = inside.load("values").read(call)
        assert given == [0]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_tests_that_do_not_end_are_stopped_and_the_next_ones_run() -> None:
    endless = phases.task("while True:\n    pass\n") | {"reference": None}
    assert "calls" not in phases.do("record", endless, cpu=0.3).get("recorded", {})
    assert (
        phases.record(phases.task("import os\nos._exit(3)\n"))["refused"] == "the tests do not finish without a program"
    )
    assert len(phases.record(phases.task("assert solution(1) == 2\n"))["calls"]) == 1


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_a_programs_random_numbers_are_the_same_each_time_but_in_another_run() -> None:
    source = "import random, numpy\ndef solution(a):\n    return random.random(), float(numpy.random.rand())"
    spec = phases.task("assert solution(1)")
    calls = phases.calls_of(spec)
    candidate = phases.candidate(source, spec, calls)
    asked = [{"candidate": candidate | {"run": run}, "calls": calls["calls"]} for run in (0, 0, 1)]
    one, again, other = (phases.texts(phases.do("answer", job))[1:] for job in asked)
    assert one == again != other
    script = {"script": "import random\nprint(random.random())", "calls": ["", ""]}
    printed = [json.loads(reply)["printed"] for reply in phases.texts(phases.do("answer", script))[1:]]
    assert printed[0] == printed[1]
