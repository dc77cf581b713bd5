"""Where defaults come from: the config file, and `GRADE_` variables, of which an unknown one is an error."""

from __future__ import annotations

import codecs
import re
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from grader.errors import InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PREFIX = "GRADE_"
NOT_OPTIONS = frozenset({"GRADE_POOL", "GRADE_SERVE_TOKEN", "GRADE_VERSION"})
"""Variables that are not options: the rewards and the server read them; pipelines pin our version in one."""
_TESTS_AND_KEYS = re.compile(r"GRADE_TEST_|.*_(KEY|TOKEN|SECRET|PASSWORD)$")
"""The variables of the tests, and keys with a name that the user chooses (`--api-key-env`)."""
_KUBERNETES = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$")
_KUBERNETES_ADDRESS = re.compile(r"(tcp|udp|sctp)://")
"""Kubernetes sets such variables in every pod beside a service with the name `grade`."""


def check_variables(environment: Mapping[str, str], known: Collection[str]) -> None:
    """Raise UsageError for unknown `GRADE_` variables: a misspelled one could drop a gate."""
    unknown = [
        name
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and value and name not in NOT_OPTIONS.union(known) and not _is_foreign(name, value)
    ]
    if unknown:
        raise UsageError(
            f"unknown environment variable: {', '.join(unknown)}. Variables with the prefix {PREFIX} set options, and "
            "no option has this name. `grade run --help` lists the options. Correct or unset it."
        )


def _is_foreign(name: str, value: str) -> bool:
    """Whether a variable with our prefix is another program's, such as the address of a service called `grade`."""
    is_service = _KUBERNETES.match(name) or (name.endswith("_PORT") and _KUBERNETES_ADDRESS.match(value))
    return bool(_TESTS_AND_KEYS.match(name) or is_service)


OptionKind = Literal["flag", "value", "list"]
"""The values that an option accepts: true or false, one value, or a list of values."""
_EXPECTED: dict[OptionKind, str] = {
    "flag": "true or false, without quotes",
    "value": "one string or number, not empty",
    "list": "a string or a number, or a list of these, none of them empty",
}


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """A config file that was found."""

    path: Path
    values: dict[str, Any]
    """Option name, with underscores -> value."""


def find_config(start: Path) -> Config | None:
    """Return the nearest config file, from `start` upwards, or None.

    Raises InputError if it cannot be read: ignoring it could ignore a gate that it sets.
    """
    for folder in (start, *start.parents):
        for path, is_shared in ((folder / "grade.toml", False), (folder / "pyproject.toml", True)):
            table = _read_options_table(path, is_shared=is_shared)
            if table is not None:
                return Config(path=path, values=_with_underscores(path, table))
    return None


def check_values(config: Config, known: Mapping[str, OptionKind]) -> None:
    """Raise InputError for every unknown key, and for every value that its option does not accept."""
    problems = []
    for key, value in config.values.items():
        if key not in known:
            problems.append(f"{config.path}: {key}: unknown option")
        elif not _is_accepted(value, known[key]):
            problems.append(f"{config.path}: {key}: expected {_EXPECTED[known[key]]}")
    if problems:
        raise InputError(problems)


def _is_accepted(value: Any, kind: OptionKind) -> bool:
    """Whether an option accepts a value of the config file. An option with a list also accepts a single value."""
    if kind == "flag":
        return isinstance(value, bool)
    values = value if kind == "list" and isinstance(value, list) else [value]
    return all(isinstance(v, str | int | float) and not isinstance(v, bool) and v != "" for v in values)


def _with_underscores(path: Path, table: dict[str, Any]) -> dict[str, Any]:
    """Return a table of options with underscores in their names. Raises InputError for an option in both spellings."""
    values = {key.replace("-", "_"): value for key, value in table.items()}
    if len(values) < len(table):
        duplicate = next(key for key in table if "-" in key and key.replace("-", "_") in table)
        raise InputError([f"{path}: {duplicate}: duplicate option: it is given with a hyphen and with an underscore"])
    return values


def _read_options_table(path: Path, *, is_shared: bool) -> dict[str, Any] | None:
    """Return the options in a config file; None if it does not exist or has none. Raises InputError.

    `is_shared`: it is a pyproject.toml, which has the options in `[tool.grade]`. What is wrong elsewhere in it is the
    concern of other tools.
    """
    errors = "replace" if is_shared else "strict"
    try:
        text = path.read_bytes().removeprefix(codecs.BOM_UTF8).decode("utf-8", errors=errors)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError([f"{path}: cannot be read: {error}"]) from error
    try:
        table: Any = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        if is_shared and "tool.grade" not in text:
            return None
        raise InputError([f"{path}: {error}"]) from error
    if is_shared:
        for key in ("tool", "grade"):
            table = table.get(key) if isinstance(table, dict) else None
    if table is not None and not isinstance(table, dict):
        raise InputError([f"{path}: [tool.grade] must be a table of options: name = value"])
    return table
