"""What a pool grades and how: the same in the processes that ask and in the one that answers."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import msgspec

from grader.errors import UsageError
from grader.options import Options, from_arguments
from grader.resources import version

OF_A_RUN = ("k", "score_only", "limit", "ids", "missing", "output_dir", "force")
"""Options that say what becomes of a prediction file: a pool has none."""


class PoolSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What makes two pools the same one."""

    options: Options
    interactive: bool = True
    """Whether tasks whose calls cannot be recorded are graded with program and tests alive at once."""
    shared: str = ""
    """Pools of one user and node with the same settings are one process; a private one has a name of its own here."""
    linger: float = 10.0
    """Seconds that the process stays when nobody is connected any more."""

    @property
    def name(self) -> str:
        """A hash of all this: the name of the socket."""
        encoded = msgspec.json.encode(self, enc_hook=str, order="deterministic")
        return hashlib.sha256(version().encode() + encoded).hexdigest()[:20]


def settings_of(given: dict[str, Any], *, interactive: bool, shared: str, linger: float) -> PoolSettings:
    """Return the settings of a pool's keywords; raises UsageError."""
    for name in OF_A_RUN:
        if name in given:
            raise UsageError(f"Pool(): {name} is an option of a run over a prediction file; leave it out.")
    unknown = given.keys() - set(Options.__struct_fields__)
    if unknown:
        known = ", ".join(field for field in Options.__struct_fields__ if field not in OF_A_RUN)
        raise UsageError(f"Pool() has no option {sorted(unknown)[0]!r}; it has {known}.")
    options = from_arguments(given)
    # The process that grades has a working folder of its own.
    paths = {
        name: path.resolve() for name in ("data", "judge_replies", "judge_prompt") if (path := getattr(options, name))
    }
    folder = Path(options.benchmark)
    if folder.is_dir():
        paths["benchmark"] = str(folder.resolve())
    options = msgspec.structs.replace(options, **paths)
    return PoolSettings(options=options, interactive=interactive, shared=shared, linger=linger)


def encode(settings: PoolSettings) -> bytes:
    """Return settings as they are handed to the process that grades."""
    return msgspec.json.encode(settings, enc_hook=str)


def decode(data: bytes) -> PoolSettings:
    """Return what `encode` was given."""
    return msgspec.json.decode(data, type=PoolSettings, dec_hook=lambda kind, value: kind(value))
