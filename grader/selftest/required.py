"""`--require-selftest`: gates are only decided on a machine that passed a self-test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.errors import InfrastructureError
from grader.selftest import receipts
from grader.selftest.machine import differences, this_machine

if TYPE_CHECKING:
    from grader.benchmark import Benchmark
    from grader.results import Report


def check_before(declared: Benchmark, protocol: str) -> None:
    """Raise InfrastructureError before anything runs, if no receipt can be valid with any sandbox."""
    here = this_machine(None)
    if all(differences(there, here, of_sandbox=False) for there in receipts.machines(declared.id, protocol)):
        why = receipts.why_void(here, declared.id, protocol, of_sandbox=False)
        raise InfrastructureError(_message(declared.id, why))


def problem(report: Report) -> str:
    """Return why no self-test supports a report's verdicts; empty if a valid self-test has passed."""
    tested = report.provenance.selftest
    if tested is None:
        machine = this_machine(report.provenance.sandbox)
        return _message(report.benchmark, receipts.why_void(machine, report.benchmark, report.protocol))
    if not tested.passed:
        return _message(report.benchmark, f"the self-test of {tested.at[:16].replace('T', ' ')} UTC failed")
    return ""


def _message(benchmark: str, why: str) -> str:
    return (
        f"--require-selftest: this machine has no valid self-test: {why}. Run grade selftest -b {benchmark} (with the "
        "--sandbox, --timeout and --memory of this run), then this command again."
    )
