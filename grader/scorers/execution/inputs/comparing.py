"""Outputs of programs beside the expected ones: what is left to compare, in which jobs, and which outputs are right."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from grader.results import Outcome
from grader.sandbox import values
from grader.sandbox.answer import AnswerComparison
from grader.scorers.execution import comparison_names, jobs
from grader.scorers.execution.candidate import Output

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Compare, Pair

    from grader.sandbox.answer import ComparedAnswers, ShownAnswer
    from grader.scorers.execution.answering import Context
    from grader.scorers.execution.inputs.cases import Cases, ExpectedAnswers
    from grader.scorers.execution.tasks import CodeTask

MAX_CHARACTERS = 8 << 20
"""Characters of the answers in one job."""
EVALPLUS_CHECKS_ARGUMENTS = {"find_zero", "surface_Area", "digit_distance_nums"}
"""The functions whose arguments EvalPlus looks at when it judges an answer."""


def cases_of_task(task: CodeTask) -> Cases:
    """Return the cases of a task with inputs."""
    assert task.cases is not None
    return task.cases


class ComparisonPlan(NamedTuple):
    """What is left to compare of a program's answers."""

    outputs: list[Output]
    is_expected: list[bool]
    """Which answers are known to be right without a comparison."""
    inputs_by_job: dict[str, list[int]]
    """Key of a job, which is in the spool -> the numbers of the inputs in it."""


class ComparedOutputs(NamedTuple):
    """The outputs of a program, and which of them are right."""

    outputs: list[Output]
    official: list[bool]
    """Which outputs are right in the official reading."""
    careful: list[bool]
    displayed: dict[int, ShownAnswer]
    """Number of an input -> texts for people."""


class OutputComparer:
    """Compares the outputs of programs with expected ones, in jobs, and keeps the results."""

    def __init__(self, context: Context) -> None:
        self._tasks, self._runner, self._spool = context.tasks, context.runner, context.spool
        self._limits, self._protocol = context.limits, context.protocol
        self._comparisons = comparison_names.comparisons_of(self._protocol.compare, self._protocol.compare_careful)
        self.calls = cache(self._calls_of)
        """Task -> the calls of its programs."""
        self.results: dict[str, ComparedAnswers] = {}
        """Key of a job -> its result."""
        self._errors: dict[str, str] = {}
        """Key of a job that infrastructure failed to do -> why."""

    def _calls_of(self, qid: str) -> tuple[str, ...]:
        cases = cases_of_task(self._tasks[qid])
        if not cases.function:
            return cases.inputs
        return tuple(values.call(cases.function, arguments) for arguments in cases.inputs)

    def plan(self, qid: str, outputs: list[Output], expected: ExpectedAnswers) -> ComparisonPlan:
        """Return how a program's outputs are compared."""
        cases = cases_of_task(self._tasks[qid])
        is_same = values.is_same if cases.function else str.__eq__
        is_expected = [
            output.is_answer and is_same(text, output.text)
            for text, output in zip(expected.answers, outputs, strict=True)
        ]
        if all(is_expected) and not cases.checker:
            return ComparisonPlan(outputs, is_expected, {})
        pairs = list(self._pairs(qid, outputs, is_expected, expected))
        return ComparisonPlan(outputs, is_expected, self._store_jobs(qid, pairs, expected))

    def plan_reference(self, qid: str, outputs: list[Output], expected: ExpectedAnswers) -> ComparisonPlan:
        """Return how the outputs of a reference solution are compared with themselves.

        Some are known to equal themselves: texts, and values that cannot have a NaN in them. If one is missing, none is
        compared.
        """
        is_answer = [output.is_answer for output in outputs]
        if not all(is_answer):
            return ComparisonPlan(outputs, is_answer, {})
        is_printed = not cases_of_task(self._tasks[qid]).function
        is_known = [
            not expected.by_side_effect and (is_printed or values.surely_equals_itself(output.text))
            for output in outputs
        ]
        numbers = [number for number in range(len(outputs)) if not is_known[number]]
        pairs = [self._pair(qid, number, expected, answer=outputs[number].text) for number in numbers]
        return ComparisonPlan(outputs, is_known, self._store_jobs(qid, pairs, expected, is_reference=True))

    def _pairs(
        self, qid: str, answers: Sequence[Output], is_expected: Sequence[bool], expected: ExpectedAnswers
    ) -> Iterator[Pair]:
        """Yield the answers whose comparison matters: those that are not the expected ones, or all for a checker.

        Of missing answers, the first is enough to fail a program. EvalPlus also needs the expected floats that it
        gave (`same`), because a float changes how later answers are compared.
        """
        cases = cases_of_task(self._tasks[qid])
        is_evalplus, has_missing = self._is_evalplus(qid), False
        for number, output in enumerate(answers):
            if not output.is_answer:
                if not has_missing:
                    yield self._pair(qid, number, expected)
                has_missing = True
            elif cases.checker or not is_expected[number]:
                yield self._pair(qid, number, expected, answer=output.text)
            elif is_evalplus and values.may_be_floats(expected.answers[number]):
                yield {**self._pair(qid, number, expected), "same": True}

    def _is_evalplus(self, qid: str) -> bool:
        return self._protocol.compare == comparison_names.EVALPLUS and bool(cases_of_task(self._tasks[qid]).function)

    def _pair(self, qid: str, number: int, expected: ExpectedAnswers, answer: str | None = None) -> Pair:
        """Return an answer, unless it is missing, and the expected one.

        The input is with them if a checker, side effects or EvalPlus' own checks need it.
        """
        cases = cases_of_task(self._tasks[qid])
        pair: Pair = {"number": number, "expected": expected.answers[number]}
        if answer is not None:
            pair["answer"] = answer
        needs_arguments = cases.function in EVALPLUS_CHECKS_ARGUMENTS and self._is_evalplus(qid)
        if cases.checker or expected.by_side_effect or needs_arguments:
            pair["input"] = self.calls(qid)[number]
        return pair

    def _store_jobs(
        self, qid: str, pairs: Sequence[Pair], expected: ExpectedAnswers, *, is_reference: bool = False
    ) -> dict[str, list[int]]:
        """Put the jobs that compare these answers into the spool, where they stay until they are sent.

        Return the numbers of the inputs in each job, by its key. `is_reference`: the answers are those of the reference
        solution itself.
        """
        numbers: dict[str, list[int]] = {}
        for part in _parts(pairs):
            compare = self._compare_options(qid, expected, is_reference=is_reference)
            compare["pairs"] = part
            job = jobs.compare_job(self._tasks[qid], compare, self._limits)
            key = self._runner.key(job)
            self._spool.store(key, job)
            numbers[key] = [pair["number"] for pair in part]
        return numbers

    def _compare_options(self, qid: str, expected: ExpectedAnswers, *, is_reference: bool) -> Compare:
        """Return the options of a comparison, without the pairs to compare.

        `is_reference`: the answers are those of the reference solution itself.
        """
        cases = cases_of_task(self._tasks[qid])
        comparisons = comparison_names.VALUES if cases.function else self._comparisons
        compare: Compare = {"function": cases.function, "rules": comparisons, "pairs": []}
        if cases.checker:
            compare["checker"] = cases.checker
        elif self._is_evalplus(qid):
            compare["evalplus"] = {"tolerance": cases.tolerance, "is_mbpp": cases.is_mbpp, "base": cases.base_count}
        if expected.by_side_effect:
            compare["with_arguments"] = True
        if is_reference:
            compare["is_reference"] = True
        return compare

    def run(self, phase: str, keys: Sequence[str], *, known_successes: int = 0) -> None:
        """Run the stored comparisons that have no result yet."""
        new = [(key, partial(self._spool.load, key)) for key in keys if key not in self.results]
        for key, result in self._runner.run(phase, new, known_successes=known_successes):
            if isinstance(result, str):
                self._errors[key] = result
            elif result.compare is not None:
                self.results[key] = result.compare

    def infrastructure_error(self, keys: Iterable[str]) -> str:
        """Return why a job has no result; empty if all have one."""
        return next((self._errors.get(key, "it was not judged") for key in keys if key not in self.results), "")

    def compared_outputs(self, plan: ComparisonPlan) -> ComparedOutputs:
        """Return which outputs are right: the expected ones, and those that a comparison accepts.

        A comparison that did not finish accepts none. All jobs of the plan have a result.
        """
        compared = ComparedOutputs(
            outputs=list(plan.outputs), official=list(plan.is_expected), careful=list(plan.is_expected), displayed={}
        )
        for key, numbers in plan.inputs_by_job.items():
            comparison = self.results[key].compared or AnswerComparison(verdicts=[(False, False, "")] * len(numbers))
            for position, number in enumerate(numbers):
                compared.official[number], compared.careful[number], error = comparison.verdicts[position]
                if error:
                    compared.outputs[number] = Output("", Outcome.ERROR, error)
            for position_as_json_key, answer in comparison.shown.items():
                compared.displayed[numbers[int(position_as_json_key)]] = answer
        return compared

    def checker_problem(self, qid: str, plan: ComparisonPlan, expected: ExpectedAnswers) -> tuple[str, str]:
        """Return why infrastructure did not run a checker, and what is wrong with the checker; empty if nothing is.

        If a checker does not finish with an answer, it gets the expected outputs, too. If it finishes with these, the
        answer was the cause: it is wrong, and nothing is wrong with the checker.
        """
        results = [self.results[key] for key in plan.inputs_by_job]
        telling_results = [result for result in results if result.compared is not None]
        if len(telling_results) < len(results):
            keys = self._let_checker_judge_expected_outputs(qid, expected)
            if error := self.infrastructure_error(keys):
                return error, ""
            telling_results += [self.results[key] for key in keys]
        return "", _checker_fault(telling_results)

    def _let_checker_judge_expected_outputs(self, qid: str, expected: ExpectedAnswers) -> list[str]:
        """Return the keys of the jobs, which have run."""
        pairs = [self._pair(qid, number, expected, answer=text) for number, text in enumerate(expected.answers)]
        keys = list(self._store_jobs(qid, pairs, expected))
        self.run("judging expected outputs", keys)
        return keys


def _checker_fault(results: Sequence[ComparedAnswers]) -> str:
    """Return why a checker gives no verdict; empty if it does."""
    for result in results:
        if result.compared is None:
            return "the checker does not finish"
        if result.compared.failed is not None:
            number, why = result.compared.failed
            return f"the checker fails with the output for input {number + 1}: {why}"
    return ""


def _parts(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield pairs in parts, each of which is short enough for the message with a job."""
    part, size = list[Any](), 0
    for pair in pairs:
        length = sum(len(text) for text in pair.values() if isinstance(text, str))
        if part and size + length > MAX_CHARACTERS:
            yield part
            part, size = [], 0
        part.append(pair)
        size += length
    if part:
        yield part
