"""The backend without an engine: bubblewrap, as root or an ordinary user, with a Python of this machine."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from grader.errors import InfrastructureError
from grader.results import SandboxProvenance
from grader.sandbox import channel, interpreters, packages
from grader.sandbox.interface import (
    INSIDE_SITE,
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
    from grader.sandbox.interpreters import Interpreter

_INSIDE_CODE = "/opt/grade"
READY_SECONDS = 60.0
CAPABILITIES = ("CAP_SETUID", "CAP_SETGID", "CAP_KILL", "CAP_SYS_NICE")


class ProcessSupervisor(channel.Channel):
    """A supervisor whose channel is a child process's standard input and output."""

    def __init__(self, command: list[str], variables: dict[str, str]) -> None:
        super().__init__()
        # It has its own session, so the grader handles a Ctrl-C on the terminal. It ends with the grader.
        self._process = subprocess.Popen(  # noqa: S603 - our own words
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=variables,
            start_new_session=True,
            bufsize=0,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._stdin, self._stdout = self._process.stdin, self._process.stdout
        os.set_blocking(self._stdin.fileno(), False)  # `send` also receives while the pipe is full
        try:
            self.greeting: Answer = self.receive(READY_SECONDS)
        except SupervisorLostError:
            self.close()
            raise

    def write(self, data: memoryview) -> int:
        """Send as many bytes as fit in the pipe."""
        return self._stdin.write(data) or 0

    def wait(self, timeout: float) -> None:
        """Wait until the supervisor's input pipe has room or its output pipe has data."""
        channel.wait(self._stdout, self._stdin, timeout)

    def read(self, timeout: float) -> bytes:
        """Receive bytes."""
        channel.wait(self._stdout, None, timeout)
        data: bytes = self._stdout.read(1 << 20)
        return data

    def yield_cores(self, *, to_others: bool) -> None:
        """Do nothing: the priority that the supervisor gives to a slow program counts on the whole machine."""

    def close(self) -> None:
        """Kill bubblewrap, which also ends its process namespace and mounts."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        self._process.wait()
        for stream in (self._stdin, self._stdout):
            with contextlib.suppress(OSError):
                stream.close()


class Bubblewrap:
    """Starts supervisors with bubblewrap."""

    name: BackendName = "bubblewrap"

    def __init__(
        self, limits: Limits, observer: Observer, *, python: str | None = None, requirements: str = ""
    ) -> None:
        """`requirements`: the text of a requirements file whose packages must be there; else NotBuiltError."""
        self._limits = limits
        self._python = interpreters.interpreter_for(python)
        if requirements:
            self._site = packages.built_folder(self._python.major_and_minor, requirements)
        else:
            self._site = packages.prepare(self._python.major_and_minor, observer, self._python.path)
        self._code = packages.prepare_code(self._python)
        self._first_uid = random_first_uid()
        lock = packages.lock_digest(self._python.major_and_minor) + packages.suffix(requirements)
        conditions = f"{packages.code_digest()}:{lock}:{self._python.version}:{platform.machine()}"
        self.identity = f"bubblewrap:{hashlib.sha256(conditions.encode()).hexdigest()[:16]}"

    def load(self) -> None:
        """Do nothing: `start` needs no other modules."""

    def start(self, index: int, *, for_linting: bool = False) -> ProcessSupervisor:
        """Start supervisor number `index`; raises InfrastructureError."""
        uid = self._first_uid + UIDS_PER_SUPERVISOR * index
        variables = environment(self._limits, uid, has_cgroup=False, for_linting=for_linting)
        arguments = supervisor_command(self._code, self._site, self._python)
        try:
            return ProcessSupervisor(arguments, variables)
        except SupervisorLostError:
            _raise_if_none_starts(arguments, variables)
        # A sandbox can start here, so the first one was killed.
        try:
            return ProcessSupervisor(arguments, variables)
        except SupervisorLostError as error:
            raise InfrastructureError("Two bubblewrap sandboxes were killed while they started.") from error

    def reap(self) -> int:
        """Return 0: nothing can be left over, because every sandbox dies with its grader."""
        return 0

    def describe(self) -> SandboxProvenance:
        """Return the provenance of this sandbox for a report."""
        return SandboxProvenance(
            backend=self.name,
            identity=self.identity,
            python=self._python.version,
            user="root" if os.getuid() == 0 else "ordinary user",
        )


def executable() -> str | None:
    """Return bubblewrap's path, or None if it is not installed."""
    return shutil.which("bwrap")


def readable_paths(python: Interpreter) -> list[Path]:
    """Return the paths of this machine that a program may read: the interpreter, its library, and shared libraries.

    A parent folder comes before the paths in it.
    """
    folders = set(python.libraries)
    folders |= {python.base / name for name in ("lib", "lib64") if python.base != Path("/usr")}
    shared = Path("/usr/lib") / python.multiarch
    folders |= {shared if shared.is_dir() else Path("/usr/lib"), Path("/usr/lib64"), Path("/usr/lib32")}
    folders |= {Path("/usr/bin"), Path("/usr/share/zoneinfo"), Path("/usr/lib/locale")}
    return sorted(path for path in {*folders, python.path} if path.exists())


def installed_package_folders(folders: list[Path]) -> list[Path]:
    """Return the folders of installed packages in `folders`.

    They are hidden from programs, because the grader may be in one of them, with its tests and answers.
    """
    names = ("site-packages", "dist-packages")
    patterns = [f"{middle}{name}" for name in names for middle in ("", "python*/")]
    return sorted({path for folder in folders for pattern in patterns for path in folder.glob(pattern)})


def supervisor_command(code: Path, site: Path, python: Interpreter) -> list[str]:
    """Return the command line that starts a supervisor; `site`: the folder of the packages that programs can import."""
    arguments = [executable() or "bwrap", "--die-with-parent", "--as-pid-1", "--new-session", "--hostname", "sandbox"]
    arguments += ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
    if os.getuid() == 0:
        arguments += ["--cap-drop", "ALL"]
        for capability in CAPABILITIES:
            arguments += ["--cap-add", capability]
    else:
        arguments += ["--unshare-user", "--cap-drop", "ALL"]
    arguments += [*_python_mounts(python), *_system_mounts()]
    arguments += ["--ro-bind", str(code), _INSIDE_CODE, "--ro-bind", str(site), INSIDE_SITE]
    arguments += ["--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev"]
    # As large as in a container.
    for folder_name in ("/dev/shm", "/scratch"):  # noqa: S108 - inside
        arguments += ["--perms", "1777", "--size", str(64 << 20), "--tmpfs", folder_name]
    arguments += ["--remount-ro", "/", "--chdir", "/"]
    return [*arguments, str(python.path), "-u", "-B", f"{_INSIDE_CODE}/runner.py"]


def _python_mounts(python: Interpreter) -> list[str]:
    """Return the options that show the interpreter's files, without its installed packages."""
    arguments: list[str] = []
    readable = readable_paths(python)
    # bubblewrap creates the parent folders of a mount without access for other users, but programs are other users.
    parents = {p for path in (*readable, Path(_INSIDE_CODE)) for p in path.parents}
    for folder in sorted(parents - {Path("/")}):
        arguments += ["--perms", "0755", "--dir", str(folder)]
    for path in readable:
        arguments += ["--ro-bind", str(path), str(path)]
    is_python_in_tmp = any(folder.is_relative_to("/tmp") for folder in parents)  # noqa: S108 - inside
    if not is_python_in_tmp:
        # A program's /tmp is its own folder, in which it starts.
        arguments += ["--symlink", "/proc/self/cwd", "/tmp"]  # noqa: S108
    for path in installed_package_folders(readable):
        arguments += ["--tmpfs", str(path), "--remount-ro", str(path)]
    return arguments


def _system_mounts() -> list[str]:
    """Return the options that show the machine's shared libraries, and the files with which they are found."""
    arguments: list[str] = []
    for name in ("/bin", "/sbin", "/lib", "/lib64", "/lib32"):
        path = Path(name)
        if path.is_symlink():
            arguments += ["--symlink", str(path.readlink()), name]
        elif path.is_dir():
            arguments += ["--ro-bind", name, name]
    for name in ("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime"):
        arguments += ["--ro-bind-try", name, name]
    return arguments


def _raise_if_none_starts(arguments: list[str], variables: dict[str, str]) -> None:
    """Start a supervisor whose input is empty, so that it ends at once; raises InfrastructureError with its output."""
    try:
        completed = subprocess.run(  # noqa: S603 - our own words
            arguments,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=READY_SECONDS,
            check=False,
            env=variables,
        )
        if completed.returncode == 0:
            return
        output = completed.stderr.strip()[-600:]
    except (OSError, subprocess.TimeoutExpired) as error:
        output = str(error)
    # Messages of bubblewrap itself begin with its name. After a traceback of the supervisor, the sandbox had started.
    needs = "It needs user namespaces (sysctl user.max_user_namespaces, and on Ubuntu an AppArmor profile for bwrap). "
    raise InfrastructureError(
        f"bubblewrap is installed but no sandbox could be started with it.\n{output}\n"
        f"{needs if output.startswith('bwrap: ') else ''}"
        "`grade doctor` shows what is missing; with a Docker engine, use --sandbox docker."
    )
