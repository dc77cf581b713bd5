"""The scorers `multiple_choice` (one pass per question) and `circular` (all passes of a question must be correct)."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, ClassVar

import msgspec

from grader.data.tables import cell
from grader.errors import InputError
from grader.files.json_text import problem_lines
from grader.models.prompt import Sampling, Turn, render
from grader.predictions.file import PredictionFile
from grader.results import READINGS, Metric, Note, SampleResult, facts_as
from grader.results.groups import in_group
from grader.scorers.carried import carried_rows
from grader.scorers.choice import items as choice_items
from grader.scorers.choice import metrics as choice_metrics
from grader.scorers.choice import passes
from grader.scorers.choice.declaration import DEFAULT_LETTERS, ChoiceBenchmark
from grader.scorers.choice.facts import ChoiceFacts, ChoiceRunFacts, LetterCounts
from grader.scorers.choice.items import Item
from grader.scorers.choice.metrics import GLOSSARY
from grader.scorers.choice.published import guess_note
from grader.scorers.choice.readers import official_reader, official_readers
from grader.scorers.choice.replies import missing_sample, read_replies, sample_of
from grader.scorers.choice.tables import write_submission
from grader.scorers.interface import SampleDetails, Scorer, ScorerOutput, Summary, TableBlock, Words
from grader.scorers.means import each_observation, metric_rows
from grader.scorers.oddities import quoting_filtered_texts
from grader.scorers.pass_at_k import check_k, observe_pass_at_k, pass_at_k_names, pass_at_k_rows, sample_counts
from grader.scorers.prompting import prompt_values, turn_from_template
from grader.scorers.unread import unread_note
from grader.statistics import corrections
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from grader.data.tables import Rows
    from grader.models.prompt import PromptOptions
    from grader.results import ReadingName, Report
    from grader.scorers.choice.replies import ChoiceReply
    from grader.scorers.interface import Observe, Run

# The prompt of a benchmark.toml without `prompt`: VLMEvalKit, vlmeval/dataset/image_mcq.py, build_prompt of
# ImageMCQDataset.
TEMPLATE = """\
{% if hint %}Hint: {{ hint }}
{% endif %}Question: {{ question }}
Options:
{% for letter, text in options.items() %}{{ letter }}. {{ text }}
{% endfor %}Please select the correct answer from the options above. 
"""  # noqa: W291 - as published


class MultipleChoice(Scorer[ChoiceBenchmark, Item]):
    """Questions with options, read by the rules of an official version and as a careful person would."""

    declaration = ChoiceBenchmark
    sample_facts = ChoiceFacts
    run_facts = ChoiceRunFacts
    reads_whole_replies = True
    words = Words(glossary=GLOSSARY, unread=frozenset(("nothing_read",)))
    options: ClassVar[frozenset[str]] = frozenset({"k", "judge_model", "judge_base_url", "judge_replies"})
    usual_sampling: ClassVar[Sampling] = Sampling(temperature=0.0, max_tokens=2048)

    # --- data -----------------------------------------------------------------------------------------------------

    def load_scorer_rows(
        self, declared: ChoiceBenchmark, split: str, source: Path | PredictionFile | None
    ) -> Rows | None:
        """Return the questions of a prediction file (a table or log) that has them, else None."""
        if not isinstance(source, PredictionFile):
            return None
        letters = declared.letters + declared.letter_beyond
        options = declared.columns.options or ""
        return carried_rows(
            source, declared, letters=letters, options_column=options, options_in_question=declared.options_in_text
        )

    def tasks(self, declared: ChoiceBenchmark, split: str, rows: Rows) -> dict[str, Item]:
        """Turn rows into items; raises InputError for rows without an id, and for too many broken rows."""
        return choice_items.items_from(rows, declared, split)

    def complete(
        self, declared: ChoiceBenchmark, rows: Rows, tasks: dict[str, Item], predicted: Iterable[str] | None
    ) -> tuple[dict[str, Item], list[str]]:
        """Note restored options, and declared letters without an option column."""
        return tasks, [*self._restored_notes(declared, rows), *self._missing_column_notes(declared, rows)]

    def _restored_notes(self, declared: ChoiceBenchmark, rows: Rows) -> list[str]:
        """Return a note on the gold options whose text "None" pandas has read as an empty cell."""
        restored = choice_items.options_read_as_empty(rows, declared)
        if not restored:
            return []
        ids = passes.first_ids([str(rows.rows[number].get(declared.columns.id)) for number in restored])
        return [
            f"The gold option of {counted(len(restored), 'row')} has no text in the data ({ids}): pandas reads the "
            f'text "{choice_items.TEXT_READ_AS_EMPTY}" as an empty cell. The option was restored with this text.'
        ]

    def _missing_column_notes(self, declared: ChoiceBenchmark, rows: Rows) -> list[str]:
        """Return a note on the declared letters without a column, whose options no row has."""
        if declared.options_in_text or declared.columns.options is not None:
            return []
        columns = {name for row in rows.rows for name in row}
        letters = declared.letters
        if declared.bundled or letters == DEFAULT_LETTERS:
            # Such letters are for many forms of the data: columns after the last option may be missing.
            letters = letters[: max((letters.index(letter) + 1 for letter in letters if letter in columns), default=0)]
        missing = [repr(letter) for letter in letters if letter not in columns]
        if not missing:
            return []
        noun = "column" if len(missing) == 1 else "columns"
        which = f"which the benchmark's letters ({declared.letters}) name"
        return [f"The data has no option {noun} {passes.first_ids(missing)}, {which}."]

    # --- inference ------------------------------------------------------------------------------------------------

    def turns(self, declared: ChoiceBenchmark, task: Item, prompt_options: PromptOptions) -> Sequence[Turn]:
        """Ask with the declaration's template, else as VLMEvalKit does."""
        # The question without the options at its end, and the hint.
        question = stem(task.text) if declared.options_in_text else task.text
        hint = cell(task.row.get(declared.columns.hint or "")) or ""
        values = {**prompt_values(declared, task), "question": question, "hint": hint}

        def usual_prompt(_earlier_answers: Mapping[str, str]) -> str:
            return render(TEMPLATE, values, "the usual prompt")

        return [turn_from_template(declared, prompt_options, Turn(text=usual_prompt), values)]

    # --- scoring --------------------------------------------------------------------------------------------------

    def metric_names(self, run: Run[ChoiceBenchmark, Item]) -> Sequence[str]:
        """Return the names of the metrics."""
        most = max(sample_counts(run), default=0)
        return ("accuracy", *pass_at_k_names(most, run.options.k))

    def score(self, run: Run[ChoiceBenchmark, Item]) -> ScorerOutput:
        """Read every reply and score; raises a GradeError."""
        if all(item.gold is None for item in run.tasks.values()):
            return _submission(run)
        check_k(run)
        from grader.judge.session import judge_session
        from grader.scorers.choice.judging import ask_judge, judged_note, missing_judge_note

        declared, items = run.benchmark, list(run.tasks.values())
        notes = list(map(Note, self._question_notes(run)))
        version = declared.protocols[run.protocol].reader
        replies = read_replies(
            items, run.predictions, version, run.observer, run.oddities.outputs, marks=declared.answer_between
        )
        for reply in replies:
            reply.is_failure = (reply.item.id, reply.sample) in run.oddities.failures
        unanswered = [item for item in items if not run.predictions[item.id]]
        wording, recorded = declared.judge_prompt, run.file.judge_replies
        notes += map(Note, _unread_note(replies, version))
        with judge_session(run.options, run.observer, "choice", wording, recorded) as session:
            ask_judge(replies, unanswered, session, version, is_circular=declared.is_circular)
        if session.judge is None:
            notes += missing_judge_note(replies, version)
        samples = self._with_question_outcomes(
            quoting_filtered_texts(run.with_task_data(_samples(replies, run)), run.predictions, run.oddities)
        )
        if session.judge is not None:
            notes += judged_note(samples)
        notes += guess_note(samples, {item.id: item.options for item in items}, version)
        chance = choice_metrics.baselines(items) if declared.baselines else {}
        notes += _baseline_note(chance)
        return ScorerOutput(
            samples=samples,
            facts=ChoiceRunFacts(position_bias=choice_metrics.position_bias(samples)),
            notes=[*notes, *map(Note, session.notes)],
            baselines=chance,
            judge=session.provenance,
        )

    def _question_notes(self, run: Run[ChoiceBenchmark, Item]) -> list[str]:
        """Return notes on questions with one option, and on answers that a split is not expected to have."""
        column = run.benchmark.columns.answer
        notes = []
        one_option = [item.id for item in run.tasks.values() if len(item.options) == 1]
        if one_option:
            ids = passes.first_ids(one_option)
            notes.append(f"{counted(len(one_option), 'question')} with only one option: {ids}.")
        if run.benchmark.splits[run.split].scored:
            return notes
        return [*notes, f"{run.split} is scored with the answers that this copy of its data has (column {column})."]

    def _with_question_outcomes(self, samples: list[SampleResult]) -> list[SampleResult]:
        """Return the samples with the outcomes of their questions, if a question has several passes."""
        return samples

    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give."""
        several = pass_at_k_rows(report.samples, report.aggregation.k)
        return [*metric_rows(report.samples, "accuracy", each_observation), *several]

    # --- comparisons and reports ----------------------------------------------------------------------------------

    def observe(self, name: str) -> Observe | None:
        """Return the function that gives a question's value in a metric; None: the metric is not a mean."""
        return choice_metrics.observe(name) or observe_pass_at_k(name)

    def summary(self, report: Report) -> Summary:
        """Return how often each letter was predicted, and how often it is gold; a line names what is not chance."""
        facts = facts_as(ChoiceRunFacts, report.facts)
        careful, official = facts.position_bias.careful, facts.position_bias.official
        if not careful:
            return Summary()
        return Summary(lines=_position_lines(careful), tables=[_position_table(official, careful)])

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        """Return the gold letter."""
        return SampleDetails(gold=choice_metrics.facts_of(sample).gold or "")


class Circular(MultipleChoice):
    """Every question is asked in several passes with rotated options; it is correct only if all of them are."""

    has_units = True

    options: ClassVar[frozenset[str]] = MultipleChoice.options - {"k"}

    def complete(
        self, declared: ChoiceBenchmark, rows: Rows, tasks: dict[str, Item], predicted: Iterable[str] | None
    ) -> tuple[dict[str, Item], list[str]]:
        """Add passes that have predictions but are missing in the data; all, if a model is to be asked (None)."""
        if predicted is None:
            predicted = passes.ids_of_later_passes(tasks, declared.pass_stride)
        items = passes.with_rotations(tasks, predicted, declared.columns, declared.pass_stride)
        _, notes = super().complete(declared, rows, tasks, predicted)
        if len(items) > len(tasks):
            notes.append("The data has first passes only; the other passes were made by rotating their options.")
        return passes.with_groups_of_first(items), notes

    def metric_names(self, run: Run[ChoiceBenchmark, Item]) -> Sequence[str]:
        """Return the names of the metrics."""
        return ("circular_accuracy", "vanilla_accuracy", choice_metrics.ALL_PASSES)

    def would_report_metric(self, report: Report, name: str, group: str | None) -> bool:
        """Whether a report would have this metric: always that of whole questions, even if none is complete."""
        return name == "circular_accuracy" or super().would_report_metric(report, name, group)

    def _question_notes(self, run: Run[ChoiceBenchmark, Item]) -> list[str]:
        """Return also notes on the passes; raises InputError if they do not fit together."""
        notes = [*super()._question_notes(run), *passes.notes_on_passes(run.tasks.values())]
        notes += passes.missing_note(run.tasks.values(), run.predictions)
        return [*notes, *passes.rounds_note(run.tasks.values(), run.predictions, run.file)]

    def _with_question_outcomes(self, samples: list[SampleResult]) -> list[SampleResult]:
        return choice_metrics.with_unit_outcomes(samples)

    def metrics(self, report: Report) -> list[Metric]:
        """Return the metrics that a report's samples give."""
        return [
            *metric_rows(report.samples, "circular_accuracy", choice_metrics.circular_observations),
            *metric_rows(report.samples, "vanilla_accuracy", choice_metrics.vanilla_observations),
            *metric_rows(report.samples, choice_metrics.ALL_PASSES, choice_metrics.pass_observations),
        ]

    def observations(
        self, report: Report, name: str, reading: ReadingName, group: str | None = None
    ) -> dict[str, float | None] | None:
        """Return the value of each question, as in `Scorer`; in the mean over all passes, it depends on the others."""
        if name == choice_metrics.ALL_PASSES:
            return choice_metrics.pass_values(in_group(report, group), reading)
        return super().observations(report, name, reading, group)

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        """Return the gold letter, and as `unit` the outcome of all passes of this round, if they are known."""
        facts = choice_metrics.facts_of(sample)
        question = facts.question
        if question is msgspec.UNSET:
            return SampleDetails(gold=facts.gold or "")
        return SampleDetails(gold=facts.gold or "", unit={"official": question.official, "careful": question.careful})


def _samples(replies: Iterable[ChoiceReply], run: Run[ChoiceBenchmark, Item]) -> list[SampleResult]:
    """Return the samples in the predictions' order, with those of missing replies."""
    samples = [sample_of(reply) for reply in replies]
    samples += [missing_sample(item, number) for item, number in run.missing()]
    order = {qid: number for number, qid in enumerate(run.predictions)}
    return sorted(samples, key=lambda sample: order[sample.qid])


def _baseline_note(baselines: dict[str, dict[str, float]]) -> list[Note]:
    """Return a note on the scores of chance and of a constant letter over all questions; none without baselines."""
    if not baselines:
        return []
    scores = "random letters would get {chance:.1f}, always the first letter {always_first_letter:.1f}"
    return [Note(f"Baselines: {scores.format(**baselines['all'])}.")]


# --- position bias ----------------------------------------------------------------------------------------------


def _position_lines(letters: dict[str, LetterCounts]) -> list[str]:
    """Name the letters that are predicted for another share of the questions than they are gold, beyond chance."""
    chosen = sum(counts.chosen for counts in letters.values())
    gold = sum(counts.right for counts in letters.values())
    parts = []
    for letter, counts in sorted(letters.items()):
        if corrections.shares_differ((counts.chosen, chosen), (counts.right, gold), tests=len(letters)):
            shares = 100 * counts.chosen / chosen, 100 * counts.right / gold
            text = "{} is {:.0f} % of the answers, but right for {:.0f} % of the questions"
            parts.append(text.format(letter, *shares))
    return [f"Position bias (careful): {'; '.join(parts)}."] if parts else []


def _position_table(official: dict[str, LetterCounts], careful: dict[str, LetterCounts]) -> TableBlock:
    """Return a row for each letter. The readings differ in how often it is gold if they score different samples."""
    rows = []
    for letter in sorted(official.keys() | careful.keys()):
        by_reading = [official.get(letter), careful.get(letter)]
        distinct_gold_counts = dict.fromkeys(0 if counts is None else counts.right for counts in by_reading)
        cells = [cell for counts in by_reading for cell in _position_cells(counts)]
        rows.append([letter, " and ".join(map(str, distinct_gold_counts)), *cells])
    columns = [f"{reading}: {name}" for reading in READINGS for name in ("predicted", "accuracy")]
    return TableBlock(
        title="Position bias",
        lead="How often each letter is gold, how often it was predicted, and the accuracy when it is gold.",
        columns=["Letter", "gold", *columns],
        rows=rows,
    )


def _position_cells(counts: LetterCounts | None) -> tuple[str, str]:
    if counts is None:
        return "–", "–"
    return str(counts.chosen), "–" if counts.accuracy is None else f"{counts.accuracy:.1f}"


# --- submissions ------------------------------------------------------------------------------------------------


def _unread_note(replies: list[ChoiceReply], version: str) -> list[str]:
    """Return a note if the official reader reads a letter in next to no reply."""
    replies = [reply for reply in replies if reply.text.strip()]
    read = sum(reply.official.letter is not None for reply in replies)
    return unread_note(version, replies, read, {name: partial(_reads_gold, name) for name in official_readers()})


def _reads_gold(version: str, reply: ChoiceReply) -> bool | None:
    """Whether an official reader reads the gold letter; None if it reads no letter, or there are no options."""
    letter = official_reader(version)(reply.text, reply.item.options).letter if reply.item.options else None
    return None if letter is None else letter == reply.item.gold


def _submission(run: Run[ChoiceBenchmark, Item]) -> ScorerOutput:
    """Make VLMEvalKit's table of the predictions, because the data has no answers."""
    several = [
        f"{qid}: a submission has one prediction per row, not {len(p)}" for qid, p in run.predictions.items() if p[1:]
    ]
    if several:
        raise InputError(problem_lines(several))
    columns = run.benchmark.columns

    def write(stem: Path) -> Path:
        rows = [
            {name: value for name, value in item.row.items() if name != columns.image}
            | {"prediction": "".join(run.predictions[item.id])}
            for item in run.tasks.values()
        ]
        return write_submission(stem.with_name(f"{stem.name}_submission.xlsx"), rows, index=columns.id)

    text = f"The data of {run.split} has no answers, so there are no scores, only a submission file."
    return ScorerOutput(samples=[], metrics=[], notes=[Note(text)], write_scorer_file=write)


def stem(question: str) -> str:
    """Return the question without the options at the end of its text ("Which? (A) this (B) that")."""
    return question.partition("(A)")[0].strip()
