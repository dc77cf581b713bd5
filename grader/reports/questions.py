"""Questions and their images from a benchmark's data, read once more with every column."""

from __future__ import annotations

import base64
import binascii
import contextlib
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from grader.data import load as data
from grader.errors import DataUnavailableError, GradeError
from grader.scorers.mr_ben import subjects

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.benchmark import Benchmark
    from grader.data.load import Row, Rows
    from grader.predictions.read import PredictionFile
    from grader.results import Report
    from grader.scorers.choice.items import Item

Picture = bytes | Path
"""An image: its bytes, or its file."""
_REFERENCE = 64
"""An image cell shorter than this is no image: it names another row, or a file."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """What one qid was asked."""

    text: str = ""
    options: dict[str, str] = {}
    """Letter -> text, where there are options."""
    gold: str | None = None
    """The right letter or verdict."""
    image: str = ""
    """Key in `Material.images`; empty: there is none."""
    texts: list[tuple[str, str]] = []
    """Further texts, (title, text): a hint, the solution under review."""
    code: list[tuple[str, str]] = []
    """Python, (title, source): signature, tests, reference solution."""


class Gap(msgspec.Struct, frozen=True, kw_only=True):
    """Something that cannot be shown."""

    what: Literal["predictions", "questions", "images", "programs"]
    why: str
    """A sentence for people."""


def gather(
    report: Report, declared: Benchmark, file: PredictionFile | None, given: Path | None, gaps: list[Gap]
) -> tuple[dict[str, Question], dict[str, Picture]]:
    """Return what was asked and the images, by qid and by key; says in `gaps` what could not be found."""
    try:
        rows = _rows(report, declared, file, given)
        if not _unchanged(report, declared, rows):
            gaps.append(Gap(what="questions", why=f"The data ({rows.origin}) is not the data that was graded."))
            return {}, {}
        questions = _questions(report, declared, rows, file)
    except DataUnavailableError:
        why = f"The data of {declared.id} ({report.split}) is not on this machine; give it with --data."
        gaps.append(Gap(what="questions", why=why))
        return {}, {}
    except (GradeError, OSError, LookupError, ValueError, TypeError) as error:
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        gaps.append(Gap(what="questions", why=f"The data cannot be read: {why}"))
        return {}, {}
    wanted = dict.fromkeys(sample.qid for sample in report.samples)
    questions = {qid: questions[qid] for qid in wanted if qid in questions}
    if len(questions) < len(wanted):
        gaps.append(
            Gap(
                what="questions",
                why=f"The data lacks {len(wanted) - len(questions)} of {len(wanted)} {declared.unit}s.",
            )
        )
    return _with_images(questions, declared, rows, _folder(declared, report.split, given), gaps)


def _rows(report: Report, declared: Benchmark, file: PredictionFile | None, given: Path | None) -> Rows:
    """Find the rows as grading does, but with every column."""
    if declared.scoring == "mr_score":
        if file is not None and isinstance(file.rows, dict) and given is None:
            return subjects.from_tables(file.rows, file.name)
        return subjects.load(declared, report.split, given)
    if given is None and file is not None and str(report.environment.get("data", "")).endswith("(its own questions)"):
        from grader.scorers.choice.items import carried_rows

        carried = carried_rows(file, declared)
        if carried is not None:
            return carried
    # Without the name of the image column, nothing is left out.
    whole = msgspec.structs.replace(declared, columns=msgspec.structs.replace(declared.columns, image=None))
    from_hub = given is None and bool(declared.splits[report.split].hub)
    with _offline() if from_hub else contextlib.nullcontext():
        return data.load(whole, report.split, report.protocol, given, None)


@contextlib.contextmanager
def _offline() -> Iterator[None]:
    """Let the hub's client look at its cache only: grading filled it, and a report waits for no network."""
    import datasets
    import huggingface_hub.constants as hub

    before = datasets.config.HF_HUB_OFFLINE, hub.HF_HUB_OFFLINE
    datasets.config.HF_HUB_OFFLINE = hub.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        datasets.config.HF_HUB_OFFLINE, hub.HF_HUB_OFFLINE = before


def _unchanged(report: Report, declared: Benchmark, rows: Rows) -> bool:
    """Whether the columns that were graded are still the same."""
    made_of = report.environment.get("data_digest")
    if made_of in {None, rows.digest}:
        return True
    if declared.scoring == "mr_score":
        return False
    from grader.grading import _columns

    wanted = data.Wanted(_columns(declared, report.split), declared.columns.image)
    kept = [{key: value for key, value in row.items() if key in wanted} for row in rows.rows]
    return hashlib.sha256(msgspec.json.encode(kept, order="sorted", enc_hook=str)).hexdigest()[:16] == made_of


# --- questions --------------------------------------------------------------------------------------------------


def _questions(report: Report, declared: Benchmark, rows: Rows, file: PredictionFile | None) -> dict[str, Question]:
    prompts = _prompts(file)
    match declared.scoring:
        case "execution":
            return {str(row.get(declared.columns.id)): _task(row, declared, prompts) for row in rows.rows}
        case "mr_score":
            from grader.scorers.mr_ben.scored_file import row_qids

            return {qid: _solution(row) for qid, row in zip(row_qids(rows.rows), rows.rows, strict=True)}
        case "multiple_choice" | "circular":
            items = _items(report, declared, rows, file)
            return {qid: _choice(item, declared) for qid, item in items.items()}


def _prompts(file: PredictionFile | None) -> dict[str, str]:
    """Return the prompts that came with the predictions, where they are texts."""
    found = {r.qid: r.prompts[0] for r in file.records if r.prompts} if file else {}
    return {qid: prompt for qid, prompt in found.items() if isinstance(prompt, str) and prompt.strip()}


def _task(row: Row, declared: Benchmark, prompts: dict[str, str]) -> Question:
    columns = declared.columns
    named = (("Signature", columns.signature), ("Tests", columns.tests), ("Reference solution", columns.solution))
    return Question(
        text=prompts.get(str(row.get(columns.id)), "") or _plain(row.get(columns.question or "")),
        code=[(title, str(row[name])) for title, name in named if name and isinstance(row.get(name), str)],
    )


def _solution(row: Row) -> Question:
    right = row["Model_Solution_Correctness"] == "correct"
    named = (
        ("Options", "Options"),
        ("Solution under review", "Model_Solution_Steps"),
        *(() if right else (
            ("Error, as annotated", "Model_Solution_Error_Reason"),
            ("First wrong step, rectified", "Model_Solution_Rectified_First_Error_Step"),
        )),
    )  # fmt: skip
    return Question(
        text=_plain(row.get("Question")),
        gold="correct" if right else f"incorrect; first error in step {row['Model_Solution_First_Error_Step'] or '-'}",
        texts=[(title, text) for title, name in named if (text := _plain(row.get(name)))],
    )


def _items(report: Report, declared: Benchmark, rows: Rows, file: PredictionFile | None) -> dict[str, Item]:
    from grader.scorers.choice.items import items_from

    items = items_from(rows, declared, report.split)
    if declared.scoring == "circular" and file is not None:
        from grader.observer import Silent
        from grader.options import Options
        from grader.scorers.choice.passes import with_rotations
        from grader.scorers.selection import Selection

        selection = Selection(
            benchmark=declared, split=report.split, protocol=report.protocol, rows=rows, file=file,
            options=Options(), observer=Silent(),
        )  # fmt: skip
        return with_rotations(items, selection, [])
    return items


def _choice(item: Item, declared: Benchmark) -> Question:
    hint = _plain(item.row.get(declared.columns.hint or ""))
    return Question(text=item.question, options=item.options, gold=item.answer, texts=[("Hint", hint)] if hint else [])


def _plain(value: object) -> str:
    """Return a cell as text: a list is its lines."""
    if isinstance(value, list):
        return "\n".join(map(str, value))
    return "" if value is None else str(value)


# --- images -----------------------------------------------------------------------------------------------------


def _folder(declared: Benchmark, split: str, given: Path | None) -> Path | None:
    """Return the folder that names of image files are relative to."""
    if given is not None:
        return given.parent if given.is_file() else given
    place = declared.splits[split].data
    return (Path(declared.folder) / place).parent if place else None


def _with_images(
    questions: dict[str, Question], declared: Benchmark, rows: Rows, folder: Path | None, gaps: list[Gap]
) -> tuple[dict[str, Question], dict[str, Picture]]:
    name = declared.columns.image
    if name is None or declared.scoring == "mr_score":
        return questions, {}
    cells = {_cell(row.get(declared.columns.id)): row.get(name) for row in rows.rows}
    images: dict[str, Picture] = {}
    shown = dict(questions)
    lost = 0
    for qid, question in questions.items():
        cell = _followed(cells, qid, declared.pass_stride if declared.scoring == "circular" else 0)
        picture = _picture(cell, folder)
        if picture is None:
            lost += cell is not None
            continue
        key = _key(picture)
        images.setdefault(key, picture)
        shown[qid] = msgspec.structs.replace(question, image=key)
    if not any(cell is not None for cell in cells.values()):
        gaps.append(Gap(what="images", why=f"The data ({rows.origin}) has no images (column {name})."))
    elif lost:
        gaps.append(Gap(what="images", why=f"The images of {lost} {declared.unit}s are not where the data says."))
    return shown, images


def _cell(value: object) -> str:
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _followed(cells: dict[str, Any], qid: str, stride: int) -> object:
    """Return a qid's image cell: its own, that of the row it names, or that of its question's first pass."""
    cell = cells.get(qid)
    if cell is None and stride and qid.isdigit():
        cell = cells.get(str(int(qid) % stride))
    seen: set[str] = set()
    while isinstance(cell, str | int) and len(str(cell)) < _REFERENCE and str(cell) in cells and str(cell) not in seen:
        seen.add(str(cell))
        cell = cells[str(cell)]
    return cell


def _picture(cell: object, folder: Path | None) -> Picture | None:
    """Return an image cell's image: bytes, base64, or a file; None where it is none of them."""
    if isinstance(cell, dict):
        return _picture(cell.get("bytes") or cell.get("path"), folder)
    if isinstance(cell, bytes):
        return cell
    if not isinstance(cell, str):
        return None
    if len(cell) < 1024 and (found := _image_file(cell, folder)) is not None:
        return found
    try:
        return base64.b64decode(cell, validate=True) if len(cell) >= _REFERENCE else None
    except binascii.Error:
        return None


def _image_file(name: str, folder: Path | None) -> Path | None:
    """Return the file of this name within the data's folder: data cannot put other files into a report."""
    if folder is None or "\0" in name:
        return None
    try:
        path = (folder / name).resolve()
        return path if path.is_relative_to(folder.resolve()) and path.is_file() else None
    except OSError:  # base64 may well be too long to be a name
        return None


def _key(picture: Picture) -> str:
    if isinstance(picture, Path):
        return str(picture)
    return hashlib.sha256(picture).hexdigest()[:24]
