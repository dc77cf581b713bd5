"""Engines are found where they listen when DOCKER_HOST is not set, and Podman's service is refused with what to do."""

import json
import os
import shutil
import socket
import socketserver
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InfrastructureError
from grader.sandbox import choice, docker, engines
from tests.conftest import MACHINE_CACHE


@pytest.fixture
def runtime(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A runtime folder of one's own, in which no engine listens yet; those of the machine are not looked at."""
    import tempfile
    from pathlib import Path

    # The path of a socket has at most 108 characters.
    with tempfile.TemporaryDirectory(prefix="rt") as name:
        folder = Path(name)
        monkeypatch.delenv("DOCKER_HOST", raising=False)
        monkeypatch.setenv("XDG_RUNTIME_DIR", str(folder / "run"))
        monkeypatch.setenv("HOME", str(folder / "home"))
        real = engines.candidates()
        monkeypatch.setattr(engines, "candidates", lambda: [one for one in real if name in one.address])
        yield folder


def listen(path: Path) -> socket.socket:
    path.parent.mkdir(parents=True, exist_ok=True)
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(path))
    server.listen()
    return server


@pytest.mark.parametrize(
    ("place", "name"),
    [
        ("run/docker.sock", "rootless Docker"),
        ("home/.docker/run/docker.sock", "Docker Desktop"),
        ("run/podman/podman.sock", "rootless Podman"),
    ],
)
def test_an_engine_is_found_where_it_listens(runtime: Path, place: str, name: str) -> None:
    assert engines.find() is None
    with listen(runtime / place):
        found = engines.find()
    assert (found.address, found.name) == (f"unix://{runtime / place}", name)
    assert engines.find() is None


def test_what_docker_host_names_is_looked_at_alone(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv("DOCKER_HOST", f"unix://{runtime}/none.sock")
    assert [place.name for place in engines.candidates()] == ["DOCKER_HOST"]
    assert engines.find() is None
    assert not docker.available()
    where = f"at unix://{runtime}/none.sock, which DOCKER_HOST names"
    assert choice.examine("bubblewrap").lines[1].startswith(f"docker   no engine answers {where} (start it")


@pytest.mark.parametrize("address", ["tcp://nohost:x", "tcp://[::1", "nothing"])
def test_an_address_that_is_none_is_reported_as_an_engine_that_does_not_answer(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", address)
    with pytest.raises(InfrastructureError) as error:
        docker.connect()
    assert f"No Docker engine answers at {address}, which DOCKER_HOST names" in str(error.value)


class _HangsUp(socketserver.BaseRequestHandler):
    def handle(self) -> None:
        self.request.recv(1 << 16)


def test_an_engine_that_hangs_up_is_reported_with_the_cause_alone_and_bubblewrap_is_chosen(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = runtime / "docker.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    with socketserver.ThreadingUnixStreamServer(str(path), _HangsUp) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(InfrastructureError, match=r" names \(Remote end closed connection without response\)\. "):
            docker.connect()
        monkeypatch.setattr("grader.sandbox.bubblewrap.executable", lambda: "/usr/bin/bwrap")
        assert choice.choose_backend("auto") == "bubblewrap"
        server.shutdown()


def test_an_engine_that_never_answers_is_asked_only_for_a_short_time(
    runtime: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert docker.FIRST_ANSWER_SECONDS <= 10
    monkeypatch.setattr(docker, "FIRST_ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(docker, "ANSWER_SECONDS", -1)  # not yet: it would be another error
    monkeypatch.setattr(engines, "PROBE_SECONDS", 0.1)
    monkeypatch.setattr("grader.sandbox.bubblewrap.executable", lambda: "/usr/bin/bwrap")
    with listen(runtime / "run/docker.sock"):
        with pytest.raises(InfrastructureError, match=r"^No Docker engine answers \(timed out\)\. "):
            docker.connect()
        assert choice.choose_backend("auto") == "bubblewrap"


def test_docker_is_preferred_to_podman(runtime: Path) -> None:
    with listen(runtime / "run/podman/podman.sock"), listen(runtime / "run/docker.sock"):
        found = engines.find()
        assert engines.access_problem() is None
    assert found.name == "rootless Docker"


def test_a_network_that_refuses_connections_is_no_lack_of_a_group(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError

    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:2375")
    monkeypatch.setattr("socket.create_connection", refuse)
    assert engines.find() is None
    assert engines.access_problem() is None


# Root connects to every socket, unless it gives up doing so.
HELD = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
EXAMINED = """
from grader.errors import InfrastructureError
from grader.sandbox import bubblewrap, choice, docker
from grader.sandbox import choice
print(choice.examine("bubblewrap").lines[1])
bubblewrap.executable = lambda: None
for attempt in (docker.connect, lambda: choice.choose_backend("auto")):
    try:
        attempt()
    except InfrastructureError as error:
        print(error)
"""


@pytest.mark.skipif(bool(HELD) and shutil.which("setpriv") is None, reason="root, and no setpriv")
def test_a_user_who_may_not_use_the_engine_is_told_so_and_what_helps(runtime: Path) -> None:
    path = runtime / "docker.sock"
    with listen(path):
        path.chmod(0)
        ran = subprocess.run(
            [*HELD, sys.executable, "-c", EXAMINED],
            # This user has another home, but need not fetch the sandbox's packages for that.
            env={**os.environ, "DOCKER_HOST": f"unix://{path}", "XDG_CACHE_HOME": str(MACHINE_CACHE.parent)},
            capture_output=True,
            text=True,
            check=True,
        )
    denied = (
        f"You may not use the Docker engine (permission denied on {path}): join the group docker, "
        "or use --sandbox bubblewrap."
    )
    assert ran.stdout.splitlines() == [
        f"docker   {denied}",
        denied,
        f"{denied} bubblewrap is not installed (`apt-get install bubblewrap`). Nothing was executed.",
    ]


@pytest.mark.parametrize(
    ("sandbox", "said"),
    [
        ("bubblewrap", "bubblewrap is not installed"),
        ("auto", "no Docker engine answers at tcp://127.0.0.1:9, which DOCKER_HOST names, and bubblewrap is not"),
    ],
)
def test_an_error_names_what_the_sandbox_that_was_asked_for_needs(
    sandbox: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DOCKER_HOST", "tcp://127.0.0.1:9")
    monkeypatch.setattr("grader.sandbox.bubblewrap.executable", lambda: None)
    with pytest.raises(InfrastructureError) as raised:
        choice.choose_backend(sandbox)
    assert said in str(raised.value)
    assert ("Docker" in str(raised.value)) is (sandbox == "auto")


VERSION: dict[str, Any] = {
    "ApiVersion": "1.41",
    "Version": "4.3.1",
    "Components": [{"Name": "Podman Engine", "Version": "4.3.1"}],
}


class _Podman(BaseHTTPRequestHandler):
    """Answers as Podman's service does."""

    def do_GET(self) -> None:
        body = json.dumps(VERSION).encode()
        self.send_response(404 if self.path == "/missing" else 200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def address_string(self) -> str:
        return "a socket"

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def podman(runtime: Path) -> Iterator[str]:
    """A service that says it is Podman, where Podman listens."""
    path = runtime / "run/podman/podman.sock"
    path.parent.mkdir(parents=True)
    with socketserver.ThreadingUnixStreamServer(str(path), _Podman) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"unix://{path}"
        server.shutdown()


def test_podmans_service_is_refused_with_what_to_do_and_bubblewrap_is_chosen(
    podman: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InfrastructureError, match=r"is Podman 4\.\d.*--sandbox bubblewrap") as caught:
        docker.connect()
    assert podman in str(caught.value)
    assert not docker.available()
    said = "\n".join(choice.examine("docker").lines)
    assert podman in said
    assert "is Podman" in said
    monkeypatch.setattr("grader.sandbox.bubblewrap.executable", lambda: "/usr/bin/bwrap")
    assert choice.choose_backend("auto") == "bubblewrap"
