"""A client with little patience, and requests, for the tests."""

import io
from typing import Any

import PIL.Image

from grader.models.client import Client, Patience
from grader.models.endpoint import Server, Wording
from grader.models.messages import Request, Settings, user
from tests.models.server import ModelServer

KEY = "sk-test-0123456789abcdef"
SOON = Patience(attempts=5, seconds=30.0, backoff=0.01, longest_backoff=0.1)
WORDING = Wording(who="The model", model_option="--model", address_option="--base-url")


def _png() -> bytes:
    file = io.BytesIO()
    PIL.Image.new("RGB", (3, 2), "red").save(file, "PNG")
    return file.getvalue()


PIXEL = _png()
"""A PNG of 3 x 2 pixels."""


def client(server: ModelServer | str, *, concurrency: int = 1, patience: Patience = SOON, **options: Any) -> Client:
    """A client that is ready to ask."""
    url = server if isinstance(server, str) else server.url
    made = Client(
        Server(**{"model": "m", "base_url": url, "api_key": KEY, **options}),
        WORDING,
        concurrency=concurrency,
        patience=patience,
    )
    made.connect()
    return made


def request(text: str = "hello", **settings: Any) -> Request:
    """A request of one text."""
    return Request(messages=(user(text),), settings=Settings(**settings))
