"""The packages and the code inside the sandbox have byte code for the Python that runs them."""

from __future__ import annotations

import errno
import subprocess
import sys
from typing import TYPE_CHECKING

import msgspec
import pytest

from grader import resources
from grader.observer import Silent
from grader.sandbox import interpreters, packages

if TYPE_CHECKING:
    from pathlib import Path

    from grader.sandbox.interpreters import Interpreter


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty cache folder, which grade uses."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return resources.cache_folder()


@pytest.fixture
def other() -> Interpreter:
    """Return a Python of another version than the grader's if this machine has one, else the grader's."""
    versions = (f"3.{minor}" for minor in (10, 12, 13, 14) if minor != sys.version_info.minor)
    found = (interpreters.choose(version) for version in versions)
    return next((python for python in found if python.minor != sys.version_info[:2]), interpreters.own())


def site(cache: Path, python: tuple[int, int]) -> Path:
    """Create a folder of packages as if it had been downloaded for this version."""
    folder = cache / f"site-{packages.lock_digest(python)}-{python[0]}.{python[1]}"
    folder.mkdir()
    (folder / "module.py").write_text("x = 1\n")
    return folder


def byte_code(source: Path, python: Interpreter) -> Path:
    """Return the path where a Python looks for a module's byte code."""
    tag = f"cpython-{python.minor[0]}{python.minor[1]}"
    return source.parent / "__pycache__" / f"{source.stem}.{tag}.pyc"


def test_packages_are_compiled_by_the_python_that_will_run_them(cache: Path, other: Interpreter) -> None:
    folder = site(cache, other.minor)
    assert packages.prepare(other.minor, Silent(), other.path) == folder
    assert byte_code(folder / "module.py", other).is_file()
    assert packages.is_compiled(folder)


def test_packages_for_the_graders_own_version_need_no_other_python(cache: Path) -> None:
    folder = site(cache, sys.version_info[:2])
    packages.prepare(sys.version_info[:2], Silent())
    assert byte_code(folder / "module.py", interpreters.own()).is_file()


def test_without_a_python_of_their_version_packages_are_not_compiled(cache: Path) -> None:
    """The image's build compiles them then, with the image's Python."""
    folder = site(cache, (3, 99))
    packages.prepare((3, 99), Silent())
    assert not packages.is_compiled(folder)


def test_packages_that_were_prepared_without_a_python_are_compiled_when_one_is_there(
    cache: Path, other: Interpreter
) -> None:
    folder = site(cache, other.minor)
    if other.minor != sys.version_info[:2]:
        packages.prepare(other.minor, Silent())
        assert not packages.is_compiled(folder)
    packages.prepare(other.minor, Silent(), other.path)
    assert packages.is_compiled(folder)


def test_the_code_inside_the_sandbox_has_byte_code_for_its_python(cache: Path, other: Interpreter) -> None:
    folder = packages.prepare_code(other)
    assert folder.parent == cache
    names = {path.name for path in resources.folder("sandbox_image").glob("*.py")}
    assert {path.name for path in folder.glob("*.py")} == names
    assert all(byte_code(path, other).is_file() for path in folder.glob("*.py"))
    assert packages.prepare_code(other) == folder


def test_code_without_room_for_its_byte_code_is_not_used(cache: Path, tmp_path: Path, other: Interpreter) -> None:
    """Otherwise each start of a sandbox would compile it, also when there is room again."""
    full = tmp_path / "python"
    full.write_text("#!/bin/sh\necho '*** OSError: [Errno 28] No space left on device'\nexit 1\n")
    full.chmod(0o755)
    with pytest.raises(OSError, match="No space left") as raised:
        packages.prepare_code(msgspec.structs.replace(other, path=full))
    assert raised.value.errno == errno.ENOSPC
    folder = packages.prepare_code(other)
    assert byte_code(folder / "wire.py", other).is_file()


def test_byte_code_is_used_as_it_is(cache: Path, other: Interpreter) -> None:
    """The sandbox mounts the folder read-only: nothing may have to be compiled again."""
    folder = packages.prepare_code(other)
    script = "import sys; sys.path.insert(0, sys.argv[1]); import wire; print(wire.__cached__)"
    said = subprocess.run(
        [str(other.path), "-B", "-v", "-c", script, str(folder)], capture_output=True, text=True, check=True
    )
    assert f"code object from '{folder}/__pycache__/wire" in said.stderr


def test_cleaning_removes_packages_and_code(cache: Path, other: Interpreter) -> None:
    made = [site(cache, other.minor), packages.prepare_code(other)]
    assert set(packages.clean()) == {folder.name for folder in made}
    assert not any(cache.glob("site-*"))
    assert not any(cache.glob("code-*"))
