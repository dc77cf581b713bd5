"""The programs that a self-test makes of a benchmark's data."""

from collections import Counter

import msgspec
import pytest

from grader import grading
from grader.errors import UsageError
from grader.options import Options
from grader.scorers import registry
from grader.selftest import plan


@pytest.mark.parametrize("benchmark", ["humaneval-v", "humaneval"])
def test_every_task_of_a_bundled_sample_has_its_reference_and_what_is_made_of_it(benchmark: str) -> None:
    options = plan.choose(Options(benchmark=benchmark))
    declared, known = grading.load_tasks(options)
    probes = plan.make(options, declared, known).probes
    assert probes.keys() == known.keys()
    for own in probes.values():
        kinds = Counter(probe.kind for probe in own)
        assert (kinds["reference"], kinds["stub"], kinds["wrong"]) == (1, 2, 1)
        assert 1 <= kinds["mutant"] <= 8
        assert len({probe.prediction for probe in own}) == len(own)
    first = Counter(probe.kind for probe in next(iter(probes.values())))
    assert first["hostile"] == 7
    assert first["canary"] == 8


def test_without_reference_solutions_there_are_stubs_alone() -> None:
    options = plan.choose(Options(benchmark="humaneval-v"))
    declared, known = grading.load_tasks(options)
    bare = {qid: msgspec.structs.replace(task, row={}, solution=None) for qid, task in known.items()}  # type: ignore[call-arg]
    made = list(registry.scorer(declared.scoring).probes(declared, bare, "v2"))
    assert {probe.kind for probe in made} == {"stub"}
    with pytest.raises(UsageError, match="no gold answers or reference solutions"):
        plan.make(options, declared, bare)
