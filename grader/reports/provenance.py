"""The provenance of a report, as reports show it: uninterpreted names and values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.reports.selftested import canaries_in_words, in_words
from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from grader.results import Report


def made_with(report: Report) -> dict[str, Any]:
    """Return the facts of the provenance and the scorer, name -> value, without empty values."""
    found: dict[str, Any] = msgspec.to_builtins(report.provenance)
    if "sandbox" in found:
        # The facts are listed one by one, because some formats leave tables out.
        sandbox = found.pop("sandbox")
        if (ran := report.provenance.sandbox) is not None and ran.canaries is not None:
            sandbox["canaries"] = canaries_in_words(ran.canaries)
        found |= {"sandbox": sandbox.pop("backend")} | {f"sandbox_{name}": value for name, value in sandbox.items()}
    if report.provenance.selftest is not None:
        found["selftest"] = in_words(report.provenance.selftest)
    if report.model is not None:
        found = {"model": report.model, **found}
    found |= scorer_of(report).made_with(report)
    if report.baselines:
        found["baselines"] = report.baselines
    return {name: value for name, value in found.items() if value not in (None, "", {}, [])}
