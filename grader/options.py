"""The options of a grading run: those of the command, and the arguments of `grader.grade`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, get_args

import msgspec

from grader import resources
from grader.benchmark import Fields
from grader.errors import UsageError

MIN_MEMORY = 64 << 20
"""In bytes: Python itself needs most of it."""
SandboxChoice = Literal["auto", "docker", "bubblewrap"]
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """All options that a scorer can use. None means: as the benchmark declares."""

    benchmark: str = "humaneval-v"
    split: str | None = None
    protocol: str | None = None
    data: Path | None = None
    k: tuple[Annotated[int, msgspec.Meta(ge=1)], ...] = ()
    score_only: bool = False
    sandbox: SandboxChoice = "auto"
    runtime: str | None = None
    """OCI runtime for the Docker engine, e.g. `runsc`."""
    requirements: str = ""
    """The text of the benchmark's requirements file, whose packages the sandbox must have."""
    executor: Literal["local", "ray"] = "local"
    """Where sandboxes run: on this machine, or on the nodes of a Ray cluster."""
    workers: Annotated[int, msgspec.Meta(ge=1, le=256)] | None = None
    """Number of programs at a time, None: one per core; or of requests to a judge, None: the judge's own number."""
    timeout: Annotated[float, msgspec.Meta(ge=0.1, le=3600)] | None = None
    """CPU time limit of a program, in seconds; None: the protocol's."""
    memory: Annotated[int, msgspec.Meta(ge=MIN_MEMORY)] = 1 << 30
    limit: Annotated[int, msgspec.Meta(ge=1)] | None = None
    """Grade only the first tasks of the data."""
    since: str = ""
    """Grade only tasks from this day on (2024-08-01)."""
    until: str = ""
    """Grade only tasks up to the end of this day."""
    ids: tuple[str, ...] = ()
    fields: Fields | None = None
    """Where the prediction file has what is graded; None: as the benchmark declares, or as the known tools write."""
    missing: Literal["error", "wrong", "skip"] = "error"
    cache: bool | Literal["memory"] = True
    """Where verdicts are stored: on disk, in this process's memory, or (False) nowhere."""
    judge_model: str | None = None
    judge_base_url: str | None = None
    judge_replies: Path | None = None
    output_dir: Path | None = None
    """The folder for written files; None: beside the predictions."""

    @property
    def is_partial(self) -> bool:
        """Whether the run may be one of only some of the tasks."""
        return self.limit is not None or self.missing == "skip" or bool(self.ids or self.since or self.until)

    @property
    def worker_count(self) -> int:
        """Number of programs at a time: by default, the number of cores that this process can use."""
        return self.workers or resources.usable_cores()


def bytes_of(text: str) -> int:
    """Return a size such as `512m` or `2G` in bytes; raises ValueError, OverflowError."""
    number = text.strip().lower().removesuffix("ib").removesuffix("b")
    unit = number[-1:] if number[-1:] in _UNITS else ""
    return int(float(number.removesuffix(unit)) * _UNITS[unit])


def parse_memory(text: str) -> int:
    """Return a program's memory in bytes; raises UsageError for an invalid or too small size."""
    try:
        size = bytes_of(text)
    except (ValueError, OverflowError):
        raise UsageError(f"{text!r} is not a size; write it like 512m or 2g.") from None
    if size < MIN_MEMORY:
        raise UsageError(f"{text!r}: a program needs at least 64m.")
    return size


def from_arguments(arguments: dict[str, Any]) -> Options:
    """Return the options of a call; sizes and paths can be texts, tuples can be lists. Raises UsageError."""
    values = dict(arguments)
    for name in ("data", "judge_replies", "output_dir"):
        if values.get(name) is not None:
            if not isinstance(values[name], str | Path):
                raise UsageError(f"grade(): {name}: expected a path, not {values[name]!r}")
            values[name] = Path(values[name])
    if isinstance(values.get("memory"), str):
        values["memory"] = parse_memory(values["memory"])
    if isinstance(values.get("k"), int):
        values["k"] = (values["k"],)
    if isinstance(values.get("benchmark"), Path):
        values["benchmark"] = str(values["benchmark"])
    try:
        return msgspec.convert(values, Options)
    except msgspec.ValidationError as error:
        raise UsageError(f"grade(): {error}{_allowed_values(str(error))}") from None


def _allowed_values(error: str) -> str:
    """Return the values of the option that an error of msgspec names at its end (`$.sandbox`), if it has a list."""
    option = error.rpartition("$.")[2].rstrip("`")
    types = {field.name: field.type for field in msgspec.structs.fields(Options)}
    values = [value for value in get_args(types.get(option)) if isinstance(value, str)]
    return f"; the values are {', '.join(values)}" if values else ""
