"""How the values of a report were made: the records under `provenance` in a results file."""

from __future__ import annotations

from typing import Any

import msgspec


class CanaryProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Canaries: programs with a known verdict that ran among the real ones, in every sandbox."""

    right: int = 0
    """How many were judged as they had to be."""
    misjudged: dict[str, int] = {}
    """What was misjudged (`judge: a wrong program`) -> how often."""
    run_again: int = 0
    """Jobs that ran once more, in another sandbox, because theirs had misjudged a canary."""
    unscored: int = 0
    """Jobs that nothing is known of, because the second sandbox misjudged one as well."""


class NodeProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One machine of a cluster that programs were executed on."""

    name: str
    """Host, address and the beginning of Ray's id."""
    kernel: str = ""
    architecture: str = ""
    backend: str = ""
    identity: str = ""
    """As in the sandbox's: the id of the image is at its end."""
    image: str = ""
    python: str = ""
    engine: str = ""
    user: str = ""
    workers: int = 0
    verdicts: int = 0
    """Jobs that it did."""
    lost: str = ""
    """Why it was left out, or from some time on not used; empty: it was there to the end."""


class SandboxProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where programs were executed, and within which limits."""

    backend: str
    """`docker` or `bubblewrap`."""
    identity: str = ""
    """A hash of all that can change a verdict: the image or the packages, and the code inside."""
    image: str = ""
    engine: str = ""
    """Version of the Docker engine."""
    runtime: str = ""
    """OCI runtime of the engine."""
    python: str = ""
    """Python that ran the programs, as in `3.12.1`."""
    official_python: str = ""
    """Python of the official environment, as in `3.12`; empty: not known."""
    user: str = ""
    workers: int = 0
    cpu_seconds: float = 0.0
    """CPU time a program may use."""
    memory_bytes: int = 0
    programs: int = 0
    distinct_programs: int = 0
    verdicts_from_cache: int = 0
    canaries: CanaryProvenance | None = None
    """None: nothing ran, or an earlier version graded."""
    nodes: list[NodeProvenance] = []
    """The machines of a cluster, those that were left out or lost included; empty: it was one machine."""

    @property
    def has_another_python(self) -> bool:
        """Whether programs ran on another Python than officially."""
        known = self.python and self.official_python and self.python != "unknown"
        return bool(known) and not f"{self.python}.".startswith(f"{self.official_python}.")


class JudgeProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who judged what rules could not read."""

    source: str
    """`endpoint`, or where the recorded replies came from."""
    model: str = ""
    endpoint: str = ""
    """Address without credentials and query."""
    questions: int = 0
    calls: int = 0
    """Requests sent, repeated and failed ones included."""
    cached: int = 0
    """Questions answered without a request."""
    failed: int = 0
    """Questions left without a readable reply."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class IntervalMethod(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How intervals were made."""

    level: int = 95
    """In percent."""
    proportions: str = ""
    """Method for shares of right and wrong."""
    means: str = ""
    """Method for other metrics."""
    resamples: int = 0
    seed: int = 0


class SelftestProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The self-test that showed what the machine's verdicts are worth; see `grade selftest`."""

    at: str
    """When it ended, in UTC: `2026-11-22T00:10:05+00:00`."""
    passed: bool
    problems: int = 0
    """Verdicts that were wrong."""
    counts: dict[str, tuple[int, int]] = {}
    """Kind of probe -> (verdicts that were as they had to be, probes)."""
    data: str = ""
    data_digest: str | None = None
    same_data: bool = False
    """Whether it tested the very data that this run was graded with."""
    repeats: int = 1
    under_load: bool = False
    load: float = 0.0
    """Load average when it began."""
    cpu_ratio: float = 0.0
    """How many times as long the calibration program took as on the standard machine; 0: it was not measured."""


class FlakeProvenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What the ledger of the machine says of verdicts that were reached again; see `grade flakes`."""

    flips: int
    """Verdicts that changed."""
    checked: int
    """Verdicts that were reached again, in all runs of this benchmark and protocol on the machine."""
    bound: float
    """The highest share of verdicts that change which these counts leave open: exact, one-sided, 95 %."""
    tasks: dict[str, tuple[int, int]] = {}
    """Known flaky tasks of this run's data -> (verdicts that changed, verdicts that were reached again)."""


class Provenance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """How the values of a report were made."""

    grade: str = ""
    """Version of grade."""
    python: str = ""
    """Python that graded; programs run in the sandbox's."""
    data: str = ""
    """Where the tasks came from."""
    data_digest: str | None = None
    """A hash of the columns that scoring reads; None: not known."""
    data_is_carried: bool = False
    """Whether the tasks came with the predictions."""
    predictions: str = ""
    """Name of the prediction file."""
    inference: dict[str, Any] = {}
    """Settings that the predictions were asked for with, where the prediction file has them."""
    predictions_digest: str | None = None
    intervals: IntervalMethod | None = None
    settings: dict[str, str] = {}
    """Settings of the scorer's own that were given."""
    sandbox: SandboxProvenance | None = None
    judge: JudgeProvenance | None = None
    selftest: SelftestProvenance | None = None
    """The valid self-test of this machine; None: there is none."""
    flakes: FlakeProvenance | None = None
    """None: nothing was executed, or no verdict of this benchmark was ever reached again on the machine."""
