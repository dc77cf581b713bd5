"""The names of the files that a run writes beside its predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_SUFFIXES = {".json", ".jsonl", ".tsv", ".xlsx", ".eval"}


def stem_of(path: Path) -> Path:
    """Return a prediction file's path without its suffix; the names of written files begin with it."""
    return path.with_suffix("") if path.suffix in _SUFFIXES else path


def results_path(stem: Path) -> Path:
    """Return the path of the results file."""
    return beside(stem, "_results.json")


def beside(stem: Path, ending: str) -> Path:
    """Return the path of a file beside the predictions."""
    return stem.with_name(f"{stem.name}{ending}")
