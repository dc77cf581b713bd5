"""The options of `grade infer`, as the library uses them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from grader.models.model import KEY_VARIABLE


class InferOptions(msgspec.Struct, frozen=True, kw_only=True):
    """All options of a run."""

    model: str
    output: Path
    base_url: str | None = None
    coder_model: str | None = None
    """Another model on the same server, which writes the code."""
    api_key_env: str = KEY_VARIABLE
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
    gen_kwargs: dict[str, Any] = {}
    """Settings that replace the benchmark's; None is not sent."""
    system: Path | None = None
    image_detail: str | None = None
    without_images: bool = False
    prompt: Path | None = None
    shots: int = 0
    concurrency: int = 16
    request_timeout: float = 600.0
    """Seconds that one attempt may take."""
    fresh: bool = False

    @property
    def log(self) -> Path:
        """Path of the log: `<stem>_requests.jsonl`."""
        return self.output.with_name(f"{self.output.stem}_requests.jsonl")
