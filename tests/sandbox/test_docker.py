"""The Docker backend's bookkeeping: who owns a container, and what the engine's stream looks like."""

import os
import subprocess
import sys

import pytest

from grader.sandbox import docker


def test_the_owner_of_a_running_process_lives_and_that_of_an_ended_one_does_not():
    assert docker.is_owner_alive(docker.owner_name())
    code = "from grader.sandbox import docker; print(docker.owner_name())"
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert not docker.is_owner_alive(ended)
    # The pid may be another process's by now.
    boot, pid, started = docker.owner_name().split("/")
    assert not docker.is_owner_alive(f"{boot}/{pid}/{int(started) + 1}")
    # Who is on another machine or in another namespace cannot be looked at.
    assert docker.is_owner_alive(f"elsewhere/{os.getpid()}/1")


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
def test_a_container_has_no_network_no_new_privileges_and_a_read_only_root():
    from grader.observer import Silent
    from grader.sandbox.interface import Limits

    backend = docker.Docker(Limits(), Silent())
    supervisor = backend.start(0)
    try:
        (container,) = [
            c
            for c in docker.connect().containers.list(ignore_removed=True)
            if c.labels.get(docker.OWNER_LABEL) == docker.owner_name()
        ]
        host = container.attrs["HostConfig"]
        assert host["NetworkMode"] == "none"
        assert host["ReadonlyRootfs"] is True
        assert host["CapDrop"] == ["ALL"]
        assert sorted(c.removeprefix("CAP_") for c in host["CapAdd"]) == ["KILL", "SETGID", "SETUID", "SYS_NICE"]
        assert "no-new-privileges" in host["SecurityOpt"]
        assert host["Memory"] == host["MemorySwap"] > 0
        assert host["PidsLimit"] == docker.PIDS
        assert not container.attrs["Mounts"] or all(m["Type"] == "tmpfs" for m in container.attrs["Mounts"])
    finally:
        supervisor.close()


WITHOUT_SDK = """
import sys
from grader.observer import Silent
from grader.sandbox import docker
from grader.sandbox.interface import Limits

backend = docker.Docker(Limits(), Silent())
described = backend.describe()
print(backend.identity, described.python, described.engine, "docker" in sys.modules)
"""


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
def test_an_image_that_is_built_is_known_without_the_sdk():
    from grader.observer import Silent
    from grader.sandbox import image

    client = docker.connect()
    built = image.ensure(client, Silent())
    ran = subprocess.run([sys.executable, "-c", WITHOUT_SDK], capture_output=True, text=True, check=True)
    identity, python, engine, loaded = ran.stdout.split()
    assert identity == f"docker:{image.lookup_tag()}:default:{built.id}"
    assert (python, engine) == (image.python_of(built.labels), client.version()["Version"])
    assert loaded == "False"
    # Whatever Python was wanted: `docker images` shows what is inside.
    for wanted in (None, "3.12"):
        inside = image.python_of(image.ensure(client, Silent(), wanted).labels)
        assert (
            client.images.get(f"{image.lookup_tag().partition('-for')[0]}-python{inside}").labels[image.PYTHON_LABEL]
            == inside
        )


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
def test_an_engine_that_has_answered_gets_more_time_for_later_answers():
    assert docker.connect().api.timeout == docker.ANSWER_SECONDS > docker.FIRST_ANSWER_SECONDS


OPEN_AND_CLOSE = """
import gc
from grader.observer import Silent
from grader.sandbox import docker
from grader.sandbox.interface import Limits

backend = docker.Docker(Limits(), Silent())
supervisor = backend.start(0)
supervisor.close()
del supervisor
gc.collect()
"""


@pytest.mark.docker
@pytest.mark.xdist_group("docker")
def test_a_closed_supervisor_leaves_nothing_open_that_python_complains_about():
    # Development mode reports what Python 3.13 reports always: an error in closing what was not closed.
    command = [sys.executable, "-X", "dev", "-W", "error", "-c", OPEN_AND_CLOSE]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
