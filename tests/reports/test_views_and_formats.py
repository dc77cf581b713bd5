"""Views and formats do not know each other: each can be added without the other."""

import ast
from pathlib import Path

import pytest

import grader.reports
from grader.reports.formats import FORMATS

FOLDER = Path(grader.reports.__file__).parent
VIEWS, MODULES = ({path.stem for path in (FOLDER / name).glob("*.py")} - {"__init__"} for name in ("views", "formats"))


def code(path: Path) -> tuple[str, set[str]]:
    """Return the code of a module without its documentation, and the texts in it."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    return ast.unparse(tree), {str(node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant)}


@pytest.mark.parametrize("path", sorted((FOLDER / "formats").glob("*.py")), ids=lambda path: path.stem)
def test_no_format_imports_or_names_a_view(path: Path) -> None:
    imports, texts = code(path)
    assert "reports.views" not in imports
    assert not texts & VIEWS


@pytest.mark.parametrize("path", sorted((FOLDER / "views").glob("*.py")), ids=lambda path: path.stem)
def test_no_view_imports_or_names_a_format(path: Path) -> None:
    imports, texts = code(path)
    assert "reports.formats" not in imports
    # `terminal` is also a medium.
    assert not texts & ({*FORMATS.values()} - {"terminal"})


def test_every_view_and_every_format_is_one_file() -> None:
    assert {"run", "comparison", "leaderboard"} <= VIEWS
    assert {*FORMATS.values(), "terminal"} <= MODULES
