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
from grader.scorers.execution.inputs.cases import Expected
from grader.scorers.execution.reference_runs import can_vary
from grader.scorers.execution.states import SILENT, Broken, Judged, Lost, NotJudged
from grader.scorers.execution.tasks import MOST_SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from grade_sandbox.jobs import Compare, Job, Pair

    from grader.sandbox.answer import ComparedAnswers, ShownAnswer
    from grader.scorers.execution.answering import Tools
    from grader.scorers.execution.candidate import Readings
    from grader.scorers.execution.inputs.cases import Cases

HASH_SEEDS = 0, 1
NO_OUTPUTS = "every expected output is null, so nothing can be compared"
MOST_NAMED = 10
"""Number of broken reference solutions that an error names."""
REFERENCE_SECONDS = 30.0
"""CPU time of a reference solution for each input."""
MOST_CHARACTERS = 8 << 20
"""Characters of the answers in one job."""
BY_ARGUMENTS = {"find_zero", "surface_Area", "digit_distance_nums"}
"""The functions whose arguments EvalPlus looks at when it judges an answer."""


class _Plan(NamedTuple):
    """What is left to compare of a program's answers."""

    outputs: list[Output]
    right: list[bool]
    """Which answers are the expected ones, byte for byte."""
    jobs: dict[str, list[int]]
    """Key of a job, which is in the spool -> the numbers of the inputs in it."""


class InputTasks:
    """The calls and the judge of tasks with inputs."""

    def __init__(self, tools: Tools, *, shown: bool = False) -> None:
        """`shown`: the readings have every printed text."""
        self._tasks, self._settler, self._spool, self._limits, self._protocol, self._answering, self._states = tools
        self._shown = shown
        self._rules = comparison_names.readings_of(self._protocol.compare, self._protocol.compare_careful)
        self._calls, self._official = cache(self._calls_of), cache(self._form)
        self._compared: dict[str, ComparedAnswers] = {}
        self._lost: dict[str, str] = {}
        self.failed_checkers: dict[str, str] = {}
        """Task -> the first error of its checker."""

    def _cases(self, qid: str) -> Cases:
        cases = self._tasks[qid].cases
        assert cases is not None
        return cases

    # --- calls, and expected answers ---

    def _calls_of(self, qid: str) -> tuple[str, ...]:
        cases = self._cases(qid)
        return tuple(values.call(cases.function, given) for given in cases.inputs) if cases.function else cases.inputs

    def _expected(self, qid: str) -> Expected:
        state = self._states.judged(qid)
        assert state is not None
        assert state.outputs is not None
        return state.outputs

    def prepare(self, qids: Iterable[str], *, refuse_all: bool) -> None:
        """Find out the state of each of these tasks. Where the data has no outputs, reference solutions answer.

        `refuse_all`: if there are some, and none has answers, raise InputError.
        """
        every = list(qids)
        open_ = [qid for qid in every if self._cases(qid).outputs is None]
        self._states.update({qid: self._from_data(qid) for qid in every if qid not in open_})
        silent = self._answered_by_references(open_, tells=False)
        self._answered_by_references(silent, tells=True)
        broken = self._states.why(Broken)
        if refuse_all and every and all(qid in broken for qid in every):
            raise InputError(
                [f"task {quoted(qid)}: its reference solution {broken[qid]}" for qid in every[:MOST_NAMED]]
            )

    def _from_data(self, qid: str) -> Judged | NotJudged:
        cases = self._cases(qid)
        assert cases.outputs is not None
        given = tuple(map(values.reply, cases.outputs)) if cases.function else cases.outputs
        state = Judged(self._calls(qid), outputs=Expected(given))
        is_silent = bool(cases.function) and all(output is None for output in cases.outputs)
        return NotJudged(NO_OUTPUTS, official=state) if is_silent else state

    def _answered_by_references(self, qids: Sequence[str], *, tells: bool) -> list[str]:
        """Let reference solutions answer, and compare their answers; return the tasks in which they return nothing.

        `tells`: what these functions print or change in their arguments is their answer.
        """
        runs = {qid: self._runs(qid, tells=tells) for qid in qids}
        asked = [self._request(run, REFERENCE_SECONDS, values.MOST) for each in runs.values() for run in each]
        self._answering.run("running references", asked)
        found: dict[str, tuple[_Plan, Expected]] = {}
        silent = []
        for qid, each in runs.items():
            answers = self._answering.found[each[0]].answers
            if not answers:
                self._states[qid] = Lost(f"its reference solution was not run: {self._answering.found[each[0]].lost}")
            elif not tells and self._returns_nothing(each[0]):
                silent.append(qid)
            else:
                found[qid] = self._reference(qid, each)
        self._run("judging references", [key for plan, _ in found.values() for key in plan.jobs])
        self._states.update({qid: self._state(qid, *one) for qid, one in found.items()})
        return silent

    def _returns_nothing(self, run: Candidate) -> bool:
        given = self._outputs(run, REFERENCE_SECONDS)
        is_function = bool(self._cases(run.qid).function)
        return is_function and all(output.is_answer and values.returns_nothing(output.text) for output in given)

    def _state(self, qid: str, plan: _Plan, expected: Expected) -> Judged | NotJudged | Broken | Lost:
        if lost := self._why_lost(plan.jobs):
            return Lost(f"its reference solution was not judged: {lost}")
        if problem := self._problem(qid, plan):
            return Broken(problem)
        state = Judged(self._calls(qid), outputs=self._varying(expected, plan))
        compared = [self._compared[key].compared for key in plan.jobs]
        is_silent = expected.left and all(one is not None and one.is_silent for one in compared)
        return NotJudged(SILENT, official=state) if is_silent else state

    def _runs(self, qid: str, *, tells: bool) -> list[Candidate]:
        """Return a reference solution; with two hash seeds if its answers may depend on it."""
        source = self._tasks[qid].whole_solution
        varies = can_vary(f"{self._protocol.prelude}\n{source}", self._calls(qid))
        seeds = HASH_SEEDS if varies else HASH_SEEDS[:1]
        return [Candidate(qid=qid, source=source, role="reference", hash_seed=seed, tells=tells) for seed in seeds]

    def _reference(self, qid: str, runs: Sequence[Candidate]) -> tuple[_Plan, Expected]:
        """Return how a reference solution's answers are compared with themselves: some equal nothing, some vary."""
        given, *others = (self._outputs(run, REFERENCE_SECONDS) for run in runs)
        texts = tuple(output.text for output in given)
        whole = [tuple(o.text for o in other) for other in others if other and all(o.is_answer for o in other)]
        seconds = max(kept.evidence.longest for kept in self._answering.found[runs[0]].answers)
        expected = Expected(texts, seconds, tuple(whole), left=runs[0].tells)
        is_answer = [output.is_answer for output in given]
        if not all(is_answer):
            return _Plan(given, is_answer, {}), expected
        is_text = not self._cases(qid).function
        is_known = [
            not expected.left and all(run[number] == text for run in whole) and (is_text or values.is_plain(text))
            for number, text in enumerate(texts)
        ]
        pairs = [self._pair(qid, n, expected, given=text) for n, text in enumerate(texts) if not is_known[n]]
        return _Plan(given, is_known, self._jobs(qid, pairs, expected, is_reference=True)), expected

    def _outputs(self, form: Candidate, seconds: float) -> list[Output]:
        parts = [self._spool.get(kept) for kept in self._answering.found[form].answers]
        return outputs.outputs_of(parts, self._cases(form.qid), seconds, self._protocol) if parts else []

    def _varying(self, expected: Expected, plan: _Plan) -> Expected:
        """Return what is expected, with a reference's other runs only if they differ."""
        found = [one for key in plan.jobs if (one := self._compared[key].compared) is not None]
        varies = any(one.varies for one in found)
        orders = {one.order for one in found}
        order = next((form for form in ("items", "everything") if form in orders), "")
        return expected._replace(runs=expected.runs if varies else (), order=order)

    def _problem(self, qid: str, plan: _Plan) -> str:
        """Return why a reference solution has no answers that others can be compared with; empty if it has them."""
        right, given, shown = self._rights(plan)
        if all(right[1]):
            return ""
        number = right[1].index(False)
        why = (
            given[number].why or f"its answer cannot be compared: {shown[number].returned if number in shown else '?'}"
        )
        if given[number].outcome is Outcome.OUT_OF_MEMORY:
            why += " (give more with --memory)"
        return f"fails with its input {number + 1}, {self._cases(qid).shown(number):.100}: {why:.200}"

    # --- answers ---

    def answer(self, candidates: Iterable[Candidate]) -> None:
        """Let candidates answer the calls of their tasks."""
        self._answering.run("answering", [request for c in candidates for request in self._requests(c)], self._wrong)

    def _requests(self, candidate: Candidate) -> Iterator[AnswerRequest]:
        """Yield what a candidate is asked, also in the form in which a published harness runs it."""
        if self._states.judged(candidate.qid) is not None:
            expected = self._expected(candidate.qid).answers if self._cases(candidate.qid).function else ()
            for form in dict.fromkeys((candidate, self._official(candidate))):
                yield self._request(form, self._seconds(candidate.qid), values.most_bytes(expected), expected)

    def _request(self, form: Candidate, seconds: float, most_bytes: int, expected: Sequence[str] = ()) -> AnswerRequest:
        task, function, source = self._tasks[form.qid], self._cases(form.qid).function, form.source
        if form.role != "official":
            source = livecodebench.with_function(source, self._protocol.prelude, function)
        limits = msgspec.structs.replace(self._limits, cpu_seconds=seconds)
        tells = form.tells if form.role == "reference" else bool(function) and self._expected(form.qid).left

        def job(calls: Sequence[str]) -> Job:
            if not function:
                return jobs.reseeded(jobs.script_job(task, source, calls, limits), form.hash_seed)
            known = values.digests(expected)
            job = jobs.calls_job(task, source, function, calls, limits, most_bytes=most_bytes, known=known, tells=tells)
            return jobs.reseeded(job, form.hash_seed)

        return AnswerRequest(form, self._calls(form.qid), job, remembers=bool(function))

    def _seconds(self, qid: str) -> float:
        own = self._tasks[qid].seconds or self._limits.cpu_seconds
        return max(own, min(MOST_SECONDS, self._protocol.times_reference * self._expected(qid).seconds))

    def _form(self, candidate: Candidate) -> Candidate:
        """Return the program in the form in which the harness runs it; the same if there is none."""
        source, prelude, function = candidate.source, self._protocol.prelude, self._cases(candidate.qid).function
        if not self._protocol.harness:
            return candidate
        if not function:
            whole = livecodebench.as_function(source, prelude)
        else:
            whole = livecodebench.with_function(source, prelude, function, is_official=True)
            if whole == livecodebench.with_function(source, prelude, function):
                return candidate
        return msgspec.structs.replace(candidate, source=whole, role="official")

    # --- verdicts ---

    def _missing(self, candidate: Candidate) -> Verdict | None:
        """Return the verdict on a candidate without answers; None if it has all of them."""
        if self._states.judged(candidate.qid) is None:
            state = self._states.get(candidate.qid)
            why = state.why if isinstance(state, (Broken, Lost)) else "it was not prepared"
            return Verdict(readings=outputs.unjudged(f"task {quoted(candidate.qid)}: its reference solution {why}"))
        every = [self._answering.found[form] for form in (candidate, self._official(candidate))]
        lost = next((found.lost for found in every if found.lost), "")
        return Verdict(readings=outputs.unjudged(lost)) if lost else None

    def judge(self, candidates: Iterable[Candidate]) -> dict[Candidate, Verdict]:
        """Return the verdicts on candidates that have been asked."""
        asked = [c for c in candidates if c in self._answering.found or self._states.judged(c.qid) is None]
        missing = {c: verdict for c in asked if (verdict := self._missing(c)) is not None}
        answered = [candidate for candidate in asked if candidate not in missing]
        forms = dict.fromkeys(form for candidate in answered for form in (candidate, self._official(candidate)))
        plans = {form: self._plan(form) for form in forms}
        passed = sum(not plan.jobs for plan in plans.values())
        self._run("judging", [key for plan in plans.values() for key in plan.jobs], passed=passed)
        readings = {form: self._readings(form, plan) for form, plan in plans.items()}
        return missing | {one: _verdict(readings[one], readings[self._official(one)]) for one in answered}

    def _wrong(self, forms: Sequence[Candidate]) -> set[Candidate]:
        """Return the programs that have given a wrong answer in both readings. More answers change no verdict."""
        every = [form for form in forms if not (self._shown or self._cases(form.qid).checker)]
        plans = {form: plan for form in every if False in (plan := self._plan(form)).right[: self._number_of(form)]}
        self._run("judging slow programs", [key for plan in plans.values() for key in plan.jobs])
        return {
            form
            for form, plan in plans.items()
            if not self._why_lost(plan.jobs)
            and all(False in part[: self._number_of(form)] for part in self._rights(plan)[0])
        }

    def _number_of(self, form: Candidate) -> int:
        return sum(kept.replies for kept in self._answering.found[form].answers)

    def _plan(self, form: Candidate) -> _Plan:
        """Return how a program's answers are compared."""
        qid, cases = form.qid, self._cases(form.qid)
        given = self._outputs(form, self._seconds(qid))
        expected = self._expected(qid).answers
        is_same = values.is_same if cases.function else str.__eq__
        same = [output.is_answer and is_same(text, output.text) for text, output in zip(expected, given, strict=True)]
        is_over = all(same) and not cases.checker
        compared = {} if is_over else self._jobs(qid, list(self._pairs(qid, given, same)), self._expected(qid))
        # The texts are in the jobs. Those of all programs would fill the memory.
        light = given if self._shown and not cases.function else [output._replace(text="") for output in given]
        return _Plan(light, same, compared)

    def _pairs(self, qid: str, given: Sequence[Output], same: Sequence[bool]) -> Iterator[Pair]:
        """Yield what is to be compared: what differs, and of missing answers only the first.

        EvalPlus needs all expected floats, because one changes how later answers are compared.
        """
        cases, expected = self._cases(qid), self._expected(qid)
        is_evalplus, is_missing = self._is_evalplus(qid), False
        for number, output in enumerate(given):
            if not output.is_answer:
                if not is_missing:
                    yield self._pair(qid, number, expected)
                is_missing = True
            elif cases.checker or not same[number]:
                yield self._pair(qid, number, expected, given=output.text)
            elif is_evalplus and values.may_be_floats(expected.answers[number]):
                yield {**self._pair(qid, number, expected), "same": True}

    def _is_evalplus(self, qid: str) -> bool:
        return self._protocol.compare == comparison_names.EVALPLUS and bool(self._cases(qid).function)

    def _pair(self, qid: str, number: int, expected: Expected, given: str | None = None) -> Pair:
        cases = self._cases(qid)
        made: Pair = {"number": number, "expected": expected.answers[number]}
        if given is not None:
            made["given"] = given
            if runs := [run[number] for run in expected.runs]:
                made["runs"] = runs
        if cases.checker or expected.left or (cases.function in BY_ARGUMENTS and self._is_evalplus(qid)):
            made["input"] = self._calls(qid)[number]
        return made

    def _jobs(
        self, qid: str, pairs: Sequence[Pair], expected: Expected, *, is_reference: bool = False
    ) -> dict[str, list[int]]:
        """Put the jobs that compare these answers into the spool, where they stay until they are sent.

        `is_reference`: they are those of the reference solution itself.
        """
        cases, made = self._cases(qid), dict[str, list[int]]()
        rules = comparison_names.VALUES if cases.function else self._rules
        for part in _parts(pairs):
            compare: Compare = {"function": cases.function, "rules": rules, "pairs": part}
            if cases.checker:
                compare["checker"] = cases.checker
            elif self._is_evalplus(qid):
                is_mbpp = qid.startswith("Mbpp/")
                compare["evalplus"] = {"tolerance": cases.tolerance, "is_mbpp": is_mbpp, "base": cases.base}
            if expected.left:
                compare["left"] = True
            if is_reference:
                compare["finds_order"] = True
            elif expected.order:
                compare["order"] = expected.order
            job = jobs.compare_job(self._tasks[qid], compare, self._limits)
            key = self._settler.key(job)
            self._spool.store(key, job)
            made[key] = [pair["number"] for pair in part]
        return made

    def _run(self, phase: str, keys: Sequence[str], *, passed: int = 0) -> None:
        """Run jobs of the spool."""
        new = [(key, partial(self._spool.load, key)) for key in keys if key not in self._compared]
        for key, result in self._settler.settle(phase, new, passed=passed):
            if isinstance(result, str):
                self._lost[key] = result
            elif result.compare is not None:
                self._compared[key] = result.compare

    def _check_expected(self, qid: str) -> dict[str, list[int]]:
        """Let a task's checker judge the expected outputs; return the jobs."""
        expected = self._expected(qid)
        pairs = [self._pair(qid, number, expected, given=text) for number, text in enumerate(expected.answers)]
        made = self._jobs(qid, pairs, expected)
        self._run("judging expected outputs", list(made))
        return made

    def _why_lost(self, keys: Iterable[str]) -> str:
        """Return why a job has no result; empty if all have one."""
        return next((self._lost.get(key, "it was not judged") for key in keys if key not in self._compared), "")

    def _rights(self, plan: _Plan) -> tuple[list[list[bool]], list[Output], dict[int, ShownAnswer]]:
        """Return for each reading which answers are right, the answers, and some of them as texts."""
        right, given = [list(plan.right), list(plan.right)], list(plan.outputs)
        shown: dict[int, ShownAnswer] = {}
        for key, numbers in plan.jobs.items():
            found = self._compared[key].compared
            verdicts = found.verdicts if found is not None else [(False, False, "")] * len(numbers)
            for number, (official, careful, error) in zip(numbers, verdicts, strict=True):
                right[0][number], right[1][number] = official, careful
                if error:
                    given[number] = Output("", Outcome.ERROR, error)
            shown |= {numbers[int(place)]: one for place, one in (found.shown.items() if found is not None else ())}
        return right, given, shown

    def _readings(self, form: Candidate, plan: _Plan) -> Readings:
        if lost := self._why_lost(plan.jobs):
            return outputs.unjudged(lost)
        cases, every = self._cases(form.qid), [self._compared[key] for key in plan.jobs]
        finished = [one for one in every if one.compared is not None]
        if cases.checker and len(finished) < len(every):
            # An answer can end its checker, or keep it busy. It is wrong if the checker finishes with what is expected.
            keys = self._check_expected(form.qid)
            if lost := self._why_lost(keys):
                return outputs.unjudged(lost)
            finished += [self._compared[key] for key in keys]
        if cases.checker and (fault := _fault(finished)):
            self.failed_checkers.setdefault(form.qid, fault)
            return outputs.unjudged(f"task {form.qid}: {fault}", "checker")
        right, given, shown = self._rights(plan)
        made = outputs.readings_of(cases, given, right, shown, self._protocol)
        seconds = sum(kept.evidence.cpu for kept in self._answering.found[form].answers)
        return msgspec.structs.replace(made, seconds=seconds)


def _verdict(own: Readings, official: Readings) -> Verdict:
    """Return the verdict on a program, with the official reading of the form in which the harness runs it."""
    return Verdict(readings=msgspec.structs.replace(own, official=official.official, text=official.text))


def _fault(compared: Sequence[ComparedAnswers]) -> str:
    """Return why a checker gives no verdict; empty if it does."""
    for one in compared:
        if one.compared is None:
            return "the checker does not finish"
        if one.compared.failed is not None:
            number, why = one.compared.failed
            return f"the checker fails with the output for input {number + 1}: {why}"
    return ""


def _parts(pairs: Sequence[Pair]) -> Iterator[list[Pair]]:
    """Yield pairs in parts that a message can have."""
    part, size = list[Any](), 0
    for pair in pairs:
        length = sum(len(text) for text in (*pair.values(), *pair.get("runs", ())) if isinstance(text, str))
        if part and size + length > MOST_CHARACTERS:
            yield part
            part, size = [], 0
        part.append(pair)
        size += length
    if part:
        yield part
