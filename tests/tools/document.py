"""Writes the lists in docs/ that follow from the code: `make docs-tables`.

    python -m tests.tools.document

A list stands between a mark and `<!-- end -->`. The mark says what is written there:

- `<!-- options of run -->`: the options of `grade PREDICTIONS`, by kind
- `<!-- other commands -->`: every other command
- `<!-- fields of grader.results.Metric -->`: the fields of a record; a record in a field follows, with its path
"""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from enum import Enum
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
import msgspec

from grader.cli import main as grade
from grader.commands import options
from tests.conftest import ROOT

_MARK = re.compile(
    r"(?P<mark><!-- (?P<kind>options of|fields of|other commands) ?(?P<of>[\w.]*) -->\n).*?(?=<!-- end -->\n)",
    re.DOTALL,
)
_KINDS = {
    "The tasks": options.benchmark_options,
    "Execution": options.sandbox_options,
    "The judge": options.judge_options,
    "Gates": options.gate_options,
    "Output": lambda command: command,
}
"""Heading -> the group of options below it; the last one has all others."""


def renewed(text: str) -> str:
    """Return a page with its lists as they follow from the code."""
    writers: dict[str, Callable[[str], str]] = {
        "options of": lambda _: _options_of_run(),
        "other commands": lambda _: _other_commands(),
        "fields of": fields_of,
    }
    return _MARK.sub(lambda at: at["mark"] + "\n" + writers[at["kind"]](at["of"]) + "\n", text)


def _options_of_run() -> str:
    tables, shown = [], set[str | None]()
    for heading, group in _KINDS.items():
        found = _options_in(group) or [one for one in _given(grade.commands["run"]) if one.name not in shown]
        shown |= {one.name for one in found}
        tables.append(_listed(heading, found))
    return "\n".join(tables)


def _other_commands() -> str:
    lines = []
    for name, command in _commands(grade):
        if name == "run":
            continue
        context = click.Context(command, info_name=f"grade {name}")
        words = [one.make_metavar(context).strip("{}") for one in command.params if isinstance(one, click.Argument)]
        text = _prose(command.short_help or command.get_short_help_str(200))
        lines.append(f"- `{' '.join(['grade', name, *filter(None, words)])}`: {text}")
    return "\n".join(lines) + "\n"


def _options_in(group: Any) -> list[click.Option]:
    return _given(click.command()(group(lambda: None)))


def _commands(group: click.Group, before: str = "") -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its words, sorted."""
    for name, command in sorted(group.commands.items()):
        if isinstance(command, click.Group):
            yield from _commands(command, f"{before}{name} ")
        elif not command.hidden:
            yield before + name, command


def _given(command: click.Command) -> list[click.Option]:
    return [one for one in command.params if isinstance(one, click.Option) and not one.hidden]


def _listed(heading: str, rows: list[click.Option]) -> str:
    lines = [f"**{heading}**\n"] if heading else []
    for one in rows:
        *short, last = [*one.opts, *one.secondary_opts]
        value = (
            one.make_metavar(click.Context(grade)).strip("[]") if isinstance(one.type, click.Choice) else one.metavar
        )
        names = ", ".join(f"`{name}`" for name in [*short, last if one.is_flag else f"{last} {value}"])
        number = f"{one.default:g}" if isinstance(one.default, float) else one.default
        default = f" Default: `{number}`." if one.show_default and one.default is not None else ""
        lines.append(f"- {names}: {_prose(one.help or '')}{default}")
    return "\n".join(lines) + "\n"


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


_APART = {"Metric", "SampleResult", "Reading", "Provenance", "SandboxProvenance", "JudgeProvenance", "NodeProvenance"}
"""Records with a table of their own."""


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
