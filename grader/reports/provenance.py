"""How a report was made, as reports show it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from grader.results import Report


def provenance_facts(report: Report) -> dict[str, Any]:
    """Return the facts of the provenance and the scorer, name -> value, without empty values."""
    facts: dict[str, Any] = msgspec.to_builtins(report.provenance)
    if "sandbox" in facts:
        # Each part is a fact of its own, because some formats leave out values with many parts.
        sandbox = facts.pop("sandbox")
        facts |= {"sandbox": sandbox.pop("backend")} | {f"sandbox_{name}": value for name, value in sandbox.items()}
    if report.model is not None:
        facts = {"model": report.model, **facts}
    facts |= scorer_of(report).summary(report).facts
    if report.baselines:
        facts["baselines"] = {
            group: {name: round(value, 1) for name, value in values.items()}
            for group, values in report.baselines.items()
        }
    return {name: value for name, value in facts.items() if value not in (None, "", {}, [])}
