"""A function that runs in a fork: its result comes back, and nothing else does."""

from __future__ import annotations

import json
import subprocess
import sys

import inside

# In a process with one thread, like the sandbox's: the test's own has several, whose locks a fork would inherit.
PROGRAM = """
import json, os, sys, time
sys.path.insert(0, sys.argv[1])
from grade_sandbox.tests.belief import branch
held = [1]
def endless():
    while True:
        pass
started = time.process_time()
print(json.dumps({
    "large": branch(lambda: {"a": ["x" * (1 << 20)]}, 5.0) == {"a": ["x" * (1 << 20)]},
    "changed": branch(lambda: held.append(2) or held, 5.0),
    "held": held,
    "ended": branch(lambda: os._exit(0), 5.0),
    "raised": branch(lambda: 1 // 0, 5.0),
    "endless": branch(endless, 0.2),
    "is_stopped": time.process_time() - started < 5,
}))
"""


def test_a_branch_has_a_result_of_any_size_changes_nothing_and_ends_in_time() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, inside.FOLDER], capture_output=True, timeout=60, check=True)
    wanted = {"large": True, "changed": [1, 2], "held": [1], "ended": None, "raised": None, "endless": None}
    assert json.loads(done.stdout) == wanted | {"is_stopped": True}
