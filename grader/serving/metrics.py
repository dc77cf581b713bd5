"""Metrics for a monitor, as Prometheus text: the counts of requests, and the state of the pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

import prometheus_client
from prometheus_client.core import CollectorRegistry, CounterMetricFamily, GaugeMetricFamily

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from prometheus_client.core import Metric

    from grader.pool.messages import PoolState

prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call] # it has no annotation
COUNTS = (
    ("grade_samples_expired", "Samples whose client did not wait any more.", "expired"),
    ("grade_samples_repeated", "Samples and jobs done again after infrastructure failed.", "repeated"),
    ("grade_sandboxes_lost", "Sandboxes that were lost, and replaced.", "lost_sandboxes"),
    ("grade_sandbox_failures", "Rounds that found no sandbox.", "failures"),
)
"""Name, meaning, and field of `PoolState`."""
VALUES = (
    ("grade_pool_waiting", "Samples in the pool's queue or in a round.", "waiting"),
    ("grade_pool_clients", "Connections to the pool.", "clients"),
    ("grade_pool_memory_bytes", "Resident memory of the pool's process.", "memory_bytes"),
)


class Metrics:
    """Counts of the requests of one server, and the state of its pool when it is asked for them."""

    def __init__(self, state: Callable[[], PoolState]) -> None:
        self.samples_under_way = 0
        """Samples of requests that are not answered yet."""
        self._state, self._registry = state, CollectorRegistry()
        self._answers = prometheus_client.Counter(
            "grade_requests", "Requests by path and HTTP status.", ["path", "status"], registry=self._registry
        )
        self._seconds = prometheus_client.Summary(
            "grade_request_seconds", "Time until a request was answered.", registry=self._registry
        )
        self._registry.register(self)

    def count_answer(self, path: str, status: int, seconds: float = 0.0) -> None:
        """Count an answer. `path` is never a client's word."""
        self._answers.labels(path, str(status)).inc()
        self._seconds.observe(seconds)

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics that are read from the pool's state when a monitor asks for them."""
        state = self._state()
        yield GaugeMetricFamily(
            "grade_samples_under_way", "Samples of requests not answered yet.", self.samples_under_way
        )
        yield GaugeMetricFamily("grade_pool_up", "Whether the pool finds its sandboxes.", not state.problem)
        outcomes = CounterMetricFamily(
            "grade_samples", "Samples graded, by outcome of the careful reading.", labels=["outcome"]
        )
        queued = GaugeMetricFamily("grade_pool_queued", "Samples that wait for a round, by lane.", labels=["lane"])
        for family, counts in ((outcomes, state.outcomes), (queued, state.queued)):
            for name, count in sorted(counts.items()):
                family.add_metric([name], count)
            yield family
        yield from (CounterMetricFamily(name, meaning, getattr(state, field)) for name, meaning, field in COUNTS)
        yield from (GaugeMetricFamily(name, meaning, getattr(state, field)) for name, meaning, field in VALUES)

    def describe(self) -> tuple[()]:
        """Return nothing: the registry asks for names only when it is registered."""
        return ()

    def text(self) -> bytes:
        """Return all metrics."""
        return prometheus_client.generate_latest(self._registry)
