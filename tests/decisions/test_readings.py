"""Careful minus official, paired by item."""

import msgspec
import pytest

from grader.decisions.readings import careful_minus_official, in_words
from grader.scorers.means import each_observation, metric_rows
from grader.statistics.paired import difference
from tests.made_runs import of_sample, report, sample
from tests.tables import each


def test_a_difference_of_readings_is_paired_by_item() -> None:
    samples = [
        sample(f"q{n}", "correct" if n < 60 else "wrong", official="correct" if n < 50 else "wrong") for n in range(100)
    ]
    made = report(samples, metric_rows(samples, "accuracy", each_observation), scorer="multiple_choice")
    found = careful_minus_official(made)["accuracy"]
    assert found == difference([1] * 50 + [0] * 50, [1] * 60 + [0] * 40)
    # The intervals of the two readings overlap widely; the paired one does not even come near 0.
    assert found.ci95[0] > 4
    assert in_words(made)[0].startswith(
        "Careful minus official, paired by item: accuracy +10.0 points (95 % interval +"
    )


@each("benchmark", ["mmbench", "mr-ben"])
def test_the_differences_of_the_bundled_samples_are_those_of_their_values(benchmark: str) -> None:
    made = of_sample(benchmark)
    for name, moved in careful_minus_official(made).items():
        official, careful = made.metric(name, "official"), made.metric(name, "careful")
        if official.bounds is careful.bounds is msgspec.UNSET:
            assert moved.value == pytest.approx(careful.number - official.number)
