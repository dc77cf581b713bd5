"""CPU load for tests: one busy process per core."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from typing import TYPE_CHECKING

from grader import resources

if TYPE_CHECKING:
    from collections.abc import Iterator

# The process ends when its parent is gone, so that a killed self-test leaves no load behind.
_LOOP = (
    "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(1_000_000):\n        pass\n"
)


@contextlib.contextmanager
def busy(*, wanted: bool) -> Iterator[list[int]]:
    """Keep every core busy inside the block, if `wanted`; yield the ids of the busy processes."""
    running: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(resources.usable_cores() if wanted else 0):
            running.append(subprocess.Popen([sys.executable, "-I", "-S", "-c", _LOOP]))  # noqa: S603
        yield [process.pid for process in running]
    finally:
        for process in running:
            process.kill()
        for process in running:
            process.wait()
