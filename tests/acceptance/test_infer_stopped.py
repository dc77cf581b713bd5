"""`grade infer` through every way to end a run: killed, interrupted, on a full disk."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.acceptance.asking import VSTAR
from tests.acceptance.command import Started, grade
from tests.models.server import Action, Asked, ModelServer, fail, raw, say

pytestmark = pytest.mark.usefixtures("asks_in_tmp_path")
TASKS, EACH = 10, 12
TROUBLES = [
    fail(429, retry_after="0.1"),
    fail(500),
    Action(status=503),
    Action(hang_up=True),
    raw(b'{"choices": []}'),
    say(None),
    raw(b'{"choices": [{"mess'),
]


class Killing:
    """A server that misbehaves now and then, answers with what was asked, and counts requests."""

    def __init__(self) -> None:
        self.random = random.Random(15)
        self.requests = 0

    def __call__(self, request: Asked) -> Action:
        self.requests += 1
        if self.random.random() < 0.15:
            return self.random.choice(TROUBLES)
        text = request.body["messages"][0]["content"][1]["text"]
        return say(answer_to(text, request.body["seed"]), delay=self.random.uniform(0.02, 0.25), choices=2)


def answer_to(prompt: str, seed: int) -> str:
    return f"{prompt.splitlines()[0]} sample {seed}"


def command(url: str) -> list[object]:
    """Return the words of a run."""
    words = ["infer", *VSTAR, "--model", "m", "--base-url", url, "-o", "m.json", "-n", EACH, "--concurrency", 3]
    return [*words, "--temperature", 0.5]


def check_predictions(path: Path, *, complete: bool) -> None:
    """Every prediction in the file is the answer to its own sample, and none is there twice."""
    if not path.exists():
        assert not complete
        return
    count = 0
    for record in json.loads(path.read_text()):
        assert record["samples"] == sorted(set(record["samples"]))
        assert record["predictions"] == [answer_to(record["prompt"], sample) for sample in record["samples"]]
        count += len(record["predictions"])
    assert count <= TASKS * EACH
    assert not complete or count == TASKS * EACH


def test_a_run_that_is_killed_six_times_ends_with_exactly_the_right_samples(tmp_path: Path) -> None:
    deciding, kills = Killing(), Counter[str]()
    chance = random.Random(20)
    with ModelServer(deciding) as server:
        while kills.total() < 6:
            how = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[kills.total() % 3]
            before, enough = deciding.requests, chance.randint(1, 7)
            run = Started(*command(server.url))
            while deciding.requests - before < enough and run.is_running():
                time.sleep(0.005)
            run.send_signal(how)
            ended = run.wait()
            assert ended.returncode in {130, -how}, ended.stderr
            kills[how.name] += 1
            check_predictions(tmp_path / "m.json", complete=False)
        last = grade(*command(server.url))
    assert last.returncode == 0, last.stderr
    assert "120 replies had more than one choice; the first one was used." in last.stderr
    assert set(kills) == {"SIGINT", "SIGTERM", "SIGKILL"}
    check_predictions(tmp_path / "m.json", complete=True)
    replies = [json.loads(line) for line in (tmp_path / "m_requests.jsonl").read_text().splitlines()]
    answered = Counter((line["qid"], line["sample"]) for line in replies if line["content"] is not None)
    assert len(answered) == TASKS * EACH
    assert set(answered.values()) == {1}
    assert grade("check", "m.json", *VSTAR).returncode == 0


@pytest.mark.parametrize(
    ("answered", "kept"),
    [(4, "4 of 120 samples in m.json; the same command asks for the other 116."),
     (0, "No sample was answered; the same command asks for all 120.")],
)  # fmt: skip
def test_an_interrupt_says_what_is_there_and_how_to_go_on(answered: int, kept: str) -> None:
    def decide(request: Asked) -> Action:
        return say("A", delay=0 if request.number < answered else 3600)

    with ModelServer(decide) as server:
        run = Started(*command(server.url))
        while len(server.asked) < answered + 3:
            time.sleep(0.01)
        run.send_signal(signal.SIGINT)
        said = run.wait()
        server.release.set()
    assert (said.returncode, said.stderr.splitlines()[-1]) == (130, f"Interrupted. {kept}")


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="no prlimit")
def test_a_full_disk_says_how_many_samples_are_kept_in_which_file_and_what_to_do() -> None:
    """No file may grow beyond a limit, as on a full disk: first the log reaches it, then the prediction file."""
    with ModelServer.playing(say("A")) as server:

        def run(limit: int) -> tuple[int, str]:
            words = ["prlimit", f"--fsize={limit}", sys.executable, "-m", "grader", *command(server.url), "-q"]
            done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
            return done.returncode, done.stderr.strip()

        code, said = run(20_000)
        kept = Path("m_requests.jsonl").read_text().count("\n")  # a last line may be there in part
        assert 0 < kept < TASKS * EACH
        assert (code, said) == (
            3,
            f"error: m_requests.jsonl could not be written: File too large. {kept} of 120 samples are kept in "
            "m_requests.jsonl. Make room, and run the same command again: it asks only for the other "
            f"{TASKS * EACH - kept}.",
        )
        assert grade(*command(server.url), "-q").returncode == 0
        asked = len(server.asked)
        Path("m.json").unlink()
        assert run(1000) == (
            3,
            "error: m.json could not be written: File too large. 120 of 120 samples are kept in m_requests.jsonl. "
            "Make room, and run the same command again: it asks for nothing again and writes the predictions.",
        )
        assert grade(*command(server.url), "-q").returncode == 0
    assert len(server.asked) == asked
    assert Path("m.json").exists()
