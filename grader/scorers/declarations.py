"""Finding and reading a benchmark's declaration, a `benchmark.toml`."""

from __future__ import annotations

import difflib
import re
import typing
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader import resources
from grader.errors import InputError, UsageError
from grader.scorers import aggregates, registry
from grader.scorers.oddities import FILTER

if TYPE_CHECKING:
    from grader.benchmark import Benchmark
    from grader.results import Report

FILE = "benchmark.toml"


class _Head(msgspec.Struct):
    scoring: str


def names() -> list[str]:
    """Return the ids of the bundled benchmarks."""
    return resources.bundled_benchmarks()


def bundled_benchmarks() -> list[Benchmark]:
    """Return the bundled benchmarks."""
    return [load(name) for name in names()]


def load(reference: str) -> Benchmark:
    """Load a benchmark by id, or from a folder or its benchmark.toml; raises UsageError, InputError."""
    is_id = is_bundled(reference)
    folder = resources.folder("benchmarks") / reference if is_id else _folder(reference)
    path = folder / FILE
    declaration: object = _Head
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
        scorer = registry.scorer(msgspec.toml.decode(text, type=_Head).scoring)
        declaration = scorer.declaration
        declared: Benchmark = msgspec.toml.decode(text, type=scorer.declaration)
    except UsageError as error:
        raise InputError([f"{path}: {error}"]) from error
    except (ValueError, RecursionError, msgspec.DecodeError, OSError) as error:
        hint = _field_advice(str(error), declaration)
        raise InputError([f"{path}: {error}{hint}"]) from error
    if problem := _common_problem(declared) or aggregates.aggregation_problem(declared) or declared.problem():
        raise InputError([f"{path}: {problem}"])
    return msgspec.structs.replace(declared, folder=str(folder.resolve()), bundled=is_id)


def _common_problem(declared: Benchmark) -> str:
    """Return what is wrong with the default split or protocol, the marks of the answer, or a grouping's name.

    Empty if nothing is.
    """
    if declared.answer_between and not all(declared.answer_between):
        return "answer_between: a mark is empty"
    if FILTER in (*declared.columns.groups, *declared.derived):
        return (
            f"groups, derived: no grouping can be named {FILTER!r}, which is that of a log's filters: rename the column"
        )
    tables = {"split": declared.splits, "protocol": declared.protocols}
    for kind, table in tables.items():
        name = getattr(declared, f"default_{kind}")
        if name not in table:
            alternatives = f"the {kind}s are {', '.join(table)}" if table else f"there is no [{kind}s.{name}]"
            return f"default_{kind} = {name!r}: there is no such {kind}; {alternatives}"
    return ""


_UNKNOWN_FIELD = re.compile(r"unknown field `(?P<field>.+?)`(?: - at `\$\.(?P<table>.*)`)?")
_UNKNOWN_VALUE = re.compile(r"Invalid enum value .* at `\$\.(?:(?P<table>.*)\.)?(?P<field>\w+)`")
_SET_BY_LOAD = {"folder", "bundled"}


def _field_advice(error: str, declared_type: object) -> str:
    """Return the values of an error's field, the tables that have it, or what it may be; empty for other errors."""
    tables = _tables(declared_type)
    if value := _UNKNOWN_VALUE.search(error):
        fields = tables.get(_table_name(value["table"]), {})
        values = _values(fields.get(value["field"]))
        return f"; the values are {', '.join(map(str, values))}" if values else ""
    unknown = _UNKNOWN_FIELD.search(error)
    if unknown is None:
        return ""
    name = unknown["field"]
    table_fields = list(tables.get(_table_name(unknown["table"]), {}))
    owners = [f"[{table}]" if table else "the top of the file" for table, fields in tables.items() if name in fields]
    if owners:
        return f"; it belongs to {' or '.join(owners)}"
    if near := difflib.get_close_matches(name, table_fields, 1, 0.7):
        return f"; did you mean `{near[0]}`?"
    return f"; the fields are {', '.join(table_fields)}" if table_fields else ""


def _table_name(path: str | None) -> str:
    """Return the table of a path in an error of msgspec: `protocols[...]` is [protocols.NAME]."""
    return (path or "").replace("[...]", ".NAME")


def _tables(kind: Any, name: str = "") -> dict[str, dict[str, object]]:
    """Return name -> field -> type of a declaration's tables: "" for its top, "splits.NAME" for each in [splits]."""
    tables: dict[str, dict[str, object]] = {}
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        fields = msgspec.structs.fields(kind)
        tables[name] = {field.name: field.type for field in fields if field.name not in _SET_BY_LOAD}
        for field, field_type in tables[name].items():
            tables |= _tables(field_type, f"{name}.{field}".lstrip("."))
    is_mapping = typing.get_origin(kind) in (dict, Mapping)
    for part in typing.get_args(kind):
        tables |= _tables(part, f"{name}.NAME" if is_mapping else name)
    return tables


def _values(kind: object) -> list[object]:
    """Return the values that a type lists."""
    if typing.get_origin(kind) is typing.Literal:
        return list(typing.get_args(kind))
    return [value for part in typing.get_args(kind) for value in _values(part)]


def name_of(report: Report) -> str:
    """Return the display name of a report's benchmark; its id, if it has none."""
    return report.benchmark_name or report.benchmark


def is_bundled(name: str) -> bool:
    """Whether this is the id of a bundled benchmark: one with a published scorer."""
    return name in names()


def id_or_folder(report: Report, given: str | None) -> str:
    """Return what names a report's benchmark: `given` by -b, else its id. Raises UsageError for an unknown id."""
    if given is None and not is_bundled(report.benchmark) and not (Path(report.benchmark) / FILE).is_file():
        raise UsageError(
            f"The results are of {report.benchmark!r}, which is not a bundled benchmark. "
            f"Give the folder with its {FILE}: -b FOLDER."
        )
    return given or report.benchmark


def _folder(reference: str) -> Path:
    """Return the folder that a reference names; raises UsageError, with the most similar id or folder."""
    path = Path(reference)
    folder = path.parent if path.name == FILE else path
    if (folder / FILE).is_file():
        return folder
    neighbours = [str(file.parent) for file in path.parent.glob(f"*/{FILE}")]
    near = difflib.get_close_matches(reference.casefold(), [*names(), *neighbours], 1)
    hint = f"Did you mean {near[0]}?" if near else "The repository of grade has folders of more in examples/benchmarks."
    raise UsageError(
        f"There is no benchmark {reference!r}: it is neither one of {', '.join(names())} nor a folder with a {FILE}. "
        f"{hint}"
    )
