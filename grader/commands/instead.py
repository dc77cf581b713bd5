"""Advice for options that do not exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

_INSTEAD = {
    **dict.fromkeys(
        ("check --limit", "check --id", "check --since", "check --until"),
        "A whole file is checked; --missing wrong accepts tasks without a prediction.",
    ),
    "run --weight": "It is a setting of the scorer: --set reason=0.5.",
    "run --force": "Rename or remove the earlier results, or write to another folder with --output-dir.",
    "run --allow-part": "A gate on a part of the tasks needs no option; its decision says that it is on a part.",
    "run --groups": "-v shows all groups.",
    "compare --groups": "-v shows all groups.",
    "run --isolation": "Every program has a process of its own; --runtime gives another kind of container.",
    "run --wall-timeout": "It follows from --timeout: ten times as long, at least 20 s.",
    "run --ray-address": "Name the cluster with the environment variable RAY_ADDRESS.",
    "run --judge-concurrency": "--workers sets the number of requests to a judge, too.",
    "run --judge-max-tokens": "The limit is that of the judge's server.",
    "run --judge-timeout": "A request to a judge may take five minutes.",
    "infer --report": "Write the report afterwards: grade report RESULTS -o FILE.",
    "infer --attempts": "--retry-time says how long a failing request is repeated.",
}
"""Command and option -> the advice, which is shown after the error."""


def instead_of(command: str, option: str, *, grading: Collection[str] = ()) -> str:
    """Return advice for an option that a command does not have, or an empty text.

    `grading`: the names of the options of `grade run`.
    """
    if found := _INSTEAD.get(f"{command} {option}"):
        return found
    if command == "infer" and option in grading:
        return (
            "It is an option of grading: set it in the config file, which --grade reads, or grade the predictions "
            f"afterwards: grade PREDICTIONS {option} ..."
        )
    return ""
