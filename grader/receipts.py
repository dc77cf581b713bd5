"""Receipts of self-tests, in the cache folder: what was tested on this machine, when, and the result.

A receipt shows two separate facts: that this machine grades correctly by a declaration (any data shows this), and that
the references of one data set pass. The first one is void when version, sandbox, kernel, processor, limits or the
declaration change; the second one also when the data or a reference changes.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec

from grader import resources
from grader.errors import InfrastructureError
from grader.files.replacing import replacing
from grader.results import SelftestProvenance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.benchmark import Benchmark
    from grader.data.tables import Rows
    from grader.results import Report, SampleResult, SandboxProvenance


class Machine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A machine and its sandbox. Without a sandbox, only the fields of the grader are set."""

    grade: str
    """Version of grade."""
    kernel: str
    cpu: str
    cores: int
    backend: str = ""
    sandbox: str = ""
    """Identity of the sandbox: a hash of the image or the packages, and of the code inside."""
    runtime: str = ""
    python: str = ""
    """Version of the Python that runs programs."""
    cpu_seconds: float = 0.0
    memory_bytes: int = 0


def this_machine(sandbox: SandboxProvenance | None) -> Machine:
    """Return this machine, with the sandbox that a run used."""
    own = Machine(grade=resources.version(), kernel=platform.release(), cpu=_cpu(), cores=resources.usable_cores())
    if sandbox is None:
        return own
    return msgspec.structs.replace(
        own,
        # A self-test of this machine is not valid for the nodes of a cluster.
        backend="cluster" if sandbox.nodes else sandbox.backend,
        sandbox=sandbox.identity,
        runtime=sandbox.runtime,
        python=sandbox.python,
        cpu_seconds=sandbox.cpu_seconds,
        memory_bytes=sandbox.memory_bytes,
    )


def load_average() -> float:
    """Return the load average of the last minute; 0 if the system does not provide it."""
    try:
        return round(os.getloadavg()[0], 2)
    except OSError:
        return 0.0


def _cpu() -> str:
    """Return the processor's name."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        lines = []
    named = (line.partition(":")[2].strip() for line in lines if line.lower().startswith("model name"))
    return next(named, platform.processor() or platform.machine())


class Subject(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a self-test tests, besides the machine."""

    benchmark: str
    protocol: str
    declaration: str
    """A hash of all that the benchmark.toml declares."""
    rows: str
    """A hash of the data and its reference solutions."""


def subject_of(declared: Benchmark, protocol: str, rows: Rows | None = None) -> Subject:
    """Return the subject of a self-test or of a run."""
    content = msgspec.json.encode(msgspec.structs.replace(declared, folder="", bundled=False), order="sorted")
    return Subject(
        benchmark=declared.id,
        protocol=protocol,
        declaration=hashlib.sha256(content).hexdigest()[:16],
        rows="" if rows is None else rows.whole or rows.digest,
    )


STRENGTH = "test_strength"
"""The group of samples by the strength of their task's tests."""
WEAK_SHARE, FEW_MUTANTS = 0.5, 4
"""Tests are weak if at least this share of at least so many mutants passes."""
SHOWN_WEAK = 5
SHOWS_LITTLE = "A pass shows little where the tests accept almost any program"


class Strength(msgspec.Struct, frozen=True, kw_only=True):
    """How strict the tests of one task are (careful reading)."""

    qid: str
    mutants: int
    passing: list[str]
    """The mutants that pass, each as its change: `line 3: < becomes <= in "return x < 7"`."""
    stub_passes: bool
    """Whether a program without a body passes, so that the tests assert nothing."""

    @property
    def share(self) -> float:
        """Share of mutants that pass."""
        return len(self.passing) / self.mutants if self.mutants else 0.0

    @property
    def is_weak(self) -> bool:
        """Whether the tests accept almost any program."""
        return self.stub_passes or (self.mutants >= FEW_MUTANTS and self.share >= WEAK_SHARE)

    @property
    def level(self) -> Literal["strong", "partial", "weak", "unmeasured"]:
        """The strength as a label of groups."""
        if self.is_weak:
            return "weak"
        if not self.mutants:
            return "unmeasured"
        return "partial" if self.passing else "strong"


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one self-test with the data of one benchmark."""

    subject: Subject
    machine: Machine
    tested: SelftestProvenance
    strengths: list[Strength] = []

    @property
    def name(self) -> str:
        """The receipt's file name, which is the same for the same test on the same machine."""
        return hashlib.sha256(msgspec.json.encode((self.subject, self.machine))).hexdigest()[:24] + ".json"


def folder() -> Path:
    """Return the folder of the receipts; create it if it does not exist."""
    path = resources.cache_folder() / "selftests"
    path.mkdir(exist_ok=True)
    return path


def keep(receipt: Receipt) -> Path:
    """Write a receipt; it replaces an earlier receipt of the same test, passed or not."""
    path = folder() / receipt.name
    with replacing(path, private=True) as file:
        file.write(msgspec.json.format(msgspec.json.encode(receipt)))
    return path


def find(machine: Machine, subject: Subject) -> SelftestProvenance | None:
    """Return the receipt of this machine for this subject, else the newest one for other data of the benchmark.

    A test of other data, with its own references, says nothing about data that was tested itself.
    """
    valid = [receipt for receipt in _of(subject) if receipt.machine == machine]
    if not valid:
        return None
    same = [receipt for receipt in valid if receipt.subject == subject]
    newest = max(same or valid, key=lambda receipt: receipt.tested.at)
    return msgspec.structs.replace(newest.tested, same_data=bool(same))


def strengths(benchmark: str, protocol: str, data_digest: str | None) -> dict[str, Strength]:
    """Return qid -> strength of its tests, by the newest self-test of these data, on whatever machine it was."""
    data = benchmark, protocol, data_digest
    same = [each for each in _all() if (each.subject.benchmark, each.subject.protocol, each.tested.data_digest) == data]
    newest = max(same, key=lambda receipt: receipt.tested.at, default=None)
    return {} if newest is None else {strength.qid: strength for strength in newest.strengths}


def strengths_for(report: Report) -> dict[str, Strength]:
    """Return qid -> strength of its tests, for the tasks of a report, if it is known."""
    known = strengths(report.benchmark, report.protocol, report.provenance.data_digest)
    return {sample.qid: known[sample.qid] for sample in report.samples if sample.qid in known}


def by_strength(report: Report, known: dict[str, Strength]) -> Report:
    """Return a report whose samples have the strength of their task's tests as a group; its metrics are the same."""

    def grouped(sample: SampleResult) -> SampleResult:
        groups = sample.groups if isinstance(sample.groups, Mapping) else {}
        return msgspec.structs.replace(sample, groups={**groups, STRENGTH: known[sample.qid].level})

    samples = [grouped(sample) if sample.qid in known else sample for sample in report.samples]
    return msgspec.structs.replace(report, samples=samples)


def notes_with_strength(report: Report, known: dict[str, Strength]) -> list[str]:
    """Return a report's notes, with one on the tasks whose tests accept almost any program."""
    others = [note for note in report.notes if not note.startswith(SHOWS_LITTLE)]
    weak = [qid for qid, strength in known.items() if strength.is_weak]
    if not weak:
        return others
    some = ", ".join(weak[:SHOWN_WEAK]) + (", ..." if len(weak) > SHOWN_WEAK else "")
    return [
        *others,
        f"{SHOWS_LITTLE}: {some} ({len(weak)} of {len(known)} tasks that a self-test has measured; "
        f"`grade show {report.benchmark} ID` says what their tests let pass).",
    ]


def _why_void(benchmark: str, protocol: str) -> str:
    """Return why there is no valid receipt: nothing was tested, or something has changed since."""
    tested = [
        each.tested for each in _all() if (each.subject.benchmark, each.subject.protocol) == (benchmark, protocol)
    ]
    if not tested:
        return "no self-test of this benchmark and protocol was run on this machine"
    newest = max(tested, key=lambda each: each.at)
    return (
        f"since the self-test of {_minute(newest)} UTC, the version of grade, the machine, its sandbox, a limit or the "
        "benchmark's declaration changed"
    )


def _of(subject: Subject) -> Iterator[Receipt]:
    """Yield the receipts for any data of the subject's benchmark."""
    for receipt in _all():
        if msgspec.structs.replace(receipt.subject, rows=subject.rows) == subject:
            yield receipt


def _all() -> Iterator[Receipt]:
    for path in folder().glob("*.json"):
        with contextlib.suppress(OSError, msgspec.DecodeError):
            yield msgspec.json.decode(path.read_bytes(), type=Receipt)


def check_before(declared: Benchmark, protocol: str) -> None:
    """Raise InfrastructureError before anything runs, if no receipt can be valid with any sandbox."""
    here = this_machine(None)
    fields = ("grade", "kernel", "cpu", "cores")
    known = (receipt.machine for receipt in _of(subject_of(declared, protocol)))
    if not any(all(getattr(machine, name) == getattr(here, name) for name in fields) for machine in known):
        raise InfrastructureError(_message(declared.id, _why_void(declared.id, protocol)))


def problem(report: Report) -> str:
    """Return why no self-test supports a report's verdicts; empty if a valid self-test has passed."""
    tested = report.provenance.selftest
    if tested is None:
        return _message(report.benchmark, _why_void(report.benchmark, report.protocol))
    if not tested.passed:
        return _message(report.benchmark, f"the self-test of {_minute(tested)} UTC failed")
    return ""


def _minute(tested: SelftestProvenance) -> str:
    return tested.at[:16].replace("T", " ")


def _message(benchmark: str, why: str) -> str:
    return (
        f"--require-selftest: this machine has no valid self-test: {why}. Run grade selftest -b {benchmark} (with the "
        "--sandbox, --timeout and --memory of this run), then this command again."
    )
