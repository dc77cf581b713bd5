"""The Docker backend: one restricted and labelled container per supervisor, which ends with the grader."""

from __future__ import annotations

import contextlib
import os
import socket
import ssl
import struct
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InfrastructureError
from grader.results import SandboxProvenance
from grader.sandbox import channel, engines, image
from grader.sandbox.interface import (
    UIDS_PER_SUPERVISOR,
    Answer,
    BackendName,
    Limits,
    SupervisorLostError,
    environment,
    random_first_uid,
)

if TYPE_CHECKING:
    from grader.observer import Observer

NOT_PODMAN = (
    "grade does not run its sandbox on Podman's service, which rejects the limit on a sandbox's files (nr_inodes). "
    "Use --sandbox bubblewrap (`apt-get install bubblewrap`), or start a Docker engine and set DOCKER_HOST."
)
FIRST_ANSWER_SECONDS = 10.0
"""Maximum time until an engine says its version: one that hangs must not hold up a run. With 20 busy loops on two
cores, while six containers at a time were started, the slowest of 278 such answers took 0.22 s."""
ANSWER_SECONDS = 60.0
"""Maximum time of any other answer of an engine."""
READY_SECONDS = 60.0
SOCKET_SECONDS = 60.0
"""Maximum time of a read after data was reported."""
OWNER_LABEL = f"{image.LABEL}.owner"
CAPABILITIES = ["SETUID", "SETGID", "KILL", "SYS_NICE"]
PIDS = 256
"""Maximum number of processes and threads in a container."""
SHARES, LOW_SHARES = 1024, 64
"""The share of the cores of a container: the engine's usual one, and a sixteenth of it while its program is slow. Seven
slow ones together get less than a quick one."""
# Memory for the supervisor, the zygote and the linter, in addition to the program's own.
SUPERVISOR_BYTES = 512 << 20


def connect() -> Any:
    """Return a client of an engine that answers; raises InfrastructureError."""
    import docker

    engine = engines.find()
    if engine is None and (problem := engines.access_problem()):
        raise InfrastructureError(problem)
    host = {} if engine is None else {"DOCKER_HOST": engine.address}
    try:
        client = docker.from_env(timeout=FIRST_ANSWER_SECONDS, environment={**os.environ, **host})
        version = client.version()
    except (docker.errors.DockerException, OSError, ValueError) as error:  # ValueError: an invalid address
        raise InfrastructureError(
            f"No Docker engine answers{engines.docker_host_words()} ({_cause(error)}). Start or restart it (`systemctl "
            "restart docker`, or `dockerd`), or use --sandbox bubblewrap; `grade doctor` shows what this machine has."
        ) from error
    if engines.is_podman(version):
        client.close()
        raise InfrastructureError(f"{engines.name_of(engine)} is Podman {version.get('Version', '')}. {NOT_PODMAN}")
    client.api.timeout = ANSWER_SECONDS
    return client


def available() -> bool:
    """Return whether there is a usable engine: one that answers, and is not Podman's service."""
    engine = engines.find()
    if engine is None:
        return False
    # A local one is asked without the SDK, which takes long to load.
    if (version := engines.get_json(engine, "/version")) is not None:
        return not engines.is_podman(version)
    with contextlib.suppress(InfrastructureError):
        connect()
        return True
    return False


class ContainerSupervisor(channel.Channel):
    """A supervisor in a container. Its channel is the container's standard input and output."""

    def __init__(self, client: Any, image_id: str, options: dict[str, Any]) -> None:
        super().__init__()
        self._container: Any = None
        self._socket: Any = None
        self._response: Any = None
        self._buffer = b""
        self._closed = False
        self.greeting: Answer = {}
        try:
            self._container = client.containers.create(image_id, **options)
            attached = self._container.attach_socket(params={"stdin": 1, "stdout": 1, "stream": 1})
            # The SDK returns a file object of an HTTP response, but only the socket beneath it can be waited for.
            self._response, self._socket = attached._response, attached._sock
            self._container.start()
            self.greeting = self.receive(READY_SECONDS)
        except SupervisorLostError as error:
            output = self._last_output()
            self.close()
            raise InfrastructureError(f"The sandbox container ended before it was ready ({error}). {output}") from error
        except Exception as error:
            self.close()
            raise InfrastructureError(
                f"The Docker engine could not start a sandbox: {_cause(error)}. Restart the engine, or use "
                "--sandbox bubblewrap."
            ) from error

    def _last_output(self) -> str:
        with contextlib.suppress(Exception):
            return str(self._container.logs(tail=5).decode(errors="replace"))[-400:]
        return ""

    def write(self, data: memoryview) -> int:
        """Send as many bytes as fit in the socket."""
        self._socket.settimeout(0)
        try:
            return int(self._socket.send(data))
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            return 0
        finally:
            self._socket.settimeout(SOCKET_SECONDS)

    def wait(self, timeout: float) -> None:
        """Wait until the socket has room or data."""
        channel.wait(self._socket, self._socket, timeout)

    def read(self, timeout: float) -> bytes:
        """Receive standard output; `timeout`: seconds without data. Both output streams come in frames."""
        while True:
            if len(self._buffer) >= 8:
                stream, length = struct.unpack(">BxxxI", self._buffer[:8])
                if len(self._buffer) >= 8 + length:
                    payload, self._buffer = self._buffer[8 : 8 + length], self._buffer[8 + length :]
                    if stream == 1:
                        return payload
                    continue
            channel.wait(self._socket, None, timeout)
            part = self._socket.recv(1 << 20)
            if not part:
                return b""
            self._buffer += part

    def yield_cores(self, *, to_others: bool) -> None:
        """Change the container's share: the priority of a process inside counts within its container only."""
        with contextlib.suppress(Exception):
            self._container.update(cpu_shares=LOW_SHARES if to_others else SHARES)

    def close(self) -> None:
        """Remove the container, running or not."""
        if self._closed:
            return
        self._closed = True
        if self._container is not None:
            with contextlib.suppress(Exception):
                self._container.remove(force=True, v=True)
        if self._response is not None:
            # This also closes the file object and the socket. Closing only those would leave a response that reads from
            # a closed file, and Python 3.13 reports that when the response is garbage-collected.
            with contextlib.suppress(Exception):
                self._response.close()


class Docker:
    """Starts supervisors on a Docker engine."""

    name: BackendName = "docker"

    def __init__(
        self,
        limits: Limits,
        observer: Observer,
        *,
        runtime: str | None = None,
        python: str | None = None,
        requirements: str = "",
    ) -> None:
        """`requirements`: the text of a requirements file whose packages must be inside; else NotBuiltError."""
        self._limits = limits
        self._runtime = runtime
        self._requirements = requirements
        # The tag names the wanted Python; the image's label says which one is inside.
        tag = image.lookup_tag(python, requirements)
        self._client_lock = threading.Lock()
        self._connected_client: Any = None
        self._image = _find(tag) or self._ensure_image(observer, python)
        self._first_uid = random_first_uid()
        # It includes the image's id, because the same code can have another Python version if the base differs.
        self.identity = f"docker:{tag}:{runtime or 'default'}:{self._image.id}"

    def _ensure_image(self, observer: Observer, python: str | None) -> _FoundImage:
        built = image.ensure(self._client, observer, python, self._requirements)
        engine = _version(self._client.version())
        return _FoundImage(id=built.id, python=image.python_of(built.labels), engine=engine)

    @property
    def _client(self) -> Any:
        """The engine's client, created when it is first used: a run from the cache does not need to load the SDK."""
        with self._client_lock:
            if self._connected_client is None:
                self._connected_client = connect()
            return self._connected_client

    def load(self) -> None:
        """Load the SDK. Only `start` connects, so that nobody waits twice for an engine that hangs."""
        import docker  # noqa: F401

    def start(self, index: int, *, for_linting: bool = False) -> ContainerSupervisor:
        """Start one container."""
        return ContainerSupervisor(self._client, self._image.id, self._options(index, for_linting=for_linting))

    def _options(self, index: int, *, for_linting: bool) -> dict[str, Any]:
        """Return how a container is created: no network, no rights, one core, and limits on all that can be filled."""
        from docker.types import Ulimit

        memory = self._limits.sandbox_bytes + SUPERVISOR_BYTES
        uid = self._first_uid + UIDS_PER_SUPERVISOR * index
        options: dict[str, Any] = {
            "labels": {image.LABEL: "supervisor", OWNER_LABEL: owner_name()},
            "environment": environment(self._limits, uid, has_cgroup=True, for_linting=for_linting),
            "stdin_open": True,
            "auto_remove": True,
            "network_mode": "none",
            "ipc_mode": "private",
            "read_only": True,
            "cap_drop": ["ALL"],
            "cap_add": CAPABILITIES,
            "security_opt": ["no-new-privileges"],
            "pids_limit": PIDS,
            "mem_limit": memory,
            "memswap_limit": memory,
            "nano_cpus": 1_000_000_000,
            "tmpfs": {
                "/scratch": "rw,noexec,nosuid,nodev,size=64m,nr_inodes=4096,mode=1777",
                "/dev/shm": "rw,noexec,nosuid,nodev,size=64m,nr_inodes=4096,mode=1777",  # noqa: S108 - inside
            },
            "ulimits": [Ulimit(name="core", soft=0, hard=0), Ulimit(name="nofile", soft=4096, hard=4096)],
            "log_config": {"type": "none"},
            "hostname": "sandbox",
        }
        if self._runtime:
            options["runtime"] = self._runtime
        return options

    def reap(self) -> int:
        """Remove the containers of graders that have ended; return their number."""
        count = 0
        # Containers of other graders may disappear in the meantime. An error here must never end a run.
        with contextlib.suppress(Exception):
            filters = {"label": OWNER_LABEL}
            for container in self._client.containers.list(all=True, filters=filters, ignore_removed=True):
                if not is_owner_alive(container.labels.get(OWNER_LABEL, "")):
                    with contextlib.suppress(Exception):
                        container.remove(force=True, v=True)
                        count += 1
        return count

    def describe(self) -> SandboxProvenance:
        """Return the provenance of this sandbox for a report."""
        return SandboxProvenance(
            backend=self.name,
            identity=self.identity,
            image=image.version_tag(self._image.python, self._requirements),
            python=self._image.python,
            engine=self._image.engine,
            runtime=self._runtime or "default",
        )


class _FoundImage(msgspec.Struct, frozen=True, kw_only=True):
    """A built image: its id and Python version, and the version of its engine."""

    id: str
    python: str
    engine: str


def _find(tag: str) -> _FoundImage | None:
    """Find an image without the SDK. If this fails in any way, return None: the SDK builds it or tells the reason."""
    engine = engines.find()
    if engine is None or engine.is_podman:
        return None
    version, inspection = engines.get_json(engine, "/version"), engines.get_json(engine, f"/images/{tag}/json")
    if version is None or engines.is_podman(version) or inspection is None or not inspection.get("Id"):
        return None
    config = inspection.get("Config")
    labels = config.get("Labels") if isinstance(config, dict) else None
    return _FoundImage(
        id=str(inspection["Id"]),
        python=image.python_of(labels if isinstance(labels, dict) else None),
        engine=_version(version),
    )


def _version(report: dict[str, Any]) -> str:
    return str(report.get("Version", "unknown"))


def owner_name() -> str:
    """Return a name for this process by which another grader on this machine can tell whether it is alive."""
    return f"{_pid_scope()}/{os.getpid()}/{_process_start_time(os.getpid())}"


def is_owner_alive(name: str) -> bool:
    """Whether the grader of a name (scope/pid/start time, see `owner_name`) is alive.

    One in another scope, which cannot be seen here, counts as alive: if it is dead, its supervisors end by themselves,
    after 15 minutes without a job at the latest.
    """
    scope, _, process = name.partition("/")
    pid, _, start_time = process.partition("/")
    if scope != _pid_scope():
        return True
    return pid.isdigit() and _process_start_time(int(pid)) == start_time


def _pid_scope() -> str:
    """Return an id of the scope in which a pid is unique: this boot and this process namespace."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}.{Path('/proc/self/ns/pid').stat().st_ino}"
    return socket.gethostname()


def _process_start_time(pid: int) -> str:
    """Return when a process started, in clock ticks since boot (field 22 of proc(5)); "" if it does not exist."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    return ""


def _cause(error: BaseException) -> str:
    """Return the system's reason, which the SDK wraps several times; else the error's text."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror
        if isinstance(inner, ConnectionError | TimeoutError):  # one without `strerror` has a text
            return str(inner)
        inner = inner.__cause__ or inner.__context__
    return " ".join(str(error).split())[:300]
