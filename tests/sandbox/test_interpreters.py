"""Which Python of this machine runs programs under bubblewrap."""

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.sandbox import interpreters

# Root passes by the modes of files; without these capabilities it is held to them as an ordinary user is.
HELD = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.getuid() == 0 else []
OWN = ".".join(platform.python_version_tuple()[:2])


def _python(place: Path, version: str) -> Path:
    """Make an executable that answers as a Python of some version does."""
    facts = {"path": str(place), "version": version, "base": "/opt/p", "libraries": ["/opt/p/lib"], "multiarch": "m"}
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(f"#!/bin/sh\necho '{json.dumps(facts)}'\n", encoding="utf-8")
    place.chmod(0o755)
    return place


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin")
    monkeypatch.setenv("PYENV_ROOT", str(tmp_path / "pyenv"))
    monkeypatch.setenv("UV_PYTHON_INSTALL_DIR", str(tmp_path / "uv"))


def test_the_graders_own_python_is_taken_where_none_or_its_version_is_wanted() -> None:
    for wanted in (None, OWN):
        assert interpreters.interpreter_for(wanted).path == Path(sys.executable).resolve()


def test_another_version_is_found_on_the_path_in_pyenv_and_in_uv(tmp_path: Path) -> None:
    assert interpreters.interpreter_for("9.9").version == platform.python_version()
    for place in ("uv/cpython-9.9.1-linux/bin", "pyenv/versions/9.9.2/bin", "bin"):
        made = _python(tmp_path / place / "python9.9", "9.9.1")
        found = interpreters.interpreter_for("9.9")
        assert (found.path, found.major_and_minor) == (made, (9, 9))


def test_what_does_not_run_or_is_another_version_is_passed_over(tmp_path: Path) -> None:
    _python(tmp_path / "bin" / "python9.9", "9.8.0")
    broken = tmp_path / "pyenv" / "versions" / "9.9.3" / "bin" / "python9.9"
    broken.parent.mkdir(parents=True)
    broken.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    broken.chmod(0o755)
    assert interpreters.interpreter_for("9.9").version == platform.python_version()
    made = _python(tmp_path / "uv" / "cpython-9.9.1-linux" / "bin" / "python9.9", "9.9.1")
    assert interpreters.interpreter_for("9.9").path == made


@pytest.mark.skipif(bool(HELD) and shutil.which("setpriv") is None, reason="root, and no setpriv")
def test_a_folder_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    """A variable that another user's session left behind. Root reads every folder, unless it gives up doing so."""
    made = _python(tmp_path / "uv" / "cpython-9.9.1-linux" / "bin" / "python9.9", "9.9.1")
    _python(tmp_path / "pyenv" / "versions" / "9.9.3" / "bin" / "python9.9", "9.9.3")
    (tmp_path / "pyenv").chmod(0)
    code = "from grader.sandbox import interpreters; print(interpreters.interpreter_for('9.9').path)"
    try:
        ran = subprocess.run([*HELD, sys.executable, "-c", code], capture_output=True, text=True, check=False)
    finally:
        (tmp_path / "pyenv").chmod(0o755)
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f"{made}\n", "")


def test_a_user_without_a_home_gets_the_graders_own_python(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", unknown)
    for name in ("PYENV_ROOT", "UV_PYTHON_INSTALL_DIR"):
        monkeypatch.delenv(name)
    assert interpreters.interpreter_for("9.9").version == platform.python_version()
