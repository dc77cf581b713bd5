"""The Docker backend: one restricted and labelled container per supervisor, which ends with the grader."""

from __future__ import annotations

import contextlib
import os
import random
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
from grader.sandbox.interface import Answer, BackendName, Limits, SupervisorLostError, environment

if TYPE_CHECKING:
    from grader.observer import Observer

NOT_PODMAN = (
    "grade does not run its sandbox on Podman's service, which rejects the limit on a sandbox's files (nr_inodes). "
    "Use --sandbox bubblewrap (`apt-get install bubblewrap`), or start a Docker engine and set DOCKER_HOST."
)
READY_SECONDS = 60.0
SOCKET_SECONDS = 60.0
"""Maximum time of a read after data was reported."""
OWNER_LABEL = f"{image.LABEL}.owner"
CAPABILITIES = ["SETUID", "SETGID", "KILL", "SYS_NICE"]
PIDS = 256
SHARES, LOW_SHARES = 1024, 64
"""The share of the cores of a container: the engine's usual one, and a sixteenth of it while its program is slow. Seven
slow ones together get less than a quick one."""
# Memory for the supervisor, the zygote and the linter, in addition to the program's own.
SUPERVISOR_BYTES = 512 << 20


def connect() -> Any:
    """Return a client of an engine that answers; raises InfrastructureError."""
    import docker

    place = engines.find()
    if place is None and (denied := engines.access_problem()):
        raise InfrastructureError(denied)
    given_host = {} if place is None else {"DOCKER_HOST": place.address}
    try:
        client = docker.from_env(timeout=60, environment={**os.environ, **given_host})
        version = client.version()
    except (docker.errors.DockerException, OSError) as error:
        raise InfrastructureError(
            f"No Docker engine answers{engines.docker_host_words()} ({_cause(error)}). Start it (`systemctl start "
            "docker`, or `dockerd`), or use --sandbox bubblewrap; `grade doctor` shows what this machine has."
        ) from error
    if engines.is_podman(version):
        client.close()
        raise InfrastructureError(f"{engines.name_of(place)} is Podman {version.get('Version', '')}. {NOT_PODMAN}")
    return client


def available() -> bool:
    """Return quickly whether a usable engine answers; Podman's service is not usable."""
    place = engines.find()
    if place is None:
        return False
    if place.address.startswith("unix://") and not place.is_podman:
        return True
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
            said = self._last_words()
            self.close()
            raise InfrastructureError(f"The sandbox container ended before it was ready ({error}). {said}") from error
        except Exception as error:
            self.close()
            raise InfrastructureError(f"The Docker engine could not start a sandbox: {_short(error)}") from error

    def _last_words(self) -> str:
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
        """Receive bytes of standard output. The engine sends both output streams in frames with an 8-byte header."""
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
        self._tag = image.tag(python, requirements)
        """The wanted Python is in it; what is inside is in the image's label."""
        self._connecting = threading.Lock()
        self._connected: Any = None
        found = _find(self._tag)
        if found is None:
            built = image.ensure(self._client, observer, python, requirements)
            found = _Found(id=built.id, python=image.python_of(built.labels), engine=_version(self._client.version()))
        self._image = found
        self._first_uid = random.SystemRandom().randrange(1 << 20, 1 << 30) & ~0xFFFF
        """Programs of each container have user ids that no other container or user has."""
        # It includes the image's id, because the same code can have another Python version if the base differs.
        self.identity = f"docker:{self._tag}:{runtime or 'default'}:{found.id}"

    @property
    def _client(self) -> Any:
        """The engine's client, created when it is first used: a run from the cache does not need to load the SDK."""
        with self._connecting:
            if self._connected is None:
                self._connected = connect()
            return self._connected

    def load(self) -> None:
        """Load the SDK. Only `start` connects, so that nobody waits twice for an engine that hangs."""
        import docker  # noqa: F401

    def start(self, index: int, *, lint: bool = False) -> ContainerSupervisor:
        """Start one container."""
        return ContainerSupervisor(self._client, self._image.id, self._options(index, lint=lint))

    def _options(self, index: int, *, lint: bool) -> dict[str, Any]:
        from docker.types import Ulimit

        memory = self._limits.sandbox_bytes + SUPERVISOR_BYTES
        options: dict[str, Any] = {
            "labels": {image.LABEL: "supervisor", OWNER_LABEL: owner()},
            "environment": environment(self._limits, self._first_uid + 16 * index, cgroup=True, lint=lint),
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
            listed = self._client.containers.list(all=True, filters={"label": OWNER_LABEL}, ignore_removed=True)
            for container in listed:
                if not alive(container.labels.get(OWNER_LABEL, "")):
                    with contextlib.suppress(Exception):
                        container.remove(force=True, v=True)
                        count += 1
        return count

    def describe(self) -> SandboxProvenance:
        """Return the provenance of this sandbox for a report."""
        return SandboxProvenance(
            backend=self.name,
            identity=self.identity,
            image=image.name(self._image.python, self._requirements),
            python=self._image.python,
            engine=self._image.engine,
            runtime=self._runtime or "default",
        )


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """A built image: its id and Python version, and the version of its engine."""

    id: str
    python: str
    engine: str


def _find(tag: str) -> _Found | None:
    """Find an image without the SDK. If this fails in any way, return None: the SDK builds it or tells the reason."""
    place = engines.find()
    if place is None or place.is_podman:
        return None
    version, facts = engines.ask(place, "/version"), engines.ask(place, f"/images/{tag}/json")
    if version is None or engines.is_podman(version) or facts is None or not facts.get("Id"):
        return None
    config = facts.get("Config")
    labels = config.get("Labels") if isinstance(config, dict) else None
    return _Found(
        id=str(facts["Id"]),
        python=image.python_of(labels if isinstance(labels, dict) else None),
        engine=_version(version),
    )


def _version(facts: dict[str, Any]) -> str:
    return str(facts.get("Version", "unknown"))


def owner() -> str:
    """Return a name for this process by which another grader on this machine can tell whether it is alive."""
    return f"{_boot()}/{os.getpid()}/{_started(os.getpid())}"


def alive(name: str) -> bool:
    """Whether the grader of that name is alive; one of another machine counts as alive (its lease ends it)."""
    boot, _, rest = name.partition("/")
    pid, _, started = rest.partition("/")
    if boot != _boot() or not pid.isdigit():
        return boot != _boot()
    return _started(int(pid)) == started


def _boot() -> str:
    """Return an id of the scope in which a pid is unique: this boot and this process namespace."""
    with contextlib.suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot}.{Path('/proc/self/ns/pid').stat().st_ino}"
    return socket.gethostname()


def _started(pid: int) -> str:
    """Return when a process started, in clock ticks since boot; "" if it does not exist."""
    with contextlib.suppress(OSError, IndexError):
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    return ""


def _cause(error: BaseException) -> str:
    """Return the system's reason, which the SDK wraps several times; else the error's text."""
    inner: BaseException | None = error
    while inner is not None:
        if isinstance(inner, OSError) and inner.strerror:
            return inner.strerror
        inner = inner.__cause__ or inner.__context__
    return _short(error)


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300]
