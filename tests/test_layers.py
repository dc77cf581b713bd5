"""The shape of the package: no import leads back to where it came from, and scorers are known by their folder alone."""

import ast
import re
from collections.abc import Callable
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import grader

# One worker has the graph.
pytestmark = pytest.mark.xdist_group("layers")
ROOT = Path(grader.__file__).parent
MOST_AT_THE_ROOT = 12
KINDS = re.compile(r"multiple_choice|mr_score|[\"'`](?:circular|execution)[\"'`]|is_circular")


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def modules() -> dict[str, Path]:
    paths = (path for path in ROOT.rglob("*.py") if "sandbox_image" not in path.parts)
    return {module_of(path): path for path in paths}


def imports(node: ast.AST) -> set[str]:
    """Return the modules of the package that are imported anywhere below a node: in functions and for types too."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            found |= {alias.name for alias in child.names}
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, "imports are absolute"
            for alias in child.names:
                inside = f"{child.module}.{alias.name}"
                found.add(inside if inside in modules() else child.module or "")
        else:
            found |= imports(child)
    return found & modules().keys()


@cache
def graph() -> dict[str, set[str]]:
    return {name: imports(ast.parse(path.read_text())) - {name} for name, path in modules().items()}


def packages() -> dict[str, set[str]]:
    """Return for each package and each module at the root which others it imports."""
    found: dict[str, set[str]] = {}
    for name, below in graph().items():
        own = top(name)
        found.setdefault(own, set()).update({top(other) for other in below} - {own})
    return found


def top(name: str) -> str:
    return ".".join(name.split(".")[:2])


@pytest.mark.parametrize("shape", [graph, packages])
def test_no_import_leads_back_to_where_it_came_from(shape: Callable[[], dict[str, set[str]]]) -> None:
    try:
        TopologicalSorter(shape()).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None


def test_a_dozen_modules_stand_at_the_root() -> None:
    assert len(list(ROOT.glob("*.py"))) <= MOST_AT_THE_ROOT


def test_nothing_outside_the_scorers_names_a_kind_of_scorer() -> None:
    named = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted(ROOT.rglob("*"))
        if path.suffix in {".py", ".js", ".j2", ".css"} and "scorers" not in path.relative_to(ROOT).parts
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if KINDS.search(line)
    ]
    assert named == []


def test_only_scorers_import_a_kind_of_scorer() -> None:
    """The folders of `scorers/` are the kinds; all else asks the registry."""
    kinds = tuple(f"grader.scorers.{path.name}." for path in (ROOT / "scorers").iterdir() if path.is_dir())
    outside = {name: found for name, found in graph().items() if not name.startswith("grader.scorers")}
    assert kinds
    assert {(name, one) for name, found in outside.items() for one in found if one.startswith(kinds)} == set()


def test_statistics_import_nothing_of_ours() -> None:
    inside = [name for name in modules() if name.startswith("grader.statistics.")]
    assert inside
    above = {name: {m for m in graph()[name] if not m.startswith("grader.statistics")} for name in inside}
    assert not any(above.values()), above


def test_decisions_need_only_results_files() -> None:
    """Not the predictions and not the data: a comparison or a gate works where only results are kept."""
    outside = [f"grader.{name}" for name in ("predictions", "data", "grading", "sandbox", "executors", "models")]
    above = {name: below for name, below in graph().items() if name.startswith("grader.decisions")}
    assert above
    assert {one for below in above.values() for one in below if one.startswith(tuple(outside))} == set()


def test_no_format_knows_a_view_and_no_view_a_format() -> None:
    """Each can be added without the other."""
    folders = "grader.reports.formats.", "grader.reports.views."
    for one, other in (folders, folders[::-1]):
        found = {name for name, below in graph().items() if name.startswith(one) for m in below if m.startswith(other)}
        assert found == set()


GROUND = ("task", "benchmark", "options", "resources", "observer", "errors", "wording")
LOW = (*GROUND, "files", "statistics", "results", "predictions", "models")
HIGH = ("scorers", "decisions", "reports", "grading", "commands", "cli", "pool", "serving", "integrations", "inference")


def test_what_all_others_use_names_nothing_above_it() -> None:
    """Imports for types and names in texts (`import_module`) count as well."""
    upward = [
        f"{name}: {found}"
        for name, path in modules().items()
        if name.split(".")[1:2] and name.split(".")[1] in LOW
        for found in re.findall(rf"^[^#\n]*grader\.(?:{'|'.join(HIGH)})\b[^\n]*", path.read_text(), re.M)
        if "import" in found
    ]
    assert upward == []


FORMS = re.compile(
    r"\b(?:Claim\(|(?:wordings|place_wordings)\.(?:DECLARES|DECLARED|CHOOSES|CHOSEN|INFERS|CORRECTS|FIELDS\w*)\b)"
    r"|place_wordings import [^\n]*\b(?:CHOOSES|CHOSEN|INFERS|CORRECTS|FIELDS\w*)\b"
)


def test_only_places_and_its_table_of_wordings_find_claims() -> None:
    """A kind of answer says what a claim says, and never where one stands: choice, numbers, texts, and Mr-Ben alike."""
    finding = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "scorers").rglob("*.py")
        if FORMS.search(path.read_text().replace("class Claim(", ""))
    }
    assert finding == {"scorers/places.py"}
    settling = {name for name, below in graph().items() if "grader.scorers.settling" in below}
    assert {
        "grader.scorers.answer.careful",
        "grader.scorers.choice.careful",
        "grader.scorers.mr_ben.careful",
    } <= settling
