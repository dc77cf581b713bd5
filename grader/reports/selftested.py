"""Notes about the machine that graded: the results of its self-test, its canaries and its repeated verdicts."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from grader.predictions.record import counted

if TYPE_CHECKING:
    from grader.results import CanaryProvenance, FlakeProvenance, Report, SelftestProvenance

_COUNTED = {"reference": "references pass", "wording": "correct answers are read"}
"""Kind of probe that a note mentions -> text after its count."""
_UNITS = (("day", 86400), ("h", 3600), ("min", 60))


def notes(report: Report, now: datetime | None = None) -> list[str]:
    """Return the notes of a report; those about the machine come last."""
    tested, sandbox = report.provenance.selftest, report.provenance.sandbox
    canaries = sandbox.canaries if sandbox is not None else None
    found = [canaries_in_words(canaries)] if canaries is not None and canaries.misjudged else []
    found += _flakes(report)
    return [*report.notes, *found, *([] if tested is None else [in_words(tested, now)])]


def _flakes(report: Report) -> list[str]:
    """Return a note on how much flaky verdicts could change the overall metrics."""
    flakes = report.provenance.flakes
    ranges = [
        f"{metric.name} ({metric.reading}) {metric.with_flakes[0]:.1f} to {metric.with_flakes[1]:.1f}"
        for metric in report.metrics
        if metric.group is None and metric.with_flakes is not msgspec.UNSET
    ]
    if flakes is None or not ranges:
        return []
    return [f"{flakes_in_words(flakes)}. The 95 % intervals, widened by this rate (with flakes): {', '.join(ranges)}."]


def flakes_in_words(flakes: FlakeProvenance) -> str:
    """Return a sentence about the ledger's rate, without its full stop."""
    return (
        f"{flakes.flips} of {flakes.checked} verdicts changed when samples were graded again on the same machine, "
        f"so at most {bound_in_words(flakes.bound)}"
    )


def bound_in_words(share: float) -> str:
    """Return an upper bound of the share of verdicts that change, with two digits."""
    percent = 100 * share
    return f"{100 if percent >= 99.5 else f'{percent:.2g}'} % of verdicts change (95 % confidence)"


def canaries_in_words(canaries: CanaryProvenance) -> str:
    """Return a sentence about the canaries, the programs with a known verdict."""
    wrong = sum(canaries.misjudged.values())
    if not wrong:
        return f"{canaries.right} programs with a known verdict ran among the real ones, and all were judged correctly."
    kinds = ", ".join(canaries.misjudged)
    return (
        f"{wrong} of {canaries.right + wrong} programs with a known verdict, which ran among the real ones, were "
        f"MISJUDGED ({kinds}). So {canaries.run_again} jobs ran again in other sandboxes, and {canaries.unscored} are "
        "unscored. Run `grade selftest`."
    )


def in_words(tested: SelftestProvenance, now: datetime | None = None) -> str:
    """Return a sentence about a self-test; with `now`, for a run that has just ended, it says how long ago it was."""
    when = f"on {tested.at[:16].replace('T', ' ')} UTC" if now is None else f"{_ago(tested.at, now)} ago"
    where = "on the machine that graded" if now is None else "on this machine"
    of = "" if tested.same_data else f", tested with {tested.data}, not with the data of this run"
    counts = ", ".join(f"{n} of {all_} {_COUNTED[kind]}" for kind, (n, all_) in tested.counts.items()
                       if kind in _COUNTED)  # fmt: skip
    if tested.passed:
        return f"Self-tested {when} {where}: {counts}{of}."
    problems = counted(tested.problems, "problem")
    return (
        f"The self-test {when} {where} FAILED with {problems} ({counts}{of}): do not trust these values before "
        "`grade selftest` passes."
    )


def _ago(at: str, now: datetime) -> str:
    seconds = max(0, int((now - datetime.fromisoformat(at)).total_seconds()))
    for unit, length in _UNITS:
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}"
    return f"{seconds} s"
