"""Find a container engine: DOCKER_HOST, else the sockets of Docker, rootless Docker, and Podman's service."""

from __future__ import annotations

import http.client
import json
import os
import socket
from pathlib import Path
from typing import Any

import msgspec

PROBE_SECONDS = 2.0


class EngineAddress(msgspec.Struct, frozen=True):
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


def candidates() -> list[EngineAddress]:
    """Return the sockets to try, in order; only DOCKER_HOST if it is set."""
    if address := os.environ.get("DOCKER_HOST"):
        return [EngineAddress(address, "DOCKER_HOST")]
    runtime = os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    sockets = (
        ("/var/run/docker.sock", "Docker"),
        (f"{runtime}/docker.sock", "rootless Docker"),
        *((f"{home}/.docker/run/docker.sock", "Docker Desktop") for home in _homes()),
        (f"{runtime}/podman/podman.sock", "rootless Podman"),
        ("/run/podman/podman.sock", "Podman"),
    )
    return [EngineAddress(f"unix://{path}", name) for path, name in sockets]


def _homes() -> list[Path]:
    """Return the user's home; none if the user has none, as in a container with a number for a user."""
    try:
        return [Path.home()]
    except RuntimeError:
        return []


def find() -> EngineAddress | None:
    """Return the first socket that accepts a connection. It is fast and needs no SDK."""
    return next((engine for engine in candidates() if accepts_connection(engine.address)), None)


def accepts_connection(address: str) -> bool:
    """Whether an address accepts a connection; always True for ssh, which is not tried."""
    return _connection_error(address) is None


def _connection_error(address: str) -> Exception | None:
    """Try to connect to an address; return the error if there is one. With ssh, it is not tried."""
    scheme, _, location = address.partition("://")
    try:
        if scheme == "unix":
            _connect(location).close()
        elif scheme in {"tcp", "http", "https"}:
            host, _, port = location.rstrip("/").rpartition(":")
            socket.create_connection((host.strip("[]"), int(port)), PROBE_SECONDS).close()
        elif scheme != "ssh":
            return ValueError(f"unknown scheme {scheme}")
    except (OSError, ValueError) as error:
        return error
    return None


def _connect(path: str) -> socket.socket:
    """Return a socket that is connected to a local one; raises OSError."""
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(PROBE_SECONDS)
    try:
        connection.connect(path)
    except OSError:
        connection.close()
        raise
    return connection


def get_json(engine: EngineAddress, path: str) -> dict[str, Any] | None:
    """Return an engine's JSON answer to a GET request, or None. It needs no SDK, and asks at a local socket only."""
    scheme, _, location = engine.address.partition("://")
    if scheme != "unix":
        return None
    connection = http.client.HTTPConnection("engine")
    try:
        connection.sock = _connect(location)
        connection.request("GET", path)
        response = connection.getresponse()
        content = json.loads(response.read())
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    return content if response.status == http.HTTPStatus.OK and isinstance(content, dict) else None


def access_problem() -> str | None:
    """Return why no engine can be used, if the user may not connect to the socket of one; else None."""
    for engine in candidates():
        scheme, _, path = engine.address.partition("://")
        # Joining a group helps with a local socket only.
        if scheme == "unix" and not engine.is_podman and isinstance(_connection_error(engine.address), PermissionError):
            return (
                f"You may not use the Docker engine (permission denied on {path}): join the group docker, "
                "or use --sandbox bubblewrap."
            )
    return None


def docker_host_words() -> str:
    """Return where DOCKER_HOST says that the engine is, for messages; empty if it is not set."""
    address = os.environ.get("DOCKER_HOST")
    return f" at {address}, which DOCKER_HOST names" if address else ""


def is_podman(version: dict[str, Any]) -> bool:
    """Whether this is the version report of Podman's service."""
    return any("podman" in str(part.get("Name", "")).lower() for part in version.get("Components") or [])


def name_of(engine: EngineAddress | None) -> str:
    """Return the name of a socket's engine for messages."""
    if engine is None:
        return "The engine"
    return f"The engine at {engine.address}" + (" (DOCKER_HOST)" if engine.name == "DOCKER_HOST" else "")
