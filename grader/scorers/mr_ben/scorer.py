"""The scorer `mr_score`: verdicts, first error steps and judged error reasons, with MR-Score in both readings."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from grader.errors import InputError, UsageError
from grader.models.prompt import Sampling, Turn
from grader.predictions.file import PredictionFile
from grader.results import Note, facts_as
from grader.scorers.interface import SampleDetails, Scorer, ScorerOutput, Summary, Words
from grader.scorers.mr_ben import metrics as mr_ben_metrics
from grader.scorers.mr_ben import mr_score, prompts, tasks
from grader.scorers.mr_ben.facts import MrBenFacts, MrBenRunFacts, facts_of
from grader.scorers.mr_ben.metrics import GLOSSARY, OUTCOME_NAMES
from grader.scorers.mr_ben.mr_score import Weights
from grader.scorers.mr_ben.tasks import WEIGHTS, MrBenBenchmark, MrBenTask, tasks_from, weight_notes, weights_of
from grader.scorers.oddities import with_families
from grader.scorers.pairing import MetricComparison, NothingPairedError, Side
from grader.scorers.prompting import prompt_values, turn_from_template
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from grader.data.tables import Rows
    from grader.models.prompt import PromptOptions
    from grader.results import Metric, Report, SampleResult
    from grader.scorers.interface import EarlierRun, Observe, Run
    from grader.scorers.mr_ben.facts import ReadingFacts

NO_JUDGE = (
    "No judge: rows whose error reason had to be judged are unscored. Give `--judge-model` (and `--judge-base-url`), "
    "or recorded replies with `--judge-replies`."
)


class MrScore(Scorer[MrBenBenchmark, MrBenTask]):
    """A model judges a worked solution: whether it is correct, where its first error is, and why."""

    words = Words(glossary=GLOSSARY, outcomes=OUTCOME_NAMES, unread=frozenset(("no verdict",)))
    signed_metrics: ClassVar[frozenset[str]] = frozenset({"mcc"})
    declaration = MrBenBenchmark
    sample_facts = MrBenFacts
    run_facts = MrBenRunFacts
    options: ClassVar[frozenset[str]] = frozenset({"judge_model", "judge_base_url", "judge_replies", "shots"})
    usual_sampling: ClassVar[Sampling] = prompts.SAMPLING

    def load_scorer_rows(
        self, declared: MrBenBenchmark, split: str, source: Path | PredictionFile | None
    ) -> Rows | None:
        """Load the subject files that exist, or return the rows of an official result file; None: another file."""
        if isinstance(source, PredictionFile):
            rows = source.benchmark_rows
            return None if rows is None else tasks.from_tables(rows, source.name)
        return tasks.load(declared, split, source)

    def tasks(self, declared: MrBenBenchmark, split: str, rows: Rows) -> dict[str, MrBenTask]:
        """Turn rows into tasks."""
        return tasks_from(rows)

    # --- inference ------------------------------------------------------------------------------------------------

    def turns(self, declared: MrBenBenchmark, task: MrBenTask, prompt_options: PromptOptions) -> Sequence[Turn]:
        """Ask with the published prompt, after the requested demonstrations."""
        demonstrations: list[Mapping[str, Any]] = []
        if prompt_options.shots:
            place = tasks.data_path(declared, prompt_options.split, prompt_options.data)
            demonstrations = prompts.demonstrations_for(
                task.row, prompts.load_demonstrations(place), prompt_options.shots
            )
        extra_settings = {"shots": prompt_options.shots} if prompt_options.shots else {}
        usual = Turn(text=lambda _: prompts.prompt(task.row, demonstrations), extra_settings=extra_settings)
        return [turn_from_template(declared, prompt_options, usual, prompt_values(declared, task))]

    # --- scoring --------------------------------------------------------------------------------------------------

    def metric_names(self, run: Run[MrBenBenchmark, MrBenTask]) -> Sequence[str]:
        """Return the names of the metrics."""
        return (*mr_score.METRICS, mr_ben_metrics.PARSE_RATE)

    def score(self, run: Run[MrBenBenchmark, MrBenTask]) -> ScorerOutput:
        """Read, judge and score; raises a GradeError."""
        from grader.judge.session import judge_session
        from grader.scorers.mr_ben.samples import ask_judge, exclude_failures, make_samples, read

        weights = weights_of(run.benchmark)
        parser = run.benchmark.protocols[run.protocol].parser
        replies = read(run.tasks, run.predictions, run.oddities, parser)
        wording, recorded = run.benchmark.judge_prompt, run.file.judge_replies
        with judge_session(run.options, run.observer, "error_reason", wording, recorded) as session:
            answers = ask_judge(replies, session, can_be_one_word=run.options.judge_replies is not None)
        rows_to_judge = sum(reply.asks_official or reply.asks_careful for reply in replies)
        samples = make_samples(run, replies, answers)
        samples = exclude_failures(samples, run.oddities)
        samples = with_families(samples, run.tasks, run.benchmark.columns)
        kinds = Counter(kind for sample in samples if sample.differs and (kind := facts_of(sample).difference))
        facts = MrBenRunFacts(
            weights=weights._asdict(),
            judged=rows_to_judge,
            difference_kinds=dict(kinds.most_common()),
            counts=mr_ben_metrics.tally(samples),
        )
        return ScorerOutput(
            samples=samples,
            facts=facts,
            notes=[
                *([Note(NO_JUDGE)] if session.judge is None and rows_to_judge else []),
                *map(Note, session.notes),
                *_kind_notes(kinds),
                *weight_notes(weights),
            ],
            intervals=mr_score.METHOD,
            judge=session.provenance,
        )

    def rescore(self, earlier: EarlierRun[MrBenBenchmark]) -> ScorerOutput:
        """Compute the metrics of an earlier run again, with the weights that are declared now."""
        report = earlier.require_report()
        weights = weights_of(earlier.benchmark)
        facts = MrBenRunFacts(
            weights=weights._asdict(),
            judged=_run_facts(report).judged,
            difference_kinds=_run_facts(report).difference_kinds,
            counts=mr_ben_metrics.tally(report.samples),
        )
        other_notes = [note for note in report.notes if note.kind != WEIGHTS]
        return ScorerOutput(
            samples=report.samples,
            facts=facts,
            notes=[*other_notes, *weight_notes(weights)],
            intervals=mr_score.METHOD,
        )

    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give, with the weights of its run."""
        return mr_ben_metrics.metrics(report.samples, _run_weights(report))

    # --- comparisons ----------------------------------------------------------------------------------------------

    def observe(self, name: str) -> Observe | None:
        """Return None: MR-Score and its parts are not means of observations."""
        return None

    def compare(self, before: Side, after: Side, name: str, group: str | None = None) -> MetricComparison | None:
        """Compare one metric by the effect of each question; None for the parse success rate, which has no test."""
        if name not in mr_score.METRICS:
            return super().compare(before, after, name, group)
        from grader.scorers.mr_ben.paired import difference, metric_values

        weights = _run_weights(after.report)
        first, second = mr_ben_metrics.facts_of_both(before, after)
        if first.keys() != second.keys():
            raise UsageError("These runs cannot be compared: they have different subjects.")
        subject = None if group is None else group.partition("=")[2]
        try:
            value_before, value_after = metric_values(first, second, name, weights, subject)
            change = difference(first, second, name, weights, subject)
        except ValueError:
            # No question is scored in both runs.
            raise NothingPairedError from None
        return MetricComparison(
            name=name, reading=after.reading, group=group, before=value_before, after=value_after, difference=change
        )

    # --- reports --------------------------------------------------------------------------------------------------

    def summary(self, report: Report) -> Summary:
        """Return what the metrics count, and the facts of the run."""
        number = counted(len({sample.observation for sample in report.samples}), "question")
        return Summary(
            lines=[f"n counts questions: {number} with {counted(len(report.samples), 'graded solution')}."],
            facts=msgspec.to_builtins(_run_facts(report)),
        )

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        """Return what each reading found, the gold step, and the judge's reply."""
        facts = facts_of(sample)
        shown_facts = (("gold step", facts.gold_step), ("difference", facts.difference), ("judge's reply", facts.judge))
        return SampleDetails(
            kind=facts.difference or "",
            gold=facts.gold,
            facts=[(name, value) for name, value in shown_facts if value],
            official=_parts_of_reading(facts.official, facts.gold),
            careful=_parts_of_reading(facts.careful, facts.gold),
        )


def _run_facts(report: Report) -> MrBenRunFacts:
    return facts_as(MrBenRunFacts, report.facts)


def _run_weights(report: Report) -> Weights:
    """Return the weights with which a report was made; raises InputError if a part has none."""
    weights = _run_facts(report).weights
    if weights.keys() != set(Weights._fields):
        parts = ", ".join(Weights._fields)
        raise InputError([f"the results file: its weights are for {', '.join(weights)}, not for {parts}; grade again"])
    return Weights(**weights)


def _parts_of_reading(facts: ReadingFacts, gold: str | None) -> list[tuple[str, str | bool | None]]:
    """Return (field, what a reading found; None: not read, or not judged). A correct solution has no step or reason."""
    applies = gold != "correct"
    step, reason = (facts.step, facts.reason) if applies else ("n/a", "n/a")
    return [("answer", facts.correctness), ("step", step), ("reason", reason)]


def _kind_notes(kinds: Counter[str]) -> list[Note]:
    if not kinds:
        return []
    return [Note(f"Why the readings differ: {', '.join(f'{kind} ({n})' for kind, n in kinds.most_common())}.")]
