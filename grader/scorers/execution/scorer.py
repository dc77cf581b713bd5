"""The scorer `execution`: it runs programs against their task's tests and reports pass@k."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, ClassVar

import msgspec

from grader.errors import InfrastructureError, InputError, UsageError
from grader.predictions.record import fenced
from grader.results import Calls, Note, Outcome, Reading, Report, SampleResult
from grader.results.groups import in_group
from grader.scorers.execution import assembly, executed, phases, prompts
from grader.scorers.execution import metrics as pass_metrics
from grader.scorers.execution.declaration import ExecutionBenchmark, ExecutionProtocol
from grader.scorers.execution.facts import ExecutionFacts, facts_of
from grader.scorers.execution.inputs.outputs import RULE
from grader.scorers.execution.metrics import GLOSSARY, curve
from grader.scorers.execution.reading import not_judged
from grader.scorers.execution.tasks import CodeTask, tasks_from
from grader.scorers.interface import (
    Marks,
    OwnFile,
    Scored,
    Scorer,
    Summary,
    Words,
    missing_reading,
)
from grader.scorers.means import judged_samples
from grader.scorers.oddities import BROKEN_ROW, CAUSES, with_families, with_oddities
from grader.scorers.prompting import check_question, from_template, prompt_values
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.data.tables import Rows
    from grader.models.prompt import Asking, Sampling, Turn
    from grader.options import Options
    from grader.results import Metric, SandboxProvenance
    from grader.scorers.asking import SampleScorer
    from grader.scorers.interface import Earlier, Observe, Run

JUDGE = 2
"""Version of the rules by which careful verdicts are reached: since 2, answers are compared with the reference's."""
FROM_EXECUTED = "Scored from an executed file: it has no careful verdicts, so careful equals official."


class Execution(Scorer[ExecutionBenchmark, CodeTask]):
    """Builds programs from predictions and runs them in a sandbox."""

    words = Words(glossary=GLOSSARY, causes={**CAUSES, "checker": "the checker in the data failed"})
    declaration = ExecutionBenchmark
    sample_facts = ExecutionFacts
    options: ClassVar[frozenset[str]] = frozenset({"k"})
    own_file: ClassVar[str] = "_executed.json"
    runs_programs = True
    modes: ClassVar[Mapping[str, str]] = prompts.MODES
    usual_sampling: ClassVar[Sampling] = prompts.SAMPLING

    def tasks(self, declared: ExecutionBenchmark, split: str, rows: Rows) -> dict[str, CodeTask]:
        """Turn rows into tasks; raises InputError that names every invalid row."""
        del split
        return tasks_from(rows, declared)

    # --- inference ------------------------------------------------------------------------------------------------

    def turns(self, declared: ExecutionBenchmark, task: CodeTask, asking: Asking) -> Sequence[Turn]:
        """Ask with the protocol's published prompts, or a plain one; a template can replace a single prompt only."""
        turns = self._published(declared, task, asking)
        if asking.template is not None and len(turns) > 1:
            raise UsageError(f"--prompt: mode {asking.mode} sends several requests; a template replaces a single one.")
        values = {**prompt_values(declared, task), "signature": task.signature_text}
        return [from_template(declared, asking, turns[0], values)] if len(turns) == 1 else turns

    def _published(self, declared: ExecutionBenchmark, task: CodeTask, asking: Asking) -> Sequence[Turn]:
        published = declared.protocols[asking.protocol].prompts
        if not published:
            if asking.mode != next(iter(self.modes)):
                raise UsageError(f"--mode {asking.mode}: {declared.id} has no modes.")
            check_question(declared, asking, task.asked)
            reads_input = task.cases is not None and not task.cases.function
            return [prompts.plain_turn(task.signature_text, task.text, reads_input=reads_input)]
        described = task.row.get(declared.columns.description or "")
        return prompts.turns(
            asking.mode,
            first_version=published == "humaneval-v-v1",
            signature=task.signature_text,
            description=described if isinstance(described, str) else None,
        )

    # --- scoring --------------------------------------------------------------------------------------------------

    def metric_names(self, run: Run[ExecutionBenchmark, CodeTask]) -> Sequence[str]:
        """Return the names of the metrics; raises UsageError for a k that the run has too few samples for."""
        ks = phases.wanted_k(run.options.k, _counts(run), run.benchmark.protocols[run.protocol])
        has_base = any(task.cases is not None and task.cases.base for task in run.tasks.values())
        kinds = ("", pass_metrics.BASE) if has_base else ("",)
        names = [f"{kind}pass@{k}" for k in ks for kind in kinds]
        names += [pass_metrics.PARSE_RATE] if run.benchmark.protocols[run.protocol].lint else []
        has_calls = any(task.solution or task.cases for task in run.tasks.values())
        return [*names, pass_metrics.CALLS_RIGHT] if has_calls else names

    def without_metric(self, name: str, of: Run[ExecutionBenchmark, CodeTask] | Report) -> str:
        """Say how to get a pass@k, or that there are too few samples for it, or that nothing is linted."""
        k = pass_metrics.k_of(name)
        if isinstance(of, Report):
            has_any = any(pass_metrics.k_of(metric.name) for metric in of.metrics)
            return f" Score it again with -k {k} (--score-only executes nothing)." if k and has_any else ""
        run = of
        if name == pass_metrics.PARSE_RATE:
            return f" Protocol {run.protocol} has no linter, which {name} needs."
        if k is None:
            return ""
        task, fewest = min(_counts(run).items(), key=lambda item: item[1])
        if k > fewest:
            has = f"task {task} has only {counted(fewest, 'sample')}"
            return f" pass@{k} needs at least {k} samples of every task, and {has}."
        ks = {k, *filter(None, map(pass_metrics.k_of, self.metric_names(run)))}
        return f" Add -k {','.join(map(str, sorted(ks)))}."

    def score(self, run: Run[ExecutionBenchmark, CodeTask]) -> Scored:
        """Execute and score; raises a GradeError."""
        protocol = run.benchmark.protocols[run.protocol].with_timeout(run.options.timeout)
        samples_each = _most_samples(run)
        ks = phases.wanted_k(run.options.k, _counts(run), protocol)
        broken = {qid: task.broken for qid, task in run.tasks.items() if task.broken and run.predictions.get(qid)}
        usable = {qid: texts for qid, texts in _whole_texts(run).items() if qid not in broken}
        with phases.executing(run.tasks, usable, protocol, _options(run), run.observer) as made:
            absent = [run.tasks[qid] for qid, texts in run.predictions.items() if not texts]
            samples = [*made.samples, *(s for qid in broken for s in _unusable(run.tasks[qid], run.predictions[qid]))]
            samples = with_oddities(samples, run.oddities)
            samples += [s for task in absent for s in _absent(task, samples_each, made.not_judged.get(task.id, ""))]
            samples = with_families(samples, run.tasks, run.benchmark.columns)
            metrics = pass_metrics.metrics(samples, ks, has_linter=protocol.lint)

        def write_executed(stem: Path) -> Path:
            path = stem.with_name(f"{stem.name}{self.own_file}")
            executed.write(path, _records(run, made, protocol))
            return path

        return Scored(
            samples=samples,
            metrics=metrics,
            notes=[*_python_notes(made.sandbox), *map(Note, [*made.notes, *_judged_tasks(samples, ks)])],
            sandbox=made.sandbox,
            judge_version=JUDGE,
            write_own=write_executed,
        )

    def outside_careful(self, run: Run[ExecutionBenchmark, CodeTask]) -> list[str]:
        """Name the tasks that are not judged carefully. Tests and reference solutions run, and no prediction does."""
        protocol = run.benchmark.protocols[run.protocol].with_timeout(run.options.timeout)
        needs = any(task.cases is None or task.cases.function for task in run.tasks.values())
        try:
            return phases.outside_careful(run.tasks, protocol, _options(run), run.observer) if needs else []
        except InfrastructureError as error:
            return [f"Whether the tests can judge programs apart from them was not checked: {error}"]

    def sample_scorer(self, run: Run[ExecutionBenchmark, CodeTask]) -> SampleScorer:
        """Return a scorer that executes a few samples in each call of `score`."""
        from grader.scorers.execution.program_scorer import ProgramScorer

        return ProgramScorer(msgspec.structs.replace(run, options=_options(run)))

    def rescore(self, earlier: Earlier[ExecutionBenchmark]) -> Scored:
        """Compute the metrics again, from the results file or an `_executed.json` of the official evaluator."""
        report = earlier.report
        samples = report.samples if report is not None else _from_executed(earlier)
        counts: dict[str, int] = {}
        for sample in samples:
            counts[sample.qid] = counts.get(sample.qid, 0) + 1
        version = earlier.benchmark.protocols[earlier.protocol]
        ks = phases.wanted_k(earlier.options.k, counts, version)
        notes = [Note(FROM_EXECUTED)] if report is None else None
        metrics = pass_metrics.metrics(samples, ks, has_linter=version.lint)
        return Scored(samples=samples, metrics=metrics, notes=notes)

    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give, for every k that it has, and for a linter if it had one."""
        ks = dict.fromkeys(k for metric in report.metrics if (k := pass_metrics.k_of(metric.name)) is not None)
        had_linter = any(metric.name == pass_metrics.PARSE_RATE for metric in report.metrics)
        return pass_metrics.metrics(report.samples, ks, has_linter=had_linter)

    # --- comparisons and reports ----------------------------------------------------------------------------------

    def observe(self, name: str) -> Observe | None:
        """Return the function that gives a task's value in a metric."""
        return pass_metrics.observe(name)

    def would_have(self, report: Report, name: str, group: str | None) -> bool:
        """Whether a report would have this metric: for pass@k, whether some task has k samples."""
        k = pass_metrics.k_of(name)
        if k is None:
            return super().would_have(report, name, group)
        has_any = any(pass_metrics.k_of(metric.name) for metric in report.metrics)
        return has_any and any(len(members) >= k for members in in_group(report, group).values())

    def summary(self, report: Report) -> Summary:
        """Return the curve of pass@k over k."""
        return Summary(curve=curve(report))

    def marks(self, sample: SampleResult) -> Marks:
        """Return how the program's answers differ from the reference solution's, and where the tests failed."""
        facts = facts_of(sample)
        right = [*_tests(sample), *_calls(sample)]
        return Marks(facts=right, failed_test=facts.failed_test or "", failed_line=facts.failed_line)

    def read_own_file(self, report: Report, path: Path) -> OwnFile:
        """Read the programs of an `_executed.json`."""
        return executed.programs_of(report, path)


def _tests(sample: SampleResult) -> Iterator[tuple[str, str]]:
    if isinstance(sample.tests, list):
        yield "right tests", f"{sum(sample.tests)} of {len(sample.tests)}"


def _calls(sample: SampleResult) -> Iterator[tuple[str, str]]:
    calls = sample.calls
    if not isinstance(calls, Calls):
        return
    if sample.careful.rule == RULE:
        yield "right outputs", f"{calls.same} of {calls.n}"
    else:
        alike = f", {calls.alike} of the same kind" if calls.alike else ""
        yield "right calls", f"{calls.same} of {calls.n} (same answer as the reference solution){alike}"


def _python_notes(sandbox: SandboxProvenance | None) -> list[Note]:
    """Return a note if programs ran on another Python than the official one; the official column is then marked."""
    if sandbox is None or not sandbox.has_another_python:
        return []
    from grader.sandbox import bubblewrap, interpreters

    official = sandbox.official_python
    is_here = interpreters.choose(official).version.startswith(f"{official}.") and bubblewrap.executable() is not None
    if sandbox.backend == "docker" and is_here:
        advice = "`--sandbox bubblewrap`, which finds it on this machine"
    else:
        advice = (
            f"under Docker, run `grade image build --python {official}`; under bubblewrap, install Python {official}"
        )
    text = (
        f"Programs ran on Python {sandbox.python}; the official environment of this protocol has "
        f"{official}, so a few official verdicts may differ. To use {official}: {advice}."
    )
    return [Note(text, "official")]


def _whole_texts(run: Run[ExecutionBenchmark, CodeTask]) -> dict[str, list[str]]:
    """Return the predictions; code that continues a prompt stands behind it, in one code block."""
    marks = {record.qid: record.continued for record in run.file.records if record.continued is not None}
    if not marks:
        return dict(run.predictions)
    has_prompt = run.benchmark.columns.prompt is not None
    return {
        qid: [
            fenced(run.tasks[qid].signature_text * has_prompt + text) if continues else text
            for text, continues in zip(texts, marks.get(qid) or [False] * len(texts), strict=True)
        ]
        for qid, texts in run.predictions.items()
    }


def _options(run: Run[ExecutionBenchmark, CodeTask]) -> Options:
    return msgspec.structs.replace(run.options, requirements=run.benchmark.required_packages())


def _most_samples(run: Run[ExecutionBenchmark, CodeTask]) -> int:
    return max(map(len, run.predictions.values()), default=0)


def _counts(run: Run[ExecutionBenchmark, CodeTask]) -> dict[str, int]:
    """Return the number of samples of each task; a task without predictions gets as many failed ones as others have."""
    most = _most_samples(run)
    return {qid: len(texts) or most for qid, texts in run.predictions.items()}


def _judged_tasks(samples: list[SampleResult], ks: tuple[int, ...]) -> list[str]:
    """Return a note with the official values of the tasks in the careful metrics, if these are not all tasks."""
    judged = judged_samples(samples, "careful")
    if len(judged) == len(samples):
        return []
    if not judged:
        return ["No task is judged carefully, so careful metrics have no value."]
    rows = [row for row in pass_metrics.metrics(judged, ks, has_linter=False) if row.reading == "official"]
    values = ", ".join(f"{row.name} {row.value:.1f}" for row in rows if row.group is None)
    return [f"Official over the {counted(len({sample.qid for sample in judged}), 'judged task')}: {values}."]


def _absent(task: CodeTask, count: int, why: str) -> Iterator[SampleResult]:
    """Yield the samples of a task without predictions, under `--missing wrong`: as many failed ones as others have.

    `why`: why the task is outside the careful reading; empty if it is not.
    """
    reading = missing_reading(Outcome.FAILED)
    careful = not_judged(why) if why else reading
    for number in range(count):
        yield SampleResult(
            qid=task.id, sample=number, official=reading, careful=careful, groups=task.groups or msgspec.UNSET
        )


def _unusable(task: CodeTask, texts: Sequence[str]) -> Iterator[SampleResult]:
    """Yield the samples of a task whose row is broken: careful does not judge it.

    Officially, every program fails tests that are not Python. What becomes of other broken rows is not known.
    """
    careful = Reading(outcome=Outcome.NOT_JUDGED, credit=None, detail=task.broken, rule=BROKEN_ROW)
    official = msgspec.structs.replace(careful, outcome=Outcome.UNSCORED)
    if task.fails:
        official = msgspec.structs.replace(official, outcome=Outcome.ERROR, credit=0)
    for number in range(len(texts)):
        yield SampleResult(
            qid=task.id, sample=number, official=official, careful=careful, groups=task.groups or msgspec.UNSET
        )


def _records(
    run: Run[ExecutionBenchmark, CodeTask], made: phases.Executions, protocol: ExecutionProtocol
) -> Iterator[executed.Record]:
    for record in run.file.records:
        if record.qid in made.results:
            qid = record.qid
            task, completions = run.tasks[qid], made.completions[qid]
            programs = [assembly.head(task.signature_text, completion) + task.tests for completion in completions]
            yield executed.record(record, completions, programs, made.results[qid], protocol)


def _from_executed(earlier: Earlier[ExecutionBenchmark]) -> list[SampleResult]:
    path, stem = earlier.path, earlier.stem
    beside = path if stem.name.endswith("_executed") else stem.with_name(f"{stem.name}_executed.json")
    if not beside.is_file():
        raise UsageError(
            f"--score-only: there is neither {stem.name}_results.json nor {beside.name} beside {path.name}; "
            "grade it once without --score-only."
        )
    protocol = earlier.benchmark.protocols[earlier.protocol].with_timeout(earlier.options.timeout)
    try:
        samples = executed.samples_of(json.loads(beside.read_bytes()), protocol)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError([f"{beside}: not an executed file ({type(error).__name__}: {error})"]) from error
    if not samples:
        raise InputError([f"{beside}: no samples"])
    return samples
