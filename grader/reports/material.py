"""What a report can show beside its figures: questions, images, raw outputs, programs, gathered from the run's files.

Nothing here is an error: what is missing, or has changed since it was graded, becomes a `Gap` that the report states.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from grader import benchmark as declarations
from grader.errors import GradeError
from grader.predictions.read import PredictionFile, read_predictions
from grader.reports.questions import Gap, Picture, Question, gather
from grader.results import Outcome
from grader.scorers.selection import fingerprint, stem_of_path

if TYPE_CHECKING:
    from grader.benchmark import Benchmark
    from grader.results import Report

Kind = Literal["execution", "multiple_choice", "circular", "mr_score"]


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """What the executed file keeps of one sample."""

    completion: str
    """What was extracted from the output."""
    program: str
    """What was run: the completion in its task's frame, and the tests."""
    result: str
    """The official result text."""


class Material(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a report can show of its items, by qid."""

    kind: Kind
    unit: str = "question"
    """What one item is called."""
    questions: dict[str, Question] = {}
    images: dict[str, Picture] = {}
    """Key -> an image's bytes or its file, as the data has it."""
    predictions: dict[str, list[str]] = {}
    """Raw outputs, verified to be those that were graded."""
    runs: dict[str, list[Run]] = {}
    gaps: list[Gap] = []


class Files(msgspec.Struct, frozen=True, kw_only=True):
    """Where a results file's companions are, if they are."""

    predictions: Path | None
    executed: Path | None


def beside(results: Path, report: Report) -> Files:
    """Return the files that a run left beside its results; None for what is not there."""
    name = report.environment.get("predictions")
    given = results.parent / Path(name).name if isinstance(name, str) and Path(name).name else None
    stem = stem_of_path(given) if given is not None else results.with_name(results.stem.removesuffix("_results"))
    executed = stem.with_name(f"{stem.name}_executed.json")
    return Files(
        predictions=given if given is not None and given.is_file() else None,
        executed=executed if executed.is_file() else None,
    )


def load(
    report: Report,
    predictions: Path | PredictionFile | None,
    data: Path | None,
    executed: Path | None,
    *,
    benchmark: str | None = None,
) -> Material:
    """Gather what can be shown of a report's items.

    `data` is as in grading: None is the declared place. `benchmark` names the declaration where the report's own
    name does not find it (a folder given with -b).
    """
    gaps: list[Gap] = []
    declared = _declared(report, benchmark, gaps)
    file = _file(report, predictions, gaps) if report.samples else None
    texts = {record.qid: record.predictions for record in file.records} if file else {}
    runs, carried = _executed(report, executed, texts, gaps) if _kind(report, declared) == "execution" else ({}, {})
    if file is None and carried and executed is not None and _verified(report, carried):
        texts = carried
        gaps = [
            # A file that is there and was not used stays said; one that is gone is not missed.
            msgspec.structs.replace(gap, why=f"{gap.why} The outputs are those that {executed.name} keeps.")
            if gap.what == "predictions" else gap
            for gap in gaps
            if gap.what != "predictions" or predictions is not None
        ]  # fmt: skip
    questions: dict[str, Question] = {}
    images: dict[str, Picture] = {}
    if declared is not None and report.samples:
        questions, images = gather(report, declared, file, data, gaps)
    wanted = dict.fromkeys(sample.qid for sample in report.samples)
    return Material(
        kind=_kind(report, declared),
        unit=declared.unit if declared is not None else "item",
        questions=questions,
        images=images,
        predictions={qid: texts[qid] for qid in wanted if qid in texts},
        runs=runs,
        gaps=gaps,
    )


def _kind(report: Report, declared: Benchmark | None) -> Kind:
    """Return how the report was scored; without a declaration, its figures and outcomes tell."""
    if declared is not None:
        return declared.scoring
    names = {metric.name.partition("@")[0] for metric in report.metrics}
    for name, kind in (("pass", "execution"), ("circular_accuracy", "circular"), ("mr_score", "mr_score")):
        if name in names:
            return kind  # type: ignore[return-value]  # the loop's tuples are literals
    return "multiple_choice"


def _declared(report: Report, reference: str | None, gaps: list[Gap]) -> Benchmark | None:
    try:
        declared = declarations.load(reference or report.benchmark)
        declared.split(report.split)
        declared.protocol(report.protocol)
    except GradeError as error:
        gaps.append(Gap(what="questions", why=_sentence(error)))
        return None
    return declared


# --- predictions ------------------------------------------------------------------------------------------------


def _file(report: Report, source: Path | PredictionFile | None, gaps: list[Gap]) -> PredictionFile | None:
    """Return the predictions if they are those that were graded, else say why they are not shown."""
    graded = report.environment.get("predictions") or "the prediction file"
    if source is None:
        gaps.append(Gap(what="predictions", why=f"{graded} is not beside the results."))
        return None
    name = source.name
    try:
        file = source if isinstance(source, PredictionFile) else read_predictions(source)
    except (GradeError, OSError) as error:
        gaps.append(Gap(what="predictions", why=f"{name} cannot be read: {_sentence(error)}"))
        return None
    if not _verified(report, {record.qid: record.predictions for record in file.records}):
        changed = f"{name} has changed since it was graded."
        other = f"{name} does not hold the predictions that were graded ({graded})."
        gaps.append(Gap(what="predictions", why=changed if name == graded else other))
        return None
    return file


def _verified(report: Report, texts: dict[str, list[str]]) -> bool:
    """Whether these are the predictions that the report was made of, as far as the report can tell."""
    graded = dict.fromkeys(sample.qid for sample in report.samples)
    made_of = report.environment.get("predictions_digest")
    if made_of is not None:
        try:
            return fingerprint({qid: texts.get(qid, []) for qid in graded}) == made_of
        except UnicodeEncodeError:  # half a character, which no graded prediction has
            return False
    return all(s.sample < len(texts.get(s.qid, [])) for s in report.samples)


# --- programs ---------------------------------------------------------------------------------------------------


def _executed(
    report: Report, path: Path | None, texts: dict[str, list[str]], gaps: list[Gap]
) -> tuple[dict[str, list[Run]], dict[str, list[str]]]:
    """Return the runs of an executed file, and the predictions it carries; nothing of one from another run."""
    if path is None or not path.is_file():
        gaps.append(Gap(what="programs", why="The executed file is not beside the results."))
        return {}, {}
    try:
        records = json.loads(path.read_bytes())
        runs = {str(item["qid"]): _runs(item) for item in records}
        carried = {str(item["qid"]): [str(text) for text in item.get("predictions", [])] for item in records}
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        gaps.append(Gap(what="programs", why=f"{path.name} cannot be read ({type(error).__name__})."))
        return {}, {}
    if not _same_run(report, runs) or any(carried.get(qid, text) != text for qid, text in texts.items()):
        gaps.append(Gap(what="programs", why=f"{path.name} is not of this run: its verdicts or predictions differ."))
        return {}, {}
    return runs, carried


def _runs(item: dict[str, Any]) -> list[Run]:
    completions, programs = item.get("processed_predictions", []), item.get("concatenated_predictions", [])
    return [
        Run(
            completion=str(completions[at]) if at < len(completions) else "",
            program=str(programs[at]) if at < len(programs) else "",
            result=str(row["result"]),
        )
        for at, row in enumerate(item["results"])
    ]


def _same_run(report: Report, runs: dict[str, list[Run]]) -> bool:
    """Whether the file's verdicts are the report's official ones, wherever both have one."""
    for sample in report.samples:
        of_task = runs.get(sample.qid, [])
        if sample.sample < len(of_task) and sample.official.outcome is not Outcome.UNSCORED:
            passed = of_task[sample.sample].result == "passed"
            if passed != (sample.official.outcome is Outcome.PASSED):
                return False
    return True


def _sentence(error: BaseException) -> str:
    """Return an error's first line."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
