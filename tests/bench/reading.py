"""Measures how long the careful reading of a reply takes.

`python tests/bench/reading.py FILE [BENCHMARK]`: FILE is published outputs with their questions (default: of MMLU-Pro).
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent.parent.parent)]

from grader.scorers.choice.careful import read_choice
from tests.reproduce.replies import replies_in

REPLIES, TIMES = 1000, 3


def main() -> None:
    """Print the median over replies of the CPU time of a reading, the fastest of three, and the machine's load."""
    file, benchmark = Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "mmlu-pro"
    found = [*replies_in(file, benchmark)]
    replies = random.Random(1).sample(found, min(REPLIES, len(found)))
    took = [float("inf")] * len(replies)
    for _ in range(TIMES):
        for at, one in enumerate(replies):
            begin = time.process_time_ns()
            read_choice(one.text, one.options, one.question)
            took[at] = min(took[at], (time.process_time_ns() - begin) / 1e6)
    late = sorted(took)[int(0.9 * len(took))]
    print(
        f"careful reading of a reply ({file.name}, {len(replies)} of {len(found):,}): median "
        f"{statistics.median(took):.2f} ms, mean {statistics.fmean(took):.2f} ms, 90 % within {late:.2f} ms "
        f"(load {os.getloadavg()[0]:.1f})"
    )


if __name__ == "__main__":
    main()
