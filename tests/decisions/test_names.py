"""Gates on metrics and groups that a run will not have, for every scorer: refused before anything is scored."""

from __future__ import annotations

import functools
import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from grader.decisions import names
from grader.decisions.asked import parse_fail_under
from grader.errors import UsageError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Sample = Callable[[str], tuple[Path, Path]]

DATA = {"humaneval": "tasks.jsonl", "mmbench": "questions.tsv", "mr-ben": "data"}


class BegunError(Exception):
    """The run was not refused."""


def begin(sample: Sample, benchmark: str, gate: str, *, samples: int = 1, **options: Any) -> None:
    """Begin a run with this gate; nothing is ever scored. Raises BegunError if the gate is accepted."""
    path, folder = sample(benchmark)
    records = json.loads(path.read_text())
    path.write_text(json.dumps([record | {"predictions": record["predictions"][:1] * samples} for record in records]))
    asked = Options(benchmark=benchmark, data=folder / DATA[benchmark], **options)

    def before(scorer: Any, run: Any) -> None:
        functools.partial(names.check, lines=[parse_fail_under(gate)], drops=[])(scorer, run)
        raise BegunError

    grade(path, asked, Silent(), before=before)


@pytest.mark.parametrize(
    ("gate", "samples", "k", "message"),
    [
        ("pass@10=5", 3, (), r"it has pass@1, parse_success_rate\. pass@10 needs at least 10 samples of every task, "
         r"and task \S+ has only 3 samples\.$"),
        ("pass@3=5", 3, (), r"it has pass@1, parse_success_rate\. Add -k 1,3\.$"),
        ("pass@3=5", 3, (2,), r"it has pass@2, parse_success_rate\. Add -k 2,3\.$"),
        ("pas@1=5", 3, (), r"it has pass@1, parse_success_rate\. Did you mean pass@1\?$"),
    ],
)  # fmt: skip
def test_a_pass_at_k_that_a_run_will_not_have(
    sample: Sample, gate: str, samples: int, k: tuple[int, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        begin(sample, "humaneval", gate, samples=samples, k=k)


@pytest.mark.parametrize(
    ("benchmark", "gate"),
    [
        ("humaneval", "pass@1=5"),
        ("humaneval", "parse_success_rate=5"),
        ("mmbench", "circular_accuracy=5"),
        ("mmbench", "vanilla_accuracy_all_passes=5"),
        ("mr-ben", "mr_score=5"),
        ("mr-ben", "recall:subject=math=5"),
        ("mr-ben", "mcc=-5"),
    ],
)
def test_a_gate_on_what_a_run_will_have_is_accepted(sample: Sample, benchmark: str, gate: str) -> None:
    with pytest.raises(BegunError):
        begin(sample, benchmark, gate, missing="wrong")


@pytest.mark.parametrize(
    ("benchmark", "gate", "message"),
    [
        ("mmbench", "accuracy=5", "this run has no metric 'accuracy'; it has circular_accuracy, vanilla_accuracy, "),
        ("mr-ben", "mr_scor=5", "Did you mean mr_score?"),
        ("mr-ben", "mr_score:subject=maths=5", "Did you mean subject=math?"),
        ("mr-ben", "mr_score=-5", "mr_score is never below 0, so this gate is always met."),
    ],
)
def test_a_gate_on_what_a_run_will_not_have_is_refused(sample: Sample, benchmark: str, gate: str, message: str) -> None:
    with pytest.raises(UsageError, match=re.escape(message)):
        begin(sample, benchmark, gate, missing="wrong")
