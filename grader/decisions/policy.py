"""A policy: gates on the results of several benchmarks, decided together.

The tests of all gates that decide are one family, so a checkpoint that should meet them all fails one in at most 5 %
(Holm). A gate that is not advisory is required: it is blocked if there are no results for it. An advisory gate is
decided as if it were alone, and never changes the exit code.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import msgspec

from grader.decisions import gate as gates
from grader.decisions.gate import GateResult
from grader.decisions.thresholds import FailUnder, MaxDrop, check_percentage, parse_max_drop
from grader.errors import InputError, UsageError
from grader.results import ReadingName, Report
from grader.scorers.report_check import read_report

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

ReportOfFile = tuple[str, Report]
"""The name of a results file, and its report."""


class Gate(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`[[gate]]` of a policy. It has `at_least`, `max_drop`, or both."""

    benchmark: str
    metric: str
    split: str = ""
    """Empty: results of any split."""
    protocol: str = ""
    """Empty: results of any protocol."""
    group: str | None = None
    """`field=label`; None: the whole run."""
    reading: ReadingName = "careful"
    at_least: float | str | None = None
    """Percent."""
    max_drop: float | str | None = None
    """Points below the baseline; `"3%"`: percent of the baseline's value."""
    confident: bool = False
    """`at_least` is decided by a test at the 5 % level, not by the value."""
    advisory: bool = False
    """Reported only: it decides nothing."""

    @property
    def results_of(self) -> str:
        """Which results it is about, in words."""
        chosen = ", ".join(filter(None, (self.split, self.protocol)))
        return f"{self.benchmark} ({chosen})" if chosen else self.benchmark

    def threshold(self) -> FailUnder | None:
        """Return the threshold, or None without `at_least`; raises UsageError if `at_least` is not a percentage."""
        if self.at_least is None:
            return None
        text = f"at_least = {self.at_least}"
        try:
            value = float(self.at_least)
        except ValueError:
            raise UsageError(f"{text!r}: write a percentage, such as 70") from None
        check_percentage(value, text)
        return FailUnder(name=self.metric, group=self.group, value=value)

    def parsed_max_drop(self) -> MaxDrop | None:
        """Return `max_drop` as a condition, or None without it; raises UsageError if it is not valid."""
        if self.max_drop is None:
            return None
        return msgspec.structs.replace(parse_max_drop(str(self.max_drop)), name=self.metric, group=self.group)


class Policy(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A policy file."""

    gate: list[Gate] = []


class Decisions(msgspec.Struct, frozen=True, kw_only=True):
    """The decisions of a policy's gates."""

    schema: int = 1
    policy: str
    """The name of its file."""
    gates: list[GateResult]
    exit_code: int
    """0 met, 1 not met, 3 blocked, 4 inconclusive: that of the worst gate that decides."""


def read_policy(path: Path) -> Policy:
    """Read a policy. Raises InputError with what is wrong, and where."""
    try:
        policy = msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8-sig")), Policy)
    except OSError as error:
        raise InputError([f"{path}: {error.strerror or error}"]) from error
    except (ValueError, RecursionError, msgspec.ValidationError) as error:
        fields = f"; a gate can have {', '.join(Gate.__struct_fields__)}" if "unknown field" in str(error) else ""
        raise InputError([f"{path}: {error}{fields}"]) from error
    problems = [
        f"{path}: $.gate[{index}]: {problem}"
        for index, gate in enumerate(policy.gate)
        if (problem := _gate_problem(gate))
    ]
    if not policy.gate:
        problems = [f"{path}: there is no [[gate]], so nothing could fail"]
    if problems:
        raise InputError(problems)
    return policy


def _gate_problem(gate: Gate) -> str:
    """Return what is wrong with a gate; empty if nothing is."""
    if gate.at_least is None and gate.max_drop is None:
        return "a gate needs at_least, max_drop, or both"
    if gate.confident and gate.at_least is None:
        return "confident needs at_least"
    if gate.group is not None and "=" not in gate.group:
        return f"group = {gate.group!r}: write it like category=attributes"
    try:
        gate.threshold()
        gate.parsed_max_drop()
    except UsageError as error:
        return str(error)
    return ""


def decide(
    policy: Policy, name: str, runs: Sequence[ReportOfFile], baselines: Sequence[ReportOfFile] | None
) -> Decisions:
    """Decide every gate of a policy. `baselines`: None if there are none.

    Raises UsageError for an unknown metric or group, and for `max_drop` without baselines.
    """
    if baselines is None and any(gate.max_drop is not None for gate in policy.gate):
        raise UsageError(f"{name} has a gate with max_drop, which needs --baseline FOLDER.")
    results = []
    for index, gate in enumerate(policy.gate):
        try:
            results += _decide(gate, runs, baselines or ())
        except UsageError as error:
            raise UsageError(f"{name}: $.gate[{index}] ({gate.results_of}): {error}") from None
    required = [index for index, result in enumerate(results) if not result.is_advisory]
    corrected = gates.with_holm_correction([results[index] for index in required])
    for index, result in zip(required, corrected, strict=True):
        results[index] = result
    return Decisions(policy=name, gates=results, exit_code=gates.exit_code(results))


class _NoReportError(Exception):
    """The results that a gate needs are missing or ambiguous. The gate is blocked, and this is its reason."""


def _decide(gate: Gate, runs: Sequence[ReportOfFile], baselines: Sequence[ReportOfFile]) -> list[GateResult]:
    """Return the decision of a gate's threshold and that of its drop. Without the results, they are blocked.

    Raises UsageError for an unknown metric or group, unless the gate is advisory: then it is blocked.
    """
    results = []
    # An error ends the command with its own exit code, on which an advisory gate must have no effect.
    blocking = (_NoReportError, UsageError) if gate.advisory else (_NoReportError,)
    if (threshold := gate.threshold()) is not None:
        try:
            report = _report_for(gate, runs, "results")
            result = gates.decide_threshold(report, threshold, gate.reading, confident=gate.confident)
        except blocking as error:
            condition = f"{threshold.name} >= {threshold.value:.10g}"
            result = GateResult(gate=condition, state="blocked", reason=str(error))
        results.append(result)
    if (max_drop := gate.parsed_max_drop()) is not None:
        try:
            report = _report_for(gate, runs, "results")
            # The baseline must be of the run's split and protocol, even if the gate names none.
            baseline_gate = msgspec.structs.replace(gate, split=report.split, protocol=report.protocol)
            baseline = _report_for(baseline_gate, baselines, "baseline")
            result = gates.decide_max_drop(report, baseline, max_drop, gate.reading)
        except blocking as error:
            result = GateResult(gate=f"max_drop of {max_drop.name}", state="blocked", reason=str(error))
        results.append(result)
    return [
        msgspec.structs.replace(result, gate=f"{gate.results_of}: {result.gate}", is_advisory=gate.advisory)
        for result in results
    ]


def _report_for(gate: Gate, runs: Sequence[ReportOfFile], what: str) -> Report:
    """Return the only report of a gate's benchmark, split and protocol. Raises _NoReportError.

    `what`: the word for `runs` in the message.
    """
    candidates = {
        name: report
        for name, report in runs
        if report.benchmark == gate.benchmark
        and gate.split in ("", report.split)
        and gate.protocol in ("", report.protocol)
    }
    if len(candidates) == 1:
        return next(iter(candidates.values()))
    if candidates:
        names = ", ".join(candidates)
        raise _NoReportError(
            f"ambiguous: {names} are all {what} of {gate.results_of}; name split or protocol, or give one"
        )
    available = ", ".join(
        dict.fromkeys(f"{report.benchmark} ({report.split}, {report.protocol})" for _, report in runs)
    )
    raise _NoReportError(f"there are no {what} of {gate.results_of}; there are {available or 'none at all'}")


def read_baselines(folder: Path) -> list[ReportOfFile]:
    """Read every `*_results.json` of a folder. Raises InputError if there is none, or one is invalid."""
    paths = sorted(folder.glob("*_results.json"))
    if not paths:
        raise InputError([f"{folder}: there is no *_results.json in it"])
    return [(str(path), read_report(path)) for path in paths]
