"""Shows what was broken how often."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the counts of each test, whichever worker had it."""
    for report in terminalreporter.getreports(""):
        for name, text in report.user_properties if report.when == "teardown" else ():
            if name == "counts":
                terminalreporter.write_line(text)
