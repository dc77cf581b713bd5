"""What a run becomes: a report of what its scorer returned, and the files that hold it."""

from __future__ import annotations

import platform
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.data.tables import Rows
from grader.files.compact_json import encode_indented
from grader.files.replacing import replacing
from grader.grading.earlier_run import EarlierInputs
from grader.grading.setup import accepted_options
from grader.predictions.file import PredictionFile
from grader.resources import version
from grader.results import Note, Provenance, Report, count_unscored
from grader.results.names import results_path
from grader.scorers import aggregates
from grader.scorers.means import METHOD
from grader.wording import counted

if TYPE_CHECKING:
    from grader.grading.inputs import Inputs
    from grader.grading.setup import Setup
    from grader.results import SampleResult
    from grader.scorers.interface import ScorerOutput


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and the files to write beside the predictions."""

    report: Report
    stem: Path | None
    """Path of the predictions without suffix; None for standard input: no file is written beside it."""
    write_scorer_file: Callable[[Path], Path] | None
    """Writes the scorer's own file beside the stem and returns its path."""
    file: PredictionFile | None
    """The graded file; None if an earlier run was scored again and its file is gone."""
    rows: Rows | None
    """The data's rows; None if an earlier run was scored again without reading the data."""

    def write(self) -> list[Path]:
        """Write `<stem>_results.json` and the scorer's own file; return their paths, that of the results last."""
        if self.stem is None:
            return []
        path = results_path(self.stem)
        with replacing(path) as file:
            # Both files or none: this one replaces the old one only after the other is written.
            file.write(encode_indented(self.report))
            file.flush()
            written = [self.write_scorer_file(self.stem)] if self.write_scorer_file is not None else []
        return [*written, path]


def report_of(inputs: Inputs | EarlierInputs, scored: ScorerOutput) -> Report:
    """Return the report of a run: what its scorer returned, the metrics of these samples, and how it was made."""
    setup, declared, samples = inputs.setup, inputs.setup.declared, scored.samples
    if isinstance(inputs, EarlierInputs):
        report = _earlier_report(inputs, scored)
    else:
        report = _new_report(inputs, scored)
        samples = aggregates.with_sets(samples, inputs.run.tasks)
    unscored, by_reading = count_unscored(samples)
    report = msgspec.structs.replace(
        report,
        benchmark_name=declared.name,
        benchmark_description=declared.description,
        samples=samples,
        aggregation=aggregates.aggregation_of(declared, setup.options.k),
        unscored=unscored,
        unscored_by_reading=by_reading,
        facts=report.facts if scored.facts is msgspec.UNSET else scored.facts,
        provenance=msgspec.structs.replace(report.provenance, settings=declared.settings_in(setup.protocol)),
    )
    scorer_metrics = setup.scorer.metrics(report) if scored.metrics is None else scored.metrics
    return msgspec.structs.replace(report, metrics=aggregates.with_declared_metrics(report, scorer_metrics))


def _new_report(inputs: Inputs, scored: ScorerOutput) -> Report:
    """Return the report of a run that was just scored, without samples and metrics."""
    run, setup = inputs.run, inputs.setup
    provenance = Provenance(
        grade=version(),
        python=platform.python_version(),
        data=inputs.rows.origin,
        data_digest=inputs.rows.digest,
        data_is_carried=inputs.rows.is_carried,
        predictions=inputs.name,
        predictions_digest=inputs.digest,
        intervals=scored.intervals or METHOD,
        sandbox=scored.sandbox,
        judge=scored.judge,
        fields=run.file.field_options,
        inference=run.file.sampling_settings,
    )
    report = _empty_report(inputs, provenance)
    notes = [*run.file.warnings, *inputs.notes, *(run.oddities.notes() if scored.samples else [])]
    notes += _unread_note(scored.samples, setup, has_judge=provenance.judge is not None)
    notes += aggregates.missing_group_notes(setup.declared, scored.samples)
    return msgspec.structs.replace(
        report,
        judge_version=scored.judge_version,
        model=run.file.model,
        baselines=scored.baselines,
        abbreviations=run.benchmark.abbreviations,
        notes=[*map(Note, notes), *(scored.notes or [])],
    )


def _earlier_report(inputs: EarlierInputs, scored: ScorerOutput) -> Report:
    """Return the earlier report, with the scorer's notes if it returned some; without a results file, a new one."""
    report = inputs.run.report
    if report is None:
        fields = None if inputs.file is None else inputs.file.field_options
        provenance = Provenance(predictions=inputs.name, predictions_digest=inputs.digest, fields=fields)
        report = _empty_report(inputs, provenance)
    return report if scored.notes is None else msgspec.structs.replace(report, notes=scored.notes)


def _empty_report(inputs: Inputs | EarlierInputs, provenance: Provenance) -> Report:
    """Return a report of what is graded, without samples and metrics."""
    setup = inputs.setup
    return Report(
        benchmark=setup.declared.id,
        scorer=setup.declared.scoring,
        split=setup.split,
        protocol=setup.protocol,
        part=inputs.part,
        metrics=[],
        samples=[],
        provenance=provenance,
    )


def _unread_note(samples: list[SampleResult], setup: Setup, *, has_judge: bool) -> list[str]:
    """Return a note on the replies in which no careful rule found an answer; a judge is proposed if it is possible."""
    number = sum(sample.careful.rule_name in setup.scorer.words.unread for sample in samples)
    if not number:
        return []
    can_have_judge = not has_judge and "judge_model" in accepted_options(setup.scorer, setup.declared)
    advice = " A judge model can read prose: name one with `--judge-model`." if can_have_judge else ""
    return [
        f"Not read by rule: {number:,} of {counted(len(samples), 'reply', 'replies')} "
        f"({100 * number / len(samples):.1f} %). They count as not answered in the careful reading.{advice}"
    ]
