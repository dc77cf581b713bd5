"""A real Ray cluster on this machine: nodes that are raylets of their own, whose sandboxes are real."""

import contextlib
import os
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

MARKS = [
    # To import Ray takes half a second, and every worker collects these files.
    pytest.mark.skipif(find_spec("ray") is None, reason="no ray"),
    pytest.mark.cluster,
    pytest.mark.bubblewrap,
    pytest.mark.xdist_group("ray"),
    # Ray leaves sockets and log files to the collector.
    pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::FutureWarning", "ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
NODE = {"num_cpus": 1, "object_store_memory": 80 << 20}


@contextlib.contextmanager
def three_nodes() -> Iterator[Any]:
    """A cluster whose nodes have one CPU each."""
    from ray.cluster_utils import Cluster

    # Raylets inherit this environment. They must not send usage statistics.
    before = os.environ.get("RAY_USAGE_STATS_ENABLED")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False}, shutdown_at_exit=False)
    try:
        made.add_node(**NODE, wait=False)
        made.add_node(**NODE)
        made.wait_for_nodes()
        yield made
    finally:
        made.shutdown()
        if before is None:
            del os.environ["RAY_USAGE_STATS_ENABLED"]


def raylets(cluster: Any) -> dict[Any, int]:
    """Return the process of each node."""
    return {node: node.all_processes["raylet"][0].process.pid for node in cluster.list_all_nodes()}


def children(pid: int, starts: bytes = b"") -> list[int]:
    """Return the processes directly below one whose command starts with these bytes."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            parent = path.joinpath("stat").read_text().rpartition(")")[2].split()[1]
            if int(parent) == pid and path.joinpath("cmdline").read_bytes().startswith(starts):
                found.append(int(path.name))
    return found


def workers(cluster: Any, function: str) -> list[int]:
    """Return the processes that run a function at this moment; with an empty name, all that wait for one as well."""
    return [pid for raylet in raylets(cluster).values() for pid in children(raylet, f"ray::{function}".encode())]


def sandboxes(pids: list[int]) -> list[int]:
    """Return the sandboxes of these processes."""
    return [child for pid in pids for child in children(pid)]


def is_there(pid: int) -> bool:
    """Whether a process runs; one that only waits to be reaped does not."""
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    return False


def assert_gone(pids: list[int]) -> None:
    """Wait until these processes have ended."""
    deadline = time.monotonic() + 60
    while any(map(is_there, pids)):
        assert time.monotonic() < deadline, "sandboxes are left"
        time.sleep(0.2)
