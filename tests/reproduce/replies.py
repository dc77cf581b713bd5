"""The replies of published runs with their questions: those of `make reproduce`, runs with labels, labelled replies."""

from __future__ import annotations

import gzip
import json
import string
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from grader.grading.inputs import read_inputs
from grader.grading.setup import make_setup
from grader.observer import Silent
from grader.options import Options
from tests.reproduce.__main__ import HERE, prepared

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.scorers.answer.declaration import AnswerKind


class Published(NamedTuple):
    """A reply and its question; with options, it is of multiple choice."""

    text: str
    question: str
    options: dict[str, str]
    kind: AnswerKind
    accepted: tuple[str, ...] = ()


def replies(folder: Path) -> Iterator[Published]:
    """Yield every reply in a folder with `published`, `runs` and `mcq_real*`; equal ones to equal questions once."""
    seen: set[tuple[str, str, str]] = set()
    for one in (*_reproduced(folder / "published"), *_labelled_runs(folder / "runs"), *_labelled_choices(folder)):
        if (key := (one.text, one.question, str(one.options))) not in seen:
            seen.add(key)
            yield one


def replies_in(
    predictions: Path, benchmark: str, data: Path | None = None, options: Sequence[str] = ()
) -> Iterator[Published]:
    """Yield the replies of a prediction file. `options`: of the command, name and value in turn."""
    given = dict(zip((name.removeprefix("--") for name in options[::2]), options[1::2], strict=True))
    setup = make_setup(Options(benchmark=benchmark, data=data, missing="skip", **given))  # type: ignore[arg-type]
    run = read_inputs(str(predictions), setup, Silent()).run
    for qid, task in run.tasks.items():
        if not task.broken and (task.options or hasattr(task, "kind")):
            kind: AnswerKind = getattr(task, "kind", "text")
            accepted = getattr(task, "accepted", ())
            yield from (Published(t, task.text, dict(task.options), kind, accepted) for t in run.predictions[qid] if t)


def _reproduced(folder: Path) -> Iterator[Published]:
    listed = tomllib.loads((HERE / "runs.toml").read_text())
    for run in (one | part for one in listed["runs"] for part in one.get("parts", [{}])):
        if "of" in run or "HumanEval" in run["name"] or "MBPP" in run["name"] or not (folder / run["file"]).is_file():
            continue
        with tempfile.TemporaryDirectory() as name:
            predictions, benchmark, data = prepared(run, listed["benchmarks"], folder, Path(name))
            yield from replies_in(predictions, benchmark, data, run.get("options", []))


def _labelled_runs(folder: Path) -> Iterator[Published]:
    for run in sorted(folder.glob("*/benchmark.toml")):
        with tempfile.TemporaryDirectory() as name:
            place = Path(name)
            for path in run.parent.iterdir():
                content = path.read_bytes()
                is_zipped = path.suffix == ".gz"
                (place / (path.stem if is_zipped else path.name)).write_bytes(
                    gzip.decompress(content) if is_zipped else content
                )
            yield from replies_in(place / "predictions.json", name)


def _labelled_choices(folder: Path) -> Iterator[Published]:
    for path in sorted([*folder.glob("mcq_real*/*.jsonl"), *folder.glob("mcq_real*/*.jsonl.gz")]):
        text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
        for row in map(json.loads, text.splitlines()):
            options = {k: str(v) for k, v in zip(string.ascii_uppercase, row["options"], strict=False) if v}
            yield Published(str(row["reply"]), row["question"] or "", options, "text")
