"""Tasks with inputs: their calls are read from the data, and answers are compared with the expected ones.

Each input has the limit of CPU time for itself, a call of a function as well as a run of a script, and all inputs
together have none. This is how EvalPlus and LiveCodeBench measure.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import msgspec

from grader.errors import InputError
from grader.files.json_text import quoted
from grader.results import Outcome
from grader.sandbox import values
from grader.scorers.execution import jobs
from grader.scorers.execution.answering import AnswerRequest
from grader.scorers.execution.candidate import Candidate, Verdict
from grader.scorers.execution.inputs import livecodebench, outputs
from grader.scorers.execution.inputs.cases import ExpectedAnswers
from grader.scorers.execution.inputs.comparing import ComparisonPlan, OutputComparer, cases_of_task
from grader.scorers.execution.states import (
    NOTHING_TO_COMPARE,
    BrokenReference,
    Judgeable,
    NotJudgeable,
    NotPrepared,
    State,
)
from grader.scorers.execution.tasks import MAX_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Job

    from grader.scorers.execution.answering import Context
    from grader.scorers.execution.candidate import Output, Readings
    from grader.scorers.execution.inputs.cases import Cases

NO_OUTPUTS = "every expected output is null, so nothing can be compared"
MAX_NAMED = 10
"""Number of broken reference solutions that an error names."""
REFERENCE_SECONDS = 30.0
"""CPU time of a reference solution for each input."""


class InputTasks:
    """The calls and the judge of tasks with inputs."""

    def __init__(self, context: Context, *, keeps_outputs: bool = False) -> None:
        """`keeps_outputs`: the readings have every printed text."""
        self._tasks, self._runner, self._spool, self._limits, self._protocol, self._collector, self._states = context
        self._keeps_outputs = keeps_outputs
        self._comparer = OutputComparer(context)
        self._calls, self._harness_variant = self._comparer.calls, cache(self._make_harness_variant)
        self.failed_checkers: dict[str, str] = {}
        """Task -> the first error of its checker."""

    def _cases(self, qid: str) -> Cases:
        return cases_of_task(self._tasks[qid])

    # --- calls, and expected answers ---

    def _expected_answers(self, qid: str) -> ExpectedAnswers:
        state = self._states.judgeable(qid)
        assert state is not None
        assert state.expected_outputs is not None
        return state.expected_outputs

    def prepare(self, qids: Iterable[str], *, refuse_if_all_fail: bool) -> None:
        """Determine the state of each of these tasks. Where the data has no outputs, reference solutions answer.

        `refuse_if_all_fail`: raise InputError if the reference solution of every task fails.
        """
        qids = list(qids)
        without_outputs = [qid for qid in qids if self._cases(qid).outputs is None]
        self._states.update({qid: self._state_from_data(qid) for qid in qids if qid not in without_outputs})
        # A function that returns nothing is judged by what it prints or changes, so its reference answers again.
        return_nothing = self._prepare_from_references(without_outputs, report_side_effects=False)
        self._prepare_from_references(return_nothing, report_side_effects=True)
        broken = self._states.reasons(BrokenReference)
        if refuse_if_all_fail and qids and all(qid in broken for qid in qids):
            raise InputError([f"task {quoted(qid)}: its reference solution {broken[qid]}" for qid in qids[:MAX_NAMED]])

    def _state_from_data(self, qid: str) -> State:
        """Return the state of a task whose outputs are in the data. If all are null, it is judged officially only."""
        cases = self._cases(qid)
        assert cases.outputs is not None
        answers = tuple(map(values.reply, cases.outputs)) if cases.function else cases.outputs
        state = Judgeable(self._calls(qid), expected_outputs=ExpectedAnswers(answers))
        has_no_values = bool(cases.function) and all(output is None for output in cases.outputs)
        return NotJudgeable(NO_OUTPUTS, official=state) if has_no_values else state

    def _prepare_from_references(self, qids: Sequence[str], *, report_side_effects: bool) -> list[str]:
        """Let reference solutions answer, and compare their answers; return the tasks in which they return nothing.

        These have no state yet. `report_side_effects`: what functions print or change in their arguments is their
        answer.
        """
        references = [
            Candidate(
                qid=qid,
                source=self._tasks[qid].solution_source,
                role="reference",
                reports_side_effects=report_side_effects,
            )
            for qid in qids
        ]
        requests = [self._request(reference, REFERENCE_SECONDS, values.MAX_ANSWER_BYTES) for reference in references]
        self._collector.collect("running references", requests)
        plans: dict[str, tuple[ComparisonPlan, ExpectedAnswers]] = {}
        return_nothing = []
        for reference in references:
            qid, answers = reference.qid, self._collector.answers[reference]
            if not answers.parts:
                self._states[qid] = NotPrepared(f"its reference solution was not run: {answers.infrastructure_error}")
            elif not report_side_effects and self._has_no_return_value(reference):
                return_nothing.append(qid)
            else:
                plans[qid] = self._reference_plan(reference)
        self._comparer.run("judging references", [key for plan, _ in plans.values() for key in plan.inputs_by_job])
        self._states.update({qid: self._state_from_reference(qid, *plan) for qid, plan in plans.items()})
        return return_nothing

    def _has_no_return_value(self, reference: Candidate) -> bool:
        answers = self._outputs(reference, REFERENCE_SECONDS)
        is_function = bool(self._cases(reference.qid).function)
        return is_function and all(output.is_answer and values.returns_nothing(output.text) for output in answers)

    def _state_from_reference(self, qid: str, plan: ComparisonPlan, expected: ExpectedAnswers) -> State:
        """Return the state of a task whose reference solution's answers are compared: see `_reference_plan`."""
        if error := self._comparer.infrastructure_error(plan.inputs_by_job):
            return NotPrepared(f"its reference solution was not judged: {error}")
        if problem := self._reference_problem(qid, plan):
            return BrokenReference(problem)
        # All have finished: the reference would be broken otherwise.
        results = (self._comparer.results[key].compared for key in plan.inputs_by_job)
        has_no_side_effect = all(comparison is not None and comparison.has_no_side_effect for comparison in results)
        state = Judgeable(self._calls(qid), expected_outputs=expected)
        is_judgeable = not (expected.by_side_effect and has_no_side_effect)
        return state if is_judgeable else NotJudgeable(NOTHING_TO_COMPARE, official=state)

    def _reference_plan(self, reference: Candidate) -> tuple[ComparisonPlan, ExpectedAnswers]:
        """Return how a reference solution's answers are compared with themselves: some equal nothing, such as NaN."""
        answers = self._outputs(reference, REFERENCE_SECONDS)
        slowest_seconds = max(part.evidence.longest for part in self._collector.answers[reference].parts)
        texts = tuple(output.text for output in answers)
        expected = ExpectedAnswers(texts, slowest_seconds, by_side_effect=reference.reports_side_effects)
        return self._comparer.plan_reference(reference.qid, answers, expected), expected

    def _outputs(self, variant: Candidate, seconds: float) -> list[Output]:
        """Return what a program gave for each input; nothing if it was not run."""
        parts = [self._spool.get(stored) for stored in self._collector.answers[variant].parts]
        return outputs.parse_outputs(parts, self._cases(variant.qid), seconds, self._protocol) if parts else []

    def _reference_problem(self, qid: str, plan: ComparisonPlan) -> str:
        """Return why a reference solution has no answers that others can be compared with; empty if it has them."""
        compared = self._comparer.compared_outputs(plan)
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
        self._collector.collect("answering", requests, self._find_wrong_in_both_readings)

    def _variants(self, candidate: Candidate) -> dict[Candidate, None]:
        """Return a candidate, and the program that a published harness makes of it, if that is another one."""
        return dict.fromkeys((candidate, self._harness_variant(candidate)))

    def _requests(self, candidate: Candidate) -> Iterator[AnswerRequest]:
        """Yield what a candidate and its variant in a harness are asked; nothing if its task has no calls."""
        if self._states.judgeable(candidate.qid) is not None:
            expected = self._expected_answers(candidate.qid).answers if self._cases(candidate.qid).function else ()
            for variant in self._variants(candidate):
                yield self._request(variant, self._seconds(candidate.qid), values.max_answer_bytes(expected), expected)

    def _request(
        self, variant: Candidate, seconds: float, max_bytes: int, expected: Sequence[str] = ()
    ) -> AnswerRequest:
        """Return what a program is asked; each call has so many seconds.

        Instead of an answer with more than `max_bytes`, or equal to an expected one, its digest comes back.
        """
        task, function, source = self._tasks[variant.qid], self._cases(variant.qid).function, variant.source
        if variant.role != "official":  # which `_make_harness_variant` has made already
            source = livecodebench.with_method_as_function(source, self._protocol.prelude, function)
        limits = msgspec.structs.replace(self._limits, cpu_seconds=seconds)
        if variant.role == "reference":
            reports_side_effects = variant.reports_side_effects
        else:
            reports_side_effects = bool(function) and self._expected_answers(variant.qid).by_side_effect

        def make_job(calls: Sequence[str]) -> Job:
            if not function:
                return jobs.script_job(task, source, calls, limits)
            return jobs.calls_job(
                task,
                source,
                function,
                calls,
                limits,
                max_bytes=max_bytes,
                expected_digests=values.digests(expected),
                reports_side_effects=reports_side_effects,
            )

        return AnswerRequest(variant, self._calls(variant.qid), make_job, keeps_state=bool(function))

    def _seconds(self, qid: str) -> float:
        """Return the CPU time for one input: that of the task, or more if its reference solution is slow."""
        task_seconds = self._tasks[qid].program_seconds(self._limits)
        by_reference = self._protocol.times_reference * self._expected_answers(qid).reference_seconds
        return max(task_seconds, min(MAX_SECONDS, by_reference))

    def _make_harness_variant(self, candidate: Candidate) -> Candidate:
        """Return the program as the protocol's harness runs it; the same one if the careful reading runs it so, too."""
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
            why = state.reason if isinstance(state, NotPrepared) else "it was not prepared"
            if isinstance(state, BrokenReference):
                why = f"its reference solution {state.reason}"
            return Verdict(readings=outputs.unjudged_readings(f"task {quoted(candidate.qid)}: {why}"))
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
        known = sum(not plan.inputs_by_job for plan in plans.values())
        self._comparer.run(
            "judging", [key for plan in plans.values() for key in plan.inputs_by_job], known_successes=known
        )
        readings = {variant: self._readings(variant, plan) for variant, plan in plans.items()}
        for candidate in answered:
            careful, official = readings[candidate], readings[self._harness_variant(candidate)]
            both = msgspec.structs.replace(careful, official=official.official, official_text=official.official_text)
            verdicts[candidate] = Verdict(readings=both)
        return verdicts

    def _find_wrong_in_both_readings(self, variants: Sequence[Candidate]) -> set[Candidate]:
        """Return the programs that have given a wrong answer in both readings: more answers change no verdict.

        They are not looked for where a checker judges, which runs long, nor where all outputs are wanted.
        """
        plans: dict[Candidate, ComparisonPlan] = {}
        for variant in variants:
            if not self._keeps_outputs and not self._cases(variant.qid).checker:
                plan = self._plan(variant)
                if not all(plan.is_expected[: self._answer_count(variant)]):
                    plans[variant] = plan
        self._comparer.run("judging slow programs", [key for plan in plans.values() for key in plan.inputs_by_job])
        wrong = set()
        for variant, plan in plans.items():
            if not self._comparer.infrastructure_error(plan.inputs_by_job):
                compared, count = self._comparer.compared_outputs(plan), self._answer_count(variant)
                if not all(compared.official[:count]) and not all(compared.careful[:count]):
                    wrong.add(variant)
        return wrong

    def _answer_count(self, variant: Candidate) -> int:
        return sum(part.reply_count for part in self._collector.answers[variant].parts)

    def _plan(self, variant: Candidate) -> ComparisonPlan:
        """Return how a program's answers are compared."""
        qid, cases = variant.qid, self._cases(variant.qid)
        plan = self._comparer.plan(qid, self._outputs(variant, self._seconds(qid)), self._expected_answers(qid))
        if self._keeps_outputs and not cases.function:
            return plan
        # The texts are in the jobs; those of all programs would fill the memory. Only printed ones are wanted later.
        return plan._replace(outputs=[output._replace(text="") for output in plan.outputs])

    def _readings(self, variant: Candidate, plan: ComparisonPlan) -> Readings:
        """Return both readings of a program whose answers are compared."""
        if error := self._comparer.infrastructure_error(plan.inputs_by_job):
            return outputs.unjudged_readings(error)
        cases = self._cases(variant.qid)
        if cases.checker:
            error, fault = self._comparer.checker_problem(variant.qid, plan, self._expected_answers(variant.qid))
            if error:
                return outputs.unjudged_readings(error)
            if fault:
                self.failed_checkers.setdefault(variant.qid, fault)
                return outputs.unjudged_readings(f"task {variant.qid}: {fault}", "checker")
        readings = outputs.make_readings(cases, self._comparer.compared_outputs(plan), self._protocol)
        seconds = sum(part.evidence.cpu for part in self._collector.answers[variant].parts)
        return msgspec.structs.replace(readings, seconds=seconds)
