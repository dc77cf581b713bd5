"""Advice on how to fix the problems that a self-test finds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.results import Outcome

if TYPE_CHECKING:
    from grader.results import Reading
    from grader.scorers.probe import Probe

INSTALLATION = (
    "This installation of grade gives wrong verdicts: install it again (pip install --force-reinstall), and report it."
)
IMAGE = "The sandbox is broken: run grade image clean --all && grade image build, then grade selftest again."
MEMORY = "Programs have too little memory: raise --memory, or free memory on this machine."
TIME = "Programs are too slow on this machine: lower --workers, raise --timeout, or stop other load."
SANDBOX = "The sandbox does not answer: run grade doctor to find the reason."
CONTAINMENT = "A program that solves nothing gets credit: do not use verdicts of this machine, and report the program."
NOTHING_REFUSED = (
    "Either these tests assert nothing, or this machine credits everything: run grade selftest without --data to find "
    "out which."
)
DATA = (
    "If only this task fails, its reference or its tests are wrong: report it to the benchmark's authors. Else: "
    + IMAGE
)
FLAKE = (
    "The same prediction gets different verdicts: stop other load, or raise --timeout; `--repeat` shows if it helped."
)

_BY_OUTCOME = {
    Outcome.OUT_OF_MEMORY: MEMORY,
    Outcome.TIMEOUT: TIME,
    Outcome.UNSCORED: SANDBOX,
    Outcome.CRASHED: MEMORY,
}


def of_sample(probe: Probe, reading: Reading) -> str:
    """Return advice for a probe's wrong verdict."""
    if "MemoryError" in reading.detail:
        return MEMORY
    if "ImportError" in reading.detail or "ModuleNotFoundError" in reading.detail:
        return IMAGE
    unfinished = {Outcome.SUSPECT: TIME} if "did not finish" in reading.detail else {}
    by_outcome = _BY_OUTCOME | unfinished
    if reading.outcome in by_outcome:
        return by_outcome[reading.outcome]
    if probe.kind in {"hostile", "stub"} or (probe.kind == "wrong" and probe.needs_tests):
        return CONTAINMENT
    if probe.kind in {"reference", "mutant"}:
        return DATA
    return IMAGE if probe.kind in {"canary", "calibration", "python"} else INSTALLATION
