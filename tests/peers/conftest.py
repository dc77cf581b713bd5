"""What the comparisons with peers share."""

import pytest

from tests.golden.corpora import SHARED


@pytest.fixture
def shared() -> None:
    """Skip a test that needs real predictions where there are none."""
    if not SHARED.exists():
        pytest.skip(f"{SHARED} is not there: a clone of one's own does not have this data")
