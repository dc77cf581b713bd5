"""Explanations of the metrics, rules and outcomes of Mr-Ben, for reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

GLOSSARY: Mapping[str, str] = {
    "mr_score": "The weighted sum of mcc, acc_step and acc_reason; a negative mcc counts as 0.",
    "mcc": "Matthews correlation of the model's verdicts with the gold verdicts, from -100 to 100.",
    "acc_step": "Of the incorrect solutions, the share whose first wrong step the model names.",
    "acc_reason": "Of the incorrect solutions, the share whose error the model also explains correctly.",
    "precision": "Of the solutions that the model calls correct, the share that are correct.",
    "recall": "Of the correct solutions, the share that the model calls correct.",
    "parse_success_rate": "The share of replies in which a verdict was found.",
    "official headings": "The verdict is under the headings that the prompt asks for.",
    "headings not found": "The headings that the prompt asks for are missing.",
    "heading": "The verdict is under a heading.",
    "json": "The verdict is a field of a JSON object.",
    "no verdict": "No heading and no sentence gives a verdict.",
    "several verdicts": "The reply has verdicts that contradict each other.",
    "undecided": "The reply says that it cannot tell.",
    "revised in a sentence": "A later sentence withdraws the first verdict.",
    "implied by the step": "A wrong step is named, so the verdict is incorrect.",
    "hedged": "The verdict says both right and wrong.",
    "missing": "There is no prediction.",
    "server_failure": "The model's server failed; this says nothing about the model.",
}

OUTCOME_NAMES: Mapping[str, str] = {"correct": "credited", "wrong": "not credited"}
"""Models also call solutions "correct" here, so `wrong | correct` would look like a contradiction."""
