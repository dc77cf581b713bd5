"""The scorers by name (`scoring` in benchmark.toml): the built-in ones and those of installed packages."""

from __future__ import annotations

import difflib
import functools
from importlib import import_module
from typing import TYPE_CHECKING, Any

from grader import resources
from grader.errors import UsageError
from grader.scorers.interface import Scorer

if TYPE_CHECKING:
    from grader.results import Facts, Report

GROUP = "grade.scorers"
"""Entry points of this group name the scorers of other packages."""
AnyScorer = Scorer[Any, Any]
_BUILT_IN = {
    "execution": "grader.scorers.execution.scorer:Execution",
    "multiple_choice": "grader.scorers.choice.scorer:MultipleChoice",
    "circular": "grader.scorers.choice.scorer:Circular",
    "mr_score": "grader.scorers.mr_ben.scorer:MrScore",
    "answer": "grader.scorers.answer.scorer:Answer",
}


def names() -> list[str]:
    """Return the names of all scorers."""
    return [*_BUILT_IN, *sorted(resources.plugins(GROUP).keys() - _BUILT_IN.keys())]


def is_built_in(scorer: AnyScorer) -> bool:
    """Whether this is a scorer of grade itself, and not of another package."""
    return type(scorer).__module__ in (module.partition(":")[0] for module in _BUILT_IN.values())


@functools.cache
def scorer(name: str) -> AnyScorer:
    """Return the scorer with this name; raises UsageError if it does not exist or cannot be loaded."""
    if name in _BUILT_IN:
        module, _, member = _BUILT_IN[name].partition(":")
        built_in: AnyScorer = getattr(import_module(module), member)()
        return built_in
    if name in resources.plugins(GROUP):
        return _load_plugin(name)
    near = difflib.get_close_matches(name, names(), 1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise UsageError(
        f"scoring = {name!r}: unknown scorer; the scorers are {', '.join(names())}.{hint} A scorer of your own is "
        "found when its package is installed beside grade (docs/own-scorer.md)."
    )


def fact_types(name: str) -> tuple[type[Facts], type[Facts]]:
    """Return what the scorer with this name keeps about a sample, and about a run; raises UsageError."""
    kind = scorer(name)
    return kind.sample_facts, kind.run_facts


def scorer_of(report: Report) -> AnyScorer:
    """Return the scorer that made a report; raises UsageError if its package is not installed."""
    return scorer(report.scorer)


def _load_plugin(name: str) -> AnyScorer:
    """Return another package's scorer; an error names the package."""
    kind = resources.load_plugin(GROUP, name)
    if not (isinstance(kind, type) and issubclass(kind, Scorer)):
        raise UsageError(f"The scorer {name!r} is not a subclass of grader.scorers.interface.Scorer.")
    if not hasattr(kind, "declaration"):
        raise UsageError(f"The scorer {name!r} has no `declaration`.")
    try:
        return kind()
    except Exception as error:
        raise UsageError(f"The scorer {name!r} cannot be made ({type(error).__name__}: {error}).") from error
