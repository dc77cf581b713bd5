"""Which modules of sandbox_image import which: never in circles, not even for types, and no program's the judge."""

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import inside


def imported(source: str) -> set[str]:
    """Return the modules that a module may import, with every `from a import b` as `a` and `a.b`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, "imports are absolute, so that this test understands them"
            found |= {f"{node.module}.{alias.name}" for alias in node.names} | {str(node.module)}
    return found


def graph() -> dict[str, set[str]]:
    folder = Path(inside.FOLDER)
    sources = {".".join(path.relative_to(folder).with_suffix("").parts): path for path in folder.rglob("*.py")}
    return {name: imported(path.read_text()) & sources.keys() for name, path in sources.items()}


def reached(found: dict[str, set[str]], package: str) -> set[str]:
    """Return all modules that the modules of a sub-package import, directly or through others."""
    wanted = [name for name in found if name.startswith(f"grade_sandbox.{package}.")]
    seen: set[str] = set()
    while wanted:
        name = wanted.pop()
        wanted += found[name] - seen
        seen.add(name)
    return seen


def test_no_import_leads_back_to_its_module() -> None:
    found = graph()
    assert "grade_sandbox.values" in found["grade_sandbox.judging.views"]
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        raise AssertionError(" -> ".join(reversed(error.args[1]))) from None


def test_a_programs_process_imports_nothing_of_the_judge() -> None:
    """The judge imports what answers a call: a recording lets the reference solution answer beside its tests."""
    found = graph()
    candidate, judge = reached(found, "candidate"), reached(found, "judging")
    assert "grade_sandbox.values" in candidate & judge
    assert {name for name in candidate if name.startswith("grade_sandbox.judging")} == set()
