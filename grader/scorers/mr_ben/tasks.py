"""Mr-Ben's rows, from subject files or a run's official result file, as tasks: solutions under review."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import asdict

from grader.benchmark import Benchmark, Columns, Protocol, Settings
from grader.data import download
from grader.data.tables import Row, Rows
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.files.json_records import JsonText, Problems
from grader.files.json_text import problem_lines
from grader.predictions.layouts import row_qids
from grader.results import Note
from grader.scorers.carried import digest_of
from grader.scorers.mr_ben.mr_score import Weights
from grader.scorers.mr_ben.official import Parser
from grader.scorers.mr_ben.prompts import CODING
from grader.scorers.mr_ben.reading import GoldRow
from grader.task import Block, Task

if TYPE_CHECKING:
    from collections.abc import Iterator


PUBLISHED = Weights()


class MrBenColumns(Columns, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Names of the data's columns."""

    gold_fields = ("answer",)
    answer: str | None = None


class MrBenProtocol(Protocol, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One official scorer."""

    parser: Parser = "mr-ben"
    """How a response is cut and its fields are read."""


class MrBenSettings(Settings, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The weights of MR-Score's parts; the defaults are the published ones."""

    mcc: float = PUBLISHED.mcc
    step: float = PUBLISHED.step
    reason: float = PUBLISHED.reason

    def __post_init__(self) -> None:
        """Raise ValueError for weights that give no score."""
        weights = asdict(self)
        senseless = [name for name, weight in weights.items() if not 0 <= weight < math.inf]
        if senseless:
            raise ValueError(f"{senseless[0]} = {weights[senseless[0]]:g}: a weight must be 0 or more")
        if not any(weights.values()):
            raise ValueError("one of MR-Score's weights must be more than 0")


class MrBenBenchmark(Benchmark, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A benchmark with one file per subject, scored by MR-Score."""

    columns: MrBenColumns
    protocols: Mapping[str, MrBenProtocol]
    subjects: list[str] = []
    """Names of the files, without suffix; each has one subject."""
    settings: MrBenSettings = MrBenSettings()
    judge_prompt: str = ""
    """A template that replaces the built-in prompt of the judge; empty: the built-in prompt."""


WEIGHTS = "weights"
"""The kind of a note on the weights of MR-Score."""


def weight_notes(weights: Weights) -> Iterator[Note]:
    """Yield a note that MR-Score is not the published one, if the declaration has other weights."""
    if weights == PUBLISHED:
        return
    declared, published = (
        ", ".join(f"{name} {weight:g}" for name, weight in listed._asdict().items()) for listed in (weights, PUBLISHED)
    )
    total = math.fsum(weights)
    scale = "" if math.isclose(total, 1) else f" They add up to {total:g}, so its highest value is {100 * total:g}."
    text = f"MR-Score has weights of your own in both readings: {declared} (the published ones are {published}).{scale}"
    yield Note(text, WEIGHTS)


def weights_of(declared: MrBenBenchmark) -> Weights:
    """Return the declared weights of MR-Score."""
    return Weights(**asdict(declared.settings))


SUBJECT = "subject"
_NEEDED = ("Question_UUID", "Sampled_Model", "Model_Solution_Steps", "Model_Solution_Correctness",
           "Model_Solution_First_Error_Step")  # fmt: skip


def load(benchmark: MrBenBenchmark, split: str, data: Path | None) -> Rows:
    """Load the subject files that exist and ignore the folder's other files. Raises InputError."""
    folder = data_path(benchmark, split, data)
    rows: list[Row] = []
    digest = hashlib.sha256()
    problems: list[str] = []
    for path in _subject_files(folder, benchmark.subjects):
        try:
            content = path.read_bytes()
        except OSError as error:
            raise InputError([f"{path}: cannot be read: {error.strerror}"]) from error
        digest.update(path.name.encode() + b"\0" + content)
        rows += _rows(path, content, problems)
    if problems:
        raise InputError(problem_lines(problems))
    return Rows(rows=rows, origin=_origin(benchmark, split, folder, data), digest=digest.hexdigest()[:16])


def _origin(benchmark: MrBenBenchmark, split: str, path: Path, data: Path | None) -> str:
    """Return the name of the data in reports: the folder's name, or the address it was downloaded from."""
    is_downloaded = data is None and not benchmark.splits[split].data
    return benchmark.splits[split].files_url if is_downloaded else path.name


def data_path(benchmark: MrBenBenchmark, split: str, data: Path | None) -> Path:
    """Return the folder of subject files, or the one file that was given; raises DataUnavailableError."""
    declared = benchmark.splits[split]
    if data is not None:
        return data
    if declared.data:
        return Path(benchmark.folder) / declared.data
    fetched = download.fetched_path(benchmark, split)
    if fetched is not None:
        return fetched
    advice = (
        f"Get it with `grade fetch {benchmark.id_or_folder}`, or give" if download.has_address(declared) else "Give"
    )
    raise DataUnavailableError(
        f"The data of {benchmark.id} is not here. {advice} the folder of its subject files "
        f"({', '.join(f'{name}.json' for name in benchmark.subjects[:3])}, ...) with --data FOLDER."
    )


def from_tables(tables: Mapping[str, list[dict[str, Any]]], origin: str) -> Rows:
    """Return the rows that came with the predictions; raises InputError."""
    problems: list[str] = []
    rows = [
        _check_row({**row, SUBJECT: name}, f"{origin}: $.{name}[{number}]", problems)
        for name, table in tables.items()
        for number, row in enumerate(table)
    ]
    if problems:
        raise InputError(problem_lines(problems))
    return Rows(rows=rows, origin=origin, digest=digest_of(rows), is_carried=True)


def _subject_files(place: Path, subjects: list[str]) -> list[Path]:
    """Return the subjects' files in a folder, or the one file that was given; raises UsageError."""
    if place.is_file() and place.stem in subjects:
        return [place]
    if not place.is_dir():
        examples = ", ".join(f"{name}.json" for name in subjects[:2])
        what = "this is a file" if place.exists() else "there is no such folder"
        raise UsageError(f"--data {place}: {what}; expected a folder with {examples}, ... (or one of these files).")
    paths = [place / f"{name}.json" for name in subjects if (place / f"{name}.json").is_file()]
    if not paths:
        raise UsageError(f"--data {place}: contains none of {', '.join(f'{name}.json' for name in subjects)}.")
    return paths


def _rows(path: Path, content: bytes, problems: list[str]) -> list[Row]:
    """Return a file's rows with their subject, and add what is wrong with them to `problems`."""
    try:
        questions = msgspec.json.decode(content.removeprefix(b"\xef\xbb\xbf"), type=dict[str, list[Row]])
    except (ValueError, RecursionError, msgspec.DecodeError) as error:
        problems.append(f"{path.name}: {error}; expected {{question id: [rows]}}")
        return []
    # The decoder keeps the last of several values of a key without a word; this names such keys.
    repeated = Problems(str(path))
    JsonText(content.removeprefix(b"\xef\xbb\xbf"), repeated).single()
    problems += repeated.lines()
    return [
        _check_row({**row, SUBJECT: path.stem}, f"{path.name}: $.{question}[{number}]", problems)
        for question, members in questions.items()
        for number, row in enumerate(members)
    ]


def _check_row(row: Row, where: str, problems: list[str]) -> Row:
    """Return the row, and add what is wrong with it to `problems`."""
    missing = [name for name in _NEEDED if row.get(name) is None]
    if missing:
        problems.append(f"{where}: missing {', '.join(missing)}")
        return row
    if row["Model_Solution_Correctness"] not in ("correct", "incorrect"):
        problems.append(f"{where}: Model_Solution_Correctness is {row['Model_Solution_Correctness']!r}")
    steps = row["Model_Solution_Steps"]
    if not isinstance(steps, str) and not (isinstance(steps, list) and all(isinstance(step, str) for step in steps)):
        problems.append(f"{where}: Model_Solution_Steps is neither a text nor a list of texts")
    return row


class MrBenTask(Task, frozen=True, kw_only=True):
    """One solution under review."""

    gold_row: GoldRow


def tasks_from(rows: Rows) -> dict[str, MrBenTask]:
    """Turn rows into tasks by qid."""
    return {qid: _task(qid, row) for qid, row in zip(row_qids(rows.rows), rows.rows, strict=True)}


def _task(qid: str, row: Row) -> MrBenTask:
    gold = GoldRow(
        correct=row["Model_Solution_Correctness"] == "correct",
        step=str(row["Model_Solution_First_Error_Step"]),
        program=plain(row["Model_Solution_Steps"]) if row[SUBJECT] == CODING else None,
    )
    step = gold.step.strip()
    error_in_words = f"first error in step {step}" if step else "the data name no error step"
    return MrBenTask(
        id=qid,
        unit=str(row["Question_UUID"]),
        text=plain(row.get("Question")),
        gold="correct" if gold.correct else f"incorrect; {error_in_words}",
        groups={SUBJECT: str(row[SUBJECT])},
        blocks=tuple(_blocks(row, gold)),
        row=row,
        gold_row=gold,
    )


def _blocks(row: Row, gold: GoldRow) -> Iterator[Block]:
    """Yield what a page shows of a row; the annotated error is folded at first."""
    sections = [("Options", "Options", True), ("Solution under review", "Model_Solution_Steps", True)]
    if not gold.correct:
        sections.append(("Error, as annotated", "Model_Solution_Error_Reason", False))
        sections.append(("First wrong step, rectified", "Model_Solution_Rectified_First_Error_Step", False))
    for title, column, is_open in sections:
        text = plain(row.get(column))
        if text:
            yield Block(kind="text", title=title, content=text, is_open=is_open)


def plain(value: object) -> str:
    """Return a cell as text; a list becomes one line per item."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)
