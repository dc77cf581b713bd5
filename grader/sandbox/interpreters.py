"""The Python that runs programs under bubblewrap: one of this machine with the wanted version, else the grader's."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import msgspec

_FACTS = """
import json, platform, sys, sysconfig
paths = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib")]
print(json.dumps({"path": sys.executable, "version": platform.python_version(), "base": sys.base_prefix,
                  "libraries": paths, "multiarch": str(sysconfig.get_config_var("MULTIARCH"))}))
"""


class Interpreter(msgspec.Struct, frozen=True, kw_only=True):
    """One installed Python."""

    path: Path
    version: str
    """`3.12.1`"""
    base: Path
    libraries: list[Path]
    """Folders of its standard library."""
    multiarch: str
    """Name of the folder of this machine's shared libraries."""

    @property
    def major_and_minor(self) -> tuple[int, int]:
        """The version as numbers: (3, 12)."""
        major, minor = self.version.split(".")[:2]
        return int(major), int(minor)


def current_interpreter() -> Interpreter:
    """Return the Python that runs the grader."""
    return Interpreter(
        path=Path(sys.executable).resolve(),
        version=platform.python_version(),
        base=Path(sys.base_prefix).resolve(),
        libraries=[Path(sysconfig.get_path(name)).resolve() for name in ("stdlib", "platstdlib")],
        multiarch=str(sysconfig.get_config_var("MULTIARCH")),
    )


def interpreter_for(python: str | None) -> Interpreter:
    """Return a Python of the wanted version (`3.12`) if this machine has one, else the grader's."""
    current = current_interpreter()
    if python is None or current.version.startswith(f"{python}."):
        return current
    for path in _candidates(python):
        interpreter = _inspect(path)
        if interpreter is not None and interpreter.version.startswith(f"{python}."):
            return interpreter
    return current


def _candidates(python: str) -> list[Path]:
    """Return possible paths of a version: from PATH, and from the folders of pyenv and uv."""
    on_path = shutil.which(f"python{python}")
    pattern = f"*{python}.*/bin/python{python}"
    installed = [path for folder in _install_folders() for path in _matching(folder, pattern)]
    return [*([Path(on_path)] if on_path else []), *installed]


def _install_folders() -> list[Path]:
    """Return the folders in which pyenv and uv install Python; those of a user without a home are not known."""
    folders = []
    for variable, below_variable, below_home in (
        ("PYENV_ROOT", "versions", ".pyenv/versions"),
        ("UV_PYTHON_INSTALL_DIR", "", ".local/share/uv/python"),
    ):
        if root := os.environ.get(variable):
            folders.append(Path(root) / below_variable)
            continue
        with contextlib.suppress(RuntimeError):
            folders.append(Path.home() / below_home)
    return folders


def _matching(folder: Path, pattern: str) -> list[Path]:
    """Return the paths in a folder that match, the newest version first; none if the folder cannot be read.

    A variable that another user's session left behind can name such a folder.
    """
    try:
        return sorted(folder.glob(pattern), reverse=True)
    except OSError:
        return []


def _inspect(path: Path) -> Interpreter | None:
    """Return the facts of a Python; None if it does not run. A shim reports the Python behind it."""
    try:
        completed = subprocess.run(  # noqa: S603 - an interpreter of this machine
            [str(path), "-I", "-c", _FACTS], capture_output=True, text=True, timeout=20, check=True
        )
        facts = json.loads(completed.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Interpreter(
        path=Path(facts["path"]).resolve(),
        version=facts["version"],
        base=Path(facts["base"]).resolve(),
        libraries=[Path(folder).resolve() for folder in facts["libraries"]],
        multiarch=facts["multiarch"],
    )
