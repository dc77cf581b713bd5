"""The settings of a pool: what it grades and how. The clients and the process that grades use the same ones."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import stat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import msgspec

from grader.errors import UsageError
from grader.options import Options, from_arguments
from grader.scorers import declarations

if TYPE_CHECKING:
    from collections.abc import Iterable

RUN_OPTIONS = (
    "k",
    "score_only",
    "limit",
    "ids",
    "since",
    "until",
    "missing",
    "output_dir",
    "executor",
    "judge_replies",
)
"""Options for a run over a prediction file; a pool does not accept them. `judge_replies` are about the samples of
such a file."""

POOL_OPTIONS = ("wait", "shared", "linger", "reward")
"""Keywords that only a pool has."""

PACKAGE = Path(__file__).resolve().parent.parent
ROWS_BENCHMARK = Path(__file__).with_name("rows")
"""The folder of the benchmark `rows`, which has no tasks: every sample brings a row with its task."""


@functools.cache
def code_hash() -> str:
    """Return a hash of this installation's files. Pools share a process only if theirs are equal.

    It is computed once in a process, because its modules stay as they were when they were loaded.
    """
    return _hash_of_files(PACKAGE.rglob("*.py"))


def data_hash(options: Options) -> str:
    """Return a hash of the files of the data and of a benchmark of one's own, which may change under their name."""
    own = Path(options.benchmark)
    folder = own.parent if own.is_file() else own
    given = [path for path in (options.data, folder) if path is not None and path.is_absolute()]
    return _hash_of_files(file for path in given for file in (path, *path.rglob("*")))


def _hash_of_files(paths: Iterable[Path]) -> str:
    """Return a hash of the names, times and sizes of these files. Folders and what cannot be read do not count."""
    files = []
    for path in sorted(paths):
        with contextlib.suppress(OSError):  # it may be removed meanwhile
            status = path.stat()
            if stat.S_ISREG(status.st_mode):
                files.append((str(path), status.st_mtime_ns, status.st_size))
    return hashlib.sha256(repr(files).encode(errors="surrogateescape")).hexdigest()[:20]


RewardName = Literal["passed", "calls_right", "tests_right"]


class PoolSettings(msgspec.Struct, frozen=True, kw_only=True):
    """All settings that identify a pool."""

    options: Options
    private_name: str = ""
    """Of a pool that shares its process with no other. Empty: a user's pools with equal settings share one per node."""
    linger: Annotated[float, msgspec.Meta(ge=0, le=86_400)] = 10.0
    """Seconds that the process stays after the last client has disconnected."""
    code: str
    """See `code_hash`."""
    data: str
    """See `data_hash`."""

    @property
    def name(self) -> str:
        """A hash of all settings: the name of the socket."""
        return hashlib.sha256(msgspec.json.encode(self, enc_hook=str, order="deterministic")).hexdigest()[:20]


def settings_of(arguments: dict[str, Any], **fields: Any) -> PoolSettings:
    """Return the settings for a pool's keywords; `fields`: those of `PoolSettings`. Raises UsageError."""
    for name in RUN_OPTIONS:
        if name in arguments:
            raise UsageError(f"Pool(): {name} is an option of a run over a prediction file; leave it out.")
    unknown = arguments.keys() - set(Options.__struct_fields__)
    if unknown:
        known = ", ".join([*POOL_OPTIONS, *(field for field in Options.__struct_fields__ if field not in RUN_OPTIONS)])
        raise UsageError(f"Pool() has no option {sorted(unknown)[0]!r}; it has {known}.")
    options = from_arguments({"cache": "memory"} | arguments)
    # The grading process has another working directory, so paths must be absolute.
    paths: dict[str, Any] = {"data": options.data.resolve()} if options.data else {}
    own = ROWS_BENCHMARK if options.benchmark == ROWS_BENCHMARK.name else Path(options.benchmark)
    if own.exists() and not declarations.is_bundled(options.benchmark):
        paths["benchmark"] = str(own.resolve())
    options = msgspec.structs.replace(options, **paths)
    try:
        return msgspec.convert(
            {"options": options, "code": code_hash(), "data": data_hash(options), **fields}, PoolSettings
        )
    except msgspec.ValidationError as error:
        raise UsageError(f"Pool(): {error}") from None


def reward_name(value: Any) -> RewardName:
    """Return the name of a kind of reward; raises UsageError."""
    if value not in get_args(RewardName):
        raise UsageError(f"reward: expected {', '.join(get_args(RewardName))}, not {value!r}")
    name: RewardName = value
    return name


def encode(settings: PoolSettings) -> bytes:
    """Encode settings for the process that grades."""
    return msgspec.json.encode(settings, enc_hook=str)


def decode(data: bytes) -> PoolSettings:
    """Decode settings encoded by `encode`."""
    return msgspec.json.decode(data, type=PoolSettings, dec_hook=lambda kind, value: kind(value))
