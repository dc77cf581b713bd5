"""SandboxFusion's requests, as its clients send them, answered by `grade serve -b rows`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.serving.test_serve import Served, served

if TYPE_CHECKING:
    from collections.abc import Iterator


pytestmark = [pytest.mark.docker, pytest.mark.xdist_group("docker")]


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    command = [sys.executable, "-m", "grader", "serve", "-b", "rows", "--sandbox", "docker"]
    with served(command=command) as made:
        yield made


def run(server: Served, code: str, **more: Any) -> Any:
    """Send what verl's client sends, and return the answer."""
    timeout = more.pop("timeout", 10)
    asked = {"compile_timeout": timeout, "run_timeout": timeout, "code": code, "stdin": "", "language": "python",
             "memory_limit_MB": 1024, "files": {}, "fetch_files": []}  # fmt: skip
    answer = server.ask("POST", "/run_code", asked | more)
    assert answer.status == 200, answer.body
    return answer.body


def test_a_program_gets_its_standard_input_and_its_output_is_returned_whole(server: Served) -> None:
    answer = run(server, "print(input() * 1000, end='')", stdin="fünf")
    assert (answer["status"], answer["message"], answer["compile_result"], answer["files"]) == ("Success", "", None, {})
    result = answer["run_result"]
    assert (result["status"], result["return_code"], result["stdout"]) == ("Finished", 0, "fünf" * 1000)


def test_a_sample_brings_its_task_and_its_limits(server: Served) -> None:
    row = {"task_id": "double", "inputs": [[2], [5]], "outputs": [4, 10], "function": "double"}
    texts = [
        "def double(x):\n    return 2 * x",
        "def double(x):\n    return 4",
        "",
        "def double(x):\n    while True: pass",
    ]
    samples = [{"row": row, "text": text, "timeout": 0.3, "memory": "256m"} for text in texts]
    answer = server.ask("POST", "/grade/batch", {"samples": [*samples, {"row": {}, "text": texts[0]}]})
    assert answer.status == 200, answer.body
    outcomes = [sample["careful"]["outcome"] for sample in answer.body["samples"]]
    assert outcomes == ["passed", "failed", "error", "timeout", "unscored"]
    assert answer.body["samples"][0]["qid"] == "double"


def test_text_in_a_code_block_is_not_looked_for(server: Served) -> None:
    answer = run(server, "s = '```python\\nprint(1)\\n```'\nprint(s)")
    assert answer["run_result"]["stdout"] == "```python\nprint(1)\n```\n"


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
