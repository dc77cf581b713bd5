"""What tests of scorers share: no key, no proxy and no cache of the user's."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _apart(own_cache: object, no_servers: None) -> None:
    """No key, no proxy and no cache of the user's."""
