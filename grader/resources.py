"""The installation and its machine: version, folders (in a wheel, an editable install, a bare checkout), cores."""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import socket
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from grader.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from importlib import metadata

DISTRIBUTION = "grade-predictions"
_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder `name` of this installation; raises FileNotFoundError if it is missing."""
    for path in (_PACKAGE / name, _PACKAGE.parent / name):
        if path.is_dir():
            return path
    raise FileNotFoundError(f"this installation of grade has no {name} folder; install it again")


@cache
def sandbox_module(name: str) -> Any:
    """Import a module of `sandbox_image/grade_sandbox` by its path; it must not import others.

    The grader and the sandbox must write the same message format, and the sandbox's code is not in this package.
    """
    from importlib import util

    spec = util.spec_from_file_location(
        f"grade_sandbox_{name}", folder("sandbox_image") / "grade_sandbox" / f"{name}.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def bundled_benchmarks() -> list[str]:
    """Return the ids of the benchmarks in this installation. Each has a published scorer."""
    return sorted(path.parent.name for path in folder("benchmarks").glob("*/benchmark.toml"))


@cache
def plugins(group: str) -> dict[str, metadata.EntryPoint]:
    """Return name -> entry point of the installed packages that extend grade in this group."""
    # Imported late: this import takes longer than everything else that `grade --help` needs.
    from importlib import metadata

    return {point.name: point for point in metadata.entry_points(group=group)}


def load_plugin(group: str, name: str) -> Any:
    """Return what an entry point names; raises UsageError that names its package."""
    point = plugins(group)[name]
    try:
        return point.load()
    except Exception as error:
        package = point.dist.name if point.dist is not None else point.value
        raise UsageError(
            f"{name!r} of {package} ({group}) cannot be loaded ({type(error).__name__}: {error}). "
            "Install it again, or ask its authors."
        ) from error


@cache
def version() -> str:
    """Return the installed version; "unknown" if grade is not installed."""
    # Imported late: it takes longer than everything else that `grade --help` needs.
    from importlib import metadata

    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError:
        return "unknown"


def digest_of(*modules: str) -> str:
    """Return a hash of the source code of these modules of grade, and of the Python that runs it."""
    digest = hashlib.sha256(sys.version.encode())
    for name in modules:
        digest.update(b"\0" + Path(str(sys.modules[name].__file__)).read_bytes())
    return digest.hexdigest()


def cache_folder() -> Path:
    """Return the user's cache folder for grade (`$XDG_CACHE_HOME/grade`), created if it is missing.

    Only this user can access it. If it cannot be written or made private, return a folder of this user among the
    temporary files, which may be deleted at any time.
    """
    path = Path(platformdirs.user_cache_dir("grade"))
    if _prepare_private(path):
        return path
    return private_folder("grade", f"instead of the cache folder {path}", "a cache folder with XDG_CACHE_HOME")


def cache_is_temporary() -> bool:
    """Whether the user's cache folder cannot be written or made private, so that a temporary one is used."""
    return not _prepare_private(Path(platformdirs.user_cache_dir("grade")))


def make_cache_private() -> str:
    """Take other users' access to an existing cache folder away; return a note, which is empty if they had none."""
    path = Path(platformdirs.user_cache_dir("grade"))
    try:
        mode = make_private(path)
    except OSError:
        return ""
    return f"Other users had access to the cache folder {path} (mode {mode:o}); now only you have." if mode else ""


def make_private(path: Path) -> int:
    """Take other users' access to a file or folder away; return its mode before, or 0 if they had none. OSError."""
    mode = stat.S_IMODE(path.stat().st_mode)
    if not hasattr(os, "getuid") or not mode & 0o077:
        return 0
    path.chmod(mode & 0o700)
    return mode


def _prepare_private(path: Path) -> bool:
    """Create a folder if it is missing, and make it private; return whether that worked and it can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            path.mkdir()
            path.chmod(0o700)
        make_private(path)
    except OSError:
        return False
    return os.access(path, os.W_OK)


def private_folder(name: str, purpose: str, remedy: str) -> Path:
    """Return a folder among the temporary files that only this user can access, created if it is missing.

    Raises InfrastructureError, whose message has `purpose` (what it is for) and `remedy` (what users can name instead).
    """
    if not hasattr(os, "getuid"):  # Windows, where each user has a folder for temporary files
        path = Path(tempfile.gettempdir()) / name
        path.mkdir(exist_ok=True)
        return path
    path = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        status = path.lstat()
    except OSError as error:
        raise InfrastructureError(
            f"The folder {path} ({purpose}) cannot be created: {error.strerror}. Name {remedy}."
        ) from error
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o077:
        raise InfrastructureError(
            f"The folder {path} ({purpose}) does not belong to this user alone, so it is not used. "
            f"Remove it, or name {remedy}."
        )
    return path


def check_posix(what: str) -> None:
    """Raise InfrastructureError on a system without the sockets and processes that a sandbox needs (Windows)."""
    if not (hasattr(os, "fork") and hasattr(socket, "AF_UNIX")):
        raise InfrastructureError(
            f"{what} needs Linux, and this is {platform.system()}: run it in WSL 2 or on another machine. Everything "
            "that runs no programs works here: list, check, show, fetch, infer, report, compare, leaderboard, and "
            "grading of multiple choice and of Mr-Ben."
        )


def usable_cores() -> int:
    """Return the number of cores that this process may use; if the system does not say, the number of cores."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def free_memory() -> int:
    """Return the bytes of memory that this process's machine or container has free; 0 if the system does not say."""
    free = []
    with contextlib.suppress(OSError, IndexError, ValueError):
        machine = Path("/proc/meminfo").read_text(encoding="ascii")
        free.append(int(machine.split("MemAvailable:")[1].split()[0]) << 10)
        group = Path("/sys/fs/cgroup")
        limit, used = (group.joinpath(f"memory.{name}").read_text(encoding="ascii") for name in ("max", "current"))
        free.append(int(limit) - int(used))  # without a limit, `max` is no number
    return min(free, default=0)
