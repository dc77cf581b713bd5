"""Programs as the peers' commands take them."""

from __future__ import annotations


def block(reply: str) -> str:
    """Return the program of a reply."""
    return reply.split("```python\n")[1].split("```", maxsplit=1)[0] if "```python\n" in reply else reply
