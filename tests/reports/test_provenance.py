"""A report says how it was made, in words and rounded numbers."""

from __future__ import annotations

import msgspec
import pytest

from grader.reports.provenance import made_with, official_in_words
from grader.results import OfficialProvenance
from tests.made_runs import of_sample


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (OfficialProvenance(), ""),
        (OfficialProvenance(executed=1200), "all 1,200 outcomes executed"),
        (
            OfficialProvenance(executed=180, derived=1451, audited=73),
            "180 outcomes executed, 1,451 derived from recorded answers; 73 of those executed were also derived, and "
            "none of them differed",
        ),
        (
            OfficialProvenance(executed=48, audited=20, different=2),
            "48 outcomes executed, 0 derived from recorded answers; 20 of those executed were also derived, and 2 of "
            "them differed",
        ),
    ],
)
def test_executed_derived_and_audited_outcomes_are_counted_in_words(found: OfficialProvenance, words: str) -> None:
    assert official_in_words(found) == words


def test_baselines_have_as_many_decimals_as_metrics() -> None:
    report = msgspec.structs.replace(of_sample("vstar"), baselines={"all": {"chance": 33.33333}})
    assert made_with(report)["baselines"] == {"all": {"chance": 33.3}}
