"""What tests of scorers share: no key, no proxy and no cache of the user's."""

import pytest


@pytest.fixture(autouse=True)
def _apart(own_cache: object, no_servers: None) -> None:
    """No key, no proxy and no cache of the user's."""
