"""The scorer `execution`: it runs programs against their task's tests and reports pass@k."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, ClassVar

import msgspec

from grader.errors import InfrastructureError, InputError, UsageError
from grader.predictions.record import fenced
from grader.results import READINGS, Calls, Note, Outcome, Reading, Report, SampleResult
from grader.results.groups import in_group
from grader.scorers.execution import assembly, executed_file, phases, prompts
from grader.scorers.execution import metrics as pass_metrics
from grader.scorers.execution.candidate import not_judged_reading
from grader.scorers.execution.declaration import ExecutionBenchmark, ExecutionProtocol
from grader.scorers.execution.facts import ExecutionFacts, facts_of
from grader.scorers.execution.inputs.outputs import OUTPUTS_RULE
from grader.scorers.execution.metrics import GLOSSARY, curve
from grader.scorers.execution.tasks import CodeTask, read_tasks
from grader.scorers.interface import (
    SampleDetails,
    Scorer,
    ScorerFile,
    ScorerOutput,
    Summary,
    Words,
    missing_reading,
)
from grader.scorers.means import judged_samples
from grader.scorers.oddities import BROKEN_ROW, CAUSES, have_filters, with_families, with_oddities
from grader.scorers.prompting import check_question, prompt_values, turn_from_template
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from grader.data.tables import Rows
    from grader.models.prompt import PromptOptions, Sampling, Turn
    from grader.options import Options
    from grader.results import Metric, SandboxProvenance
    from grader.scorers.interface import EarlierRun, Observe, Run
    from grader.scorers.sample_scorer import SampleScorer

JUDGE = 2
"""Version of the rules by which careful verdicts are reached: since 2, answers are compared with the reference's."""
FROM_EXECUTED = "Scored from an executed file: it has no careful verdicts, so careful equals official."


class Execution(Scorer[ExecutionBenchmark, CodeTask]):
    """Builds programs from predictions and runs them in a sandbox."""

    words = Words(glossary=GLOSSARY, causes={**CAUSES, "checker": "the checker in the data failed"})
    declaration = ExecutionBenchmark
    sample_facts = ExecutionFacts
    options: ClassVar[frozenset[str]] = frozenset({"k"})
    file_ending: ClassVar[str] = "_executed.json"
    runs_programs = True
    modes: ClassVar[Mapping[str, str]] = prompts.MODES
    usual_sampling: ClassVar[Sampling] = prompts.SAMPLING

    def tasks(self, declared: ExecutionBenchmark, split: str, rows: Rows) -> dict[str, CodeTask]:
        """Turn rows into tasks; raises InputError for rows without an id, and for too many broken rows."""
        del split
        return read_tasks(rows, declared)

    # --- inference ------------------------------------------------------------------------------------------------

    def turns(self, declared: ExecutionBenchmark, task: CodeTask, prompt_options: PromptOptions) -> Sequence[Turn]:
        """Ask with the protocol's published prompts, or a plain one; a template can replace a single prompt only."""
        turns = self._protocol_turns(declared, task, prompt_options)
        if prompt_options.template is not None and len(turns) > 1:
            raise UsageError(
                f"--prompt: mode {prompt_options.mode} sends several requests; a template replaces a single one."
            )
        values = {**prompt_values(declared, task), "signature": task.signature_text}
        return [turn_from_template(declared, prompt_options, turns[0], values)] if len(turns) == 1 else turns

    def _protocol_turns(
        self, declared: ExecutionBenchmark, task: CodeTask, prompt_options: PromptOptions
    ) -> Sequence[Turn]:
        """Return the turns with the protocol's published prompts; a plain prompt if it has none."""
        prompt_set = declared.protocols[prompt_options.protocol].prompts
        if not prompt_set:
            default_mode = next(iter(self.modes))
            if prompt_options.mode != default_mode:
                raise UsageError(f"--mode {prompt_options.mode}: {declared.id} has no modes.")
            check_question(declared, prompt_options, task.prompt_text)
            reads_input = task.cases is not None and not task.cases.function
            return [prompts.plain_turn(task.signature_text, task.text, reads_input=reads_input)]
        description = task.row.get(declared.columns.description or "")
        return prompts.turns(
            prompt_options.mode,
            first_version=prompt_set == "humaneval-v-v1",
            signature=task.signature_text,
            description=description if isinstance(description, str) else None,
        )

    # --- scoring --------------------------------------------------------------------------------------------------

    def metric_names(self, run: Run[ExecutionBenchmark, CodeTask]) -> Sequence[str]:
        """Return the names of the metrics (`base_`: by the base inputs); raises UsageError if k needs more samples."""
        ks = pass_metrics.reported_ks(run.options.k, _sample_counts(run), run.benchmark.protocols[run.protocol])
        has_base = any(task.cases is not None and task.cases.base_count for task in run.tasks.values())
        kinds = ("", pass_metrics.BASE) if has_base else ("",)
        names = [f"{kind}pass@{k}" for k in ks for kind in kinds]
        names += [pass_metrics.PARSE_RATE] if run.benchmark.protocols[run.protocol].lint else []
        has_calls = any(task.solution or task.cases for task in run.tasks.values())
        return [*names, pass_metrics.CALLS_RIGHT] if has_calls else names

    def missing_metric_hint(self, name: str, source: Run[ExecutionBenchmark, CodeTask] | Report) -> str:
        """Say how to get a pass@k, or that there are too few samples for it, or that nothing is linted."""
        k = pass_metrics.k_of(name)
        if isinstance(source, Report):
            has_any = any(pass_metrics.k_of(metric.name) for metric in source.metrics)
            return f" Score it again with -k {k} (--score-only executes nothing)." if k and has_any else ""
        if name == pass_metrics.PARSE_RATE:
            return f" Protocol {source.protocol} has no linter, which {name} needs."
        if k is None:
            return ""
        task, fewest = min(_sample_counts(source).items(), key=lambda item: item[1])
        if k > fewest:
            has = f"task {task} has only {counted(fewest, 'sample')}"
            return f" pass@{k} needs at least {k} samples of every task, and {has}."
        ks = {k, *filter(None, map(pass_metrics.k_of, self.metric_names(source)))}
        return f" Add -k {','.join(map(str, sorted(ks)))}."

    def score(self, run: Run[ExecutionBenchmark, CodeTask]) -> ScorerOutput:
        """Execute and score; raises a GradeError."""
        protocol = run.benchmark.protocols[run.protocol].with_timeout(run.options.timeout)
        ks = pass_metrics.reported_ks(run.options.k, _sample_counts(run), protocol)
        broken = {qid: texts for qid, texts in run.predictions.items() if texts and run.tasks[qid].broken}
        usable = {qid: texts for qid, texts in _texts_with_prompts(run).items() if qid not in broken}
        with phases.executing(run.tasks, usable, protocol, _options_with_packages(run), run.observer) as executions:
            of_broken = [
                sample for qid, texts in broken.items() for sample in _results_of_broken_task(run.tasks[qid], texts)
            ]
            missing = _results_of_missing_predictions(run, executions.not_judged)
            samples = with_oddities([*executions.samples, *of_broken, *missing], run.oddities)
            samples = with_families(samples, run.tasks, run.benchmark.columns)
            metrics = pass_metrics.metrics(samples, ks, has_linter=protocol.lint)

        def write_executed(stem: Path) -> Path:
            path = stem.with_name(f"{stem.name}{self.file_ending}")
            executed_file.write(path, _records(run, executions, protocol))
            return path

        notes = [*executions.notes, *_notes_on_judged_tasks(samples, ks)]
        return ScorerOutput(
            samples=samples,
            metrics=metrics,
            notes=[*_python_notes(executions.sandbox), *map(Note, notes)],
            sandbox=executions.sandbox,
            judge_version=JUDGE,
            write_scorer_file=write_executed,
        )

    def unjudged_task_notes(self, run: Run[ExecutionBenchmark, CodeTask]) -> list[str]:
        """Name the tasks that are not judged carefully. Tests and reference solutions run, and no prediction does."""
        protocol = run.benchmark.protocols[run.protocol].with_timeout(run.options.timeout)
        # What a script prints can always be compared.
        if all(task.cases is not None and not task.cases.function for task in run.tasks.values()):
            return []
        try:
            return phases.unjudged_task_notes(run.tasks, protocol, _options_with_packages(run), run.observer)
        except InfrastructureError as error:
            return [f"Whether the tests can judge programs apart from them was not checked: {error}"]

    def sample_scorer(self, run: Run[ExecutionBenchmark, CodeTask]) -> SampleScorer:
        """Return a scorer that executes a few samples in each call of `score`."""
        from grader.scorers.execution.program_scorer import ProgramScorer

        return ProgramScorer(msgspec.structs.replace(run, options=_options_with_packages(run)))

    def rescore(self, earlier: EarlierRun[ExecutionBenchmark]) -> ScorerOutput:
        """Compute the metrics again, from the results file or an `_executed.json` of the official evaluator."""
        report = earlier.report
        samples = report.samples if report is not None else _read_executed_samples(earlier)
        qids = [sample.qid for sample in samples]
        counts = dict.fromkeys(qids, 1) if have_filters(samples) else Counter(qids)
        protocol = earlier.benchmark.protocols[earlier.protocol]
        ks = pass_metrics.reported_ks(earlier.options.k, counts, protocol)
        # A results file keeps its own notes, which None says.
        notes = [Note(FROM_EXECUTED)] if report is None else None
        metrics = pass_metrics.metrics(samples, ks, has_linter=protocol.lint)
        return ScorerOutput(samples=samples, metrics=metrics, notes=notes)

    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give, for every k that it has, and for a linter if it had one."""
        ks = dict.fromkeys(k for metric in report.metrics if (k := pass_metrics.k_of(metric.name)) is not None)
        had_linter = any(metric.name == pass_metrics.PARSE_RATE for metric in report.metrics)
        return pass_metrics.metrics(report.samples, ks, has_linter=had_linter)

    # --- comparisons and reports ----------------------------------------------------------------------------------

    def observe(self, name: str) -> Observe | None:
        """Return the function that gives a task's value in a metric; None: the metric is not a mean."""
        return pass_metrics.observation_function(name)

    def would_report_metric(self, report: Report, name: str, group: str | None) -> bool:
        """Whether a report would have this metric if all its samples had been scored.

        For pass@k, some task has k samples, and no task has k scored ones. If one had, the report would have pass@k, or
        it was not requested.
        """
        k = pass_metrics.k_of(name)
        if k is None:
            return super().would_report_metric(report, name, group)
        has_any = any(pass_metrics.k_of(metric.name) for metric in report.metrics)
        tasks = [members for members in in_group(report, group).values() if len(members) >= k]
        is_scored = any(
            sum(sample.reading(reading).is_scored for sample in members) >= k
            for members in tasks
            for reading in READINGS
        )
        return has_any and bool(tasks) and not is_scored

    def summary(self, report: Report) -> Summary:
        """Return the curve of pass@k over k."""
        return Summary(curve=curve(report))

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        """Return how the program's answers differ from the reference solution's, and where the tests failed."""
        facts = facts_of(sample)
        display_facts = [*_test_facts(sample), *_call_facts(sample)]
        return SampleDetails(facts=display_facts, failed_test=facts.failed_test or "", failed_line=facts.failed_line)

    def read_scorer_file(self, report: Report, path: Path) -> ScorerFile:
        """Read the programs of an `_executed.json`."""
        return executed_file.read_programs(report, path)


def _test_facts(sample: SampleResult) -> Iterator[tuple[str, str]]:
    if isinstance(sample.tests, list):
        yield "right tests", f"{sum(sample.tests)} of {len(sample.tests)}"


def _call_facts(sample: SampleResult) -> Iterator[tuple[str, str]]:
    """Yield (label, text): how many of its calls, or of its outputs for inputs, are right, if that is known."""
    calls = sample.calls
    if not isinstance(calls, Calls):
        return
    if sample.careful.rule == OUTPUTS_RULE:
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
    bubblewrap_has_official = (
        interpreters.interpreter_for(official).version.startswith(f"{official}.")
        and bubblewrap.executable() is not None
    )
    if sandbox.backend == "docker" and bubblewrap_has_official:
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


def _texts_with_prompts(run: Run[ExecutionBenchmark, CodeTask]) -> dict[str, list[str]]:
    """Return the predictions; code that only continues the column `prompt` is put behind it, in one code block."""
    continued = {record.qid: record.continued for record in run.file.records if record.continued}
    texts_by_qid = dict(run.predictions)
    for qid in texts_by_qid.keys() & continued.keys():
        prompt = "" if run.benchmark.columns.prompt is None else run.tasks[qid].signature_text
        texts_by_qid[qid] = [
            fenced(prompt + text) if continues else text
            for text, continues in zip(texts_by_qid[qid], continued[qid], strict=True)
        ]
    return texts_by_qid


def _options_with_packages(run: Run[ExecutionBenchmark, CodeTask]) -> Options:
    return msgspec.structs.replace(run.options, requirements=run.benchmark.required_packages())


def _sample_counts(run: Run[ExecutionBenchmark, CodeTask]) -> dict[str, int]:
    """Return the number of samples of each task; what several filters of a log made of one output is one sample."""
    if run.oddities.filters:
        return dict.fromkeys(run.predictions, 1)
    return Counter(task.id for task, _, _ in run.replies())


def _notes_on_judged_tasks(samples: list[SampleResult], ks: tuple[int, ...]) -> list[str]:
    """Return a note with the official values of the tasks in the careful metrics, if these are not all tasks."""
    judged = judged_samples(samples, "careful")
    if len(judged) == len(samples):
        return []
    if not judged:
        return ["No task is judged carefully, so careful metrics have no value."]
    rows = [row for row in pass_metrics.metrics(judged, ks, has_linter=False) if row.reading == "official"]
    values = ", ".join(f"{row.name} {row.value:.1f}" for row in rows if row.group is None)
    return [f"Official over the {counted(len({sample.qid for sample in judged}), 'judged task')}: {values}."]


def _results_of_missing_predictions(
    run: Run[ExecutionBenchmark, CodeTask], not_judged_tasks: Mapping[str, str]
) -> Iterator[SampleResult]:
    """Yield failed samples for the missing predictions, under `--missing wrong`.

    `not_judged_tasks`: the tasks that are outside the careful reading, and why.
    """
    failed = missing_reading(Outcome.FAILED)
    for task, number in run.missing():
        careful = failed
        if task.broken:
            careful = _reading_of_broken_task(task)
        elif task.id in not_judged_tasks:
            careful = not_judged_reading(not_judged_tasks[task.id])
        yield SampleResult(
            qid=task.id, sample=number, official=failed, careful=careful, groups=task.groups or msgspec.UNSET
        )


def _reading_of_broken_task(task: CodeTask) -> Reading:
    return Reading(outcome=Outcome.NOT_JUDGED, credit=None, detail=task.broken, rule=BROKEN_ROW)


def _results_of_broken_task(task: CodeTask, texts: Sequence[str]) -> Iterator[SampleResult]:
    """Yield the samples of a task whose row is broken, so that it is outside the careful reading.

    Officially, every program fails tests that are not Python. What the official evaluator makes of other broken rows is
    not known, so these samples are unscored.
    """
    careful = _reading_of_broken_task(task)
    official = msgspec.structs.replace(careful, outcome=Outcome.UNSCORED)
    if task.has_invalid_tests:
        official = msgspec.structs.replace(official, outcome=Outcome.ERROR, credit=0)
    for number in range(len(texts)):
        yield SampleResult(
            qid=task.id, sample=number, official=official, careful=careful, groups=task.groups or msgspec.UNSET
        )


def _records(
    run: Run[ExecutionBenchmark, CodeTask], executions: phases.Executions, protocol: ExecutionProtocol
) -> Iterator[executed_file.Record]:
    """Yield the records of the executed file, in the order of the predictions."""
    for record in run.file.records:
        qid = record.qid
        if qid in executions.results:
            task, completions = run.tasks[qid], executions.completions[qid]
            programs = [assembly.head(task.signature_text, completion) + task.tests for completion in completions]
            yield executed_file.record(record, completions, programs, executions.results[qid], protocol)


def _read_executed_samples(earlier: EarlierRun[ExecutionBenchmark]) -> list[SampleResult]:
    path, stem = earlier.path, earlier.stem
    executed_path = path if stem.name.endswith("_executed") else stem.with_name(f"{stem.name}_executed.json")
    if not executed_path.is_file():
        raise UsageError(
            f"--score-only: there is neither {stem.name}_results.json nor {executed_path.name} beside {path.name}; "
            "grade it once without --score-only."
        )
    protocol = earlier.benchmark.protocols[earlier.protocol].with_timeout(earlier.options.timeout)
    try:
        samples = executed_file.read_samples(executed_file.read_records(executed_path), protocol)
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError([f"{executed_path}: not an executed file ({type(error).__name__}: {error})"]) from error
    if not samples:
        raise InputError([f"{executed_path}: no samples"])
    return samples
