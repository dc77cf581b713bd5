"""SandboxFusion's requests, as its clients send them, answered by `grade serve -b rows`."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.serving.test_serve import Served, served

pytestmark = [pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]
COMMAND = [sys.executable, "-m", "grader", "serve", "-b", "rows", "--sandbox", "bubblewrap"]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with served(command=COMMAND) as made:
        yield made


def run(server: Served, code: str, **more: Any) -> Any:
    """Send what verl's client sends, try again when it does, and return the answer."""
    timeout = more.pop("timeout", 10)
    asked = {"compile_timeout": timeout, "run_timeout": timeout, "code": code, "stdin": "", "language": "python",
             "memory_limit_MB": 1024, "files": {}, "fetch_files": []}  # fmt: skip
    for _ in range(3):
        answer = server.ask("POST", "/run_code", asked | more)
        if answer.status != 504:
            break
    assert answer.status == 200, answer.body
    return answer.body


def test_a_program_gets_its_standard_input_and_its_output_is_returned_whole(server: Served) -> None:
    # More memory than the maximum is the maximum. A code block in a text of the program is not looked for.
    code = "s = '```python\\nprint(1)\\n```'\nprint(input() * 1000, end='')"
    answer = run(server, code, stdin="fünf", memory_limit_MB=1_000_000)
    assert (answer["status"], answer["message"], answer["compile_result"], answer["files"]) == ("Success", "", None, {})
    result = answer["run_result"]
    assert (result["status"], result["return_code"], result["stdout"]) == ("Finished", 0, "fünf" * 1000)


def test_an_exception_and_the_limit_of_time_are_failures_of_their_kinds(server: Served) -> None:
    raised = run(server, "print(1)\nraise ValueError('no')")
    assert (raised["status"], raised["run_result"]["status"], raised["run_result"]["return_code"]) == (
        "Failed",
        "Finished",
        1,
    )
    assert "ValueError: no" in raised["run_result"]["stderr"]
    late = run(server, "while True: pass", timeout=0.3)
    assert (late["status"], late["run_result"]["status"]) == ("Failed", "TimeLimitExceeded")


def test_what_is_not_supported_says_so(server: Served) -> None:
    for more in ({"language": "cpp"}, {"files": {"a.txt": "aGk="}}, {"fetch_files": ["a.txt"]}):
        answer = run(server, "print(1)", **more)
        assert answer["status"] == "SandboxError"
        assert "not supported" in answer["message"]


def submitted(server: Served, completion: str) -> Any:
    test = [{"input": {"stdin": f"{n}\n"}, "output": {"stdout": f"{n * n}\n"}} for n in (1, 2, 3)]
    data = {"id": 7, "content": "squares", "test": test}
    config = {"language": "python", "dataset_type": "CommonOJDataset", "run_timeout": 5, "provided_data": data}
    answer = server.ask("POST", "/submit", {"dataset": "mine", "id": 7, "completion": completion, "config": config})
    assert answer.status == 200, answer.body
    return answer.body


def test_a_submission_is_judged_test_by_test(server: Served) -> None:
    right = submitted(server, "Here it is:\n```python\nprint(int(input()) ** 2)\n```")
    assert (right["id"], right["accepted"], [test["passed"] for test in right["tests"]]) == (7, True, [True] * 3)
    partly = submitted(server, "```python\nprint(int(input()) * 2)\n```")
    assert (partly["accepted"], [test["passed"] for test in partly["tests"]]) == (False, [False, True, False])
    assert partly["tests"][0]["exec_info"]["run_result"]["stdout"] == "2\n"


ENDLESS = "import time\nwhile True: time.sleep(1)  # {}"
BUSY = {"run_timeout": 50, "language": "python", "code": ""}


def test_a_request_that_may_succeed_later_gets_the_status_after_which_clients_try_again() -> None:
    """After 429 or 503 the reward would be 0. A program that is late may be the machine's fault, too."""
    test = {"input": {"stdin": ""}, "output": {"stdout": "1"}}
    submission = {"id": 7, "config": {"run_timeout": 50, "provided_data": {"test": [test]}}}
    requests = [("/run_code", BUSY | {"code": ENDLESS.format(number)}) for number in range(3)]
    requests += [
        ("/submit", submission | {"completion": f"```python\n{ENDLESS.format(number)}\n```"}) for number in (3, 4)
    ]
    # There is room for one sample.
    options = ["--max-waiting", "1", "--wait", "3", "--max-body", "1k"]
    with served(*options, command=COMMAND) as server, ThreadPoolExecutor(5) as threads:
        answers = list(threads.map(lambda request: server.ask("POST", *request), requests))
        # No second try would change this one.
        assert server.ask("POST", "/run_code", BUSY | {"code": "x" * 2000}).status == 413
    assert [answer.status for answer in answers] == [504] * 5
    assert all(answer.headers["retry-after"] for answer in answers)
    errors = {answer.body["error"] for answer in answers}
    assert any("not scored within" in error for error in errors)
    assert any("being graded" in error for error in errors)


def test_a_request_above_the_limit_waits_for_room() -> None:
    """verl tries three times, and then gives the reward 0."""
    with served("--max-waiting", "1", command=COMMAND) as server, ThreadPoolExecutor(4) as threads:
        asked = [BUSY | {"code": f"print({number})"} for number in range(4)]
        answers = list(threads.map(lambda body: server.ask("POST", "/run_code", body), asked))
    assert [answer.body["run_result"]["stdout"] for answer in answers] == [f"{number}\n" for number in range(4)]
