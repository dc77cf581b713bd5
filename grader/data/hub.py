"""The Hugging Face hub: whether it answers, found out in seconds, and loading from its cache where it does not."""

from __future__ import annotations

import os
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

SECONDS = 3.0
"""How long the hub has to answer: its own client tries again and again for half a minute, and says nothing."""
_OFFLINE = "HF_HUB_OFFLINE"


def endpoint() -> str:
    """Return the hub's address, or that of the mirror that is used instead."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


class Question:
    """Asks the hub for any answer at all, in the background: while it is asked, the client can be imported."""

    def __init__(self) -> None:
        self._answered = False
        # Looking up a name can take longer than any time limit of a request, so the thread is not waited for.
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
    """Let the hub's clients use only what they have in their caches."""
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
