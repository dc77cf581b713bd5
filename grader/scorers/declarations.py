"""Finding and reading a benchmark's declaration, a `benchmark.toml`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.errors import GradeError, InputError, UsageError
from grader.scorers import registry

if TYPE_CHECKING:
    from grader.benchmark import Benchmark

FILE = "benchmark.toml"


class _Head(msgspec.Struct):
    scoring: str


def names() -> list[str]:
    """Return the ids of the bundled benchmarks."""
    return sorted(path.parent.name for path in resources.folder("benchmarks").glob(f"*/{FILE}"))


def bundled() -> list[Benchmark]:
    """Return the bundled benchmarks."""
    return [load(name) for name in names()]


def load(reference: str) -> Benchmark:
    """Load a benchmark by id, or from a folder or its benchmark.toml; raises UsageError, InputError."""
    is_bundled = reference in names()
    folder = resources.folder("benchmarks") / reference if is_bundled else _folder(reference)
    path = folder / FILE
    try:
        text = path.read_bytes()
        scorer = registry.scorer(msgspec.toml.decode(text, type=_Head).scoring)
        declared: Benchmark = msgspec.toml.decode(text, type=scorer.declaration)
    except UsageError as error:
        raise InputError([f"{path}: {error}"]) from error
    except (msgspec.DecodeError, OSError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: {error}"]) from error
    if problem := scorer.check_declaration(declared):
        raise InputError([f"{path}: {problem}"])
    return msgspec.structs.replace(declared, folder=str(folder.resolve()), bundled=is_bundled)


def name_of(reference: str) -> str:
    """Return a benchmark's display name, or the reference itself if its declaration cannot be loaded."""
    try:
        return load(reference).name
    except GradeError:
        return reference


def _folder(reference: str) -> Path:
    """Return the folder that a reference names; raises UsageError, with the most similar id."""
    path = Path(reference)
    folder = path.parent if path.name == FILE else path
    if (folder / FILE).is_file():
        return folder
    near = difflib.get_close_matches(reference.casefold(), names(), 1)
    hint = f" Did you mean {near[0]}?" if near else ""
    raise UsageError(
        f"There is no benchmark {reference!r}: it is neither one of {', '.join(names())} nor a folder with a {FILE}."
        f"{hint}"
    )
