"""What another package's scorer returns must be one result for each sample, and readable from a results file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from grader.errors import UsageError
from grader.files.json_text import problem_lines
from grader.results import READINGS, SampleResult
from grader.results.file import credit_problems
from grader.scorers.interface import ScorerOutput
from grader.scorers.registry import is_built_in

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.scorers.interface import AnyRun
    from grader.scorers.registry import AnyScorer

    Key = tuple[str, int]


def checked_output(scorer: AnyScorer, run: AnyRun, output: ScorerOutput) -> ScorerOutput:
    """Return the output of a run's scorer, with the samples in the order of the predictions; raises UsageError.

    The samples are as a results file gives them back: a list in place of a tuple, for example.
    """
    if is_built_in(scorer):
        return output
    name = run.benchmark.scoring
    if not isinstance(output, ScorerOutput) or not isinstance(output.samples, list):
        found = type(output.samples if isinstance(output, ScorerOutput) else output).__name__
        raise UsageError(f"The scorer {name!r} returns {found}; expected a ScorerOutput with a list of samples.")
    if output.metrics is not None:
        raise UsageError(f"The scorer {name!r} returns metrics with its samples; `Scorer.metrics` computes them.")
    _check_facts(name, scorer, output)
    samples = [
        _decode(name, _sample_name(sample.qid, sample.sample), sample, SampleResult[scorer.sample_facts])  # type: ignore[name-defined]
        for sample in output.samples
    ]
    if output.facts is not msgspec.UNSET:
        _decode(name, "this run", output.facts, scorer.run_facts)
    samples = _in_order(name, run, samples)
    _refuse(name, [problem for sample in samples for problem in _value_problems(scorer, sample)])
    return msgspec.structs.replace(output, samples=samples)


def _check_facts(name: str, scorer: AnyScorer, output: ScorerOutput) -> None:
    """Raise UsageError for facts that are not of the types that the scorer names."""
    all_facts = [(output.facts, "run_facts"), *((sample.facts, "sample_facts") for sample in output.samples)]
    for facts, attribute in all_facts:
        if facts is not msgspec.UNSET and type(facts) is not getattr(scorer, attribute):
            raise UsageError(f"The scorer {name!r} does not name {type(facts).__name__} as its `{attribute}`.")


def _decode(name: str, where: str, value: Any, kind: Any) -> Any:
    """Return a value as a results file gives it back; raises UsageError if it cannot."""
    try:
        return msgspec.json.decode(msgspec.json.encode(value), type=kind)
    # An object without a form in JSON, such as a number of NumPy; a lone surrogate; a value of another type.
    except (TypeError, UnicodeEncodeError, msgspec.DecodeError) as error:
        raise UsageError(f"The scorer {name!r} gives {where} what a results file cannot hold: {error}") from error


def _in_order(name: str, run: AnyRun, samples: list[SampleResult]) -> list[SampleResult]:
    """Return the samples in the order of the predictions; raises UsageError if they are not one for each."""
    if not samples and not run.benchmark.splits[run.split].scored:
        return samples
    by_key: dict[Key, SampleResult] = {}
    problems = []
    for sample in samples:
        key = sample.qid, sample.sample
        if key in by_key:
            problems.append(f"two results for {_sample_name(*key)}")
        by_key[key] = sample
    keys = [(task.id, number) for task, number, _ in run.replies()]
    problems += [f"no result for {_sample_name(*key)}" for key in keys if key not in by_key]
    unknown = by_key.keys() - set(keys)
    problems += [f"a result for {_sample_name(*key)}, which has no prediction" for key in by_key if key in unknown]
    _refuse(name, problems)
    return [by_key[key] for key in keys]


def _value_problems(scorer: AnyScorer, sample: SampleResult) -> Iterator[str]:
    """Yield the values of a sample in the metrics that are not from 0 to 1, and the credits that fit no outcome."""
    for reading in READINGS:
        if not sample.reading(reading).is_scored:
            continue
        where = f"{_sample_name(sample.qid, sample.sample)} ({reading})"
        values = {"credit": sample.reading(reading).points}
        values |= {metric: value_of(sample, reading) for metric, value_of in scorer.sample_values.items()}
        for value_name, value in values.items():
            if not (isinstance(value, (int, float)) and 0 <= value <= 1):
                yield f"{where} the {value_name} {value!r}, which is not from 0 to 1"
    yield from credit_problems(_sample_name(sample.qid, sample.sample), sample)


def _refuse(name: str, problems: list[str]) -> None:
    if problems:
        raise UsageError("\n".join(f"The scorer {name!r} gives {line}" for line in problem_lines(problems)))


def _sample_name(qid: str, number: int) -> str:
    return f"{qid} #{number}"
