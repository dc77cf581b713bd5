"""Official outcomes that are derived from the recorded answers of a program, and an audit of them.

The official run of a tame program (tameness.py) asks it the same calls once more. If its tests are straight, nothing
but its answers reaches them, so what the unchanged tests do with these answers is what they do in the official run. The
program answers with less memory and stack than the official run has, and in half the time at most, so no limit that it
keeps here can end the official run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.sandbox.answer import TIMEOUT, Evidence, Executed, Run
from grader.scorers.execution.reading import failed_test, official_reading, official_result
from grader.scorers.execution.straightness import straight
from grader.scorers.execution.tameness import tame

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grader.scorers.execution.declaration import ExecutionProtocol
    from grader.scorers.execution.sample import Sample

AUDITED_PERCENT, FEWEST_AUDITED = 2, 20


def derived(sample: Sample, protocol: ExecutionProtocol) -> Executed | None:
    """Return what the official run of a sample would show; None if it has to run."""
    found, task, head = sample.apart.completion.official, sample.attempt.task, sample.attempt.head
    asked = task.signature.written
    if found is None or sample.lint is None:
        return None
    program, taken = tame(head), straight(task.tests, asked)
    if program is None or taken is None or not program.functions.issuperset(asked):
        return None
    if not program.names.isdisjoint(taken):
        return None
    if program.sorts_sets and (found.has_floats or found.kind not in {"", "AssertionError"}):
        return None
    is_late = found.kind == TIMEOUT
    evidence = Evidence(
        stopped="cpu" if is_late else None, status=None, cpu=found.seconds, wall=found.seconds, waited=0.0, oom=False
    )
    text = protocol.timed_out if is_late else f"{protocol.failed_prefix}{found.text}" if found.kind else "passed"
    first = head.count("\n")
    lines = ",".join(str(first + int(line)) for line in found.lines.split(",") if line)
    return Executed(lint=sample.lint, run=Run(evidence=evidence, result=text, kind=found.kind, lines=lines))


def audited(keys: Iterable[str]) -> set[str]:
    """Return the keys of the derived outcomes that are executed all the same: a random choice, as keys are digests."""
    every = sorted(set(keys))
    return {*every[: max(FEWEST_AUDITED, -(-len(every) * AUDITED_PERCENT // 100))]}


def is_same(sample: Sample, one: Executed, other: Executed, protocol: ExecutionProtocol) -> bool:
    """Whether two official outcomes of a sample are the same. How long a program took that never ends is measured."""
    return _shown(sample, one, protocol) == _shown(sample, other, protocol)


def _shown(sample: Sample, executed: Executed, protocol: ExecutionProtocol) -> tuple[object, ...]:
    reading, run = official_reading(executed, protocol), executed.run
    facts = None if run is None or reading.credit else failed_test(run.lines, sample.attempt)
    detail = "" if reading.outcome == "timeout" else reading.detail
    return official_result(executed, protocol), reading.outcome, reading.credit, detail, facts
