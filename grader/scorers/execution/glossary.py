"""Explanations of the metrics and rules of execution, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "pass@*": "The estimated chance that at least one of k samples passes all tests, as a mean over tasks.",
    "base_pass@*": "The same for the base inputs alone; pass@k needs the further inputs too.",
    "parse_success_rate": "The share of samples whose program passed the linter.",
    "calls_right": "The share of calls that a program answers as the reference solution does, as a mean over tasks.",
    "split": "The program answered the calls of the tests, and the tests judged its answers in another process.",
    "outputs": "What the program printed or returned for the inputs is compared with the expected outputs.",
    "likeness": "The answers are compared with those of the reference solution.",
    "execution": "The result of executing the program with the tests.",
    "recovered": "The program passes once it keeps code that the official assembly drops.",
    "pylint": "The linter rejected the program before it was executed.",
    "infrastructure": "The sandbox failed; this says nothing about the sample.",
    "missing": "The prediction file has no answer to this task.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}
