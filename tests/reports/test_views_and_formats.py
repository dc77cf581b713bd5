"""Views and formats do not know each other: each can be added without the other."""

import ast
import re
from pathlib import Path

import pytest

import grader.reports
from grader.reports.formats import FORMATS

FOLDER = Path(grader.reports.__file__).parent
VIEWS, MODULES = ({path.stem for path in (FOLDER / name).glob("*.py")} - {"__init__"} for name in ("views", "formats"))
NAMES_OF_FORMATS = {*FORMATS.values(), "terminal", "html", "markdown", "junit"} - {"json", "csv"}


def names(path: Path) -> str:
    """Return the code of a module, without its documentation."""
    tree = ast.parse(path.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            node.value.value = ""
    return ast.unparse(tree)


@pytest.mark.parametrize("path", sorted((FOLDER / "formats").glob("*.py")), ids=lambda path: path.stem)
def test_no_format_names_a_view(path: Path) -> None:
    code = names(path)
    assert "reports.views" not in code
    assert not re.search(rf"\b({'|'.join(VIEWS - {'run', 'cases'})})\b", code)


@pytest.mark.parametrize("path", sorted((FOLDER / "views").glob("*.py")), ids=lambda path: path.stem)
def test_no_view_names_a_format(path: Path) -> None:
    code = names(path)
    assert "reports.formats" not in code
    # `terminal` is also a medium.
    assert not re.search(rf"\b({'|'.join(NAMES_OF_FORMATS - {'terminal'})})\b", code)


def test_every_view_and_every_format_is_one_file() -> None:
    assert {"run", "comparison", "leaderboard"} <= VIEWS
    assert {*FORMATS.values(), "terminal"} <= MODULES
