"""Every supervisor stays on a processor of its own, if there are as many processors as supervisors."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

from grader.observer import Silent
from grader.options import Options
from grader.sandbox import bubblewrap, choice
from grader.sandbox.interface import ANYWHERE, Limits, Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.sandbox.interface import Supervisor

ALL = sorted(os.sched_getaffinity(0))
JOB = {"id": 0, "cpu": 2, "wall": 20, "run": True, "timed_out": "", "failed_prefix": "", "test": ""}
SAY = "import os\nraise SystemExit(repr(sorted(os.sched_getaffinity(0))))\n"
REFUSE = "import os\nraise ValueError(sorted(os.sched_getaffinity(0)))\n"

pytestmark = pytest.mark.skipif(len(ALL) == 1, reason="needs two processors")


@pytest.fixture(
    params=[
        pytest.param("bubblewrap", marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")]),
        pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    ]
)
def start(request: pytest.FixtureRequest) -> Iterator[Callable[[Place], Supervisor]]:
    if request.param == "bubblewrap" and bubblewrap.executable() is None:
        pytest.skip("bubblewrap is not installed")
    backend = choice.open_backend(Options(sandbox=request.param), Limits(), Silent())
    started: list[Supervisor] = []

    def one(place: Place) -> Supervisor:
        started.append(backend.start(len(started), place=place))
        return started[-1]

    yield one
    for supervisor in started:
        supervisor.close()


def said(supervisor: Supervisor, **more: Any) -> str:
    """Return the processors of a program."""
    supervisor.send(JOB | {"head": SAY} | more, 60)
    seen: Any = supervisor.receive(60)
    return str(seen["run"]["result"])


def said_by_tests(supervisor: Supervisor, **more: Any) -> str:
    """Return the processors of a task's tests."""
    task = {"signature": "", "classes": [], "stubs": [], "test": REFUSE}
    supervisor.send({"id": 0, "cpu": 2, "wall": 20, "record": task} | more, 60)
    seen: Any = supervisor.receive(60)
    return str(seen["record"]["recorded"]["truthy"]["refused"]).partition(": ")[2]


def test_each_of_as_many_supervisors_as_processors_has_its_own(start: Callable[[Place], Supervisor]) -> None:
    places = [Place(number, len(ALL)) for number in (0, len(ALL) - 1)]
    assert [said(start(place)) for place in places] == [repr([ALL[0]]), repr([ALL[-1]])]


def test_a_program_that_runs_alone_may_use_any_processor(start: Callable[[Place], Supervisor]) -> None:
    supervisor = start(Place(1, len(ALL)))
    assert [said(supervisor), said(supervisor, alone=True), said(supervisor)] == [
        repr([ALL[1]]),
        repr(ALL),
        repr([ALL[1]]),
    ]


def test_tests_that_run_alone_may_use_any_processor(start: Callable[[Place], Supervisor]) -> None:
    supervisor = start(Place(1, len(ALL)))
    assert [said_by_tests(supervisor), said_by_tests(supervisor, alone=True)] == [repr([ALL[1]]), repr(ALL)]


@pytest.mark.parametrize("place", [ANYWHERE, Place(0, 1), Place(0, len(ALL) + 1), Place(0, len(ALL) - 1)])
def test_with_another_number_of_supervisors_the_kernel_chooses(
    start: Callable[[Place], Supervisor], place: Place
) -> None:
    assert said(start(place)) == repr(ALL)
