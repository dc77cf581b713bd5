"""What reports say of the machine that graded: whether a self-test showed that it grades right."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.results import Report, SelftestProvenance

_COUNTED = {"reference": "references pass", "wording": "right answers are read"}
"""Kind of probe that is named -> what holds of it."""
_UNITS = (("day", 86400), ("h", 3600), ("min", 60))


def notes(report: Report, now: datetime | None = None) -> list[str]:
    """Return the notes of a report, the one about the self-test last."""
    tested = report.provenance.selftest
    return report.notes if tested is None else [*report.notes, in_words(tested, now)]


def in_words(tested: SelftestProvenance, now: datetime | None = None) -> str:
    """Return a self-test in one sentence; with `now` it says how long ago that was, for whoever graded just now."""
    when = f"on {tested.at[:16].replace('T', ' ')} UTC" if now is None else f"{_ago(tested.at, now)} ago"
    where = "on the machine that graded" if now is None else "on this machine"
    of = "" if tested.same_data else f" of {tested.data}, not of the data graded here"
    counts = ", ".join(f"{n} of {all_} {_COUNTED[kind]}" for kind, (n, all_) in tested.counts.items()
                       if kind in _COUNTED)  # fmt: skip
    if tested.passed:
        return f"Self-tested {when} {where}: {counts}{of}."
    return (
        f"The self-test {when} {where} FAILED with {tested.problems} problems ({counts}{of}): do not trust these "
        "values before `grade selftest` passes."
    )


def _ago(at: str, now: datetime) -> str:
    seconds = max(0, int((now - datetime.fromisoformat(at)).total_seconds()))
    for unit, length in _UNITS:
        if seconds >= length:
            count = seconds // length
            return f"{count} {unit}{'s' if unit == 'day' and count > 1 else ''}"
    return f"{seconds} s"
