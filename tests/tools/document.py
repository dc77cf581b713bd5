"""Writes the lists of fields in docs/results-file.md, which follow from the code: `make docs-tables`.

    python -m tests.tools.document

A list stands between two marks: `<!-- fields of grader.results.Metric -->` names the record, whose fields are listed
(those of a record in a field follow, with its path), and `<!-- end -->`.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from enum import Enum
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import msgspec

from tests.conftest import ROOT

_MARK = re.compile(r"(?P<mark><!-- fields of (?P<of>[\w.]+) -->\n).*?(?=<!-- end -->\n)", re.DOTALL)


def renewed(text: str) -> str:
    """Return a page with its lists as they follow from the code."""
    return _MARK.sub(lambda at: f"{at['mark']}\n{fields_of(at['of'])}\n", text)


def fields_of(name: str) -> str:
    """Return the list of a record's fields; those that need no explanation stand together, by type."""
    module, _, record = name.rpartition(".")
    rows, plain = [], dict[str, list[str]]()
    for path, kind, meaning in _fields(getattr(importlib.import_module(module), record), "", set()):
        shown = "" if kind == "string" else f" ({kind})"
        if meaning:
            rows.append(f"- `{path}`{shown}: {meaning}")
        else:
            plain.setdefault(shown, []).append(f"`{path}`")
    return "\n".join([*rows, *(f"- {', '.join(paths)}{shown}" for shown, paths in plain.items())]) + "\n"


def _fields(record: type[msgspec.Struct], before: str, seen: set[type]) -> Iterator[tuple[str, str, str]]:
    """Yield path, type and meaning of each field, and of the fields of the records in it; of a record only once."""
    meanings, hints, omits = _meanings(record), get_type_hints(record), record.__struct_config__.omit_defaults
    for field in msgspec.structs.fields(record):
        kinds = _alternatives(hints[field.name])
        optional, omitted = msgspec.UnsetType in kinds, omits and not field.required
        kinds = [kind for kind in kinds if kind is not msgspec.UnsetType and not (omitted and kind is NoneType)]
        path = before + field.encode_name
        kind = " or ".join(map(_kind, kinds)) + ", optional" * optional
        inner = next(filter(None, map(_record_in, kinds)), None)
        expanded = inner is not None and inner[0] not in seen and inner[0].__name__ not in _APART
        if not expanded or field.name in meanings:
            yield path, kind, re.sub(r"\bNone\b", "null", meanings.get(field.name, ""))
        if inner is not None and expanded:
            seen.add(inner[0])
            yield from _fields(inner[0], f"{path}{inner[1]}.", seen)


_APART = {"Metric", "SampleResult", "Reading", "Provenance", "Aggregation", "FirstDifference"}
"""Records with a list of their own, or whose fields are described with the field that has them."""


def _record_in(kind: Any) -> tuple[type[msgspec.Struct], str] | None:
    """Return the record that a field holds, and what its path has after the field's name."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        return kind, ""
    origin, parts = get_origin(kind), get_args(kind)
    ending = {list: "[]", dict: ".KEY"}.get(origin) if origin else None
    inner = _record_in(parts[-1]) if ending else None
    return (inner[0], ending + inner[1]) if inner and ending else None


def _alternatives(kind: Any) -> list[Any]:
    return list(get_args(kind)) if "Union" in type(kind).__name__ else [kind]


def _kind(kind: Any) -> str:
    """Return a type in the words of JSON."""
    plain = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null", Any: "any value"}
    if kind in plain:
        return plain[kind]
    origin, parts = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(f"`{part}`" for part in parts)
    if origin is tuple and parts[-1] is not ...:
        return f"list of {len(parts)} {_kind(parts[0])}s"
    if origin in (list, tuple):
        return f"list of {_kind(parts[0])}s"
    return "string" if isinstance(kind, type) and issubclass(kind, Enum) else "object"


def _meanings(record: type) -> dict[str, str]:
    """Return field -> the documentation under it."""
    (found,) = [
        node
        for node in ast.walk(ast.parse(inspect.getsource(sys.modules[record.__module__])))
        if isinstance(node, ast.ClassDef) and node.name == record.__name__
    ]
    return {
        node.target.id: _prose(str(after.value.value))
        for node, after in zip(found.body, found.body[1:], strict=False)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }


def _prose(text: str) -> str:
    return " ".join(text.replace("\b", "").split())


if __name__ == "__main__":
    for page in sorted((ROOT / "docs").glob("*.md")):
        page.write_text(renewed(page.read_text()))
