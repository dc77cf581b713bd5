"""Exports of results to the formats and services of other tools: the built-in ones and those of installed packages.

To add one, write a function as in `interface.py`, and name it in an entry point of the group `grade.exports`, as
`examples/trackers` does for MLflow and Weights & Biases.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from grader import resources

if TYPE_CHECKING:
    from grader.integrations.exports.interface import Target

GROUP = "grade.exports"
"""Entry points of this group name the exports of other packages."""
_OWN = {
    "every-eval-ever": "grader.integrations.exports.every_eval_ever",
    "hugging-face": "grader.integrations.exports.hugging_face",
    "lmms-eval": "grader.integrations.exports.lmms_eval",
}
"""Name -> module, which is imported at first use."""


def names() -> list[str]:
    """Return the names of all targets."""
    return [*_OWN, *sorted(resources.plugins(GROUP).keys() - _OWN.keys())]


def target(name: str) -> Target:
    """Return the named target's export; raises KeyError, UsageError."""
    export: Target = import_module(_OWN[name]).export if name in _OWN else resources.load_plugin(GROUP, name)
    return export
