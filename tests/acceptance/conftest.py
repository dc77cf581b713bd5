"""Fixtures of these tests."""

import os
from pathlib import Path

import pytest

from tests.acceptance.asking import KEY


@pytest.fixture
def asks_in_tmp_path(no_servers: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run `grade infer` in an empty folder, with a key and without anything else that this machine has configured."""
    for name in list(os.environ):
        if name.startswith("GRADE_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.chdir(tmp_path)
