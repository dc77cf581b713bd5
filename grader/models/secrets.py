"""Secrets that must never be shown: the key, and a password in a server's address."""

from __future__ import annotations

from urllib.parse import urlsplit


class Secrets:
    """The key and the address's password, which are hidden in every text from the client."""

    def __init__(self, key: str, password: str) -> None:
        self.key = key
        # Short keys ("x", "EMPTY") are conventions of local servers; replacing them would damage replies.
        self._hidden = [secret for secret in (key, password) if len(secret) >= 8]

    def __repr__(self) -> str:
        return "<secrets>"

    def hide(self, text: str) -> str:
        """Return the text with every secret replaced."""
        for secret in self._hidden:
            text = text.replace(secret, "***")
        return text


def public_address(url: str) -> tuple[str, str]:
    """Return a URL without user, password, query and fragment, and its password. Raises ValueError."""
    parts = urlsplit(url)
    if parts.scheme not in {"http", "https"} or not parts.hostname or (parts.port is not None and parts.port <= 0):
        raise ValueError("not an HTTP address")
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path.rstrip('/')}", parts.password or ""


def one_line(text: str, limit: int) -> str:
    """Return a text on one line, no longer than `limit`, without control characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text[: limit * 4]).split())
    return line if len(line) <= limit else line[: limit - 3] + "..."
