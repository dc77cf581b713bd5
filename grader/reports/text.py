"""Cleaning of untrusted text for a terminal or an attribute."""

from __future__ import annotations


def clean(text: str) -> str:
    """Make untrusted text harmless on a terminal: one line, no control characters."""
    return "".join(c if c.isprintable() else " " for c in text)
