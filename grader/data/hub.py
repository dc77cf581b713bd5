"""Data from the hub of data sets, or from the cache of its client if the hub does not answer."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from grader.data.formats import to_table
from grader.errors import DataUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import datasets

    from grader.benchmark import Benchmark, Split
    from grader.data.tables import ColumnSet, DataTable

SECONDS = 3.0
"""Time for the hub to answer. Its own client tries silently for half a minute."""
_OFFLINE = "HF_HUB_OFFLINE"


def endpoint() -> str:
    """Return the address of the hub, or of the configured mirror."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


class HubRequest:
    """A request to the hub in the background, so that its client can be imported meanwhile."""

    def __init__(self) -> None:
        self._answered = False
        # A name lookup can take longer than the request's timeout, so the thread is a daemon.
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def is_answered(self) -> bool:
        """Return whether there was an answer in time."""
        self._thread.join(SECONDS)
        return self._answered

    def _ask(self) -> None:
        import requests

        try:
            requests.head(endpoint(), timeout=SECONDS, allow_redirects=False)
        except (requests.RequestException, OSError, ValueError):
            return
        self._answered = True


@contextmanager
def offline() -> Iterator[None]:
    """Make the hub's clients use only their caches."""
    import datasets.config
    from huggingface_hub import constants

    modules: list[Any] = [constants, datasets.config]
    values_before = [getattr(module, _OFFLINE) for module in modules]
    for module in modules:
        setattr(module, _OFFLINE, True)
    try:
        yield
    finally:
        for module, value in zip(modules, values_before, strict=True):
            setattr(module, _OFFLINE, value)


def read_hub(benchmark: Benchmark, split: str, protocol: str, revision: str, wanted: ColumnSet) -> DataTable:
    """Load a split from the hub; raises DataUnavailableError, also for another number of rows than declared.

    A protocol that declares its own number of rows needs a revision: the newest data is not what it used.
    """
    source = benchmark.splits[split]
    declared = benchmark.protocols[protocol]
    if declared.rows and not revision:
        raise DataUnavailableError(
            f"The revision of {source.hub} that protocol {protocol} used is not publicly recorded. "
            f"Give the {declared.rows} {benchmark.unit}s with --data FILE, "
            f"or set protocols.{protocol}.revision in a copy of {benchmark.id}/benchmark.toml and use -b FOLDER."
        )
    loaded = _load_from_hub(source, split, revision)
    table = to_table(loaded, wanted)
    expected = declared.rows or source.rows
    if expected and len(table.rows) != expected:
        raise DataUnavailableError(f"{source.hub}@{revision} has {len(table.rows)} rows; {protocol} has {expected}.")
    return table


def _load_from_hub(source: Split, split: str, revision: str) -> datasets.Dataset:
    """Load a data set from the hub, or from its client's cache if the hub does not answer."""
    # The hub's client logs every try; the error below reports the failure once.
    os.environ.setdefault("HF_HUB_VERBOSITY", "error")
    request = HubRequest()
    import datasets

    datasets.disable_progress_bars()
    is_answered = request.is_answered()
    try:
        with nullcontext() if is_answered else offline():
            return datasets.load_dataset(
                source.hub, source.hub_config or None, split=source.hub_split or split, revision=revision or None
            )
    except Exception as error:
        no_answer = f"the hub ({endpoint()}) did not answer within {SECONDS:.0f} s, and its cache does not have them"
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}" if is_answered else no_answer
        mirror = "" if is_answered else " HTTPS_PROXY names a proxy, HF_ENDPOINT a mirror of the hub."
        raise DataUnavailableError(
            f"The data of {source.hub} could not be loaded: {reason.removesuffix('.')}.\n"
            "Without a network, give a local copy with --data FILE: .jsonl, .parquet, or a folder written by "
            f"`datasets`.{mirror}"
        ) from error
