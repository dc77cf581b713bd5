"""A program whose careful verdict is to be found, and what is known of it."""

from __future__ import annotations

import msgspec

from grader.sandbox.answer import Split


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """A program without its tests."""

    qid: str
    source: str


class Confirmed(msgspec.Struct, frozen=True, kw_only=True):
    """The tests' verdict on a candidate. Without a `split` nothing is known, for the reason `lost`."""

    split: Split | None = None
    lost: str = ""


class Apart(msgspec.Struct, frozen=True, kw_only=True):
    """The verdicts on a sample that was run apart from its tests."""

    completion: Confirmed = Confirmed()
    """Verdict on the official completion."""
    written: Confirmed | None = None
    """Verdict on the text as written, if the official completion lost some of it."""
