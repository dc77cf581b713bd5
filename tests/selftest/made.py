"""Plans of the bundled samples, and the reports that a faultless machine would make of them."""

from typing import Any

import msgspec

from grader import grading
from grader.observer import Silent
from grader.options import Options
from grader.results import Outcome, Provenance, Reading, Report, SampleResult, SandboxProvenance
from grader.scorers.execution.metrics import metrics
from grader.selftest import verdict
from grader.selftest.outcome import Tested
from grader.selftest.plan import Plan, choose, make
from grader.selftest.run import grade

SANDBOX = SandboxProvenance(
    backend="docker", identity="abc", python="3.12.4", official_python="3.12", cpu_seconds=2.0, memory_bytes=1 << 30
)
MAY_PASS = {"reference", "canary", "calibration", "python"}


def plan(benchmark: str, **options: Any) -> Plan:
    chosen = choose(Options(benchmark=benchmark, **options))
    declared, tasks = grading.load_tasks(chosen)
    return make(chosen, declared, tasks)


def of_real(benchmark: str) -> Tested:
    """Test a benchmark's sample for real, without receipt."""
    made = plan(benchmark)
    return verdict.judge(made, [grade(made, Silent()).report])


def reading(passes: bool, **fields: Any) -> Reading:
    outcome = Outcome.PASSED if passes else Outcome.FAILED
    return Reading(**{"outcome": outcome, "credit": int(passes)} | fields)


def faultless(of: Plan, sandbox: SandboxProvenance | None = SANDBOX) -> Report:
    """Return what a machine makes of execution probes that it judges right, with tests that notice every mutant."""
    samples = [
        SampleResult(
            qid=qid,
            sample=number,
            official=reading(bool(probe.official) or probe.kind in MAY_PASS),
            careful=reading(probe.kind in MAY_PASS),
        )
        for qid, probes in of.probes.items()
        for number, probe in enumerate(probes)
    ]
    return Report(
        benchmark=of.benchmark.id,
        split="test",
        protocol="v2",
        scorer=of.benchmark.scoring,
        metrics=metrics(samples, (1, 3), has_linter=True),
        samples=samples,
        provenance=Provenance(data="tasks.jsonl", data_digest="d1", sandbox=sandbox),
    )


def changed(report: Report, of: Plan, kind: str, **readings: Reading) -> Report:
    """Return the report with other readings for every probe of a kind, and the metrics that follow."""
    samples = [
        msgspec.structs.replace(sample, **readings) if of.probes[sample.qid][sample.sample].kind == kind else sample
        for sample in report.samples
    ]
    return msgspec.structs.replace(report, samples=samples, metrics=metrics(samples, (1, 3), has_linter=True))
