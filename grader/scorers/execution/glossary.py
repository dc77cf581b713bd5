"""Explanations of the metrics and rules of execution, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "pass@*": "The estimated chance that at least one of k samples passes all tests, as a mean over tasks.",
    "parse_success_rate": "The share of samples whose program passed the linter.",
    "split": "Tests and candidate ran in separate processes.",
    "execution": "The result of executing the program with the tests.",
    "recovered": "The program passes once it keeps code that the official assembly drops.",
    "pylint": "The linter rejected the program before it was executed.",
    "infrastructure": "The sandbox failed; this says nothing about the sample.",
    "missing": "There is no prediction.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}
