"""Tasks with inputs: their calls are read from the data, and answers are compared with the expected ones.

Each input has the limit of CPU time for itself, a call of a function as well as a run of a script, and all inputs
together have none. This is how EvalPlus and LiveCodeBench measure.
"""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.results import Outcome
from grader.sandbox import values
from grader.scorers.execution import comparison_names, jobs
from grader.scorers.execution.answering import AnswerRequest
from grader.scorers.execution.candidate import Candidate, Output, Verdict
from grader.scorers.execution.inputs import livecodebench, outputs
from grader.scorers.execution.inputs.cases import ExpectedAnswers
from grader.scorers.execution.reference_runs import can_vary
from grader.scorers.execution.states import (
    NOTHING_TO_COMPARE,
    BrokenReference,
    Judgeable,
    NotJudgeable,
    NotPrepared,
    State,
)
from grader.scorers.execution.tasks import MOST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Compare, Job, Pair

    from grader.sandbox.answer import ComparedAnswers, ShownAnswer
    from grader.scorers.execution.answering import Context
    from grader.scorers.execution.candidate import Readings
    from grader.scorers.execution.inputs.cases import Cases

HASH_SEEDS = 0, 1
NO_OUTPUTS = "every expected output is null, so nothing can be compared"
MAX_NAMED = 10
"""Number of broken reference solutions that an error names."""
REFERENCE_SECONDS = 30.0
"""CPU time of a reference solution for each input."""
MAX_CHARACTERS = 8 << 20
"""Characters of the answers in one job."""
EVALPLUS_CHECKS_ARGUMENTS = {"find_zero", "surface_Area", "digit_distance_nums"}
"""The functions whose arguments EvalPlus looks at when it judges an answer."""


class _Plan(NamedTuple):
    """What is left to compare of a program's answers."""

    outputs: list[Output]
    is_expected: list[bool]
    """Which answers are the expected ones, byte for byte."""
    jobs: dict[str, list[int]]
    """Key of a job, which is in the spool -> the numbers of the inputs in it."""


class _ComparedOutputs(NamedTuple):
    """The outputs of a program, and which of them are right."""

    outputs: list[Output]
    official: list[bool]
    """Which outputs are right in the official reading."""
    careful: list[bool]
    displayed: dict[int, ShownAnswer]
    """Number of an input -> texts for people."""


class InputTasks:
    """The calls and the judge of tasks with inputs."""

    def __init__(self, context: Context, *, keeps_outputs: bool = False) -> None:
        """`keeps_outputs`: the readings have every printed text."""
        self._tasks, self._runner, self._spool, self._limits, self._protocol, self._collector, self._states = context
        self._keeps_outputs = keeps_outputs
        self._comparisons = comparison_names.comparisons_of(self._protocol.compare, self._protocol.compare_careful)
        self._calls, self._harness_variant = cache(self._calls_of), cache(self._make_harness_variant)
        self._results: dict[str, ComparedAnswers] = {}
        self._errors: dict[str, str] = {}
        """Key of a job that infrastructure failed to do -> why."""
        self.failed_checkers: dict[str, str] = {}
        """Task -> the first error of its checker."""

    def _cases(self, qid: str) -> Cases:
        cases = self._tasks[qid].cases
        assert cases is not None
        return cases

    # --- calls, and expected answers ---

    def _calls_of(self, qid: str) -> tuple[str, ...]:
        cases = self._cases(qid)
        if not cases.function:
            return cases.inputs
        return tuple(values.call(cases.function, arguments) for arguments in cases.inputs)

    def _expected(self, qid: str) -> ExpectedAnswers:
        state = self._states.judgeable(qid)
        assert state is not None
        assert state.expected_outputs is not None
        return state.expected_outputs

    def prepare(self, qids: Iterable[str], *, refuse_all: bool) -> None:
        """Determine the state of each of these tasks. Where the data has no outputs, reference solutions answer.

        `refuse_all`: if there are some, and none has answers, raise InputError.
        """
        qids = list(qids)
        without_outputs = [qid for qid in qids if self._cases(qid).outputs is None]
        self._states.update({qid: self._state_from_data(qid) for qid in qids if qid not in without_outputs})
        # A function that returns nothing is judged by what it prints or changes, so its reference answers again.
        return_nothing = self._prepare_from_references(without_outputs, report_side_effects=False)
        self._prepare_from_references(return_nothing, report_side_effects=True)
        broken = self._states.reasons(BrokenReference)
        if refuse_all and qids and all(qid in broken for qid in qids):
            raise InputError([f"task {quoted(qid)}: its reference solution {broken[qid]}" for qid in qids[:MAX_NAMED]])

    def _state_from_data(self, qid: str) -> State:
        cases = self._cases(qid)
        assert cases.outputs is not None
        answers = tuple(map(values.reply, cases.outputs)) if cases.function else cases.outputs
        state = Judgeable(self._calls(qid), expected_outputs=ExpectedAnswers(answers))
        has_no_values = bool(cases.function) and all(output is None for output in cases.outputs)
        return NotJudgeable(NO_OUTPUTS, official=state) if has_no_values else state

    def _prepare_from_references(self, qids: Sequence[str], *, report_side_effects: bool) -> list[str]:
        """Let reference solutions answer, and compare their answers; return the tasks in which they return nothing.

        `report_side_effects`: what these functions print or change in their arguments is their answer.
        """
        references = {qid: self._reference_candidates(qid, report_side_effects) for qid in qids}
        candidates = [candidate for of_task in references.values() for candidate in of_task]
        requests = [self._request(candidate, REFERENCE_SECONDS, values.MOST) for candidate in candidates]
        self._collector.collect("running references", requests)
        plans: dict[str, tuple[_Plan, ExpectedAnswers]] = {}
        return_nothing = []
        for qid, of_task in references.items():
            answers = self._collector.answers[of_task[0]]
            if not answers.parts:
                self._states[qid] = NotPrepared(f"its reference solution was not run: {answers.infrastructure_error}")
            elif not report_side_effects and self._returns_nothing(of_task[0]):
                return_nothing.append(qid)
            else:
                plans[qid] = self._reference_plan(qid, of_task)
        self._compare("judging references", [key for plan, _ in plans.values() for key in plan.jobs])
        self._states.update({qid: self._state_from_reference(qid, *plan) for qid, plan in plans.items()})
        return return_nothing

    def _returns_nothing(self, reference: Candidate) -> bool:
        answers = self._outputs(reference, REFERENCE_SECONDS)
        is_function = bool(self._cases(reference.qid).function)
        return is_function and all(output.is_answer and values.returns_nothing(output.text) for output in answers)

    def _state_from_reference(self, qid: str, plan: _Plan, expected: ExpectedAnswers) -> State:
        """Return the state of a task whose reference solution's answers are compared with themselves."""
        if error := self._infrastructure_error(plan.jobs):
            return NotPrepared(f"its reference solution was not judged: {error}")
        if problem := self._reference_problem(qid, plan):
            return BrokenReference(problem)
        comparisons = [one for key in plan.jobs if (one := self._results[key].compared) is not None]
        varies = any(comparison.varies for comparison in comparisons)
        is_unordered = any(comparison.is_unordered for comparison in comparisons)
        expected = expected._replace(other_runs=expected.other_runs if varies else (), is_unordered=is_unordered)
        state = Judgeable(self._calls(qid), expected_outputs=expected)
        is_finished = len(comparisons) == len(plan.jobs)
        if expected.by_side_effect and is_finished and all(comparison.is_silent for comparison in comparisons):
            return NotJudgeable(NOTHING_TO_COMPARE, official=state)
        return state

    def _reference_candidates(self, qid: str, report_side_effects: bool) -> list[Candidate]:
        """Return a reference solution; with two hash seeds if its answers may depend on it."""
        source = self._tasks[qid].solution_source
        varies = can_vary(f"{self._protocol.prelude}\n{source}", self._calls(qid))
        return [
            Candidate(
                qid=qid, source=source, role="reference", hash_seed=seed, reports_side_effects=report_side_effects
            )
            for seed in (HASH_SEEDS if varies else HASH_SEEDS[:1])
        ]

    def _reference_plan(self, qid: str, references: Sequence[Candidate]) -> tuple[_Plan, ExpectedAnswers]:
        """Return how a reference solution's answers are compared with those of its other runs, and with themselves.

        Some differ from run to run, and some equal nothing, such as NaN.
        """
        first, *others = (self._outputs(reference, REFERENCE_SECONDS) for reference in references)
        texts = tuple(output.text for output in first)
        complete = [run for run in others if run and all(output.is_answer for output in run)]
        other_runs = tuple(tuple(output.text for output in run) for run in complete)
        seconds = max(part.evidence.longest for part in self._collector.answers[references[0]].parts)
        by_side_effect = references[0].reports_side_effects
        expected = ExpectedAnswers(texts, seconds, other_runs, by_side_effect=by_side_effect)
        is_answer = [output.is_answer for output in first]
        if not all(is_answer):
            return _Plan(first, is_answer, {}), expected
        is_printed = not self._cases(qid).function
        needs_no_comparison = [
            not by_side_effect
            and all(run[number] == text for run in other_runs)
            and (is_printed or values.is_plain(text))
            for number, text in enumerate(texts)
        ]
        pairs = [
            self._pair(qid, number, expected, answer=text)
            for number, text in enumerate(texts)
            if not needs_no_comparison[number]
        ]
        return _Plan(first, needs_no_comparison, self._store_jobs(qid, pairs, expected, is_reference=True)), expected

    def _outputs(self, variant: Candidate, seconds: float) -> list[Output]:
        """Return what a program gave for each input; nothing if it was not run."""
        parts = [self._spool.get(stored) for stored in self._collector.answers[variant].parts]
        return outputs.outputs_of(parts, self._cases(variant.qid), seconds, self._protocol) if parts else []

    def _reference_problem(self, qid: str, plan: _Plan) -> str:
        """Return why a reference solution has no answers that others can be compared with; empty if it has them."""
        compared = self._compared_outputs(plan)
        if all(compared.careful):
            return ""
        number = compared.careful.index(False)
        output = compared.outputs[number]
        answer = compared.displayed[number].returned if number in compared.displayed else "?"
        why = output.why or f"its answer cannot be compared: {answer}"
        if output.outcome is Outcome.OUT_OF_MEMORY:
            why += " (give more with --memory)"
        return f"fails with its input {number + 1}, {self._cases(qid).displayed_input(number):.100}: {why:.200}"

    # --- answers ---

    def answer(self, candidates: Iterable[Candidate]) -> None:
        """Let candidates answer the calls of their tasks."""
        requests = [request for candidate in candidates for request in self._requests(candidate)]
        self._collector.collect("answering", requests, self._wrong_in_both_readings)

    def _variants(self, candidate: Candidate) -> dict[Candidate, None]:
        """Return a candidate, and the program that a published harness makes of it, if that is another one."""
        return dict.fromkeys((candidate, self._harness_variant(candidate)))

    def _requests(self, candidate: Candidate) -> Iterator[AnswerRequest]:
        """Yield what a candidate and its variant in a harness are asked; nothing if its task has no calls."""
        if self._states.judgeable(candidate.qid) is not None:
            expected = self._expected(candidate.qid).answers if self._cases(candidate.qid).function else ()
            for variant in self._variants(candidate):
                yield self._request(variant, self._seconds(candidate.qid), values.most_bytes(expected), expected)

    def _request(
        self, variant: Candidate, seconds: float, max_bytes: int, expected: Sequence[str] = ()
    ) -> AnswerRequest:
        """Return what a program is asked; each call has so many seconds. `max_bytes`: see `jobs.calls_job`."""
        task, function, source = self._tasks[variant.qid], self._cases(variant.qid).function, variant.source
        if variant.role != "official":
            source = livecodebench.with_method_as_function(source, self._protocol.prelude, function)
        limits = msgspec.structs.replace(self._limits, cpu_seconds=seconds)
        if variant.role == "reference":
            reports_side_effects = variant.reports_side_effects
        else:
            reports_side_effects = bool(function) and self._expected(variant.qid).by_side_effect

        def make_job(calls: Sequence[str]) -> Job:
            if not function:
                job = jobs.script_job(task, source, calls, limits)
            else:
                job = jobs.calls_job(
                    task,
                    source,
                    function,
                    calls,
                    limits,
                    max_bytes=max_bytes,
                    known_digests=values.digests(expected),
                    reports_side_effects=reports_side_effects,
                )
            return jobs.with_hash_seed(job, variant.hash_seed)

        return AnswerRequest(variant, self._calls(variant.qid), make_job, keeps_state=bool(function))

    def _seconds(self, qid: str) -> float:
        """Return the CPU time for one input: that of the task, or more if its reference solution is slow."""
        task_seconds = self._tasks[qid].seconds or self._limits.cpu_seconds
        by_reference = self._protocol.times_reference * self._expected(qid).reference_seconds
        return max(task_seconds, min(MOST_SECONDS, by_reference))

    def _make_harness_variant(self, candidate: Candidate) -> Candidate:
        """Return the program as the protocol's harness runs it; the same one if it has none, or changes nothing."""
        source, prelude, function = candidate.source, self._protocol.prelude, self._cases(candidate.qid).function
        if not self._protocol.harness:
            return candidate
        if not function:
            official = livecodebench.script_as_function(source, prelude)
        else:
            official = livecodebench.with_method_as_function(source, prelude, function, is_official=True)
            if official == livecodebench.with_method_as_function(source, prelude, function):
                return candidate
        return msgspec.structs.replace(candidate, source=official, role="official")

    # --- verdicts ---

    def _verdict_without_answers(self, candidate: Candidate) -> Verdict | None:
        """Return the verdict on a candidate without answers; None if it has all of them."""
        if self._states.judgeable(candidate.qid) is None:
            state = self._states.get(candidate.qid)
            reason = state.reason if isinstance(state, (BrokenReference, NotPrepared)) else "it was not prepared"
            return Verdict(
                readings=outputs.unjudged_readings(f"task {quoted(candidate.qid)}: its reference solution {reason}")
            )
        errors = (self._collector.answers[variant].infrastructure_error for variant in self._variants(candidate))
        error = next(filter(None, errors), "")
        return Verdict(readings=outputs.unjudged_readings(error)) if error else None

    def judge(self, candidates: Iterable[Candidate]) -> dict[Candidate, Verdict]:
        """Return the verdicts on candidates that have answered, or whose tasks have no calls."""
        verdicts: dict[Candidate, Verdict] = {}
        answered: list[Candidate] = []
        for candidate in candidates:
            if candidate in self._collector.answers or self._states.judgeable(candidate.qid) is None:
                verdict = self._verdict_without_answers(candidate)
                if verdict is None:
                    answered.append(candidate)
                else:
                    verdicts[candidate] = verdict
        variants = dict.fromkeys(variant for candidate in answered for variant in self._variants(candidate))
        plans = {variant: self._plan(variant) for variant in variants}
        known = sum(not plan.jobs for plan in plans.values())
        self._compare("judging", [key for plan in plans.values() for key in plan.jobs], known_successes=known)
        readings = {variant: self._readings(variant, plan) for variant, plan in plans.items()}
        for candidate in answered:
            official = readings[self._harness_variant(candidate)]
            both = msgspec.structs.replace(
                readings[candidate], official=official.official, official_text=official.official_text
            )
            verdicts[candidate] = Verdict(readings=both)
        return verdicts

    def _wrong_in_both_readings(self, variants: Sequence[Candidate]) -> set[Candidate]:
        """Return the programs that have given a wrong answer in both readings. More answers change no verdict.

        A checker runs long, and whoever wants the outputs wants all of them.
        """
        plans: dict[Candidate, _Plan] = {}
        for variant in variants:
            if not self._keeps_outputs and not self._cases(variant.qid).checker:
                plan = self._plan(variant)
                if not all(plan.is_expected[: self._answer_count(variant)]):
                    plans[variant] = plan
        self._compare("judging slow programs", [key for plan in plans.values() for key in plan.jobs])
        wrong = set()
        for variant, plan in plans.items():
            if not self._infrastructure_error(plan.jobs):
                compared, count = self._compared_outputs(plan), self._answer_count(variant)
                if not all(compared.official[:count]) and not all(compared.careful[:count]):
                    wrong.add(variant)
        return wrong

    def _answer_count(self, variant: Candidate) -> int:
        return sum(part.reply_count for part in self._collector.answers[variant].parts)

    def _plan(self, variant: Candidate) -> _Plan:
        """Return how a program's answers are compared."""
        qid, cases = variant.qid, self._cases(variant.qid)
        answers, expected = self._outputs(variant, self._seconds(qid)), self._expected(qid)
        is_same = values.is_same if cases.function else str.__eq__
        is_expected = [
            output.is_answer and is_same(text, output.text)
            for text, output in zip(expected.answers, answers, strict=True)
        ]
        comparisons = {}
        if cases.checker or not all(is_expected):
            comparisons = self._store_jobs(qid, list(self._pairs(qid, answers, is_expected)), expected)
        if not self._keeps_outputs or cases.function:
            # The texts are in the jobs. Those of all programs would fill the memory.
            answers = [output._replace(text="") for output in answers]
        return _Plan(answers, is_expected, comparisons)

    def _pairs(self, qid: str, answers: Sequence[Output], is_expected: Sequence[bool]) -> Iterator[Pair]:
        """Yield the answers whose comparison matters: those that are not the expected ones.

        Of missing answers, the first is enough to fail a program. EvalPlus also needs all expected floats, because one
        changes how later answers are compared.
        """
        cases, expected = self._cases(qid), self._expected(qid)
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
        return self._protocol.compare == comparison_names.EVALPLUS and bool(self._cases(qid).function)

    def _pair(self, qid: str, number: int, expected: ExpectedAnswers, answer: str | None = None) -> Pair:
        """Return an answer and the expected one, with the input where more than these two is looked at."""
        cases = self._cases(qid)
        pair: Pair = {"number": number, "expected": expected.answers[number]}
        if answer is not None:
            pair["answer"] = answer
            if expected.other_runs:
                pair["runs"] = [run[number] for run in expected.other_runs]
        needs_arguments = cases.function in EVALPLUS_CHECKS_ARGUMENTS and self._is_evalplus(qid)
        if cases.checker or expected.by_side_effect or needs_arguments:
            pair["input"] = self._calls(qid)[number]
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
        """Return how a task's answers are compared, still without them."""
        cases = self._cases(qid)
        comparisons = comparison_names.VALUES if cases.function else self._comparisons
        compare: Compare = {"function": cases.function, "rules": comparisons, "pairs": []}
        if cases.checker:
            compare["checker"] = cases.checker
        elif self._is_evalplus(qid):
            is_mbpp = qid.startswith("Mbpp/")  # EvalPlus' own ids
            compare["evalplus"] = {"tolerance": cases.tolerance, "is_mbpp": is_mbpp, "base": cases.base}
        if expected.by_side_effect:
            compare["with_arguments"] = True
        if is_reference:
            compare["is_reference"] = True
        elif expected.is_unordered:
            compare["is_unordered"] = True
        return compare

    def _compare(self, phase: str, keys: Sequence[str], *, known_successes: int = 0) -> None:
        """Run the stored comparisons that have no result yet."""
        new = [(key, partial(self._spool.load, key)) for key in keys if key not in self._results]
        for key, result in self._runner.run(phase, new, known_successes=known_successes):
            if isinstance(result, str):
                self._errors[key] = result
            elif result.compare is not None:
                self._results[key] = result.compare

    def _infrastructure_error(self, keys: Iterable[str]) -> str:
        """Return why a job has no result; empty if all have one."""
        return next((self._errors.get(key, "it was not judged") for key in keys if key not in self._results), "")

    def _compared_outputs(self, plan: _Plan) -> _ComparedOutputs:
        """Return which outputs are right: the expected ones, and those that a comparison accepts.

        A comparison that did not finish accepts none. All jobs of the plan have a result.
        """
        compared = _ComparedOutputs(list(plan.outputs), list(plan.is_expected), list(plan.is_expected), {})
        for key, numbers in plan.jobs.items():
            comparison = self._results[key].compared
            for position, number in enumerate(numbers):
                official, careful, error = (False, False, "") if comparison is None else comparison.verdicts[position]
                compared.official[number], compared.careful[number] = official, careful
                if error:
                    compared.outputs[number] = Output("", Outcome.ERROR, error)
            for position_text, answer in {} if comparison is None else comparison.shown.items():
                compared.displayed[numbers[int(position_text)]] = answer
        return compared

    def _readings(self, variant: Candidate, plan: _Plan) -> Readings:
        """Return both readings of a program whose answers are compared."""
        if error := self._infrastructure_error(plan.jobs):
            return outputs.unjudged_readings(error)
        cases = self._cases(variant.qid)
        if cases.checker:
            error, fault = self._checker_problem(variant.qid, plan)
            if error:
                return outputs.unjudged_readings(error)
            if fault:
                self.failed_checkers.setdefault(variant.qid, fault)
                return outputs.unjudged_readings(f"task {variant.qid}: {fault}", "checker")
        compared = self._compared_outputs(plan)
        right = compared.official, compared.careful
        readings = outputs.readings_of(cases, compared.outputs, right, compared.displayed, self._protocol)
        seconds = sum(part.evidence.cpu for part in self._collector.answers[variant].parts)
        return msgspec.structs.replace(readings, seconds=seconds)

    def _checker_problem(self, qid: str, plan: _Plan) -> tuple[str, str]:
        """Return why infrastructure did not run a checker, and what is wrong with the checker; empty if nothing is.

        An answer can end its checker, or keep it busy. Then the checker gets the expected outputs. If it finishes with
        these, the answer is wrong, and nothing is wrong with the checker.
        """
        compared = [self._results[key] for key in plan.jobs]
        finished = [comparison for comparison in compared if comparison.compared is not None]
        if len(finished) < len(compared):
            keys = self._check_expected_outputs(qid)
            if error := self._infrastructure_error(keys):
                return error, ""
            finished += [self._results[key] for key in keys]
        return "", _checker_fault(finished)

    def _check_expected_outputs(self, qid: str) -> dict[str, list[int]]:
        """Let a task's checker judge the expected outputs; return the jobs."""
        expected = self._expected(qid)
        pairs = [self._pair(qid, number, expected, answer=text) for number, text in enumerate(expected.answers)]
        numbers = self._store_jobs(qid, pairs, expected)
        self._compare("judging expected outputs", list(numbers))
        return numbers


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
    """Yield pairs in parts that a message can have."""
    part, size = list[Any](), 0
    for pair in pairs:
        length = sum(len(text) for text in (*pair.values(), *pair.get("runs", ())) if isinstance(text, str))
        if part and size + length > MAX_CHARACTERS:
            yield part
            part, size = [], 0
        part.append(pair)
        size += length
    if part:
        yield part
