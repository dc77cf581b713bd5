"""The evaluation of a graded self-test.

It finds unexpected verdicts, metrics that do not follow from their samples, verdicts that change between repetitions,
and tests that let wrong programs pass.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from grader.receipts import Strength
from grader.results import READINGS, Outcome
from grader.selftest.outcome import Problem, Tally, Tested

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.results import Reading, ReadingName, Report, SampleResult
    from grader.scorers.probe import Kind, Probe
    from grader.selftest.plan import Plan

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
CHANGING = (
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


Pairs = list[tuple["Probe", "SampleResult"]]


def judge(plan: Plan, reports: Sequence[Report]) -> Tested:
    """Evaluate the reports of one plan, one report per repetition. Never raises because of their content."""
    first = reports[0]
    pairs = _pairs(plan, first)
    unprotected = {probe.qid for probe, sample in pairs if probe.kind == "stub" and _passes_somewhere(sample)}
    wrong = [(probe, list(_wrong(probe, sample, first, unprotected))) for probe, sample in pairs]
    problems = [problem for _, found in wrong for problem in found]
    problems += [
        *_all_unprotected(plan, unprotected),
        *_metrics(plan, first),
        *_changed(plan, reports),
        *_lost(plan, first),
        *_canaries(reports),
    ]
    expected = Counter(probe.kind for probe, found in wrong if not found)
    return Tested(
        benchmark=plan.benchmark.id,
        data=first.provenance.data,
        tasks=len(plan.probes),
        samples=len(pairs),
        tallies=[Tally(kind=kind, as_expected=expected[kind], of=of) for kind, of in _kinds(pairs).items()],
        problems=problems,
        strengths=list(_strengths(pairs)),
        notes=_notes(first, unprotected),
        cpu_ratio=min((ratio for report in reports for ratio in _ratios(plan, report)), default=0.0),
    )


def _pairs(plan: Plan, report: Report) -> Pairs:
    """Return every probe with its result. `_lost` reports probes that are missing from the report."""
    graded = {(sample.qid, sample.sample): sample for sample in report.samples}
    return [
        (probe, graded[qid, number])
        for qid, probes in plan.probes.items()
        for number, probe in enumerate(probes)
        if (qid, number) in graded
    ]


def _kinds(pairs: Pairs) -> Counter[Kind]:
    return Counter(probe.kind for probe, _ in pairs)


def _wrong(probe: Probe, sample: SampleResult, report: Report, unprotected: set[str]) -> Iterator[Problem]:
    """Yield the problems with one probe's verdicts."""
    if probe.kind == "python" and _has_another_python(report):
        return
    credited = {name: sample.reading(name).credit >= 1 for name in READINGS}
    for name in READINGS:
        wanted = probe.expected(name)
        if wanted is None or (probe.qid in unprotected and _is_the_tests_fault(probe, name, wanted, credited)):
            continue
        reading = sample.reading(name)
        if reading.outcome is Outcome.UNSCORED or credited[name] != wanted:
            yield _problem(probe, sample, name, "credit" if wanted else "no credit")
    has_verdicts = Outcome.UNSCORED not in {sample.official.outcome, sample.careful.outcome}
    if probe.agrees and probe.qid not in unprotected and has_verdicts and credited["official"] != credited["careful"]:
        yield _problem(probe, sample, "careful", f"the same as the official reading ({sample.official.outcome})")
    if probe.kind in {"mutant", "stub"} and not has_verdicts:
        yield _problem(probe, sample, "careful", "any verdict")


def _passes_somewhere(sample: SampleResult) -> bool:
    return sample.official.credit >= 1 or sample.careful.credit >= 1


def _is_the_tests_fault(probe: Probe, name: ReadingName, wanted: bool, credited: dict[ReadingName, bool]) -> bool:
    """Return whether tests that assert nothing explain an unexpected verdict.

    The official reading then credits every program that runs; the careful one may credit none, if the tests never call
    the program.
    """
    if not wanted:
        return probe.needs_tests and credited[name]
    return name == "careful" and credited["official"]


def _all_unprotected(plan: Plan, unprotected: set[str]) -> Iterator[Problem]:
    """Yield a problem if programs without a body pass every task: then no probe shows that wrong programs fail."""
    if unprotected and unprotected >= plan.probes.keys():
        what = f"programs without a body pass the tests of every task ({len(unprotected)} of {len(plan.probes)})"
        yield Problem(what=what, mend=NOTHING_REFUSED, kind="stub")


def _problem(probe: Probe, sample: SampleResult, name: ReadingName, wanted: str) -> Problem:
    reading = sample.reading(name)
    why = f" ({' '.join(reading.detail.split())[:200]})" if reading.detail else ""
    what = f"{probe.qid}: {probe.kind}: {probe.title}: the {name} reading is {reading.outcome}{why}, expected {wanted}"
    return Problem(what=what, mend=of_sample(probe, reading), qid=probe.qid, kind=probe.kind, reading=name)


def _metrics(plan: Plan, report: Report) -> Iterator[Problem]:
    """Yield metrics whose value differs from a recount of the samples."""
    for (name, reading), counted in plan.scorer.recount(report).items():
        metric = report.metric(name, reading)
        value = metric.value if metric is not None else None
        if value is None or not math.isclose(value, counted, abs_tol=1e-6):
            said = "has no value" if value is None else f"is {value:.4f}"
            yield Problem(
                what=f"{name} ({reading}) {said}, but a recount of its samples gives {counted:.4f}",
                mend=INSTALLATION,
                reading=reading,
            )


def _changed(plan: Plan, reports: Sequence[Report]) -> Iterator[Problem]:
    """Yield verdicts that differ between repetitions."""
    tables = [_verdicts(report) for report in reports]
    for qid, number, reading in tables[0]:
        outcomes = [table.get((qid, number, reading), "no result") for table in tables]
        if len(set(outcomes)) > 1:
            probe = plan.probes[qid][number]
            what = f"{qid}: {probe.kind}: {probe.title}: the {reading} reading changes: {', '.join(outcomes)}"
            yield Problem(what=what, mend=CHANGING, qid=qid, kind=probe.kind, reading=reading)


def _verdicts(report: Report) -> dict[tuple[str, int, ReadingName], str]:
    return {(s.qid, s.sample, name): str(s.reading(name).outcome) for s in report.samples for name in READINGS}


def _lost(plan: Plan, report: Report) -> Iterator[Problem]:
    """Yield tasks with probes that have no result in the report."""
    graded = Counter(sample.qid for sample in report.samples)
    for qid, probes in plan.probes.items():
        if graded[qid] < len(probes):
            what = f"{qid}: {len(probes)} predictions were given, but the report has results for {graded[qid]}"
            yield Problem(what=what, mend=INSTALLATION, qid=qid)


def _ratios(plan: Plan, report: Report) -> Iterator[float]:
    """Yield the time of each calibration program, relative to the standard machine."""
    for probe, sample in _pairs(plan, report):
        if probe.standard_seconds and sample.official.credit >= 1 and sample.seconds > 0:
            yield round(sample.seconds / probe.standard_seconds, 3)


def _canaries(reports: Sequence[Report]) -> Iterator[Problem]:
    """Yield the kinds of canaries (programs with a known verdict) that a sandbox misjudged."""
    misjudged = Counter[str]()
    for report in reports:
        sandbox = report.provenance.sandbox
        misjudged.update(sandbox.canaries.misjudged if sandbox is not None and sandbox.canaries is not None else {})
    for what, times in misjudged.items():
        said = f"a canary was misjudged: {what}, {times} time{'s' * (times > 1)}; all programs of its sandbox ran again"
        yield Problem(what=said, mend=IMAGE, kind="canary")


def _strengths(pairs: Pairs) -> Iterator[Strength]:
    """Yield the strength of each task's tests, the weakest first."""
    found = []
    for qid in dict.fromkeys(probe.qid for probe, _ in pairs):
        own = [(probe, sample) for probe, sample in pairs if probe.qid == qid]
        mutants = [(probe.title, _passes_somewhere(sample)) for probe, sample in own if probe.kind == "mutant"]
        stubs = [_passes_somewhere(sample) for probe, sample in own if probe.kind == "stub"]
        if mutants or stubs:
            passing = [title for title, passes in mutants if passes]
            found.append(Strength(qid=qid, mutants=len(mutants), passing=passing, stub_passes=any(stubs)))
    yield from sorted(found, key=lambda each: (not each.stub_passes, -each.share))


def _notes(report: Report, unprotected: set[str]) -> list[str]:
    notes = []
    sandbox = report.provenance.sandbox
    if sandbox is not None and _has_another_python(report):
        notes.append(
            f"Programs run on Python {sandbox.python}; the official environment has {sandbox.official_python}: single "
            "official verdicts may differ, and reports mark them."
        )
    if unprotected:
        some = ", ".join(sorted(unprotected)[:10]) + (", ..." if len(unprotected) > 10 else "")
        notes.append(f"The tests of {len(unprotected)} tasks let a program without a body pass: {some}.")
    return notes


def _has_another_python(report: Report) -> bool:
    """Return whether the sandbox reports another Python than the official one."""
    sandbox = report.provenance.sandbox
    return sandbox is not None and sandbox.has_another_python
