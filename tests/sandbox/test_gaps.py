"""Objects that a fork creates are on new pages, not in the gaps between the objects of its parent."""

from __future__ import annotations

import gc
import subprocess
import sys

from tests.sandbox import inside

# Every other object of each size is freed, so the memory is full of gaps.
FORKING = """
import os, resource, sys
sys.path.insert(0, sys.argv[1])
import gaps
made = [bytes(size - 33) for size in (48, 96, 176, 320, 512, 900, 2048) for _ in range(1000)]
del made[::2]
if sys.argv[2] == "filled":
    gaps.fill()
pid = os.fork()
if pid == 0:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    new = [bytes(size - 33) for size in (48, 96, 176, 320, 512, 900, 2048) for _ in range(200)]
    print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before, flush=True)
    os._exit(0)
os.waitpid(pid, 0)
"""


def faults(how: str) -> int:
    command = [sys.executable, "-c", FORKING, inside.FOLDER, how]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_a_fork_of_a_process_without_gaps_writes_to_fewer_pages() -> None:
    # The 1,400 objects need some 200 pages in any case.
    assert 2 * faults("filled") < faults("unfilled")


def test_filling_takes_little_memory() -> None:
    gaps = inside.load("gaps")
    gaps.fill()
    assert 0 < sum(map(sys.getsizeof, gaps._kept)) < 16 << 20
    gaps._kept.clear()
    gc.unfreeze()
