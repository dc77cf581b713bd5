"""The settings of a pool: what it grades and how. The clients and the process that grades use the same ones."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from grader.errors import UsageError
from grader.options import Options, from_arguments
from grader.resources import version

OF_A_RUN = ("k", "score_only", "limit", "ids", "missing", "output_dir", "force")
"""Options for a run over a prediction file; a pool does not accept them."""


class PoolSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings that identify a pool."""

    options: Options
    interactive: bool = True
    """Whether to grade tasks whose calls cannot be recorded, with program and tests alive at the same time."""
    shared: str = ""
    """Empty: a user's pools with equal settings share one process per node. A private pool has a unique name here."""
    linger: float = 10.0
    """Seconds that the process stays after the last client has disconnected."""

    @property
    def name(self) -> str:
        """A hash of all settings: the name of the socket."""
        encoded = msgspec.json.encode(self, enc_hook=str, order="deterministic")
        return hashlib.sha256(version().encode() + encoded).hexdigest()[:20]


def settings_of(given: dict[str, Any], *, interactive: bool, shared: str, linger: float) -> PoolSettings:
    """Return the settings for a pool's keywords; raises UsageError."""
    for name in OF_A_RUN:
        if name in given:
            raise UsageError(f"Pool(): {name} is an option of a run over a prediction file; leave it out.")
    unknown = given.keys() - set(Options.__struct_fields__)
    if unknown:
        known = ", ".join(field for field in Options.__struct_fields__ if field not in OF_A_RUN)
        raise UsageError(f"Pool() has no option {sorted(unknown)[0]!r}; it has {known}.")
    options = from_arguments(given)
    # The grading process has another working directory, so paths must be absolute.
    paths = {
        name: path.resolve() for name in ("data", "judge_replies", "judge_prompt") if (path := getattr(options, name))
    }
    folder = Path(options.benchmark)
    if folder.is_dir():
        paths["benchmark"] = str(folder.resolve())
    options = msgspec.structs.replace(options, **paths)
    return PoolSettings(options=options, interactive=interactive, shared=shared, linger=linger)


def encode(settings: PoolSettings) -> bytes:
    """Encode settings for the process that grades."""
    return msgspec.json.encode(settings, enc_hook=str)


def decode(data: bytes) -> PoolSettings:
    """Decode settings encoded by `encode`."""
    return msgspec.json.decode(data, type=PoolSettings, dec_hook=lambda kind, value: kind(value))
