"""Metrics for a monitor, as Prometheus text: the server's own counts, and those of the pool's process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from prometheus_client.metrics_core import Metric

    from grader.pool.messages import PoolState

BUCKETS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)


class Metrics:
    """The metrics of one server."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self.requests = Counter(
            "grade_requests", "Requests by path and HTTP status.", ["path", "status"], registry=self._registry
        )
        self.seconds = Histogram(
            "grade_request_seconds", "Time until a request was answered.", buckets=BUCKETS, registry=self._registry
        )
        self.waiting = Gauge(
            "grade_samples_under_way", "Samples of requests that are not answered yet.", registry=self._registry
        )

    def text(self, state: PoolState | None) -> bytes:
        """Return all metrics as text; `state` is None if the pool does not answer."""
        whole = CollectorRegistry()
        whole.register(_Of(self._registry.collect))
        whole.register(_Of(lambda: _of_pool(state)))
        return generate_latest(whole)


class _Of(Collector):
    """Collects the metrics that a function returns."""

    def __init__(self, collect: Callable[[], Iterable[Metric]]) -> None:
        self._collect = collect

    def collect(self) -> Iterable[Metric]:
        return self._collect()


def _of_pool(state: PoolState | None) -> Iterator[Metric]:
    up = state is not None and not state.problem
    yield GaugeMetricFamily("grade_pool_up", "Whether the pool's process answers and finds its sandboxes.", value=up)
    if state is None:
        return
    outcomes = CounterMetricFamily("grade_samples", "Samples graded, by careful outcome.", labels=["outcome"])
    flagged = CounterMetricFamily("grade_samples_flagged", "Samples graded, by flag.", labels=["flag"])
    queued = GaugeMetricFamily("grade_pool_queued", "Samples that wait for a round, by lane.", labels=["lane"])
    for family, counts in ((outcomes, state.outcomes), (flagged, state.flagged), (queued, state.lanes)):
        for label, count in sorted(counts.items()):
            family.add_metric([label], count)
        yield family
    for name, what, value in (
        ("grade_rounds", "Rounds of grading.", state.rounds),
        ("grade_rounds_seconds", "Time that rounds took.", state.busy_seconds),
        ("grade_samples_expired", "Samples whose client did not wait any more.", state.expired),
        ("grade_samples_repeated", "Samples and jobs done again after infrastructure failed.", state.repeated),
        ("grade_sandboxes_lost", "Sandboxes that were lost, and replaced.", state.lost_sandboxes),
        ("grade_sandbox_failures", "Rounds that found no sandbox.", state.failures),
    ):
        yield CounterMetricFamily(name, what, value=value)
    for name, what, value in (
        ("grade_pool_waiting", "Samples in the pool's queue or in a round.", state.waiting),
        ("grade_pool_oldest_seconds", "How long the oldest sample waits for a round.", state.oldest_seconds),
        ("grade_pool_rate", "Results per second, recently.", state.rate),
        ("grade_pool_clients", "Connections to the pool.", state.clients),
        ("grade_pool_memory_bytes", "Resident memory of the pool's process.", state.memory_bytes),
        ("grade_pool_seconds", "Time since the pool's process started.", state.seconds),
    ):
        yield GaugeMetricFamily(name, what, value=value)
