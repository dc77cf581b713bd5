"""The modules of sandbox_image do not import each other in circles, not even for types."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import inside


def imported(source: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
    return found


def test_imports_in_functions_and_for_types_count() -> None:
    source = "import a\nif TYPE_CHECKING:\n from b import B\ndef f():\n import c"
    assert imported(source) == {"a", "b", "c"}


def test_no_import_leads_back_to_its_module() -> None:
    sources = {path.stem: path.read_text() for path in Path(inside.FOLDER).glob("*.py")}
    graph = {name: imported(source) & sources.keys() - {name} for name, source in sources.items()}
    assert "standing_in" in graph["receiving"]
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None
