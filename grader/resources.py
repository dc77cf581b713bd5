"""The installation and its machine: version, folders (in a wheel, an editable install, a bare checkout), cores."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from functools import cache
from pathlib import Path

import platformdirs

from grader.errors import InfrastructureError

DISTRIBUTION = "grade-predictions"
_PACKAGE = Path(__file__).resolve().parent


def folder(name: str) -> Path:
    """Return the folder `name` of this installation; raises FileNotFoundError if it is missing."""
    for place in (_PACKAGE / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise FileNotFoundError(f"this installation of grade has no {name} folder; install it again")


def bundled_benchmarks() -> list[str]:
    """Return the ids of the benchmarks in this installation. Each has a published scorer."""
    return sorted(path.parent.name for path in folder("benchmarks").glob("*/benchmark.toml"))


@cache
def version() -> str:
    """Return the version: the repository's tag when it was installed; "unknown" if grade is not installed."""
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

    If it is not writable, return a folder of this user among the temporary files, which may be deleted at any time.
    """
    path = Path(platformdirs.user_cache_dir("grade"))
    return path if _is_writable(path) else _temporary_cache(path)


def cache_is_temporary() -> bool:
    """Whether the user's cache folder is not writable, so that a temporary one is used."""
    return not _is_writable(Path(platformdirs.user_cache_dir("grade")))


def _is_writable(path: Path) -> bool:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(path, os.W_OK)


def _temporary_cache(wanted: Path) -> Path:
    return private_folder("grade", f"instead of the cache folder {wanted}", "a cache folder with XDG_CACHE_HOME")


def private_folder(name: str, purpose: str, remedy: str) -> Path:
    """Return a folder among the temporary files that only this user can access, created if it is missing.

    `purpose` and `remedy` complete the error message: "(purpose)", "Name remedy". Raises InfrastructureError.
    """
    path = Path(tempfile.gettempdir()) / f"{name}-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise InfrastructureError(
            f"The folder {path} ({purpose}) cannot be created: {error.strerror}. Name {remedy}."
        ) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise InfrastructureError(
            f"The folder {path} ({purpose}) does not belong to this user alone, so it is not used. "
            f"Remove it, or name {remedy}."
        )
    return path


def usable_cores() -> int:
    """Return the number of cores that this process may use; if the system does not say, the number of cores."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
