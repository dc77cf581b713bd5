"""What a self-test grades: the data, and the predictions whose verdict is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError, UsageError
from grader.grading import load_tasks
from grader.scorers import declarations, registry

if TYPE_CHECKING:
    from grader.benchmark import Benchmark
    from grader.options import Options
    from grader.scorers.probe import Probe
    from grader.scorers.registry import AnyScorer

BESIDE_DATA = ("predictions", "judge_replies", "expected", "images")
"""What else a benchmark's `sample` folder has, by stem."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark's data and probes."""

    benchmark: Benchmark
    scorer: AnyScorer
    options: Options
    probes: dict[str, list[Probe]]
    """qid -> probes, in the order of its samples."""
    is_sample: bool
    """Whether the data is the benchmark's own sample."""


def make(options: Options) -> Plan:
    """Choose data and probes; raises a GradeError."""
    declared = declarations.load(options.benchmark)
    scorer = registry.scorer(declared.scoring)
    own = sample_data(declared) if options.data is None else None
    chosen = msgspec.structs.replace(options, data=options.data or own, cache=False, missing="wrong")
    protocol = declared.check_protocol(chosen.protocol)
    _, tasks = load_tasks(chosen)
    probes: dict[str, list[Probe]] = {}
    for probe in scorer.probes(declared, tasks, protocol):
        probes.setdefault(probe.qid, []).append(probe)
    if not probes:
        raise UsageError(
            f"{declared.id}: there is nothing to test: the data has no right answers, or the scorer "
            f"{declared.scoring!r} has no probes. Name data with answers: --data PATH."
        )
    return Plan(benchmark=declared, scorer=scorer, options=chosen, probes=probes, is_sample=own is not None)


def sample_data(declared: Benchmark) -> Path | None:
    """Return the data of the sample that came with a benchmark; None: it has no sample."""
    folder = Path(declared.folder) / "sample"
    found = [path for path in sorted(folder.glob("*")) if path.stem not in BESIDE_DATA and path.name[0] != "."]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InputError([f"{folder}: which of these is the data: {names}? Name it with --data."])
    return found[0] if found else None
