"""No import by name reaches the code inside the sandbox: not a candidate's, not a test's, not that of the linter."""

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

import pytest

from grader.observer import Silent
from grader.sandbox import packages, values
from grader.sandbox.bubblewrap import Bubblewrap
from grader.sandbox.docker import Docker
from grader.sandbox.interface import Backend, Limits, Supervisor

BACKENDS = [
    pytest.param(Docker, marks=[pytest.mark.docker, pytest.mark.xdist_group("docker"), pytest.mark.slow]),
    pytest.param(Bubblewrap, marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]),
]
PATHS = [PurePath(name).with_suffix("") for name, _ in packages.code_files()]
NAMES = sorted({name for path in PATHS for name in (path.stem, ".".join(path.parts), path.parts[0])} - {"__init__"})
"""Of every module, as one that is beside it would import it, and as one that is outside of its package would."""
LOOK = f"""
import importlib, sys

def found():
    for name in {NAMES}:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            pass
    ours = [name for name, module in sys.modules.items() if "/opt/grade/" in str(getattr(module, "__file__", ""))]
    ours += [name for name in vars(importlib.import_module("__main__")) if not name.startswith("__")]
    ours += [path for path in (*sys.path, *sys.path_importer_cache) if path.rstrip("/") == "/opt/grade"]
    return "found: " + ", ".join(ours) + "!"
"""
DECLARED = {"signature": "def solution():\n    pass\n", "classes": [], "stubs": ["solution"]}
CANDIDATE = {**DECLARED, "source": f"{LOOK}\nsolution = found", "names": {}}
CALL = values.call("solution", [])


@pytest.fixture(params=BACKENDS, scope="module")
def supervisor(request: pytest.FixtureRequest) -> Iterator[Supervisor]:
    backend: Backend = request.param(Limits(), Silent())
    started = backend.start(0)
    yield started
    started.close()


def done(supervisor: Supervisor, job: dict[str, Any]) -> str:
    supervisor.send({"id": 1, "cpu": 10, "wall": 60, "timed_out": "", "failed_prefix": "", **job}, 60)
    return str(supervisor.receive(60))


@pytest.mark.parametrize(
    "job",
    [
        {"run": True, "head": LOOK, "test": "raise Exception(found())"},
        {"answer": {"candidate": CANDIDATE, "calls": [CALL]}},
        {"record": {**DECLARED, "test": f"{LOOK}\nraise Exception(found())", "reference": "def solution(): pass"}},
    ],
    ids=["official", "candidate", "tests that are recorded"],
)
def test_no_name_leads_to_code_of_the_sandbox(supervisor: Supervisor, job: dict[str, Any]) -> None:
    said = done(supervisor, job)
    assert "found: !" in said, said


@pytest.mark.parametrize("name", ["judging", "grade_sandbox.judging.server", "runner"])
def test_the_linter_knows_none_of_it_either(supervisor: Supervisor, name: str) -> None:
    assert "Unable to import" in done(supervisor, {"lint": True, "head": f"import {name}\n", "test": ""})


def test_a_program_has_a_user_name_although_its_user_is_in_no_password_file(supervisor: Supervisor) -> None:
    """Programs of honest models ask for it, and official runs answer."""
    job = {"run": True, "head": "import getpass\n", "test": "raise Exception(f'I am {getpass.getuser()}!')"}
    assert "I am user!" in done(supervisor, job)
