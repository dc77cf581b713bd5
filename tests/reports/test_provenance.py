"""A report says how it was made, in words and rounded numbers."""

import msgspec

from grader.reports.findings import Findings
from tests.made_runs import of_sample


def test_baselines_have_as_many_decimals_as_metrics() -> None:
    report = msgspec.structs.replace(of_sample("vstar"), baselines={"all": {"chance": 33.33333}})
    assert Findings(report).provenance["baselines"] == {"all": {"chance": 33.3}}
