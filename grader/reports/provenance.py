"""How a report was made, as reports show it: its provenance, and a note on canaries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.scorers.registry import scorer_of

if TYPE_CHECKING:
    from grader.results import CanaryProvenance, Report


def made_with(report: Report) -> dict[str, Any]:
    """Return the facts of the provenance and the scorer, name -> value, without empty values."""
    found: dict[str, Any] = msgspec.to_builtins(report.provenance)
    if "sandbox" in found:
        # The facts are listed one by one, because some formats leave tables out.
        sandbox = found.pop("sandbox")
        if (ran := report.provenance.sandbox) is not None and ran.canaries is not None:
            sandbox["canaries"] = canaries_in_words(ran.canaries)
        found |= {"sandbox": sandbox.pop("backend")} | {f"sandbox_{name}": value for name, value in sandbox.items()}
    if report.model is not None:
        found = {"model": report.model, **found}
    found |= scorer_of(report).made_with(report)
    if report.baselines:
        found["baselines"] = {
            group: {name: round(value, 1) for name, value in values.items()}
            for group, values in report.baselines.items()
        }
    return {name: value for name, value in found.items() if value not in (None, "", {}, [])}


def notes(report: Report) -> list[str]:
    """Return the notes of a report; that about the machine comes last."""
    sandbox = report.provenance.sandbox
    canaries = sandbox.canaries if sandbox is not None else None
    found = [canaries_in_words(canaries)] if canaries is not None and canaries.misjudged else []
    return [*report.notes, *found]


def canaries_in_words(canaries: CanaryProvenance) -> str:
    """Return a sentence about the canaries, the programs with a known verdict; empty if none ran (cached verdicts)."""
    wrong = sum(canaries.misjudged.values())
    if not wrong and not canaries.right:
        return ""
    if not wrong:
        return f"{canaries.right} programs with a known verdict ran among the real ones, and all were judged correctly."
    kinds = ", ".join(canaries.misjudged)
    return (
        f"{wrong} of {canaries.right + wrong} programs with a known verdict, which ran among the real ones, were "
        f"MISJUDGED ({kinds}). So {canaries.run_again} jobs ran again in other sandboxes, and {canaries.unscored} are "
        "unscored. Run `grade selftest`."
    )
