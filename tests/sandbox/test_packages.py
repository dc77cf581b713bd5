"""The packages and the code inside the sandbox have byte code for the Python that runs them."""

import errno
import os
import shutil
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from grader import resources
from grader.errors import InfrastructureError
from grader.observer import Silent
from grader.sandbox import image, interpreters, packages
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
    found = (interpreters.interpreter_for(version) for version in versions)
    return next(
        (python for python in found if python.major_and_minor != sys.version_info[:2]),
        interpreters.current_interpreter(),
    )


def site(cache: Path, python: tuple[int, int]) -> Path:
    """Create a folder of packages as if it had been downloaded for this version."""
    folder = site_of(cache, python)
    partial = cache / "partial"
    partial.mkdir()
    (partial / "module.py").write_text("x = 1\n")
    packages._publish(partial, folder)
    return folder


def site_of(cache: Path, python: tuple[int, int]) -> Path:
    return cache / f"site-{packages.lock_digest(python)}-py{python[0]}.{python[1]}"


def wheel(folder: Path, name: str, version: str, source: str) -> None:
    """Write a wheel with one module."""
    about = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": source,
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as file:
        for path, text in {**files, f"{about}/RECORD": "".join(f"{path},,\n" for path in files)}.items():
            file.writestr(path, text)


def test_packages_that_a_benchmark_requires_are_added_and_those_of_the_lock_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    wheels.mkdir()
    site.mkdir()
    (site / "numpy.py").write_text("locked = True\n")
    locked = next(entry for entry in packages.locked_packages(sys.version_info[:2]) if entry.startswith("numpy=="))
    wheel(wheels, "numpy", locked.partition("==")[2], "locked = False\n")
    wheel(wheels, "numpy", "999.0", "locked = False\n")
    wheel(wheels, "tiny", "1.0", "import numpy\n")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    packages._add_user_packages(site, sys.version_info[:2], "# comment\ntiny==1.0\n")
    assert (site / "tiny.py").is_file()
    assert "True" in (site / "numpy.py").read_text()
    with pytest.raises(InfrastructureError, match="absent"):
        packages._add_user_packages(site, sys.version_info[:2], "absent==1.0\n")


def test_a_requirements_file_decides_about_the_versions_that_it_names(tmp_path: Path) -> None:
    named = packages._package_names("Pandas>=2 ; python_version > '3'\n--hash=x\nruamel_yaml\n")
    assert named == {"pandas", "ruamel-yaml"}
    packages._write_entries(tmp_path / "lock", ["numpy==1.0 --hash=x", "pandas==2.0"], excluded_names=named)
    assert (tmp_path / "lock").read_text() == "numpy==1.0 --hash=x\n"


def test_each_content_of_a_requirements_file_has_an_image_and_a_folder_of_its_own(cache: Path) -> None:
    python, tags = sys.version_info[:2], [image.lookup_tag("3.12", text) for text in ("", "tiny==1.0", "tiny==2.0")]
    assert len(set(tags)) == 3
    assert tags[0] == image.lookup_tag("3.12")
    with pytest.raises(packages.NotBuiltError):
        packages.built_folder(python, "tiny==1.0")
    folder = cache / "made"
    folder.mkdir(parents=True)
    packages._publish(folder, packages._folder(python, "tiny==1.0"))
    assert packages.built_folder(python, "tiny==1.0").is_dir()
    with pytest.raises(packages.NotBuiltError):
        packages.built_folder(python, "tiny==2.0")


def byte_code(source: Path, python: Interpreter) -> Path:
    """Return the path where a Python looks for a module's byte code."""
    tag = f"cpython-{python.major_and_minor[0]}{python.major_and_minor[1]}"
    return source.parent / "__pycache__" / f"{source.stem}.{tag}.pyc"


def test_packages_are_compiled_by_the_python_that_will_run_them_once_there_is_one(
    cache: Path, other: Interpreter
) -> None:
    """Where there is none, the image's build compiles them, with the image's Python."""
    folder = site(cache, (3, 99))
    packages.prepare((3, 99), Silent())
    assert not packages.is_compiled(folder)
    for python, path in ((interpreters.current_interpreter(), None), (other, other.path)):
        folder = site_of(cache, python.major_and_minor)
        if not folder.is_dir():
            site(cache, python.major_and_minor)
        assert packages.prepare(python.major_and_minor, Silent(), path) == folder
        assert byte_code(folder / "module.py", python).is_file()
        assert packages.is_compiled(folder)


def test_the_code_inside_the_sandbox_has_byte_code_for_its_python(cache: Path, other: Interpreter) -> None:
    folder = packages.prepare_code(other)
    assert folder.parent == cache
    copied = {str(path.relative_to(folder)): path for path in folder.rglob("*.py")}
    original = resources.folder("sandbox_image")
    assert copied.keys() == {str(path.relative_to(original)) for path in original.rglob("*.py")}
    assert copied.keys() > {"runner.py", "grade_sandbox/judging/asking.py"}
    assert all(byte_code(path, other).is_file() for path in copied.values())
    assert packages.prepare_code(other) == folder


def test_a_change_in_a_subfolder_changes_the_digest_and_reaches_both_backends(
    cache: Path, tmp_path: Path, other: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise verdicts and images of other code would be used."""
    copy = tmp_path / "sandbox_image"
    shutil.copytree(resources.folder("sandbox_image"), copy)
    monkeypatch.setattr(resources, "folder", lambda _name: copy)
    before = packages.code_digest(), image.lookup_tag(), packages.prepare_code(other)
    changed = copy / "grade_sandbox" / "judging" / "asking.py"
    changed.write_text(f"{changed.read_text()}CHANGED = True\n")
    now = packages.code_digest(), image.lookup_tag(), packages.prepare_code(other)
    assert all(one != another for one, another in zip(before, now, strict=True))
    assert (now[2] / "grade_sandbox/judging/asking.py").read_text().endswith("CHANGED = True\n")
    with tempfile.TemporaryFile() as context:
        image._write_context(context, site(cache, other.major_and_minor))
        context.seek(0)
        with tarfile.open(fileobj=context) as archive:
            file = archive.extractfile("runner/grade_sandbox/judging/asking.py")
            assert file.read() == changed.read_bytes()


def test_code_without_room_for_its_byte_code_is_not_used(cache: Path, tmp_path: Path, other: Interpreter) -> None:
    """Otherwise each start of a sandbox would compile it, also when there is room again."""
    full = tmp_path / "python"
    full.write_text("#!/bin/sh\necho '*** OSError: [Errno 28] No space left on device'\nexit 1\n")
    full.chmod(0o755)
    with pytest.raises(OSError, match="No space left") as raised:
        packages.prepare_code(msgspec.structs.replace(other, path=full))
    assert raised.value.errno == errno.ENOSPC
    folder = packages.prepare_code(other)
    assert byte_code(folder / "runner.py", other).is_file()


@pytest.mark.parametrize("damage", [Path.unlink, lambda path: path.write_text("")])
def test_code_and_packages_that_lost_a_file_are_made_again(
    damage: Callable[[Path], object], cache: Path, other: Interpreter, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise every program that imports NumPy fails, or the linter rejects all."""
    folder = packages.prepare_code(other)
    damage(folder / "grade_sandbox/judging/asking.py")
    assert (packages.prepare_code(other) / "grade_sandbox/judging/asking.py").read_text()
    folder = site(cache, other.major_and_minor)
    installed: list[Path] = []
    monkeypatch.setattr(packages, "_install", lambda target, *_: installed.append(target))
    packages.prepare(other.major_and_minor, Silent(), other.path)
    assert installed == []
    damage(folder / "module.py")
    packages.prepare(other.major_and_minor, Silent(), other.path)
    assert installed == [folder]


def test_cleaning_removes_packages_and_code(cache: Path, other: Interpreter) -> None:
    made = [site(cache, other.major_and_minor), packages.prepare_code(other)]
    assert set(packages.clean()) == {folder.name for folder in made}
    assert not any(cache.glob("site-*"))
    assert not any(cache.glob("code-*"))


def test_every_user_of_a_sandbox_can_read_the_code_whatever_the_umask(cache: Path, other: Interpreter) -> None:
    """Inside, programs run as another user than the cache's, whose folder only this one enters."""
    before = os.umask(0o077)
    try:
        code = packages.prepare_code(other)
    finally:
        os.umask(before)
    paths = [code, *code.rglob("*")]
    assert any(path.suffix == ".pyc" for path in paths)
    assert [path for path in paths if path.stat().st_mode & 0o444 != 0o444] == []
    assert cache.stat().st_mode & 0o777 == 0o700


@pytest.mark.bubblewrap
def test_the_doctor_lists_every_package_inside() -> None:
    from grader.sandbox.choice import examine

    site = packages.prepare((sys.version_info[0], sys.version_info[1]), Silent())
    installed = {path.name.removesuffix(".dist-info").replace("-", " ").lower() for path in site.glob("*.dist-info")}
    (said,) = (line for line in examine("bubblewrap").lines if line.startswith("modules  of Python, "))
    listed = said.removeprefix("modules  of Python, ").partition(";")[0].split(", ")
    assert installed
    assert {name.replace("-", "_").lower() for name in listed} == installed
