"""The base of the sandbox image: which one is taken, and what is said of it."""

from __future__ import annotations

from typing import Any

import docker.errors
import pytest

from grader.errors import InfrastructureError
from grader.observer import Silent
from grader.sandbox import image


class Said(Silent):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.messages: list[str] = []

    def message(self, text: str) -> None:
        self.messages.append(text)


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
    said = Said()
    with pytest.raises(InfrastructureError, match="--base debian"):
        image._base(Engine(image.DEBIAN_BASE), said, "official")
    assert said.messages == [f"Pulling {image.OFFICIAL_PINNED}"]


def test_where_no_registry_gives_the_official_base_the_other_one_is_taken_and_named() -> None:
    said = Said()
    assert image._base(Engine(image.DEBIAN_BASE), said, "auto") == image.DEBIAN_BASE
    assert said.messages[1:] == ["The registry did not give it; the base is a Debian bookworm instead"]


def test_a_debian_base_that_was_asked_for_speaks_of_no_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image.shutil, "which", lambda *_words, **_more: None)
    said = Said()
    with pytest.raises(InfrastructureError) as caught:
        image._base(Engine(), said, "debian")
    assert said.messages == []
    assert "registry" not in str(caught.value)
    assert "apt-get install debootstrap" in str(caught.value)
