"""The plan of a self-test: which data, and which predictions whose verdict is known."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.benchmark import Benchmark
from grader.errors import InputError, UsageError
from grader.options import Options
from grader.results import grouped
from grader.scorers import declarations, registry
from grader.scorers.probe import Probe
from grader.scorers.registry import AnyScorer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from grader.task import Task

BESIDE_DATA = ("predictions", "judge_replies", "expected", "images")
"""Stems of files in a benchmark's `sample` folder that are not its data."""


class NothingToTestError(UsageError):
    """The data have no prediction that is known to be right."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """One benchmark's data and probes."""

    benchmark: Benchmark
    scorer: AnyScorer
    options: Options
    probes: dict[str, list[Probe]]
    """qid -> probes, in the order of its samples."""


def choose(options: Options) -> Options:
    """Return options with the data to test: the given data, else the benchmark's sample. The cache is off."""
    data = options.data or sample_data(declarations.load(options.benchmark))
    return msgspec.structs.replace(options, data=data, cache=False, missing="wrong")


def make(options: Options, declared: Benchmark, tasks: Mapping[str, Task]) -> Plan:
    """Return the probes of a benchmark's tasks. Raises NothingToTestError if none of them is known to be right."""
    scorer = registry.scorer(declared.scoring)
    every_probe = scorer.probes(declared, tasks, declared.check_protocol(options.protocol))
    probes = grouped(every_probe, lambda probe: probe.qid)
    if not any(probe.careful for own in probes.values() for probe in own):
        raise NothingToTestError(
            f"{declared.id}: there is nothing to test, because the data has no gold answers or reference solutions. "
            "Name data that has them: --data PATH."
        )
    return Plan(benchmark=declared, scorer=scorer, options=options, probes=probes)


def sample_data(declared: Benchmark) -> Path | None:
    """Return the data of a benchmark's built-in sample; None if it has no sample."""
    folder = Path(declared.folder) / "sample"
    found = [
        path
        for path in sorted(folder.glob("*"))
        # A user may have graded the sample where it is.
        if path.stem not in BESIDE_DATA and path.name[0] != "." and not path.stem.endswith(("_results", "_executed"))
    ]
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise InputError([f"{folder}: several files could be the data: {names}. Name it with --data."])
    return found[0] if found else None
