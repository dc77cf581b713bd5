"""The base of the sandbox image: which one is taken, and what is said of it."""

from pathlib import Path
from typing import Any

import docker.errors
import pytest

from grader.errors import InfrastructureError
from grader.sandbox import image
from tests.observers import Noting


class Engine:
    """An engine whose registry gives nothing. It is its own list of images."""

    def __init__(self, *names: str) -> None:
        self._names = names

    @property
    def images(self) -> Any:
        return self

    def get(self, name: str) -> object:
        if name not in self._names:
            raise docker.errors.ImageNotFound(name)
        return name

    def pull(self, name: str) -> None:
        raise docker.errors.APIError("no route to host")


def test_the_official_base_that_was_asked_for_is_replaced_by_nothing_and_nothing_says_so() -> None:
    said = Noting()
    with pytest.raises(InfrastructureError, match="--base debian"):
        image.base_image(Engine(image.DEBIAN_BASE), said, "official", None)
    assert said.messages == [f"Pulling {image.BASES['3.12'].pinned}"]


def test_where_no_registry_gives_the_official_base_the_other_one_is_taken_and_named() -> None:
    said = Noting()
    assert image.base_image(Engine(image.DEBIAN_BASE), said, "auto", None) == image.DEBIAN_BASE
    assert said.messages[1:] == ["The registry did not provide it; the base is a Debian bookworm instead"]


def test_the_version_of_a_protocol_is_pulled_by_its_own_digest() -> None:
    said = Noting()
    assert image.base_image(Engine(image.BASES["3.10"].pinned), said, "auto", "3.10") == image.BASES["3.10"].pinned
    assert said.messages == []
    with pytest.raises(InfrastructureError):
        image.base_image(Engine(), said, "official", "3.10")
    assert said.messages == [f"Pulling {image.BASES['3.10'].pinned}"]


def test_without_a_registry_a_base_with_the_wanted_python_comes_before_debians() -> None:
    ubuntu = image.BASES["3.12"].ubuntu_base
    assert image.base_image(Engine(image.DEBIAN_BASE, ubuntu), Noting(), "auto", "3.12") == ubuntu
    assert image.base_image(Engine(image.DEBIAN_BASE, ubuntu), Noting(), "debian", "3.12") == image.DEBIAN_BASE
    assert image.base_image(Engine(image.DEBIAN_BASE, ubuntu), Noting(), "auto", None) == image.DEBIAN_BASE


def test_where_no_base_has_the_wanted_python_it_is_said_how_to_get_one(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(image, "UBUNTU_KEYRING", tmp_path / "absent")
    said = Noting()
    assert image.base_image(Engine(image.DEBIAN_BASE), said, "auto", "3.12") == image.DEBIAN_BASE
    assert "apt-get install debootstrap ubuntu-keyring" in said.messages[1]


def test_a_base_from_a_mirror_has_its_signatures_checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = tmp_path / "debootstrap"
    program.write_text(f'#!/bin/sh\necho "$@" >>{tmp_path / "said"}\nexit 1\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(image, "UBUNTU_KEYRING", program)
    with pytest.raises(InfrastructureError, match="debootstrap could not create a base image of bookworm"):
        image.base_image(Engine(), Noting(), "auto", "3.12")
    lines = (tmp_path / "said").read_text().splitlines()
    assert [line.split()[1] for line in lines] == ["--force-check-gpg"] * 2


@pytest.mark.parametrize(
    ("sources", "mirror"),
    [
        ("deb [signed-by=/k.gpg] http://mirror.example/debian bookworm main\n", ["http://mirror.example/debian"]),
        ("Types: deb\nURIs: http://mirror.example/debian\n", ["http://mirror.example/debian"]),
        ("deb http://security.debian.org/debian-security bookworm-security main\n", []),
        ("deb http://archive.ubuntu.com/ubuntu jammy main\n", []),
    ],
)
def test_a_debian_base_comes_from_the_machines_own_mirror_if_that_is_one_of_debian(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sources: str, mirror: list[str]
) -> None:
    (tmp_path / "sources.list").write_text(sources)
    monkeypatch.setattr(image, "APT_SOURCES", (str(tmp_path / "sources.list"),))
    assert image._mirror() == mirror
