"""The Hugging Face hub: a quick check whether it answers, and loading from its cache if it does not."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 3.0
"""Time for the hub to answer. Its own client tries silently for half a minute."""
_OFFLINE = "HF_HUB_OFFLINE"


def endpoint() -> str:
    """Return the address of the hub, or of the configured mirror."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


class Question:
    """A request to the hub in the background, so that its client can be imported meanwhile."""

    def __init__(self) -> None:
        self._answered = False
        # A name lookup can take longer than the request's timeout, so the thread is a daemon.
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def answered(self) -> bool:
        """Return whether there was an answer in time."""
        self._thread.join(SECONDS)
        return self._answered

    def _ask(self) -> None:
        import requests

        try:
            requests.head(endpoint(), timeout=SECONDS, allow_redirects=False)
        except (requests.RequestException, OSError, ValueError):
            return
        self._answered = True


@contextmanager
def offline() -> Iterator[None]:
    """Make the hub's clients use only their caches."""
    import datasets.config
    from huggingface_hub import constants

    places: list[Any] = [constants, datasets.config]
    before = [getattr(place, _OFFLINE) for place in places]
    for place in places:
        setattr(place, _OFFLINE, True)
    try:
        yield
    finally:
        for place, value in zip(places, before, strict=True):
            setattr(place, _OFFLINE, value)
