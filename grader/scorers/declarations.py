"""Finding and reading a benchmark's declaration, a `benchmark.toml`."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader import resources
from grader.errors import InputError, UsageError
from grader.scorers import registry

if TYPE_CHECKING:
    from grader.benchmark import Benchmark
    from grader.results import Report

FILE = "benchmark.toml"


class _Head(msgspec.Struct):
    scoring: str


def names() -> list[str]:
    """Return the ids of the bundled benchmarks."""
    return resources.bundled_benchmarks()


def bundled() -> list[Benchmark]:
    """Return the bundled benchmarks."""
    return [load(name) for name in names()]


def load(reference: str) -> Benchmark:
    """Load a benchmark by id, or from a folder or its benchmark.toml; raises UsageError, InputError."""
    comes_with_grade = is_bundled(reference)
    folder = resources.folder("benchmarks") / reference if comes_with_grade else _folder(reference)
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
    return msgspec.structs.replace(declared, folder=str(folder.resolve()), bundled=comes_with_grade)


def name_of(report: Report) -> str:
    """Return the display name of a report's benchmark; its id, if an earlier version did not write the name."""
    if report.benchmark_name:
        return report.benchmark_name
    return load(report.benchmark).name if is_bundled(report.benchmark) else report.benchmark


def is_bundled(name: str) -> bool:
    """Whether this is the id of a bundled benchmark: one with a published scorer."""
    return name in names()


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
