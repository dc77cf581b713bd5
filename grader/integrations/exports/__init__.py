"""Exports of results to the formats and services of other tools: one file per target.

To add one, write a module here with a function `export` (see `interface.py`), and add it to `TARGETS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.integrations.exports.interface import Target

TARGETS = {
    "every-eval-ever": "grader.integrations.exports.every_eval_ever",
    "hugging-face": "grader.integrations.exports.hugging_face",
    "lmms-eval": "grader.integrations.exports.lmms_eval",
    "mlflow": "grader.integrations.exports.mlflow",
    "wandb": "grader.integrations.exports.wandb",
}
"""Name -> module, which is imported at first use."""


def target(name: str) -> Target:
    """Return the named target's export; raises KeyError."""
    found: Target = import_module(TARGETS[name]).export
    return found
