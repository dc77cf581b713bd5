"""SandboxFusion's requests `/run_code` and `/submit` for Python, so that its clients only need another URL.

Field names are those of its public API. docs/rewards.md lists what differs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import msgspec

from grader.pool.messages import Sample
from grader.results import Outcome

if TYPE_CHECKING:
    from grader.results import SampleResult

OTHER = "{} is not supported; this server runs Python programs that read standard input"
LEAST_SECONDS = 0.1
MOST_SECONDS = 100.0
LEAST_MEGABYTES, MOST_MEGABYTES = 64, 64 << 10
AGAIN = 504
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
    extra: dict[str, Any] = {}


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
            return OTHER.format(f"language {self.language!r:.40}")
        return OTHER.format("a request with files") if self.files or self.fetch_files else ""

    @property
    def wait(self) -> float:
        """Seconds within which the client needs an answer."""
        return max(0.0, self.compile_timeout) + _seconds(self.run_timeout) + CLIENT_SECONDS - MARGIN_SECONDS

    @property
    def sample(self) -> Sample:
        """The request as a sample of a pool."""
        memory = min(max(LEAST_MEGABYTES, self.memory_limit), MOST_MEGABYTES) << 20 if self.memory_limit > 0 else 0
        return Sample(
            row=_row([self.stdin or ""], [""]),
            text=self.code,
            wait=self.wait,
            timeout=_seconds(self.run_timeout),
            memory=memory,
            verbatim=True,
            printed=True,
        )


class Submit(msgspec.Struct, frozen=True, kw_only=True):
    """`POST /submit`: judge a program by tests in the request (`CommonOJDataset` with `provided_data`)."""

    id: int | str
    completion: str
    config: _Config
    dataset: str = ""

    @property
    def problem(self) -> str:
        """Why it cannot be judged here; empty if it can."""
        if self.config.language not in (None, "python"):
            return OTHER.format(f"language {self.config.language!r:.40}")
        if self.config.dataset_type not in (None, "CommonOJDataset"):
            return f"dataset_type {self.config.dataset_type!r:.40} is not supported; it must be CommonOJDataset"
        try:
            return "" if self._tests else "config.provided_data has no test"
        except (KeyError, TypeError, msgspec.DecodeError) as error:
            return f"config.provided_data.test: {error}"

    @property
    def _tests(self) -> list[_Test]:
        data = self.config.provided_data
        if isinstance(data, list):
            data = next((entry for entry in data if isinstance(entry, dict) and entry.get("id") == self.id), None)
        listed = data.get("test") if isinstance(data, dict) else None
        return msgspec.convert(msgspec.json.decode(listed) if isinstance(listed, str) else listed or [], list[_Test])

    @property
    def sample(self) -> Sample:
        """The request as a sample of a pool."""
        tests = self._tests
        return Sample(
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


class _Printed(msgspec.Struct, frozen=True):
    text: str
    outcome: str
    why: str = ""


class _Facts(msgspec.Struct, frozen=True):
    printed: list[_Printed] = []


class CommandRun(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one process."""

    status: Literal["Finished", "Error", "TimeLimitExceeded"]
    execution_time: float | None = None
    return_code: int | None = None
    stdout: str | None = None
    stderr: str | None = None


class Ran(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `/run_code`."""

    status: Literal["Success", "Failed", "SandboxError"]
    message: str = ""
    compile_result: None = None
    run_result: CommandRun | None = None
    executor_pod_name: None = None
    files: dict[str, str] = {}


class JudgedTest(msgspec.Struct, frozen=True, kw_only=True):
    """One test of a submission."""

    passed: bool
    exec_info: Ran
    test_info: dict[str, Any]


class Judged(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to `/submit`."""

    id: int | str
    accepted: bool
    extracted_code: str
    full_code: None = None
    test_code: None = None
    tests: list[JudgedTest]
    extracted_type: None = None
    extra: None = None


def refused(why: str) -> Ran:
    """Return the answer to a request that cannot be run here."""
    return Ran(status="SandboxError", message=why)


def ran(result: SampleResult) -> Ran:
    """Return the answer to a request that was run."""
    return _ran(_printed(result)[0], result.seconds)


def judged(request: Submit, result: SampleResult) -> Judged:
    """Return the answer to a submission: accepted as in the careful reading."""
    accepted = result.careful.outcome is Outcome.PASSED
    outputs = _printed(result)
    right = result.tests if isinstance(result.tests, list) and not accepted else [accepted] * len(outputs)
    tests = [
        JudgedTest(passed=passed, exec_info=_ran(printed, None), test_info=msgspec.to_builtins(test))
        for passed, printed, test in zip(right, outputs, request._tests, strict=True)
    ]
    return Judged(id=request.id, accepted=accepted, extracted_code=request.completion, tests=tests)


def _ran(printed: _Printed, seconds: float | None) -> Ran:
    if printed.outcome == Outcome.TIMEOUT.value:
        run = CommandRun(status="TimeLimitExceeded", execution_time=seconds, stdout=printed.text, stderr="")
        return Ran(status="Failed", run_result=run)
    code = 0 if printed.outcome == Outcome.PASSED.value else 1
    run = CommandRun(
        status="Finished",
        execution_time=seconds,
        return_code=code,
        stdout=printed.text,
        stderr=printed.why if code else "",
    )
    return Ran(status="Failed" if code else "Success", run_result=run)


def _printed(result: SampleResult) -> list[_Printed]:
    assert isinstance(result.facts, msgspec.Raw)
    return msgspec.json.decode(result.facts, type=_Facts).printed


def _row(inputs: list[str], outputs: list[str]) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode({"inputs": inputs, "outputs": outputs}))


def _seconds(wanted: float) -> float:
    return min(MOST_SECONDS, max(LEAST_SECONDS, wanted))
