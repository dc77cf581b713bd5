"""A report says how it was made, in words and rounded numbers."""

import msgspec
import pytest

from grader.reports.provenance import made_with, official_in_words
from grader.results import CanaryProvenance, OfficialProvenance, Provenance, SandboxProvenance
from tests.made_runs import of_sample


@pytest.mark.parametrize(
    ("found", "cached", "words"),
    [
        (OfficialProvenance(), 0, ""),
        (
            OfficialProvenance(executed=180, derived=1451, audited=73),
            0,
            "180 of 1,631 outcomes executed; 1,451 derived from recorded answers; 73 of those executed were also "
            "derived as a check, and none of them differed",
        ),
        (
            OfficialProvenance(executed=48, audited=20, different=2),
            48,
            "48 of 48 outcomes executed (in this run or, from the cache, in an earlier one); 20 of those executed were "
            "also derived as a check, and 2 of them differed",
        ),
    ],
)
def test_executed_derived_and_audited_outcomes_are_counted_in_words(
    found: OfficialProvenance, cached: int, words: str
) -> None:
    assert official_in_words(found, cached) == words


def test_no_canaries_are_mentioned_if_none_ran() -> None:
    sandbox = SandboxProvenance(backend="docker", canaries=CanaryProvenance())
    report = msgspec.structs.replace(of_sample("vstar"), provenance=Provenance(sandbox=sandbox))
    assert "sandbox_canaries" not in made_with(report)


def test_baselines_have_as_many_decimals_as_metrics() -> None:
    report = msgspec.structs.replace(of_sample("vstar"), baselines={"all": {"chance": 33.33333}})
    assert made_with(report)["baselines"] == {"all": {"chance": 33.3}}
