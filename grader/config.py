"""The configuration table: `grade.toml`, or `[tool.grade]` in `pyproject.toml`, of this folder or the nearest above."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Collection


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A table that was found."""

    path: Path
    values: dict[str, Any]
    """Option name, with underscores -> value."""


def find(start: Path) -> Config | None:
    """Return the nearest table, from `start` upwards; None where there is none. Raises InputError for bad TOML."""
    for folder in (start, *start.parents):
        for name, keys in (("grade.toml", ()), ("pyproject.toml", ("tool", "grade"))):
            table = _table(folder / name, keys)
            if table is not None:
                return Config(path=folder / name, values={key.replace("-", "_"): v for key, v in table.items()})
    return None


def check(config: Config, known: Collection[str]) -> None:
    """Raise InputError for every key that is no option, or whose value is no option's."""
    problems = []
    for key, value in config.values.items():
        if key not in known:
            problems.append(f"{config.path}: {key}: there is no such option")
        elif isinstance(value, dict) or (isinstance(value, list) and any(isinstance(v, dict | list) for v in value)):
            problems.append(f"{config.path}: {key}: a text, a number, true or false, or a list of these")
    if problems:
        raise InputError(problems)


def _table(path: Path, keys: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    if keys and ".".join(keys) not in text:
        # Somebody else's file: what is wrong with it is not ours to say.
        return None
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError([f"{path}: {error}"]) from error
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, dict) else None
