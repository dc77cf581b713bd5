"""`grade serve` as a process, driven over HTTP: what it grades, what it refuses, and how it ends."""

import contextlib
import http.client
import json
import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import grader
from tests.conftest import ROOT
from tests.tables import each

# One worker has the server.
pytestmark = pytest.mark.xdist_group("serve")
SAMPLE = ROOT / "benchmarks" / "vstar" / "sample"
COMMAND = [sys.executable, "-m", "grader", "serve", "-b", "vstar", "--data", f"{SAMPLE / 'questions.jsonl'}"]
LIMITS = ["--max-body", "64k", "--max-waiting", "20"]
TOKEN = "correct-horse-battery-staple"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: Any


class Served(NamedTuple):
    process: subprocess.Popen[str]
    port: int

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        """Send a request; a body that is not bytes is sent as JSON."""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        known = {name.replace("_", "-"): value for name, value in headers.items()}
        known = ({"content-type": "application/json"} if data is not None else {}) | known
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request(method, path, data, known)
            response = connection.getresponse()
            text = response.read()
            is_json = response.headers.get("content-type") == "application/json"
            return Answer(response.status, dict(response.headers), json.loads(text) if is_json else text.decode())


@contextlib.contextmanager
def served(*options: str, command: list[str] = COMMAND, **variables: str) -> Iterator[Served]:
    process = subprocess.Popen(
        [*command, "--port", "0", *options], cwd=ROOT, stderr=subprocess.PIPE, text=True, env=os.environ | variables
    )
    try:
        line = process.stderr.readline()
        assert line.startswith("Listening on http://"), line + process.stderr.read()
        yield Served(process, int(line.strip().rpartition(":")[2]))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served(*LIMITS) as found:
        yield found


def samples() -> list[tuple[str, str]]:
    records = json.loads((SAMPLE / "predictions.json").read_text())
    return [(record["qid"], text) for record in records for text in record["predictions"]]


def batch(pairs: list[tuple[str, str]]) -> dict[str, Any]:
    return {"samples": [{"qid": qid, "text": text} for qid, text in pairs]}


def outcomes(pairs: list[tuple[str, str]]) -> list[str]:
    with grader.Pool(benchmark="vstar", data=SAMPLE / "questions.jsonl", shared=False) as pool:
        return [result.careful.outcome.value for result in pool.grade_samples(pairs)]


def test_a_batch_is_graded_as_the_pool_grades_it(server: Served) -> None:
    answer = server.ask("POST", "/grade/batch", batch(samples()[:16]))
    assert answer.status == 200
    assert [sample["qid"] for sample in answer.body["samples"]] == [qid for qid, _ in samples()[:16]]
    assert [sample["careful"]["outcome"] for sample in answer.body["samples"]] == outcomes(samples()[:16])


def test_openrlhf_gets_its_rewards_as_lists(server: Served) -> None:
    qid = samples()[0][0]
    asked = {"query": ["Which? A", "Which? B", "Which? C"], "prompts": ["Which? "] * 3, "labels": [qid] * 3}
    answer = server.ask("POST", "/openrlhf", asked)
    assert answer.status == 200
    assert sorted(answer.body["rewards"]) == [0.0, 0.0, 1.0]
    assert answer.body["scores"] == answer.body["rewards"]
    assert answer.body["extra_logs"] == {"unscored": [0.0] * 3, "suspect": [0.0] * 3}


def test_it_says_that_it_is_well_and_what_it_has_done(server: Served) -> None:
    server.ask("POST", "/grade/batch", batch(samples()[:4]))
    assert server.ask("GET", "/health").body == {"status": "ok"}
    text = server.ask("GET", "/metrics").body
    assert "grade_pool_up 1.0" in text
    assert 'grade_samples_total{outcome="correct"}' in text
    assert 'grade_requests_total{path="/grade/batch",status="200"}' in text
    assert "grade_samples_under_way 0.0" in text


GOOD = {"qid": "0", "text": "A"}


@each(
    ("path", "body", "status", "said"),
    [
        ("/grade", b"\xff\xfe", 400, "not JSON"),
        ("/grade", b'{"qid": "0", "text": "\xff"}', 400, "not JSON"),
        ("/grade", b'{"other":' + b"[" * 60_000, 422, "other"),
        ("/openrlhf", b'{"other":' + b"[" * 60_000, 400, "not JSON"),
        ("/grade", {"qid": 1, "text": "A"}, 422, "$.qid"),
        ("/grade", {"text": "A"}, 422, "expected the `qid` of a task, or a `row`"),
        ("/grade", {**GOOD, "memory": "much"}, 422, "much"),
        ("/grade", {**GOOD, "oficial": True}, 422, "oficial"),
        ("/grade", {**GOOD, "wait": -1}, 422, "$.wait"),
        ("/grade", {**GOOD, "row": [1]}, 422, "not an object"),
        ("/grade", {**GOOD, "row": "a"}, 422, "no row is named 'a'"),
        ("/grade", b'{"qid": "0", "text": "A", "wait": NaN}', 400, "not JSON"),
        ("/run_code", {"code": "1"}, 422, "language"),
        ("/submit", {"id": 1, "completion": "", "config": {"provided_data": {"test": [1]}}}, 422, "test"),
        ("/submit", {"id": 1, "completion": "", "config": {"provided_data": {"test": "[" * 60_000}}}, 422, "recursion"),
        ("/submit", {"id": 1, "completion": "", "config": {"language": "cpp"}}, 422, "not supported"),
        ("/grade/batch", {"samples": [GOOD] * 21}, 413, "21 samples; a request may have at most 20"),
        ("/leave", {}, 404, "Not Found"),
        ("/grade", {"qid": "0", "text": "A" * 70_000}, 413, "longer than 65536 bytes"),
        ("/openrlhf", {"query": ["a"], "prompts": [], "labels": []}, 422, "the numbers must be equal"),
        ("/nowhere", GOOD, 404, "Not Found"),
    ],
)
def test_a_hostile_body_is_refused_with_the_reason(
    server: Served, path: str, body: Any, status: int, said: str
) -> None:
    answer = server.ask("POST", path, body)
    assert answer.status == status, answer.body
    assert said in answer.body["error"]
    assert server.ask("POST", "/grade", GOOD).status == 200


def test_any_text_is_graded_with_its_batch(server: Served) -> None:
    """Half of a surrogate pair is mended as in prediction files."""
    texts = ["\ud800", "A\x00B", "A" * 50_000]
    answer = server.ask("POST", "/grade/batch", batch([*(("0", text) for text in texts), ("nowhere", "A")]))
    assert (answer.status, len(answer.body["samples"])) == (200, 4)
    unknown = answer.body["samples"][-1]["careful"]
    assert unknown["outcome"] == "unscored"
    assert "no task 'nowhere'" in unknown["detail"]
    assert server.ask("POST", "/grade/batch", {"samples": []}).body == {"samples": []}


def counts(server: Served) -> dict[str, float]:
    lines = server.ask("GET", "/metrics").body.splitlines()
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines if line[0] != "#")}


def test_a_page_in_a_browser_cannot_ask_and_every_refusal_is_counted(server: Served) -> None:
    """A form sends no JSON; a script of another name is found out by the name."""
    before = counts(server)
    assert server.ask("POST", "/grade", GOOD, content_type="text/plain").status == 415
    assert server.ask("POST", "/grade", GOOD, host="attacker.example").status == 400
    assert server.ask("GET", "/grade").status == 405
    assert server.ask("GET", "/secret/of/somebody").status == 404
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
        connection.sendall(b"nonsense\r\n\r\n")
        assert b" 400 " in connection.recv(1000)
    after = counts(server)
    names = [("/grade", 415), ("/grade", 400), ("/grade", 405), ("other", 404), ("other", 400)]
    for path, status in names:
        name = f'grade_requests_total{{path="{path}",status="{status}"}}'
        assert after[name] - before.get(name, 0) == 1, name


def test_servers_with_equal_options_count_their_own_samples(server: Served) -> None:
    name = 'grade_samples_total{outcome="correct"}'
    qid, text = next(pair for pair in samples() if outcomes([pair]) == ["correct"])
    with served(*LIMITS) as other:
        before = counts(server).get(name, 0)
        other.ask("POST", "/grade/batch", batch([(qid, text)] * 3))
        assert counts(other)[name] == 3
        assert counts(server).get(name, 0) == before


def test_a_body_in_chunks_is_not_read(server: Served) -> None:
    """Ten clients with chunks of one byte stopped it: each chunk costs as much as a whole body."""
    for path in (b"/grade", b"/nowhere"):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            head = b"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" % path
            connection.sendall(head + b"Transfer-Encoding: chunked\r\n\r\n")
            assert b" 411 " in connection.recv(1000)
            with pytest.raises(ConnectionError):
                connection.sendall(b"1\r\nx\r\n" * 1_000_000)


def refused(opened: list[socket.socket], count: int) -> set[socket.socket]:
    """Wait until so many connections were answered, each with a refusal; return them."""
    found: set[socket.socket] = set()
    while len(found) < count:
        ready, _, _ = select.select(set(opened) - found, [], [], 60)
        assert ready
        assert all(b" 503 " in connection.recv(1000) for connection in ready)
        found |= set(ready)
    assert len(found) == count
    return found


def wait_for(server: Served, name: str, value: float) -> None:
    end = time.monotonic() + 60
    while counts(server)[name] != value:
        assert time.monotonic() < end, counts(server)
        time.sleep(0.05)


def test_texts_that_wait_have_a_limit_together() -> None:
    """Some thousand samples may wait, and each could be as long as a body: 130 GB."""
    with served(command=[sys.executable, "-c", LONG]) as server, contextlib.ExitStack() as stack:
        body = json.dumps({"samples": [{"qid": "600", "text": "A" * 60_000}] * 2}).encode()
        asked = HEAD_OF_A_BATCH % len(body) + body
        opened = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60)) for _ in range(12)]
        for connection in opened:
            connection.sendall(asked)
        assert len(opened) - len(refused(opened, 4)) == 8
        for connection in opened:
            connection.close()
        wait_for(server, "grade_samples_under_way", 0)
        with socket.create_connection(("127.0.0.1", server.port), 60) as connection:
            connection.sendall(asked)
            wait_for(server, "grade_samples_under_way", 2)
            assert not select.select([connection], [], [], 0)[0]


def test_an_error_of_its_own_is_answered_counted_and_logged() -> None:
    with served(command=[sys.executable, "-c", BROKEN]) as server:
        for _ in range(3):
            answer = server.ask("POST", "/grade", GOOD)
            assert (answer.status, answer.body["error"]) == (
                500,
                "an error of grade itself (ZeroDivisionError); the server's log has it",
            )
        assert counts(server)['grade_requests_total{path="/grade",status="500"}'] == 3
        server.process.send_signal(signal.SIGTERM)
        log = server.process.communicate(timeout=60)[1]
        assert "ZeroDivisionError" in log


def test_bodies_that_are_read_at_the_same_time_have_a_limit_together(server: Served) -> None:
    head = b"POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 65000\r\n\r\n"
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 60)) for _ in range(12)]
        for connection in opened:
            connection.sendall(head + b"x" * 64_000)
        others = set(opened) - refused(opened, 4)
        assert server.ask("GET", "/health").status == 200
        assert not select.select(others, [], [], 0)[0]
    assert server.ask("POST", "/grade", GOOD).status == 200


def test_clients_that_leave_halfway_are_in_nobodys_way(server: Served) -> None:
    for _ in range(50):
        with socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection:
            connection.sendall(b"POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{")
    assert server.ask("POST", "/grade", GOOD).status == 200


def test_more_than_its_limits_is_put_off_and_every_sample_is_graded_in_the_end(server: Served) -> None:
    asked = batch([samples()[0]] * 16)

    def ask(_: int) -> tuple[int, int]:
        put_off = 0
        while True:
            answer = server.ask("POST", "/grade/batch", asked)
            if answer.status != 429:
                return put_off, len(answer.body["samples"]) if answer.status == 200 else -answer.status
            assert 1 <= int(answer.headers["retry-after"]) <= 60
            put_off += 1
            time.sleep(0.02)

    with ThreadPoolExecutor(16) as threads:
        found = list(threads.map(ask, range(64)))
    assert [count for _, count in found] == [16] * 64
    assert sum(put_off for put_off, _ in found) > 0


def test_a_token_is_asked_of_everything_but_health(tmp_path: Path) -> None:
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with served("--token-file", f"{tmp_path / 'token'}", "--host", "0.0.0.0") as server:
        assert server.ask("POST", "/grade", GOOD).status == 401
        assert server.ask("GET", "/metrics").headers["www-authenticate"] == "Bearer"
        for wrong in (f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", "Bearer caf\xe9"):
            assert server.ask("POST", "/grade", GOOD, authorization=wrong).status == 401
        assert server.ask("POST", "/grade", GOOD, authorization=f"Bearer {TOKEN}").status == 200
        assert server.ask("GET", "/health").status == 200


@pytest.mark.parametrize(
    ("options", "variables", "said"),
    [
        (["--host", "0.0.0.0"], {}, "a token is needed"),
        ([], {"GRADE_SERVE_TOKEN": "short"}, "at least 16"),
        (["--max-body", "lots"], {}, "--max-body lots"),
    ],
)
def test_what_would_not_be_safe_or_not_work_is_refused_at_once(
    options: list[str], variables: dict[str, str], said: str
) -> None:
    done = subprocess.run(
        [*COMMAND, *options],
        check=False,
        cwd=ROOT,
        capture_output=True,
        text=True,
        env=os.environ | variables,
        timeout=120,
    )
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_port_that_is_taken_is_said(server: Served) -> None:
    done = subprocess.run(
        [*COMMAND, "--port", f"{server.port}"], check=False, cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 3
    said = f"Cannot listen on 127.0.0.1:{server.port} (Address already in use); give another port with --port"
    assert said in done.stderr


SLOW = """
import sys, threading
from grader.results import Outcome, Reading, SampleResult
from grader.scorers.sample_scorer import LaneSize
from grader.serving.requests import ServerLimits
from grader.serving.server import serve

class Slow:
    benchmark, lost_sandboxes, lanes = "slow", 0, {"usual": LaneSize(threads=1, samples=4)}

    def __init__(self):
        self.over = threading.Event()
        self.abort = self.over.set

    def __enter__(self): return self

    def __exit__(self, *_): pass

    def score(self, asked):
        "An id is a number of seconds."
        print("began", file=sys.stderr, flush=True)
        self.over.wait(float(asked[0].qid))
        reading = Reading(outcome=Outcome.PASSED, credit=1)
        return [SampleResult(qid=one.qid, sample=0, official=reading, careful=reading) for one in asked]

serve(Slow(), "127.0.0.1", 0, limits=ServerLimits(body_seconds=0.5, wait=2.5), token="",
      say=lambda address: print(f"Listening on {address}", file=sys.stderr, flush=True))
"""


LONG = SLOW.replace("wait=2.5", "wait=600, body_bytes=1 << 17")
HEAD_OF_A_BATCH = (
    b"POST /grade/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
)
BROKEN = f"from grader.serving import app\napp.complete_batch = lambda *_: 1 / 0\n{SLOW}"


def test_what_is_under_way_is_answered_before_it_ends() -> None:
    with served(command=[sys.executable, "-c", SLOW]) as server, ThreadPoolExecutor(1) as threads:
        asked = threads.submit(server.ask, "POST", "/grade", {"qid": "1.5", "text": "A"})
        assert server.process.stderr.readline() == "began\n"
        server.process.send_signal(signal.SIGTERM)
        assert asked.result().body["careful"]["outcome"] == "passed"
        assert server.process.wait(60) == 0


def test_nobody_waits_longer_than_the_server_allows() -> None:
    with served(command=[sys.executable, "-c", SLOW]) as server:
        answer = server.ask("POST", "/grade", {"qid": "600", "text": "A", "wait": 86_400})
        assert "not scored within 2.5 seconds" in answer.body["careful"]["detail"]


def test_a_batch_can_be_answered_line_by_line() -> None:
    """Rounds have at most four samples, so the first four of five are there a second before the last."""
    with served(command=[sys.executable, "-c", SLOW]) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        body = {"samples": [{"qid": qid, "text": "A"} for qid in ("0", "0.1", "0.2", "0.3", "1")], "stream": True}
        with contextlib.closing(connection):
            connection.request("POST", "/grade/batch", json.dumps(body), {"content-type": "application/json"})
            response = connection.getresponse()
            assert response.headers["content-type"] == "application/x-ndjson"
            times, places = [], []
            while line := response.readline():
                found = json.loads(line)
                times.append(time.monotonic())
                places.append(found["place"])
                assert found["result"]["careful"]["outcome"] == "passed"
        assert places == [0, 1, 2, 3, 4]
        assert times[4] - times[3] > 0.5
        assert counts(server)["grade_samples_under_way"] == 0


def test_samples_share_rows_by_a_name_that_belongs_to_their_request(server: Served) -> None:
    """Another client's row of the same name is another task."""
    row = json.loads((SAMPLE / "questions.jsonl").read_text().splitlines()[0])
    (qid, text) = next(pair for pair in samples() if pair[0] == str(row["question_id"]))
    sample = {"row": "a", "text": text}
    alone = server.ask("POST", "/grade", {"row": row, "text": text}).body
    answer = server.ask("POST", "/grade/batch", {"samples": [sample, sample], "rows": {"a": row}})
    assert [found["careful"] for found in answer.body["samples"]] == [alone["careful"]] * 2
    assert [found["qid"] for found in answer.body["samples"]] == [qid] * 2
    other = server.ask("POST", "/grade/batch", {"samples": [sample], "rows": {"a": {"x": 1}}})
    assert "its row is not a task" in other.body["samples"][0]["careful"]["detail"]


def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    with (
        served(command=[sys.executable, "-c", SLOW]) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=60) as connection,
    ):
        head = "POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: 100\r\n\r\n{{".encode())
        assert b" 408 " in connection.recv(1000)
