"""Metrics for a monitor, as Prometheus text: the counts of requests, and the state of the pool."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.pool.messages import PoolState

OF_STATE = (
    ("grade_samples_expired_total", "Samples whose client did not wait any more.", "expired"),
    ("grade_samples_repeated_total", "Samples and jobs done again after infrastructure failed.", "repeated"),
    ("grade_sandboxes_lost_total", "Sandboxes that were lost, and replaced.", "lost_sandboxes"),
    ("grade_sandbox_failures_total", "Rounds that found no sandbox.", "failures"),
    ("grade_pool_waiting", "Samples in the pool's queue or in a round.", "waiting"),
    ("grade_pool_clients", "Connections to the pool.", "clients"),
    ("grade_pool_memory_bytes", "Resident memory of the pool's process.", "memory_bytes"),
)
"""Name, meaning, and field of `PoolState`."""


class Requests:
    """Counts of the requests of one server."""

    def __init__(self) -> None:
        self.samples = 0
        """Samples of requests that are not answered yet."""
        self.answers = Counter[tuple[str, int]]()
        """(path, status) -> number of answers."""
        self.seconds = 0.0

    def note(self, path: str, status: int, seconds: float = 0.0) -> None:
        """Count an answer."""
        self.answers[path, status] += 1
        self.seconds += seconds


def text_of(state: PoolState, requests: Requests) -> str:
    """Return all metrics. No label comes from a client, so none is escaped."""
    answers = {f'{{path="{path}",status="{status}"}}': count for (path, status), count in requests.answers.items()}
    times = {"_count": requests.answers.total(), "_sum": requests.seconds}
    parts = [
        _family("grade_requests_total", "Requests by path and HTTP status.", answers),
        _family("grade_request_seconds", "Time until a request was answered.", times, "summary"),
        _family("grade_samples_under_way", "Samples of requests not answered yet.", {"": requests.samples}),
        _family("grade_pool_up", "Whether the pool finds its sandboxes.", {"": not state.problem}),
        _family("grade_samples_total", "Samples graded, by careful outcome.", _by("outcome", state.outcomes)),
        _family("grade_pool_queued", "Samples that wait for a round, by lane.", _by("lane", state.queued)),
        *(_family(name, meaning, {"": getattr(state, field)}) for name, meaning, field in OF_STATE),
    ]
    return "".join(parts)


def _by(label: str, counts: Mapping[str, float]) -> dict[str, float]:
    return {f'{{{label}="{name}"}}': count for name, count in sorted(counts.items())}


def _family(name: str, meaning: str, values: Mapping[str, float], kind: str = "") -> str:
    kind = kind or ("counter" if name.endswith("_total") else "gauge")
    lines = [f"# HELP {name} {meaning}", f"# TYPE {name} {kind}"]
    return "\n".join([*lines, *(f"{name}{label} {float(value)}" for label, value in values.items())]) + "\n"
