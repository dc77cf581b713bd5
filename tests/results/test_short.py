"""`print(report)` and its repr are short whatever a run holds."""

from grader.results import Metric, Outcome, Reading, Report, SampleResult


def report(samples: int = 3, metrics: int = 1, name: str = "vstar") -> Report:
    official, careful = Reading(outcome=Outcome.WRONG, credit=0), Reading(outcome=Outcome.CORRECT, credit=1)
    return Report(
        benchmark=name,
        scorer="multiple_choice",
        split="test",
        protocol="p",
        model="tiny-1",
        unscored=1,
        metrics=[
            Metric(name=f"m{number}", reading=reading, value=value, ci95=(10, 80.25), n=samples, group=group)
            for number in range(metrics)
            for group in (None, "a=b")
            for reading, value in (("official", 30.0), ("careful", None if number else 70.04))
        ],
        samples=[
            SampleResult(qid=f"q{n}", sample=0, official=official, careful=careful if n else official)
            for n in range(samples)
        ],
    )


def test_it_prints_the_overall_metrics() -> None:
    assert str(report(metrics=2)).splitlines() == [
        "vstar · test · p · tiny-1",
        "m0: official 30.0, careful 70.0, 95 % interval 10.0 to 80.2, n 3",
        "m1: official 30.0, careful –, 95 % interval 10.0 to 80.2, n 3",
        "3 samples; official and careful differ on 2; 1 unscored",
    ]


def test_one_sample_is_no_samples() -> None:
    assert str(report(1)).splitlines()[-1] == "1 sample; official and careful differ on 0; 1 unscored"
    assert "1 sample, " in repr(report(1))


def test_both_are_bounded_and_nothing_in_them_acts_on_a_terminal() -> None:
    large = report(5_000, 300, "\x1b[2J" + "x" * 5_000)
    assert len(str(large)) < 3_000
    assert len(repr(large)) < 300
    assert repr(large).startswith("<Report ")
    assert "\x1b" not in str(large) + repr(large)
