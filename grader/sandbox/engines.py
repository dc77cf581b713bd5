"""Where a container engine listens: DOCKER_HOST, else the sockets of Docker, rootless Docker, and Podman's service."""

from __future__ import annotations

import contextlib
import os
import socket
from pathlib import Path
from typing import Any

import msgspec

PROBE_SECONDS = 2.0


class Place(msgspec.Struct, frozen=True):
    """One socket that an engine may listen on."""

    address: str
    """As DOCKER_HOST has it."""
    name: str
    """What listens there, for people."""

    @property
    def is_podman(self) -> bool:
        """Whether this looks like Podman's socket, by its name or by where a link of Docker's name leads."""
        scheme, _, path = self.address.partition("://")
        return scheme == "unix" and "podman" in os.path.realpath(path)


def places() -> list[Place]:
    """Return where to look, in order; what DOCKER_HOST names is looked at alone."""
    if given := os.environ.get("DOCKER_HOST"):
        return [Place(given, "DOCKER_HOST")]
    home, runtime = Path.home(), os.environ.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}"
    sockets = (
        ("/var/run/docker.sock", "Docker"),
        (f"{runtime}/docker.sock", "rootless Docker"),
        (f"{home}/.docker/run/docker.sock", "Docker Desktop"),
        (f"{runtime}/podman/podman.sock", "rootless Podman"),
        ("/run/podman/podman.sock", "Podman"),
    )
    return [Place(f"unix://{path}", name) for path, name in sockets]


def find() -> Place | None:
    """Return the first place where something answers, quickly and without an engine's SDK."""
    return next((place for place in places() if answers(place.address)), None)


def answers(address: str) -> bool:
    """Whether a connection to an address can be made; of ssh this says nothing, and the answer is yes."""
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


def is_podman(version: dict[str, Any]) -> bool:
    """Whether the engine that said this of itself is Podman's service."""
    return any("podman" in str(part.get("Name", "")).lower() for part in version.get("Components") or [])


def named(place: Place | None) -> str:
    """Return what a message calls the engine of a place."""
    if place is None:
        return "The engine"
    return f"The engine at {place.address}" + (" (DOCKER_HOST)" if place.name == "DOCKER_HOST" else "")
