"""Calls travel in batches; the answers are those of one call at a time."""

import socket
import struct
from typing import Any

import inside
import phases
import pytest
from phases import call

from tests.tables import each

dialogue = inside.load("supervise.dialogue")
values = inside.load("values")

DECLARED = {"signature": "def solution(a):\n    pass\n", "classes": [], "stubs": ["solution"], "names": {}}


def sent(said: Any) -> list[str]:
    """Return the calls that would be sent now."""
    data, said.pending = bytes(said.pending), memoryview(b"")
    found = []
    while data:
        length = int.from_bytes(data[:4], "big")
        found.append(data[4 : 4 + length].decode())
        data = data[4 + length :]
    return found


def run(source: str, *calls: str, cpu: float, each: int = 0, **more: Any) -> dict[str, Any]:
    """Return what a program answers to these calls in a sandbox; `cpu`: the seconds that it has."""
    candidate = {**DECLARED, "source": source, "max_answer_bytes": each}
    return phases.do("answer", {"candidate": candidate, "calls": calls, **more}, cpu=cpu)


def answered(said: Any, count: int) -> bool:
    return bool([said.feed(b"\0\0\0\2{}") for _ in range(count)][-1])


def test_batches_grow_from_one_call_and_hold_every_call_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dialogue.time, "monotonic", lambda: 0.0)
    calls = [call(number) for number in range(200)]
    said = dialogue.LockStep(-1, calls)
    sizes, found, done = [], [], answered(said, 1)
    while not done:
        batch = sent(said)
        sizes.append(len(batch))
        found += batch
        done = answered(said, len(batch))
    assert (sizes, found) == ([1, 2, 4, 8, 16, 32, 64, 64, 9], calls)


def test_after_a_slow_batch_calls_come_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(dialogue.time, "monotonic", lambda: now[0])
    said = dialogue.LockStep(-1, [call(number) for number in range(20)])
    sizes = []
    for pause in (0.0, 0.0, 0.0, 0.2, 0.0, 0.0):
        now[0] += pause
        answered(said, sizes[-1] if sizes else 1)
        sizes.append(len(sent(said)))
    assert sizes == [1, 2, 4, 1, 1, 1]


def test_what_a_program_says_after_its_time_is_up_is_no_answer_but_what_it_had_said_is() -> None:
    """It sends answers when no further call is there, or its time is up; then an empty message."""
    message = lambda text: struct.pack(">I", len(text)) + text  # noqa: E731

    def late(*messages: bytes) -> tuple[list[bytes], bool, bool]:
        said = dialogue.LockStep(-1, [call(number) for number in range(20)])
        for count in (1, 1, 2):
            answered(said, count)
        said.note_alarm()
        done = said.feed(b"".join(map(message, messages)))
        return said.replies[3:], said.is_unsure, done

    assert late(b"{4}", b"{5}", b"") == ([b"{4}", b"{5}"], False, False)
    assert late(b"") == ([], False, False)
    # It goes on, or nobody knows in which call it is: the official run shows what it does.
    assert late(b"{4}", b"", b"{5}") == ([b"{4}"], True, True)
    assert late(b"{4}") == ([], True, False)
    assert late(*[b"{}"] * 4) == ([], True, True)


def test_a_candidate_sees_no_call_before_it_has_answered_the_ones_before() -> None:
    """With the list in hand, a later argument can be the answer to an earlier call."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        said = dialogue.LockStep(ours.fileno(), ['{"first": 1}', '{"second": 2}'])
        assert said.pending == b""
        say = lambda text: struct.pack(">I", len(text)) + text  # noqa: E731
        assert said.feed(say(b"hello")) is False
        said.send()
        assert theirs.recv(999) == struct.pack(">I", 12) + b'{"first": 1}'
        assert said.feed(b"\0\0") is False
        assert said.pending == b""
        assert said.feed(b"\0\3one") is False
        said.send()
        assert theirs.recv(999) == struct.pack(">I", 13) + b'{"second": 2}'
        assert said.feed(say(b"two")) is True
        assert said.result == {"transcript": b"hello\none\ntwo"}


@pytest.mark.parametrize("byte", [b"\xff", b"\x01", b"\n"])
def test_what_no_process_of_grade_writes_is_garbage(byte: bytes) -> None:
    """A message is a line of printable ASCII: all that a program says is a text of lines."""
    said = dialogue.LockStep(-1, ["{}"] * 100)
    with pytest.raises(dialogue.GarbageError):
        said.feed(struct.pack(">I", 4) + b"abc" + byte)


def test_all_answers_fit_into_a_message_or_are_garbage() -> None:
    said = dialogue.LockStep(-1, ["{}"] * 100)
    part = struct.pack(">I", 1 << 20) + b"x" * (1 << 20)
    for _ in range(24):
        said.feed(part)
    with pytest.raises(dialogue.GarbageError):
        said.feed(part)


@each(
    "said",
    {
        "calls": dialogue.LockStep(-1, ["{}"] * 100, max_answer_bytes=24 << 20),
        "runs": dialogue.ScriptRuns(-1, ["1"] * 100),
    },
)
def test_an_answer_that_does_not_fit_beside_the_ones_before_is_left_to_another_job(said: Any) -> None:
    sizes = [2, 7 << 20, 20 << 20]
    assert [said.feed(struct.pack(">I", size) + b"x" * size) for size in sizes] == [False, False, True]
    assert [len(reply) for reply in said.replies] == [7 << 20]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
@pytest.mark.parametrize("each", [0, 1 << 20])
def test_the_answers_before_the_call_that_uses_up_the_time_are_all_there(each: int) -> None:
    """Their batch was sent at once. Each call may have the limit for itself, or all together."""
    source = "def solution(a):\n    if a == 50:\n        while True: pass\n    return [a]\n"
    answer = run(source, *map(call, range(100)), cpu=0.3, each=each)
    assert [values.read(reply)[1] for reply in phases.texts(answer)[1:]] == [[number] for number in range(50)]
    assert (answer["evidence"]["stopped"], answer.get("unsure", False)) == ("cpu", False)


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_calls_that_are_slow_together_have_their_limits_one_by_one() -> None:
    source = "import time\ndef solution(a):\n    end = time.process_time() + 0.04 * (a > 31)\n"
    source += "    while time.process_time() < end:\n        pass\n    return a\n"
    answer = run(source, *map(call, range(64)), cpu=0.5, each=1 << 20)
    assert (answer["evidence"]["stopped"], len(phases.texts(answer))) == (None, 65)


WORKS = "  n = 0\n  while True: n += 1\n"


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
@pytest.mark.parametrize(
    ("body", "stopped", "goes_on"),
    [
        (f"try:\n{WORKS} except Exception: return 1", "cpu", True),
        ("try:\n  time.sleep(9)\n finally: return 1", "blocked", True),
        (f"try:\n{WORKS} except Exception: raise SystemExit", "cpu", True),
        (f"try:\n{WORKS} except ValueError: return 1", "cpu", False),
        ("time.sleep(9)", "blocked", False),
        ("while True:\n  try: time.sleep(9)\n  except Exception: pass", "blocked", False),
    ],
)
def test_a_program_whose_time_is_up_is_told_so_and_what_it_says_then_is_no_answer(
    body: str, stopped: str, goes_on: bool
) -> None:
    """Officially it would be told so, too: only if it goes on, the official run must show what it does."""
    answer = run(f"import time\ndef solution(a):\n {body}\n", call(1), cpu=0.2)
    assert (answer["evidence"]["stopped"], len(phases.texts(answer))) == (stopped, 1)
    assert answer.get("unsure", False) == goes_on


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_a_slow_program_leaves_calls_to_another_job_and_its_longest_one_is_measured() -> None:
    source = "import time\ndef solution(a):\n    end = time.process_time() + 0.2 + 0.2 * (a == 1)\n"
    source += "    while time.process_time() < end:\n        pass\n    return a\n"
    said = run(source, *map(call, range(50)), cpu=5, each=1 << 20, max_seconds=0.7)
    assert said["evidence"]["stopped"] is None
    assert 3 <= len(phases.texts(said)) < 21
    assert 0.3 <= said["evidence"]["longest"] < said["evidence"]["cpu"]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_a_program_that_has_returned_is_not_taken_for_one_that_never_ends() -> None:
    """What it changed takes longer to send than it has time; only its first call decides whether it ends."""
    source = "def solution(a):\n    a += [7] * 3000000\n    return 1\n"
    said = run(source, call([]), cpu=0.1)
    assert said["evidence"]["stopped"] is None or said["unsure"]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_loading_a_program_takes_no_time_from_a_call() -> None:
    """A job for the rest of the calls begins with any of them, which has its whole time there, too."""
    source = "import time\ndef work():\n    end = time.process_time() + 0.6\n    while time.process_time() < end:\n"
    source += "        sum(range(20000))\nwork()\ndef solution(a):\n    work()\n    return a\n"
    said = run(source, call(1), cpu=0.9, each=1 << 20)
    assert (said["evidence"]["stopped"], len(phases.texts(said))) == (None, 2)


@pytest.mark.parametrize("each", [0, 1 << 20])
def test_a_program_that_has_worked_long_enough_is_asked_nothing_more(each: int) -> None:
    """Only where each call has a limit of its own: the grader has a job for the rest."""
    said = dialogue.LockStep(-1, [call(number) for number in range(20)], max_answer_bytes=each, max_seconds=1.0)
    answered(said, 3)
    sent(said)
    said.spent_seconds = 1.5
    assert answered(said, 1) == bool(each)
    assert len(said.replies) == 3
