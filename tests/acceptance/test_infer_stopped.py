"""`grade infer` through every way to end a run: killed, interrupted, on a full disk."""

import json
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.acceptance.asking import VSTAR
from tests.acceptance.command import Started, grade
from tests.conftest import THOROUGH
from tests.models.server import Action, Asked, ModelServer, fail, raw, say

pytestmark = pytest.mark.usefixtures("asks_in_tmp_path")
TASKS, EACH = 10, 12
KILLS = 10 if THOROUGH else 4
TROUBLES = [
    fail(429, retry_after="0.1"),
    fail(500),
    Action(status=503),
    Action(hang_up=True),
    raw(b'{"choices": []}'),
    say(None),
    raw(b'{"choices": [{"mess'),
]


def answer_to(prompt: str, seed: int) -> str:
    return f"{prompt.splitlines()[0]} sample {seed}"


def text_of(request: Asked) -> str:
    return str(request.body["messages"][0]["content"][1]["text"])


def answer(request: Asked, delay: float) -> Action:
    """Answer with what was asked."""
    return say(answer_to(text_of(request), request.body["seed"]), delay=delay)


class Unsteady:
    """A server that fails now and then: for good, or until it is asked again."""

    def __init__(self) -> None:
        self.random = random.Random(15)

    def __call__(self, request: Asked) -> Action:
        if self.random.random() < 0.15:
            return self.random.choice(TROUBLES)
        return answer(request, self.random.uniform(0.02, 0.25))


class Gateway:
    """A server that is slow, resets connections in the middle of a body, and refuses some tasks in three ways."""

    REFUSED = {
        "flag": (fail(403, "blocked"), "replied with HTTP 403: blocked"),
        "umbrella": (fail(404, "no route"), "replied with HTTP 404: no route; check the model's name and --base-url"),
        "kite": (say("late", delay=60), "did not reply within 3 s"),
    }

    def __init__(self) -> None:
        self.random = random.Random(16)
        self.is_crowded = True

    def __call__(self, request: Asked) -> Action:
        text = text_of(request)
        for word, (refusal, _) in self.REFUSED.items():
            if word in text.splitlines()[0]:
                return refusal
        if self.is_crowded and "cat" in text and request.body["seed"] == 1:
            return fail(429, "wait", retry_after="300")
        whole = answer(request, self.random.uniform(0.02, 0.25))
        return replace(whole, sent=len(whole.body) // 2, hang_up=True) if self.random.random() < 0.2 else whole


def command(url: str, *words: object) -> list[object]:
    """Return the words of a run."""
    given = ["infer", *VSTAR, "--model", "m", "--base-url", url, "-o", "m.json", "-n", EACH, "--concurrency", 3]
    return [*given, "--temperature", 0.5, *words]


def logged() -> tuple[bytes, set[tuple[str, int]]]:
    """Return the whole lines of the log, and (prompt, seed) of the requests that have a reply in it."""
    path = Path("m_requests.jsonl")
    data = path.read_bytes() if path.exists() else b""
    whole = data[: data.rfind(b"\n") + 1]
    lines = [json.loads(line) for line in whole.splitlines()]
    return whole, {(line["prompt"], line["settings"]["seed"]) for line in lines if line["content"] is not None}


def killed(server: ModelServer, times: int, words: list[object]) -> None:
    """Kill runs while they ask; what was logged stays, and is not asked again."""
    chance = random.Random(20)
    for number in range(times):
        how = (signal.SIGINT, signal.SIGTERM, signal.SIGKILL)[number % 3]
        before, (lines, replies), enough = len(server.asked), logged(), chance.randint(1, 7)
        run = Started(*words)
        while len(server.asked) - before < enough and run.is_running():
            time.sleep(0.005)
        run.send_signal(how)
        ended = run.wait()
        assert ended.returncode in {130, -how}, ended.stderr
        assert logged()[0].startswith(lines)
        assert replies.isdisjoint((text_of(each), each.body["seed"]) for each in server.asked[before:])
        check_predictions(Path("m.json"))


def check_predictions(path: Path) -> int:
    """Check that every prediction is the answer to its own sample, and none is there twice; return their number."""
    count = 0
    for record in json.loads(path.read_text()) if path.exists() else ():
        assert record["samples"] == sorted(set(record["samples"]))
        assert record["predictions"] == [answer_to(record["prompt"], sample) for sample in record["samples"]]
        count += len(record["predictions"])
    return count


@pytest.mark.generated
@pytest.mark.parametrize(("deciding", "each"), [(Unsteady, EACH if THOROUGH else 5), (Gateway, 3)])
def test_kills_lose_nothing_and_what_failed_is_listed_and_asked_again(
    deciding: Callable[[], Unsteady | Gateway], each: int
) -> None:
    decide = deciding()
    refused = Gateway.REFUSED if isinstance(decide, Gateway) else {}
    with ModelServer(decide) as server:
        words = command(server.url, "-n", each, "--request-timeout", 3)
        killed(server, KILLS, words)
        if isinstance(decide, Gateway):
            decide.is_crowded = False
        for _ in range(9):
            before, (_, replies) = len(server.asked), logged()
            last = grade(*words)
            assert replies.isdisjoint((text_of(asked), asked.body["seed"]) for asked in server.asked[before:])
            if len(logged()[1]) == (TASKS - len(refused)) * each:
                break
            assert last.returncode == 3, last.stderr
        server.release.set()
    assert check_predictions(Path("m.json")) == (TASKS - len(refused)) * each
    answered = Counter(
        (line["qid"], line["sample"])
        for line in map(json.loads, Path("m_requests.jsonl").read_text().splitlines())
        if line["content"] is not None
    )
    assert set(answered.values()) == {1}
    missing = len(refused) * each
    assert last.returncode == (3 if missing else 0), last.stderr
    for _, said in refused.values():
        assert said in last.stderr
    if missing:
        end = f"error: {missing} of {TASKS * each} samples are missing: {missing} requests failed. "
        assert last.stderr.splitlines()[-2] == f"{end}The same command asks only for these."
    else:
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
