"""The packages that programs can import: one lock file, the same for both backends, installed outside the sandbox.

pip fetches the wheels on the host, which has a network, for the Python version that will run them. An image build
installs nothing. A benchmark may require more packages; they are installed only on command (`grade image build`).
Byte code is written by a Python of the same version, because no other version can use it.
"""

from __future__ import annotations

import errno
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from grader import resources
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from filelock import BaseFileLock

    from grader.observer import Observer
    from grader.sandbox.interpreters import Interpreter

_COMPILED = ".compiled"
"""An empty file in a folder of packages that have byte code."""
_SEAL = ".whole"
"""A file with the hash of what was put into its folder."""


def code_digest() -> str:
    """Return a hash of every file in sandbox_image and below: the code that runs inside, and the lock files."""
    digest = hashlib.sha256()
    for name, path in _files("*"):
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def code_files() -> list[tuple[str, Path]]:
    """Return the code that runs inside the sandbox: (path relative to sandbox_image, path) of every module."""
    return _files("*.py")


def _files(pattern: str) -> list[tuple[str, Path]]:
    folder = resources.folder("sandbox_image")
    paths = {path.relative_to(folder): path for path in folder.rglob(pattern) if path.is_file()}
    return [(name.as_posix(), path) for name, path in sorted(paths.items()) if "__pycache__" not in name.parts]


def lock_of(python: tuple[int, int]) -> Path:
    """Return the lock file for a Python version; current versions of the packages do not run on 3.10."""
    name = "requirements-3.10.lock" if python < (3, 11) else "requirements.lock"
    return resources.folder("sandbox_image") / name


def lock_digest(python: tuple[int, int]) -> str:
    """Return a hash of a Python version's lock file."""
    return hashlib.sha256(lock_of(python).read_bytes()).hexdigest()[:16]


class NotBuiltError(Exception):
    """Raised if there is no sandbox with the packages that a benchmark requires."""


def suffix(requirements: str) -> str:
    """Return what the names of images and folders have for further packages: a hash of their requirements file."""
    return f"-with-{hashlib.sha256(requirements.encode()).hexdigest()[:16]}" if requirements else ""


def file_lock(path: Path) -> BaseFileLock:
    """Return a file lock, so that two graders do not build the same thing at the same time."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    return FileLock(path)


def built_folder(python: tuple[int, int], requirements: str) -> Path:
    """Return the folder in which `prepare` has put the packages; raises NotBuiltError if they are not all there."""
    target = _folder(python, requirements)
    if not _is_intact(target):
        raise NotBuiltError
    return target


def _folder(python: tuple[int, int], requirements: str) -> Path:
    name = f"site-{lock_digest(python)}{suffix(requirements)}-py{python[0]}.{python[1]}"
    return resources.cache_folder() / name


def prepare(
    python: tuple[int, int], observer: Observer, interpreter: Path | None = None, requirements: str = ""
) -> Path:
    """Return a folder with the locked packages for CPython `python`, installed at first use (which needs PyPI).

    `interpreter` is a Python of this version on this machine, by default the grader's own if it has this version. It
    compiles the packages; without one, they get no byte code. `requirements`: the text of a requirements file, whose
    packages are added.
    """
    target = _folder(python, requirements)
    if interpreter is None and python == sys.version_info[:2]:
        interpreter = Path(sys.executable)
    with file_lock(target.with_name(f"{target.name}.lock")):
        if not _is_intact(target):
            observer.message(f"Fetching the sandbox's packages for Python {python[0]}.{python[1]} (once)")
            _install(target, python, requirements)
        if interpreter is not None and not is_compiled(target):
            compile_all(target, interpreter)
            (target / _COMPILED).touch()
    return target


def is_compiled(site: Path) -> bool:
    """Whether a folder of packages has byte code. Without it, every supervisor compiles for seconds at its start."""
    return (site / _COMPILED).is_file()


def prepare_code(interpreter: Interpreter) -> Path:
    """Return a copy of sandbox_image with byte code for an interpreter, made at first use.

    The installation has byte code for the grader's own Python at best.
    """
    folder_name = f"code-{code_digest()}-py{interpreter.major_and_minor[0]}.{interpreter.major_and_minor[1]}"
    target = resources.cache_folder() / folder_name
    with file_lock(resources.cache_folder() / f"{folder_name}.lock"):
        if not _is_intact(target):
            partial = target.with_name(f"{folder_name}.partial")
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            for name, path in code_files():
                (partial / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, partial / name)
            compile_all(partial, interpreter.path)
            _publish(partial, target)
    return target


def _install(target: Path, python: tuple[int, int], requirements: str) -> None:
    """Install the lock's packages, and those of a requirements file, into a new folder `target`.

    A package that both name is installed as the requirements file wants it. Their commands are left out.
    """
    partial = target.with_name(f"{target.name}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    lock = lock_of(python)
    lock_entries = target.with_name(f"{target.name}.requirements")
    _write_entries(lock_entries, _entries(lock, python), excluded_names=_package_names(requirements))
    options = ["--no-deps", "--require-hashes", "--target", str(partial), "--requirement", str(lock_entries)]
    _pip(options, python, f"sandbox_image/{lock.name}")
    if requirements:
        _add_user_packages(partial, python, requirements)
    shutil.rmtree(partial / "bin", ignore_errors=True)
    _publish(partial, target)


def _package_names(requirements: str) -> set[str]:
    """Return the names of the packages that a requirements file names, as the lock files write them."""
    from packaging.utils import canonicalize_name

    matches = (re.match(r"\s*([A-Za-z0-9][\w.-]*)", line) for line in requirements.splitlines())
    return {canonicalize_name(match[1]) for match in matches if match}


def _write_entries(path: Path, entries: list[str], *, excluded_names: set[str]) -> None:
    """Write entries of a lock, without those of some packages, into a requirements file."""
    lines = [entry for entry in entries if entry.partition("==")[0] not in excluded_names]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _add_user_packages(folder: Path, python: tuple[int, int], requirements: str) -> None:
    """Add the packages of a requirements file. Their dependencies have the lock's version if it has one."""
    with tempfile.TemporaryDirectory(dir=folder.parent) as temporary:
        site = Path(temporary) / "site"
        requirements_file = Path(temporary) / "requirements.txt"
        constraints = Path(temporary) / "locked.txt"
        requirements_file.write_text(requirements, encoding="utf-8")
        _write_entries(constraints, locked_packages(python), excluded_names=_package_names(requirements))
        options = ["--target", str(site), "--requirement", str(requirements_file), "--constraint", str(constraints)]
        _pip(options, python, "the requirements file")
        for path in site.iterdir():
            # `_install` left the named packages out, so what is there is a dependency, and has the same version.
            if not (folder / path.name).exists():
                path.rename(folder / path.name)


def _pip(options: list[str], python: tuple[int, int], source: str) -> None:
    """Install wheels for a Python version; raises InfrastructureError. `source`: the file that names them."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary=:all:"]
    command += ["--no-compile", *options]
    if python != sys.version_info[:2] or sys.platform != "linux":
        command += ["--python-version", f"{python[0]}.{python[1]}", "--implementation", "cp"]
        command += [word for tag in _platforms() for word in ("--platform", tag)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
    if result.returncode:
        _raise_if_full(result.stderr, resources.cache_folder())
        tail = "\n".join(line for line in result.stderr.splitlines() if not line.startswith("WARNING"))[-800:]
        raise InfrastructureError(
            f"The sandbox's packages could not be downloaded from the package index.\n{tail}\n"
            "With a network, run `grade image build`; without one, set PIP_FIND_LINKS to a folder of the wheels "
            f"named in {source} and run it again."
        )


def _publish(partial: Path, target: Path) -> None:
    """Seal a complete folder, make it readable for programs, and give it its name, in place of a damaged one."""
    (partial / _SEAL).write_text(_hash_of_sizes(partial), encoding="utf-8")
    _let_all_read(partial)
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def _is_intact(folder: Path) -> bool:
    """Whether a folder has all that was put into it; otherwise right programs would be judged wrong.

    What cleans caches removes old files one by one, and after a power failure files can be empty.
    """
    try:
        return (folder / _SEAL).read_text(encoding="utf-8") == _hash_of_sizes(folder)
    except OSError:
        return False


def _hash_of_sizes(folder: Path) -> str:
    """Return a hash of the names and sizes of the files below a folder, without byte code and hidden files (marks)."""
    sizes = []
    for path, folders, names in os.walk(folder):
        folders[:] = (name for name in folders if name != "__pycache__")
        below = path.removeprefix(str(folder))
        for name in names:
            if not name.startswith("."):
                size = os.stat(f"{path}/{name}").st_size  # noqa: PTH116 - thousands of files, at each start
                sizes.append(f"{below}/{name} {size}")
    return hashlib.sha256("\n".join(sorted(sizes)).encode()).hexdigest()


def _let_all_read(folder: Path) -> None:
    """Let all users read a folder, whatever the umask: inside, programs run as another user.

    On this machine, only the cache's user gets to the folder.
    """
    for path in (folder, *folder.rglob("*")):
        path.chmod(path.stat().st_mode | (0o555 if path.is_dir() else 0o444))


def _platforms() -> list[str]:
    """Return the platform tags of the wheels that run in a sandbox, the newest C library first."""
    machine = _machine()
    return [f"manylinux_2_{minor}_{machine}" for minor in (28, 27, 26, 24, 17)] + [f"manylinux2014_{machine}"]


def _machine() -> str:
    """Return the processor's name on Linux: programs run on Linux, even if the grader does not."""
    machine = platform.machine()
    return {"arm64": "aarch64", "AMD64": "x86_64"}.get(machine, machine)


def locked_packages(python: tuple[int, int]) -> list[str]:
    """Return the packages inside a sandbox with this Python, as `name==version`."""
    return [entry.partition(" ")[0] for entry in _entries(lock_of(python), python)]


def _entries(lock: Path, python: tuple[int, int]) -> list[str]:
    """Return the lock's entries for `python`; pip would evaluate markers for its own Python, not for the target."""
    from packaging.requirements import Requirement

    entries = lock.read_text(encoding="utf-8").replace("\\\n", " ").splitlines()
    applicable = []
    for entry in entries:
        head, *hashes = entry.split(" --hash=")
        requirement = Requirement(head.strip())
        environment = {"python_full_version": f"{python[0]}.{python[1]}.0", "sys_platform": "linux"}
        environment |= {"platform_system": "Linux", "platform_machine": _machine()}
        if requirement.marker is None or requirement.marker.evaluate(environment):
            applicable.append(" --hash=".join([f"{requirement.name}{requirement.specifier}", *hashes]))
    return applicable


def compile_all(folder: Path, interpreter: Path) -> None:
    """Write byte code beside the sources, because it cannot be written inside; raises OSError on a full disk."""
    options = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash", str(folder)]
    command = [str(interpreter), "-m", "compileall", *options]
    completed = subprocess.run(command, capture_output=True, text=True, check=False, umask=0o022)  # noqa: S603 - ours
    # Other failures do not matter: not every source of a package can be compiled. But without room for byte code, each
    # start of a sandbox would take seconds longer, for ever.
    _raise_if_full(completed.stdout, folder)


def _raise_if_full(output: str, path: Path) -> None:
    """Raise OSError if the output of a command shows that the disk of `path` is full."""
    if os.strerror(errno.ENOSPC) in output:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def clean() -> list[str]:
    """Remove all downloaded sets of packages, and the copies of the sandbox's code; return their names."""
    removed = []
    folder = resources.cache_folder()
    for path in sorted([*folder.glob("site-*"), *folder.glob("code-*")]):
        if path.is_dir():
            shutil.rmtree(path)
            removed.append(path.name)
        else:
            path.unlink()
    return removed
