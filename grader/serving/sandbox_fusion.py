"""SandboxFusion's requests `/run_code` and `/submit` for Python, so that its clients only need another URL.

Field names are those of its public API. docs/rewards.md lists what differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.results import Outcome
from grader.scorers.sample_scorer import ScoreRequest

if TYPE_CHECKING:
    from grader.results import SampleResult

NOT_SUPPORTED = "{} is not supported; this server runs Python programs that read standard input"
MIN_SECONDS = 0.1
MAX_SECONDS = 100.0
MIN_MEGABYTES, MAX_MEGABYTES = 64, 64 << 10
RETRY_STATUS = 504
"""The only status after which verl's client tries again. After another error, or no answer in time, the reward is 0."""
CLIENT_SECONDS = 10.0
"""This client waits so much longer than both timeouts of a request."""
MARGIN_SECONDS = 2.0
"""An answer is sent so long before the client gives up."""


class _Config(msgspec.Struct, frozen=True, kw_only=True):
    language: str | None = None
    dataset_type: str | None = None
    run_timeout: float | None = None
    provided_data: Any = None


class RunCode(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /run_code`: run a program once."""

    code: str
    language: str
    stdin: str | None = None
    compile_timeout: float = 10.0
    run_timeout: float = 10.0
    memory_limit: int = msgspec.field(default=-1, name="memory_limit_MB")
    files: dict[str, str | None] = {}
    fetch_files: list[str] = []

    @property
    def problem(self) -> str:
        """Why it cannot be run here; empty if it can."""
        if self.language != "python":
            return NOT_SUPPORTED.format(f"language {self.language!r:.40}")
        return NOT_SUPPORTED.format("a request with files") if self.files or self.fetch_files else ""

    @property
    def wait(self) -> float:
        """Seconds within which the client needs an answer."""
        return max(0.0, self.compile_timeout) + _seconds(self.run_timeout) + CLIENT_SECONDS - MARGIN_SECONDS

    @property
    def sample(self) -> ScoreRequest:
        """The request as a sample: its text is the program. Of its one test, only what the program prints matters."""
        megabytes = min(max(MIN_MEGABYTES, self.memory_limit), MAX_MEGABYTES) if self.memory_limit > 0 else 0
        return ScoreRequest(
            row=_row([self.stdin or ""], [""]),
            text=self.code,
            wait=self.wait,
            timeout=_seconds(self.run_timeout),
            memory=megabytes << 20,
            verbatim=True,
            printed=True,
        )


class Submit(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /submit`: judge a program by tests in the request (`CommonOJDataset` with `provided_data`)."""

    id: int | str
    completion: str
    config: _Config

    @property
    def problem(self) -> str:
        """Why it cannot be judged here; empty if it can."""
        if self.config.language not in (None, "python"):
            return NOT_SUPPORTED.format(f"language {self.config.language!r:.40}")
        if self.config.dataset_type not in (None, "CommonOJDataset"):
            return f"dataset_type {self.config.dataset_type!r:.40} is not supported; it must be CommonOJDataset"
        try:
            return "" if self.tests else "config.provided_data has no test"
        except (KeyError, TypeError, msgspec.DecodeError, RecursionError) as error:
            return f"config.provided_data.test: {error}"

    @property
    def tests(self) -> list[_Test]:
        """The tests; from a list of data, those of this id. Raises KeyError, TypeError, DecodeError, RecursionError."""
        data = self.config.provided_data
        if isinstance(data, list):
            data = next((entry for entry in data if isinstance(entry, dict) and entry.get("id") == self.id), None)
        tests = data.get("test") if isinstance(data, dict) else None
        if isinstance(tests, str):
            return msgspec.convert(msgspec.json.decode(tests), list[_Test])
        return msgspec.convert(tests or [], list[_Test])

    @property
    def sample(self) -> ScoreRequest:
        """The request as a sample, whose result says of each test what was printed and whether it passed."""
        tests = self.tests
        return ScoreRequest(
            row=_row([test.input.stdin for test in tests], [test.output.stdout for test in tests]),
            text=self.completion,
            timeout=_seconds(self.config.run_timeout) if self.config.run_timeout else 0.0,
            each=True,
            printed=True,
        )


class _Input(msgspec.Struct, frozen=True):
    stdin: str = ""


class _Output(msgspec.Struct, frozen=True):
    stdout: str = ""


class _Test(msgspec.Struct, frozen=True):
    input: _Input
    output: _Output


class _RunOutput(msgspec.Struct, frozen=True):
    text: str
    outcome: str
    why: str = ""


class _Facts(msgspec.Struct, frozen=True):
    printed: list[_RunOutput] = []


def refusal_response(reason: str) -> dict[str, Any]:
    """Return the answer to a request that cannot be run here."""
    return _answer("SandboxError", message=reason)


def run_response(result: SampleResult) -> dict[str, Any]:
    """Return the answer to a request that was run."""
    return _run_result(_run_outputs(result)[0], result.seconds)


def submit_response(request: Submit, result: SampleResult) -> dict[str, Any]:
    """Return the answer to a submission: accepted as in the careful reading."""
    is_accepted = result.careful.outcome is Outcome.PASSED
    outputs = _run_outputs(result)
    # An accepted program passed every test. Without a list it is not known which tests a program passed: none counts.
    if isinstance(result.tests, list) and not is_accepted:
        passed_per_test = result.tests
    else:
        passed_per_test = [is_accepted] * len(outputs)
    tests = [
        {"passed": passed, "exec_info": _run_result(output, None), "test_info": msgspec.to_builtins(test)}
        for passed, output, test in zip(passed_per_test, outputs, request.tests, strict=True)
    ]
    absent_fields: dict[str, Any] = dict.fromkeys(("full_code", "test_code", "extracted_type", "extra"))
    return {
        "id": request.id,
        "accepted": is_accepted,
        "extracted_code": request.completion,
        "tests": tests,
        **absent_fields,
    }


def _run_result(output: _RunOutput, seconds: float | None) -> dict[str, Any]:
    """Return SandboxFusion's answer about a run of a program; without `seconds`, `exec_info` of a submission's test."""
    is_late, is_good = output.outcome == Outcome.TIMEOUT.value, output.outcome == Outcome.PASSED.value
    run = {
        "status": "TimeLimitExceeded" if is_late else "Finished",
        "execution_time": seconds,
        "return_code": None if is_late else int(not is_good),
        "stdout": output.text,
        "stderr": "" if is_late or is_good else output.why,
    }
    return _answer("Success" if is_good else "Failed", run_result=run)


def _answer(status: str, *, message: str = "", run_result: dict[str, Any] | None = None) -> dict[str, Any]:
    constant_fields: dict[str, Any] = {"compile_result": None, "executor_pod_name": None, "files": {}}
    return {"status": status, "message": message, "run_result": run_result, **constant_fields}


def _run_outputs(result: SampleResult) -> list[_RunOutput]:
    return msgspec.convert(result.facts, _Facts, from_attributes=True).printed


def _row(inputs: list[str], outputs: list[str]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"inputs": inputs, "outputs": outputs}))


def _seconds(timeout: float) -> float:
    return min(MAX_SECONDS, max(MIN_SECONDS, timeout))
