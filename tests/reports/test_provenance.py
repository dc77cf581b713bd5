"""A report says how it was made, in words and rounded numbers."""

import msgspec

from grader.reports.provenance import made_with
from grader.results import CanaryProvenance, Provenance, SandboxProvenance
from tests.made_runs import of_sample


def test_no_canaries_are_mentioned_if_none_ran() -> None:
    sandbox = SandboxProvenance(backend="docker", canaries=CanaryProvenance())
    report = msgspec.structs.replace(of_sample("vstar"), provenance=Provenance(sandbox=sandbox))
    assert "sandbox_canaries" not in made_with(report)


def test_baselines_have_as_many_decimals_as_metrics() -> None:
    report = msgspec.structs.replace(of_sample("vstar"), baselines={"all": {"chance": 33.33333}})
    assert made_with(report)["baselines"] == {"all": {"chance": 33.3}}
