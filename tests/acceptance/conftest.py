"""Fixtures of these tests."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.acceptance.asking import KEY

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def asks_in_tmp_path(no_servers: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run `grade infer` in an empty folder, with a key and without anything else that this machine has configured."""
    for name in list(os.environ):
        if name.startswith("GRADE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
