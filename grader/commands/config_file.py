"""The configuration table: `grade.toml`, or `[tool.grade]` in `pyproject.toml`, of this folder or the nearest above."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from grader.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

Kind = Literal["flag", "value", "list"]
"""What an option takes: true or false, one value, or one or several."""
_EXPECTED: dict[Kind, str] = {
    "flag": "true or false, without quotes",
    "value": "one text or number, and not an empty one",
    "list": "a text or a number, or a list of these, and no empty ones",
}


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A table that was found."""

    path: Path
    values: dict[str, Any]
    """Option name, with underscores -> value."""


def find(start: Path) -> Config | None:
    """Return the nearest table, from `start` upwards; None where there is none.

    Raises InputError for one that cannot be read: what it asks for, a gate perhaps, must not be left out.
    """
    for folder in (start, *start.parents):
        for name, keys in (("grade.toml", ()), ("pyproject.toml", ("tool", "grade"))):
            table = _table(folder / name, keys)
            if table is not None:
                return Config(path=folder / name, values=_spelt_alike(folder / name, table))
    return None


def check(config: Config, known: Mapping[str, Kind]) -> None:
    """Raise InputError for every unknown key, and for every value that its option does not accept."""
    problems = []
    for key, value in config.values.items():
        if key not in known:
            problems.append(f"{config.path}: {key}: there is no such option{_switch(key, value, known)}")
        elif not _suits(value, known[key]):
            problems.append(f"{config.path}: {key}: expected {_EXPECTED[known[key]]}")
    if problems:
        raise InputError(problems)


def _switch(key: str, value: Any, known: Mapping[str, Kind]) -> str:
    """Return how to write a switch that the command line turns off by a name of its own (`--no-cache`)."""
    name = key.removeprefix("no_")
    if name == key or known.get(name) != "flag":
        return ""
    return f"; write {name.replace('_', '-')} = {'true' if value is False else 'false'}"


def _suits(value: Any, kind: Kind) -> bool:
    if kind == "flag":
        return isinstance(value, bool)
    values = value if kind == "list" and isinstance(value, list) else [value]
    return all(isinstance(v, str | int | float) and not isinstance(v, bool) and v != "" for v in values)


def _spelt_alike(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    values = {key.replace("-", "_"): value for key, value in table.items()}
    if len(values) < len(table):
        twice = next(key for key in table if "-" in key and key.replace("-", "_") in table)
        raise InputError([f"{path}: {twice}: is a duplicate: it is given with a hyphen and with an underscore"])
    return values


def _table(path: Path, keys: tuple[str, ...]) -> dict[str, Any] | None:
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace" if keys else "strict")
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: cannot be read: {error}"]) from error
    try:
        found: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        if keys and ".".join(keys) not in text:
            # Somebody else's file: what is wrong with it is not ours to say.
            return None
        raise InputError([f"{path}: {error}"]) from error
    for key in keys:
        found = found.get(key) if isinstance(found, dict) else None
    if found is not None and not isinstance(found, dict):
        raise InputError([f"{path}: [{'.'.join(keys)}] must be a table of options: name = value"])
    return found
