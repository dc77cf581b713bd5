"""How the values of a report were obtained: the records under `provenance` in a results file."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

from grader.benchmark import Fields

if TYPE_CHECKING:
    from collections.abc import Iterable


class NodeProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One machine of a cluster that executed programs."""

    name: str
    """Its host."""
    kernel: str = ""
    architecture: str = ""
    backend: str = ""
    identity: str = ""
    """As that of `SandboxProvenance`; with Docker, the image's id is at the end."""
    image: str = ""
    python: str = ""
    engine: str = ""
    user: str = ""
    verdicts: int = 0
    """Jobs that it completed."""


class SandboxProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where programs were executed, and with which limits."""

    backend: str
    """`docker` or `bubblewrap`."""
    identity: str = ""
    """A hash of all that can change a verdict: the packages and the code inside."""
    image: str = ""
    engine: str = ""
    runtime: str = ""
    python: str = ""
    """Python version that ran the programs, for example `3.12.1`."""
    official_python: str = ""
    """Python version of the official environment, for example `3.12`."""
    user: str = ""
    """Who ran bubblewrap: `root` or `ordinary user`."""
    workers: int = 0
    cpu_seconds: float = 0.0
    """Limit of a program."""
    memory_bytes: int = 0
    programs: int = 0
    distinct_programs: int = 0
    verdicts_from_cache: int = 0
    """Programs whose linter result came from the cache; 0 for a protocol without a linter."""
    nodes: list[NodeProvenance] = []
    """The machines of a cluster that completed jobs."""

    @property
    def has_another_python(self) -> bool:
        """Whether programs ran on another Python version than the official one."""
        known = self.python and self.official_python and self.python != "unknown"
        return bool(known) and not f"{self.python}.".startswith(f"{self.official_python}.")


class JudgeProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The judge of replies that the rules could not read."""

    source: str
    """`endpoint`, or where the recorded replies are from."""
    model: str = ""
    endpoint: str = ""
    questions: int = 0
    calls: int = 0
    """Requests sent, including repeated and failed ones."""
    cached: int = 0
    """Questions answered without a request."""
    failed: int = 0
    """Questions without a readable reply."""
    unreadable: int = 0
    """Failed questions that got a reply."""
    last_error: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class IntervalMethod(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How intervals were computed."""

    level: int = 95
    proportions: str = ""
    means: str = ""


class Provenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the values of a report were obtained."""

    grade: str = ""
    """Version of grade."""
    python: str = ""
    """Python version of the grader."""
    data: str = ""
    """The source of the tasks."""
    data_digest: str | None = None
    """A hash of the columns that scoring reads."""
    data_is_carried: bool = False
    """Whether the tasks came with the predictions."""
    predictions: str = ""
    """Name of the prediction file."""
    fields: Fields | None = None
    """Where the prediction file has what was graded (`--fields`)."""
    inference: dict[str, Any] = {}
    """Sampling settings, if the prediction file has them."""
    predictions_digest: str | None = None
    """A hash of the graded predictions."""
    intervals: IntervalMethod | None = None
    settings: dict[str, Any] = {}
    """The settings of the benchmark.toml that are not the scorer's defaults; of a benchmark of one's own, also the
    rules that it declares, in its protocol and at the top of the file."""
    sandbox: SandboxProvenance | None = None
    judge: JudgeProvenance | None = None


class FirstDifference(msgspec.Struct, frozen=True, kw_only=True):
    """The first call that a program does not answer as the reference solution does; each text is cut."""

    call: str
    """The call as source."""
    expected: str
    """The reference solution's answer."""
    returned: str
    """The program's answer; empty: none."""


class Calls(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How many of a program's answers to its task's calls are those of the reference solution."""

    n: int
    """Number of calls."""
    same: int
    """Answers that are the same."""
    alike: int = 0
    """Answers that differ and are of the same kind."""
    first: FirstDifference | None = None
    """The first call whose answer is not the same: `call`, `expected` and `returned` (empty: none), of at most 500
    characters."""


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a benchmark that was graded."""

    n: int
    """Number of graded ids."""
    of: int
    """Number of all ids."""
    ids_hash: str
    """Also in the name of the file."""

    def in_words(self) -> str:
        """Return the size of the part in words."""
        return f"{self.n:,} of {self.of:,} tasks"


def ids_hash(ids: Iterable[str]) -> str:
    """Return a hash of ids that does not depend on their order."""
    return hashlib.sha256("\n".join(sorted(ids)).encode(errors="surrogatepass")).hexdigest()[:12]
