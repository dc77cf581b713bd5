"""A supervisor's answer becomes a typed record, in whichever thread it arrives."""

import subprocess
import sys

import msgspec
import pytest

from grader.sandbox.answer import parse_answer
from tests.tables import each


@each("answer", [{}, {"lint": None}, {"greeting": True}, {"lint": {"messages": "no"}}])
def test_an_answer_without_an_observation_is_invalid(answer: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        parse_answer(answer)


FIRST_OF_ALL = """
import sys, threading
sys.setswitchinterval(1e-6)
from grader.sandbox.answer import parse_answer

EVIDENCE = dict(stopped=None, status=0, cpu=1.0, wall=1.0, waited=0.0, oom=False)
RECORDED = dict(truthy={}, falsy={})
ANSWER = dict(lint={}, record=dict(evidence=EVIDENCE, recorded=RECORDED), judge=dict(evidence=EVIDENCE))
start = threading.Barrier(16)

def first():
    start.wait()
    assert parse_answer(ANSWER).judge.evidence.cpu == 1.0

threads = [threading.Thread(target=first) for _ in range(16)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
"""


def test_several_threads_may_convert_the_first_answer() -> None:
    """If the type is not prepared at import, 11 of 12 of these processes crash."""
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", FIRST_OF_ALL], capture_output=True, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
