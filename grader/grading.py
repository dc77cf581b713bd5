"""One grading run from end to end, for any scorer: load, score, report."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.data import download
from grader.data.checks import absent_columns
from grader.data.load import Wanted
from grader.data.tables import Rows
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.files.given import real
from grader.files.replacing import replacing
from grader.observer import Silent
from grader.predictions import formats, outcomes
from grader.predictions.contradictions import check_evidence
from grader.predictions.fields import as_mapping, fields_from
from grader.predictions.file import PredictionFile
from grader.predictions.joining import read_files
from grader.predictions.read import read_predictions
from grader.predictions.record import counted
from grader.predictions.select import fingerprint, part_of, positioned, select
from grader.resources import version
from grader.results import Part, Provenance, Report, count_unscored
from grader.results.destination import results_path, stem_in
from grader.results.file import encode_report, read_report
from grader.scorers import declarations, registry
from grader.scorers.capabilities import HasOptions, HasOwnData, HasOwnFile, HasUnits, RunsPrograms
from grader.scorers.interface import AnyRun, Earlier, Run
from grader.scorers.lookalikes import hinting
from grader.scorers.means import METHOD
from grader.scorers.registry import AnyScorer
from grader.scorers.rows import rows_of
from grader.task import Task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grader.benchmark import Benchmark
    from grader.observer import Observer
    from grader.options import Options
    from grader.results import SampleResult
    from grader.results.destination import Destination
    from grader.scorers.interface import Scored

NOT_EVERY_SCORERS = ("k", "judge_model", "judge_base_url", "judge_replies")
"""Options that not every scorer supports. If a scorer does not, giving them is an error."""


_NOT_OWN = (
    "the file does not have the questions, options and gold answers of its tasks, each in a field of its own (options "
    "in a prompt are not read), so it cannot be its own data: give the data that it answers with --data"
)
CARRIED = "The prediction file is its own data: the questions, options and gold answers are those that it carries."


class Graded(msgspec.Struct, frozen=True, kw_only=True):
    """A report, and the files to write beside the predictions."""

    report: Report
    stem: Path | None
    """Path of the predictions without suffix; None for standard input: no file is written beside it."""
    write_own: Callable[[Path], Path] | None = None
    """Writes the scorer's own file beside the stem and returns its path."""
    file: PredictionFile | None = None
    """The graded file; None if an earlier run was scored again."""

    def write(self) -> list[Path]:
        """Write `<stem>_results.json` and the scorer's own file; return their paths, that of the results last."""
        if self.stem is None:
            return []
        path = results_path(self.stem)
        with replacing(path) as file:
            # Both files or none: this one replaces the old one only after the other is written.
            file.write(encode_report(self.report))
            file.flush()
            written = [self.write_own(self.stem)] if self.write_own is not None else []
        return [*written, path]


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """A prediction file and the benchmark it is for."""

    run: AnyRun
    scorer: AnyScorer
    rows: Rows
    tasks: dict[str, Task]
    """All tasks of the data, by id."""
    part: Part | None
    notes: list[str]


def grade(
    source: str | Path | Sequence[str] | PredictionFile,
    options: Options,
    observer: Observer,
    *,
    destination: Destination | None = None,
    before: Callable[[AnyScorer, AnyRun], None] | None = None,
) -> Graded:
    """Grade a prediction file, or several as one; raises a GradeError, and then no file was written.

    `destination` claims the files that the caller will write, before grading starts. `before` is called with the data
    and the predictions before they are scored, to refuse the run; it is not called if an earlier run is scored again.
    """
    declared, scorer = declared_by(options)
    check_options(options, declared, scorer)
    if options.score_only:
        return _rescore(source, options, declared, scorer, destination)
    fields = options.fields or declared.predictions
    file = source if isinstance(source, PredictionFile) else read_files(source, fields, observer=observer)
    opened = _open(file, options, declared, scorer, observer)
    stem = stem_in(options.output_dir, file.path, opened.part)
    if destination is not None:
        replies = options.judge_model or options.judge_replies or file.judge_replies
        destination.begin(stem, file.name.rpartition("/")[2], judged=bool(replies))
    if before is not None:
        before(scorer, opened.run)
    scored = scorer.score(opened.run)
    report = _report(opened, scored, opened.run.oddities.notes())
    return Graded(report=report, stem=stem, write_own=scored.write_own, file=file)


def check(source: str | Path | Sequence[str], options: Options) -> list[str]:
    """Return a summary of a prediction file and its warnings; raises InputError with every problem."""
    declared, scorer = declared_by(options)
    file = read_files(source, options.fields or declared.predictions)
    opened = _open(file, options, declared, scorer, Silent())
    predictions = opened.run.predictions
    counts = sorted({len(texts) for texts in predictions.values()})
    samples = counted(counts[0], "sample") if len(counts) == 1 else f"{counts[0]} to {counts[-1]} samples"
    units = counted(len(predictions), declared.unit)
    summary = f"{file.name}: {units} of {declared.id}, {samples} each (format: {file.format})"
    return [summary, *file.warnings, *opened.notes, *RunsPrograms.of(scorer).outside_careful(opened.run)]


def load_tasks(options: Options) -> tuple[Benchmark, dict[str, Task]]:
    """Return a benchmark and its tasks, with all columns except the image; raises a GradeError."""
    declared, scorer = declared_by(options)
    split, _ = declared.split(options.split)
    protocol = declared.check_protocol(options.protocol)
    rows = rows_of(declared, split, protocol, options.data, scorer, wanted=Wanted(None, declared.columns.image))
    return declared, scorer.tasks(declared, split, rows)


def declared_by(options: Options) -> tuple[Benchmark, AnyScorer]:
    """Return a run's benchmark and its scorer; raises UsageError, InputError."""
    declared = declarations.load(options.benchmark)
    return declared, registry.scorer(declared.scoring)


def check_options(options: Options, declared: Benchmark, scorer: AnyScorer) -> None:
    """Raise UsageError for options that the benchmark does not use, instead of ignoring them."""
    for name in NOT_EVERY_SCORERS:
        if getattr(options, name) and name not in HasOptions.of(scorer).options:
            spelled = "-k" if name == "k" else f"--{name.replace('_', '-')}"
            raise UsageError(f"{spelled}: the benchmark {declared.id} (-b) does not use it; leave it out.")


def _open(file: PredictionFile, options: Options, declared: Benchmark, scorer: AnyScorer, observer: Observer) -> Opened:
    """Read the data, and select the tasks to grade."""
    split, _ = declared.split(options.split)
    protocol = declared.check_protocol(options.protocol)
    with hinting(declared, file, options.data):
        rows = _rows(declared, scorer, split, file, options)
        if not rows.rows:
            raise InputError([f"{rows.origin}: no rows"])
        found = scorer.tasks(declared, split, rows)
        file = positioned(file, found)
        tasks, made = HasUnits.of(scorer).complete(declared, found, [record.qid for record in file.records])
        tasks = _without_conflicts(tasks, file)
        said = [CARRIED]
        if not rows.is_carried:
            said = _check_evidence(tasks, file, declared, rows.origin, scorer)
        predictions, notes = select(
            tasks,
            file,
            options,
            declared.unit,
            whole_units=isinstance(scorer, HasUnits),
            date=declared.columns.date,
            versions=declared.other_versions,
        )
    notes = [*notes, *HasOwnData.of(scorer).notes(declared, rows), *made, *said]
    notes += _absent_columns(declared, rows)
    run = Run(
        benchmark=declared,
        split=split,
        protocol=protocol,
        tasks={qid: tasks[qid] for qid in predictions},
        predictions=predictions,
        file=file,
        options=options,
        observer=observer,
        oddities=outcomes.find(tasks, predictions, file),
    )
    return Opened(run=run, scorer=scorer, rows=rows, tasks=tasks, part=part_of(predictions, tasks), notes=notes)


def _rows(declared: Benchmark, scorer: AnyScorer, split: str, file: PredictionFile, options: Options) -> Rows:
    """Return the benchmark's rows: given, declared, or those that came with the predictions.

    The file is its own data if it is named as `--data`, or if there is no other on this machine.
    """
    place, protocol = declared.splits[split], declared.check_protocol(options.protocol)
    is_own = options.data is not None and file.path is not None and real(options.data) == real(file.path)
    is_here = place.data or place.hub or download.kept(declared, split)
    if is_own or (options.data is None and not is_here):
        carried = HasOwnData.of(scorer).carried(file, declared)
        if carried is not None:
            return carried
    if is_own and not formats.named(file.format).is_data:
        raise InputError([f"{options.data}: {_NOT_OWN}"])
    try:
        return rows_of(declared, split, protocol, options.data, scorer)
    except DataUnavailableError:
        carried = None if options.data is not None else HasOwnData.of(scorer).carried(file, declared)
        if carried is None:
            raise
        return carried


def _check_evidence(
    tasks: Mapping[str, Task], file: PredictionFile, declared: Benchmark, origin: str, scorer: AnyScorer
) -> list[str]:
    """Return a note on the rows that differ from the data. Raises InputError if most do.

    The error says so if the file has all that its tasks need.
    """
    try:
        return check_evidence(tasks, file, declared, origin)
    except InputError as error:
        if file.path is None or HasOwnData.of(scorer).carried(file, declared) is None:
            raise
        own = f"The file has the questions and gold answers of its tasks, so it can be its own data: --data {file.path}"
        raise InputError([f"{problem} {own}" for problem in error.problems]) from None


def _without_conflicts(tasks: dict[str, Task], file: PredictionFile) -> dict[str, Task]:
    """Return the tasks; those with records that answer different questions are broken."""
    broken = {qid: f"the file has different questions with this id: {said}" for qid, said in file.conflicts.items()}
    return tasks | {
        qid: msgspec.structs.replace(tasks[qid], broken=why, gold=None) for qid, why in broken.items() if qid in tasks
    }


def _absent_columns(declared: Benchmark, rows: Rows) -> list[str]:
    """Return a note on each column that a private benchmark declares and its data do not have.

    The data of bundled benchmarks comes in several forms, and some of them have fewer columns.
    """
    if declared.bundled or not rows.columns:
        return []
    absent = absent_columns(rows.columns, declared)
    return [f"The data has {problem} (`{field}` in [columns] of benchmark.toml)." for field, problem in absent.items()]


def _report(opened: Opened, scored: Scored, odd: list[str]) -> Report:
    run = opened.run
    provenance = Provenance(
        grade=version(),
        python=platform.python_version(),
        data=opened.rows.origin,
        data_digest=opened.rows.digest,
        data_is_carried=opened.rows.is_carried,
        predictions=run.file.name.rpartition("/")[2],
        predictions_digest=fingerprint(run.predictions),
        intervals=scored.intervals or METHOD,
        sandbox=scored.sandbox,
        judge=scored.judge,
        settings=msgspec.to_builtins(run.benchmark.settings),
        fields=as_mapping(run.file.named),
        inference=run.file.inference,
    )
    report = Report(
        benchmark=run.benchmark.id,
        scorer=run.benchmark.scoring,
        split=run.split,
        protocol=run.protocol,
        part=opened.part,
        metrics=[],
        samples=[],
        provenance=provenance,
        judge=scored.program_judge,
        model=run.file.model,
        baselines=scored.baselines,
        abbreviations=run.benchmark.abbreviations,
    )
    notes = [*run.file.warnings, *opened.notes, *(odd if scored.samples else [])]
    notes += [*_unread(scored.samples, opened.scorer, has_judge=provenance.judge is not None), *(scored.notes or [])]
    return _with(report, scored, opened.scorer, run.benchmark, notes)


def _unread(samples: list[SampleResult], scorer: AnyScorer, *, has_judge: bool) -> list[str]:
    """Return a note on the replies that no careful rule reads; it advises a judge to a scorer that takes one."""
    number = sum(sample.careful.rule_name in scorer.words.unread for sample in samples)
    if not number:
        return []
    advised = not has_judge and "judge_model" in HasOptions.of(scorer).options
    advice = " A judge model can read prose. Name one with `--judge-model`." if advised else ""
    return [
        f"Not read by rule: {number:,} of {counted(len(samples), 'reply', 'replies')} ({number / len(samples):.1%}). "
        f"They are prose, and count as not answered in the careful reading.{advice}"
    ]


def _with(report: Report, scored: Scored, scorer: AnyScorer, declared: Benchmark, notes: list[str]) -> Report:
    """Return a report of what a scorer returned."""
    unscored, by_reading = count_unscored(scored.samples)
    report = msgspec.structs.replace(
        report,
        benchmark_name=declared.name,
        benchmark_description=declared.description,
        samples=scored.samples,
        unscored=unscored,
        unscored_by_reading=by_reading,
        facts=report.facts if scored.facts is msgspec.UNSET else scored.facts,
        notes=notes,
    )
    metrics = scorer.metrics(report) if scored.metrics is None else scored.metrics
    return msgspec.structs.replace(report, metrics=metrics)


# --- scoring again ----------------------------------------------------------------------------------------------


def _rescore(
    source: str | Path | Sequence[str] | PredictionFile,
    options: Options,
    declared: Benchmark,
    scorer: AnyScorer,
    destination: Destination | None,
) -> Graded:
    """Score again from the files of an earlier run, without a sandbox and without a judge.

    The whole run is scored again; a part only with the same `--limit`, `--id` or dates as before.
    """
    split, _ = declared.split(options.split)
    protocol = declared.check_protocol(options.protocol)
    if not isinstance(source, str | Path) or str(source) == "-":
        raise UsageError("--score-only reads the files of an earlier run; name the prediction file.")
    path = Path(source)
    if path.is_dir():
        raise UsageError(f"{source}: is a folder; name the prediction file in it.")
    part = None
    if options.is_partial:
        everything = options if options.missing == "skip" else msgspec.structs.replace(options, missing="wrong")
        file = read_predictions(path, options.fields or declared.predictions)
        part = _open(file, everything, declared, scorer, Silent()).part
    stem, target = _earlier_stem(path, options, part), stem_in(options.output_dir, path, part)
    report = _earlier_report(stem, declared, split, protocol)
    if report is not None:
        _check_unchanged(path, report)
        _check_data(path, options, declared, scorer, report)
    if destination is not None:
        destination.begin(target, path.name, judged=True)
    scored = HasOptions.of(scorer).rescore(
        Earlier(
            benchmark=declared,
            split=split,
            protocol=protocol,
            path=path,
            stem=stem,
            report=report,
            options=options,
        )
    )
    if report is None:
        made = Provenance(predictions=path.name, predictions_digest=_digest_of_own_file(path, stem, scorer))
        report = Report(
            benchmark=declared.id,
            scorer=declared.scoring,
            split=split,
            protocol=protocol,
            metrics=[],
            samples=scored.samples,
            provenance=made,
        )
        _check_unchanged(path, report)
    made = msgspec.structs.replace(report.provenance, settings=msgspec.to_builtins(declared.settings))
    report = msgspec.structs.replace(report, provenance=made)
    notes = report.notes if scored.notes is None else scored.notes
    return Graded(report=_with(report, scored, scorer, declared, notes), stem=target)


def _earlier_stem(path: Path, options: Options, part: Part | None) -> Path:
    """Return the stem of the earlier run's files: in the folder of `--output-dir`, else beside the predictions."""
    elsewhere, beside = stem_in(options.output_dir, path, part), stem_in(None, path, part)
    assert elsewhere is not None
    assert beside is not None
    return elsewhere if results_path(elsewhere).is_file() else beside


def _earlier_report(stem: Path, declared: Benchmark, split: str, protocol: str) -> Report | None:
    """Return the results file of an earlier run, None if there is none; raises InputError, UsageError."""
    results = results_path(stem)
    if not results.is_file():
        return None
    report = read_report(results)
    made = (report.benchmark, report.split, report.protocol)
    if made != (declared.id, split, protocol):
        raise UsageError(
            f"{results.name} was made with -b {made[0]} --split {made[1]} --protocol {made[2]}; "
            "give the same to score it again."
        )
    return report


def _digest_of_own_file(path: Path, stem: Path, scorer: AnyScorer) -> str:
    """Return the digest of the predictions in a scorer's own file: beside the prediction file, or this file itself."""
    beside = stem.with_name(f"{stem.name}{HasOwnFile.of(scorer).own_file}")
    records = read_predictions(beside if beside.is_file() else path).records
    return fingerprint({record.qid: record.predictions for record in records})


def _check_unchanged(path: Path, report: Report) -> None:
    """Raise UsageError if the predictions have changed since the report was made."""
    made_of = report.provenance.predictions_digest
    if not path.is_file() or made_of is None or not report.samples:
        return
    have = {
        record.qid: record.predictions
        for record in read_predictions(path, fields_from(report.provenance.fields)).records
    }
    graded = dict.fromkeys(sample.qid for sample in report.samples)
    if made_of != fingerprint({qid: have.get(qid, []) for qid in graded}):
        raise UsageError(f"{path.name} has changed since it was graded; grade it again without --score-only.")


def _check_data(path: Path, options: Options, declared: Benchmark, scorer: AnyScorer, report: Report) -> None:
    """Raise UsageError if other data is given than the report was made with: its verdicts are of those."""
    graded = report.provenance.data_digest
    if options.data is None or graded is None:
        return
    file = read_predictions(path, fields_from(report.provenance.fields))
    if _rows(declared, scorer, report.split, file, options).digest != graded:
        raise UsageError(
            f"--data {options.data} is not the data that was graded ({report.provenance.data}). Grade again without "
            "--score-only; or leave out --data, to compute the metrics of the earlier verdicts again."
        )
