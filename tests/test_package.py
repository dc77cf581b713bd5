"""What pip is told of the package: every distribution that the code imports is declared."""

from __future__ import annotations

import ast
import sys
import tomllib
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import grader

PACKAGE = Path(grader.__file__).parent
ROOT = PACKAGE.parent


@cache
def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def declared() -> set[str]:
    extras = project().get("optional-dependencies", {}).values()
    listed = [*project()["dependencies"], *(line for lines in extras for line in lines)]
    return {canonicalize_name(Requirement(line).name) for line in listed}


def imported(source: str) -> set[str]:
    """Return the top-level names that a source imports, anywhere in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
    return found


def from_others() -> dict[str, Path]:
    """Return every imported name that neither Python nor this package has, with a file that imports it."""
    here = sys.stdlib_module_names | {"grader", "grade_sandbox"}
    paths = (path for path in sorted(PACKAGE.rglob("*.py")) if "sandbox_image" not in path.parts)
    return {name: path for path in paths for name in imported(path.read_text()) - here}


def test_the_sandbox_is_imported_for_its_types_only() -> None:
    for path in PACKAGE.rglob("*.py"):
        if "sandbox_image" not in path.parts and "grade_sandbox" in path.read_text():
            tree = ast.parse(path.read_text())
            tree.body = [node for node in tree.body if ast.unparse(node).partition(":")[0] != "if TYPE_CHECKING"]
            assert "grade_sandbox" not in imported(ast.unparse(tree)), path


def test_every_imported_distribution_is_declared() -> None:
    providers = packages_distributions()
    undeclared = {
        name: str(path.relative_to(ROOT))
        for name, path in from_others().items()
        if not {canonicalize_name(provider) for provider in providers.get(name, [name])} & declared()
    }
    assert undeclared == {}


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13", "3.14"])
def test_the_versions_of_python_that_are_named_are_those_that_pip_accepts(version: str) -> None:
    assert SpecifierSet(project()["requires-python"]).contains(version)
    assert not SpecifierSet(project()["requires-python"]).contains("3.10")
    assert f"Programming Language :: Python :: {version}" in project()["classifiers"]
