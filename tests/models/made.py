"""A model with little patience, and requests, for the tests."""

import io
from typing import Any

import PIL.Image

from grader.models.messages import user
from grader.models.model import Model, Request, Server
from tests.models.server import ModelServer

KEY = "sk-test-0123456789abcdef"


def _png() -> bytes:
    file = io.BytesIO()
    PIL.Image.new("RGB", (3, 2), "red").save(file, "PNG")
    return file.getvalue()


PIXEL = _png()
"""A PNG of 3 x 2 pixels."""


def model(server: ModelServer | str, *, retries: int = 2, **options: Any) -> Model:
    """A model that is ready to be asked."""
    url = server if isinstance(server, str) else server.url
    made = Model(Server(**{"model": "m", "base_url": url, "api_key": KEY, **options}), retries=retries)
    made.connect()
    return made


def request(text: str = "hello", **settings: Any) -> Request:
    """A request of one text."""
    return Request(qid=text, messages=(user(text),), settings=settings)
