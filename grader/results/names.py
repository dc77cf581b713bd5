"""The names of the files that belong to one run: they lie beside each other and begin alike."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.results import Part

_SUFFIXES = {".json", ".jsonl", ".tsv", ".csv", ".xlsx", ".parquet", ".eval"}


def stem_of(path: Path) -> Path:
    """Return a prediction file's path without its suffix, also of a compressed file; written files begin with it."""
    unpacked = path.with_suffix("") if path.suffix in {".gz", ".zip"} else path
    return unpacked.with_suffix("") if unpacked.suffix in _SUFFIXES else unpacked


def results_path(stem: Path) -> Path:
    """Return the path of the results file."""
    return path_beside(stem, "_results.json")


def path_beside(stem: Path, ending: str) -> Path:
    """Return the path of a file beside the predictions."""
    return stem.with_name(f"{stem.name}{ending}")


STANDARD_INPUT = Path("stdin")
"""The stem of the output files, if the predictions come from standard input."""


def stem_in(folder: Path | None, source: Path, part: Part | None = None) -> Path:
    """Return the common beginning of the paths of a run's files.

    `folder` is that of `--output-dir` (None: beside the predictions, which are `source`).
    """
    stem = stem_of(source)
    name = stem.name if part is None else f"{stem.name}_part-{part.ids_hash}"
    return stem.with_name(name) if folder is None else folder / name
