"""Choose the backend: the given one, else Docker if an engine answers, else bubblewrap; and examine this machine."""

from __future__ import annotations

import os
import platform
import subprocess
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.errors import GradeError, InfrastructureError, UsageError
from grader.observer import Silent
from grader.sandbox import bubblewrap, docker, engines, image, packages
from grader.sandbox.interface import Backend, Limits

if TYPE_CHECKING:
    from grader.observer import Observer
    from grader.options import Options
    from grader.sandbox.interface import BackendName

NEITHER = (
    "There is nothing to run untrusted code in: no Docker engine answers{}, and bubblewrap is not installed. "
    "Install one of them (`apt-get install bubblewrap`, or docker.io) and run `grade doctor`. "
    "Nothing was executed; grade never runs code without a sandbox."
)
NO_BUBBLEWRAP = "bubblewrap is not installed (`apt-get install bubblewrap`). Nothing was executed."


def choose_backend(name: str) -> BackendName:
    """Return the backend that `--sandbox` names, for `auto` the best one here; raises InfrastructureError."""
    resources.check_posix("A sandbox")
    if name == "docker" or (name == "auto" and docker.available()):
        return "docker"
    if bubblewrap.executable() is None:
        if name == "bubblewrap":
            raise InfrastructureError(NO_BUBBLEWRAP)
        problem = engines.access_problem()
        raise InfrastructureError(
            f"{problem} {NO_BUBBLEWRAP}" if problem else NEITHER.format(engines.docker_host_words())
        )
    return "bubblewrap"


def available_backends() -> list[BackendName]:
    """Return the backends that this machine has."""
    is_available: dict[BackendName, bool] = {
        "docker": docker.available(),
        "bubblewrap": bubblewrap.executable() is not None,
    }
    return [name for name in is_available if is_available[name]]


def open_backend(options: Options, limits: Limits, observer: Observer, python: str | None = None) -> Backend:
    """Return a backend that is ready to start supervisors; raises InfrastructureError.

    `python` is the Python version of the official environment (`3.12`); the sandbox uses it if it is available.
    """
    name = choose_backend(options.sandbox)
    requirements = options.requirements
    try:
        if name == "docker":
            return docker.Docker(limits, observer, runtime=options.runtime, python=python, requirements=requirements)
        if not options.runtime:
            return bubblewrap.Bubblewrap(limits, observer, python=python, requirements=requirements)
    except packages.NotBuiltError:
        raise InfrastructureError(
            f"There is no {name} sandbox with the packages that {options.benchmark} requires. Build it: "
            f"`grade image build -b {options.benchmark} --sandbox {name}` (this needs a package index)."
        ) from None
    raise UsageError(
        f"--runtime {options.runtime} is an option of the Docker engine, but bubblewrap would be used here: "
        "start the engine, or omit the option."
    )


class Examination(msgspec.Struct, frozen=True, kw_only=True):
    """The result of an examination."""

    usable: bool
    """Whether a program can run here now."""
    lines: list[str]


def examine(sandbox: str, *, verbose: bool = False) -> Examination:
    """Examine both backends, then start a supervisor of the one that would be used. `verbose`: say what is inside."""
    lines = [f"grade runs on Python {platform.python_version()}, {resources.usable_cores()} cores"]
    try:
        resources.check_posix("A sandbox")
        lines += [_docker_line(), _bubblewrap_line()]
        name = choose_backend(sandbox)
    except GradeError as error:
        return Examination(usable=False, lines=[*lines, f"none     {error}"])
    lines.append(f"chosen   {name}" + (" (--sandbox auto: Docker if an engine answers)" if sandbox == "auto" else ""))
    try:
        backend = _open(name)
        supervisor = backend.start(0)
    except GradeError as error:
        return Examination(usable=False, lines=[*lines, f"broken   {error}"])
    greeting = supervisor.greeting
    supervisor.close()
    limits = Limits()
    watcher = "the kernel" if greeting["oom_counter"] else "the supervisor"
    lines.append(
        f"works    Python {greeting['python']} inside; programs are isolated by {greeting['isolation']}; "
        f"{watcher} watches memory; default limits: {limits.cpu_seconds:g} s of CPU time and "
        f"{limits.memory_bytes >> 20} MB per program"
    )
    major, minor = map(int, str(greeting["python"]).split(".")[:2])
    names = ", ".join(package.replace("==", " ") for package in packages.locked_packages((major, minor)))
    lines.append(f"modules  of Python, {names}; a benchmark's `requirements` add to them")
    if verbose:
        system = backend.describe().image or "/usr of this machine, read-only"
        lock = packages.lock_of((major, minor)).name
        lines.append(f"system   {system}")
        lines.append(f"code     sandbox_image {packages.code_digest()}, packages of {lock} by hash")
    return Examination(usable=True, lines=lines)


def _open(name: str) -> Backend:
    return docker.Docker(Limits(), Silent()) if name == "docker" else bubblewrap.Bubblewrap(Limits(), Silent())


def _docker_line() -> str:
    engine = engines.find()
    if engine is None:
        not_found = f"no engine answers{engines.docker_host_words()} (start it: `systemctl start docker`, or `dockerd`)"
        return f"docker   {engines.access_problem() or not_found}"
    try:
        client = docker.connect()
        version = client.version()
        built = "built" if image.find(client) is not None else "not built yet (`grade image build`)"
    except GradeError as error:
        return f"docker   {error}"
    engine_version = version.get("Version", "?")
    image_state = f"image {image.lookup_tag()} {built}"
    return f"docker   {engine.name} at {engine.address}: engine {engine_version}; {image_state}"


def _bubblewrap_line() -> str:
    program = bubblewrap.executable()
    if program is None:
        return "bwrap    not installed (`apt-get install bubblewrap`)"
    completed = subprocess.run([program, "--version"], capture_output=True, text=True, check=False)  # noqa: S603 - its path
    user = "root" if os.getuid() == 0 else "an ordinary user"
    return f"bwrap    {completed.stdout.strip()}, would run as {user}"
