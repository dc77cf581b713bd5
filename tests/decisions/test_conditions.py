"""Two runs that were not made alike: refused where it decides, named where it may matter."""

from typing import Any

import msgspec
import pytest

from grader.decisions.comparison import compare
from grader.decisions.conditions import differences, in_words
from grader.decisions.gate import decide_all
from grader.decisions.thresholds import MaxDrop
from grader.errors import UsageError
from grader.reports.formats import terminal
from grader.reports.views import comparison
from grader.results import (
    READINGS,
    JudgeProvenance,
    Metric,
    Outcome,
    Part,
    Provenance,
    Reading,
    Report,
    SampleResult,
    SandboxProvenance,
)
from tests.tables import each

RIGHT = Reading(outcome=Outcome.CORRECT, credit=1)
WRONG = Reading(outcome=Outcome.WRONG, credit=0)


def _report(right: int = 8, part: Part | None = None, **made: Any) -> Report:
    """A run of ten questions."""
    samples = [
        SampleResult(qid=str(n), sample=0, official=reading, careful=reading)
        for n in range(10)
        for reading in [RIGHT if n < right else WRONG]
    ]
    metrics = [Metric(name="accuracy", reading=reading, value=10.0 * right, n=10) for reading in READINGS]
    return Report(
        benchmark="vstar",
        scorer="multiple_choice",
        split="test",
        protocol="lmms-eval-0.7.1",
        metrics=metrics,
        samples=samples,
        part=part,
        provenance=Provenance(**{"data_digest": "d", "predictions_digest": str(right), **made}),
    )


def _filtered(*names: str) -> Report:
    """A run of ten questions, whose replies were read by these filters of a log."""
    made = _report()
    samples = [
        msgspec.structs.replace(one, sample=number, groups={"filter": name})
        for one in made.samples
        for number, name in enumerate(names)
    ]
    return msgspec.structs.replace(made, samples=samples)


def test_other_filters_of_a_log_are_named() -> None:
    found = in_words(differences(_filtered("strict"), _filtered("strict", "flexible")))
    assert found == "filters of the log strict and flexible, strict"
    assert differences(_report(), _filtered("strict")) == differences(_filtered("strict"), _filtered("strict")) == []


def _sandbox(**fields: Any) -> SandboxProvenance:
    usual = {"backend": "docker", "python": "3.12.1", "cpu_seconds": 2.0, "memory_bytes": 1 << 30, "image": "i:1"}
    return SandboxProvenance(**{**usual, **fields})


def _judge(model: str = "m", **fields: Any) -> JudgeProvenance:
    return JudgeProvenance(**{"source": "endpoint", "model": model, "questions": 5, "endpoint": "https://a", **fields})


@each(
    ("before", "after", "said"),
    [
        ({"cpu_seconds": 5.0}, {}, "timeout 5 s and 2 s"),
        ({"memory_bytes": 2 << 30}, {}, "memory limit 2048 MB and 1024 MB"),
        ({"image": "i:0"}, {}, "sandbox image i:0 and i:1"),
        ({"runtime": "runsc"}, {"runtime": "default"}, "OCI runtime runsc and default"),
    ],
)
def test_every_difference_in_how_two_runs_were_made_is_named(
    before: dict[str, Any], after: dict[str, Any], said: str
) -> None:
    first, second = _report(sandbox=_sandbox(**before)), _report(6, sandbox=_sandbox(**after))
    assert in_words(differences(first, second)) == said
    compared = compare(first, second)
    assert compared.notes[0] == f"The runs had different conditions, which may change items: {said}."
    assert said in terminal.render(comparison.document(compared), width=200)
    (result,) = decide_all(second, baseline=first, drops=[MaxDrop(name=None, value=5)])
    assert f"the runs had different conditions: {said}" in result.reason


def test_runs_that_were_made_alike_or_do_not_say_are_compared_without_a_word() -> None:
    alike = _report(sandbox=_sandbox(), judge=_judge(), grade="1.0")
    assert differences(alike, alike) == []
    assert differences(_report(), _report(6, sandbox=_sandbox(), grade="1.0")) == []
    assert not compare(alike, _report(6, sandbox=_sandbox(), judge=_judge(), grade="1.0")).made_differently


def test_other_versions_parts_and_endpoints_are_named() -> None:
    first = _report(grade="1.0", judge=_judge(), part=Part(n=10, of=20, ids_hash="a"))
    second = _report(6, grade="1.1", judge=_judge(endpoint="https://b"))
    assert in_words(differences(first, second)) == (
        "grade's version 1.0 and 1.1; part of the benchmark 10 of 20 and all; judge's endpoint https://a and https://b"
    )


@each(
    ("before", "after"),
    [
        (_judge("a"), _judge("b")),
        (None, JudgeProvenance(source="replies from r.json")),
        (_judge("a"), _judge("b", questions=0)),
    ],
)
def test_runs_with_different_judges_are_refused(before: JudgeProvenance | None, after: JudgeProvenance | None) -> None:
    first, second = _report(judge=before), _report(6, judge=after)
    for one, other in ((first, second), (second, first)):
        with pytest.raises(UsageError, match="they had different judges"):
            compare(one, other)
        (gate,) = decide_all(one, baseline=other, drops=[MaxDrop(name=None, value=5)])
        assert gate.state == "blocked"
        assert "they had different judges" in gate.reason


def test_a_judge_that_was_asked_nothing_is_none() -> None:
    assert compare(_report(judge=_judge(questions=0)), _report(6)).metrics


def test_recorded_replies_may_be_any_judges_and_are_named() -> None:
    compared = compare(_report(judge=_judge("a")), _report(6, judge=JudgeProvenance(source="replies from r.json")))
    assert [str(one) for one in compared.made_differently] == ["judge a and recorded replies"]
    first, second = (JudgeProvenance(source=f"replies from {name}.json") for name in ("a", "b"))
    assert not compare(_report(judge=first), _report(6, judge=second)).made_differently
