"""Find a container engine: DOCKER_HOST, else the sockets of Docker, rootless Docker, and Podman's service."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import socket
from pathlib import Path
from typing import Any

import msgspec

PROBE_SECONDS = 2.0


class Place(msgspec.Struct, frozen=True):
    """A socket on which an engine may listen."""

    address: str
    """The address in the format of DOCKER_HOST."""
    name: str
    """The name of the engine, for people."""

    @property
    def is_podman(self) -> bool:
        """Whether this looks like Podman's socket, by its name or by the target of a link with Docker's name."""
        scheme, _, path = self.address.partition("://")
        return scheme == "unix" and "podman" in os.path.realpath(path)


def places() -> list[Place]:
    """Return the sockets to try, in order; only DOCKER_HOST if it is set."""
    if given := os.environ.get("DOCKER_HOST"):
        return [Place(given, "DOCKER_HOST")]
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    sockets = (
        ("/var/run/docker.sock", "Docker"),
        (f"{runtime}/docker.sock", "rootless Docker"),
        *((f"{home}/.docker/run/docker.sock", "Docker Desktop") for home in _homes()),
        (f"{runtime}/podman/podman.sock", "rootless Podman"),
        ("/run/podman/podman.sock", "Podman"),
    )
    return [Place(f"unix://{path}", name) for path, name in sockets]


def _homes() -> list[Path]:
    """Return the user's home; none if the user has none, as in a container with a number for a user."""
    try:
        return [Path.home()]
    except RuntimeError:
        return []


def find() -> Place | None:
    """Return the first socket that answers. It is fast and needs no SDK."""
    return next((place for place in places() if answers(place.address)), None)


def answers(address: str) -> bool:
    """Whether an address accepts a connection; always True for ssh, which is not tried."""
    scheme, _, place = address.partition("://")
    with contextlib.suppress(OSError, ValueError):
        if scheme == "unix":
            with socket.socket(socket.AF_UNIX) as probe:
                probe.settimeout(PROBE_SECONDS)
                probe.connect(place)
            return True
        if scheme in {"tcp", "http", "https"}:
            name, _, port = place.rstrip("/").rpartition(":")
            with socket.create_connection((name.strip("[]"), int(port)), PROBE_SECONDS):
                return True
    return scheme == "ssh"


def ask(place: Place, path: str) -> dict[str, Any] | None:
    """Return an engine's JSON answer to a GET request, or None. It needs no SDK, and asks at a local socket only."""
    scheme, _, name = place.address.partition("://")
    if scheme != "unix":
        return None
    connection = http.client.HTTPConnection("engine")
    try:
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(PROBE_SECONDS)
        connection.sock.connect(name)
        connection.request("GET", path)
        response = connection.getresponse()
        said = json.loads(response.read())
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return said if response.status == http.HTTPStatus.OK and isinstance(said, dict) else None


def access_problem() -> str | None:
    """Return why no engine can be used, if the user may not connect to the socket of one; else None."""
    for place in places():
        scheme, _, path = place.address.partition("://")
        if scheme == "unix" and not place.is_podman and _denies(path):
            return (
                f"You may not use the Docker engine (permission denied on {path}): join the group docker, "
                "or use --sandbox bubblewrap."
            )
    return None


def docker_host_words() -> str:
    """Return where DOCKER_HOST says that the engine is, for messages; empty if it is not set."""
    given = os.environ.get("DOCKER_HOST")
    return f" at {given}, which DOCKER_HOST names" if given else ""


def _denies(path: str) -> bool:
    try:
        with socket.socket(socket.AF_UNIX) as probe:
            probe.settimeout(PROBE_SECONDS)
            probe.connect(path)
    except PermissionError:
        return True
    except OSError:
        pass
    return False


def is_podman(version: dict[str, Any]) -> bool:
    """Whether this is the version report of Podman's service."""
    return any("podman" in str(part.get("Name", "")).lower() for part in version.get("Components") or [])


def name_of(place: Place | None) -> str:
    """Return the name of a socket's engine for messages."""
    if place is None:
        return "The engine"
    return f"The engine at {place.address}" + (" (DOCKER_HOST)" if place.name == "DOCKER_HOST" else "")
