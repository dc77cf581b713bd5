"""The official reading, bug for bug: what the published evaluators wrote of these programs, recorded once.

official_results.json holds the result texts that both versions of HumanEval-V's execution.py gave for programs that
exit, hang, sleep, read input, catch its alarm, tamper with it, or die.
"""

import json
from pathlib import Path

import pytest

from grader.observer import Silent
from grader.options import Options
from grader.sandbox import choice
from grader.sandbox.answer import parse_answer
from grader.sandbox.interface import Limits
from grader.sandbox.queue import JobQueue
from tests.conftest import BACKENDS

RECORDED = json.loads((Path(__file__).parent / "official_results.json").read_text(encoding="utf-8"))
WORDS = {"v1": ("timed out", "failed: "), "v2": ("Test Case Execution Time Out (> 2 seconds)", "")}


# The words of a protocol come from outside the sandbox: each protocol once, each backend once; Docker is left to
# `make test-slow`.
@pytest.mark.parametrize(
    ("protocol", "backend"),
    [
        pytest.param("v1", *BACKENDS[0].values, marks=[*BACKENDS[0].marks, pytest.mark.slow]),
        pytest.param("v2", *BACKENDS[1].values, marks=BACKENDS[1].marks),
    ],
)
def test_every_result_text_is_the_official_one(protocol: str, backend: str) -> None:
    timed_out, failed = WORDS[protocol]
    jobs = {
        row["name"]: {
            "id": 0,
            "run": True,
            "head": RECORDED["head"] + row["source"] + "\n\n",
            "test": RECORDED["test"],
            "timed_out": timed_out,
            "failed_prefix": failed,
            # Programs that work or sleep for a second pass. Those that never end need no more than this.
            "cpu": 0.6 if row[protocol] == timed_out else 1.5,
            "wall": 20.0,
        }
        for row in RECORDED["programs"]
    }
    with JobQueue(choice.open_backend(Options(sandbox=backend), Limits(), Silent()), 2) as queue:
        seen = {name: parse_answer(answer).run for name, answer in queue.run(jobs.items())}
    texts = {name: timed_out if run.result is None else run.result for name, run in seen.items()}
    assert texts == {row["name"]: row[protocol] for row in RECORDED["programs"]}
