"""The options of `grade infer`, as the library uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from grader.models.client import Patience


class ModelAt(msgspec.Struct, frozen=True, kw_only=True):
    """A model and its server."""

    name: str
    base_url: str | None = None
    key_variable: str | None = None
    """The environment variable that holds the server's key; None: no key is sent."""


class InferOptions(msgspec.Struct, frozen=True, kw_only=True):
    """All options of a run. A setting that is `UNSET` has the benchmark's default; None is not sent."""

    model: ModelAt
    output: Path
    coder: ModelAt | None = None
    benchmark: str = "humaneval-v"
    split: str | None = None
    protocol: str | None = None
    data: Path | None = None
    limit: int | None = None
    since: str = ""
    until: str = ""
    ids: tuple[str, ...] = ()
    mode: str = ""
    samples: int = 1
    temperature: float | msgspec.UnsetType | None = msgspec.UNSET
    top_p: float | msgspec.UnsetType | None = msgspec.UNSET
    max_tokens: int | msgspec.UnsetType | None = msgspec.UNSET
    seed: int | None = 0
    extra_body: dict[str, Any] = {}
    system: Path | None = None
    image_detail: str | None = None
    max_image_pixels: int | None = None
    without_images: bool = False
    prompt: Path | None = None
    shots: int = 0
    concurrency: int = 16
    request_timeout: float = 600.0
    """Seconds of silence that end a request."""
    patience: Patience = Patience()
    max_total_tokens: int | None = None
    accept_empty: bool = False
    fresh: bool = False

    @property
    def log(self) -> Path:
        """Path of the log: `<stem>_requests.jsonl`."""
        return self.output.with_name(f"{self.output.stem}_requests.jsonl")
