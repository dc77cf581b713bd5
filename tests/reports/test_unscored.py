"""What was not judged has no value but bounds, and is never called a failure of infrastructure."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.reports.why import causes, why_unscored
from grader.results import Outcome, Reading, Report, SampleResult
from tests.reports.made_reports import lost
from tests.reports.shown import as_file, on_terminal
from tests.tables import each

SAMPLE = Path(__file__).resolve().parents[2] / "benchmarks" / "mr-ben" / "sample"


@cache
def _unjudged() -> Report:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "p.json"
        shutil.copy(SAMPLE / "predictions.json", path)
        return grade(path, Options(benchmark="mr-ben", data=SAMPLE / "data"), Silent()).report


def test_what_no_judge_has_decided_has_no_value_and_no_interval_but_bounds() -> None:
    metrics = {(row.name, row.reading): row for row in _unjudged().metrics if row.group is None}
    for reading in ("official", "careful"):
        for name in ("acc_reason", "mr_score"):
            found = metrics[name, reading]
            assert (found.value, found.ci95, found.stderr) == (None, None, None)
            low, high = found.bounds  # type: ignore[misc]
            assert low < high
        assert metrics["mcc", reading].value is not None


def test_the_terminal_shows_the_bounds_as_values_and_the_cause() -> None:
    said = on_terminal(_unjudged(), width=120)
    row = next(line for line in said.splitlines() if line.split()[:1] == ["mr_score"])
    assert row.split()[1:7] == ["15.2", "to", "44.2", "31.0", "to", "76.3"]
    assert (
        "12 of 25 samples unscored\nWhy: not judged; official 7, careful 12. Excluded from mr_score, acc_step and "
        "acc_reason (ranges), counted neither" in said
    )
    assert "infrastructure" not in said


def test_readings_of_the_same_answer_say_what_each_of_them_credits() -> None:
    lines = on_terminal(_unjudged(), width=220).splitlines()
    said = next(line for line in lines if line.startswith("coding-1/writer-a"))
    assert "unscored, step not judged: incorrect" in said
    assert "unscored, step credited: incorrect; return total / len(values)" in said


@each("name", ["x.md", "x.html", "x.csv", "x.xml", "x.json"])
def test_every_format_shows_what_was_not_judged_and_blames_no_infrastructure(name: str) -> None:
    made = as_file(name, _unjudged()).decode()
    assert "nfrastructure failed" not in made.replace("or failed infrastructure", "")
    if name == "x.md":
        assert "| `mr_score` | 15.2 to 44.2 | 31.0 to 76.3 |  | 12 |" in made
        assert (
            "Why: not judged; official 7, careful 12. Excluded from `mr_score`, `acc_step` and `acc_reason` (" in made
        )
    assert "xcluded from all metrics" not in made


def test_the_interval_of_the_careful_value_is_never_that_of_the_official_one() -> None:
    """Every careful verdict is lost, so that there is no careful value."""
    said = on_terminal(lost(), width=120)
    (row,) = (line.split() for line in said.splitlines() if line.split()[:1] == ["accuracy"])
    assert row == ["accuracy", "0.0", "–", "1"]
    assert "Why: the model's server failed; official 0, careful 1. Excluded from accuracy" in said
    assert "| `accuracy` | 0.0 | – |  | 1 |" in as_file("x.md", lost()).decode()


def test_causes_are_told_apart() -> None:
    def lost(rule: str) -> Reading:
        return Reading(outcome=Outcome.UNSCORED, credit=None, rule=rule, detail="x")

    rules = ("infrastructure", "server_failure", "server_failure", "judge", "not_judged", "not_judged")
    samples = [SampleResult(qid=str(n), sample=0, official=lost(r), careful=lost(r)) for n, r in enumerate(rules)]
    report = Report(
        benchmark="b",
        scorer="multiple_choice",
        split="s",
        protocol="p",
        metrics=[],
        samples=samples,
        unscored=len(samples),
    )
    assert causes(report) == {"not judged": 3, "the model's server failed": 2, "infrastructure failed": 1}
    assert why_unscored(report) == "not judged 3, the model's server failed 2, infrastructure failed 1"
