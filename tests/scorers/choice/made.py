"""Multiple-choice questions and predictions made for tests, and what grading makes of them."""

import csv
import json
from pathlib import Path
from typing import Any

from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import READINGS, Report, facts_as
from grader.scorers.choice.facts import ChoiceRunFacts
from grader.scorers.report_check import read_report


def table(path: Path, rows: list[dict[str, str]]) -> Path:
    """Write rows as a TSV."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, delimiter="\t", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    return path


def row(index: int, options: str, answer: str, **more: str) -> dict[str, str]:
    """One row; `options` are texts between bars."""
    return {"index": str(index), "question": "Which?", **dict(zip("ABCD", options.split("|"), strict=False)),
            "answer": answer, **more}  # fmt: skip


def rolled(index: int, options: str, answer: str, **more: str) -> list[dict[str, str]]:
    """Every pass of a question, as officially: in pass k every option has moved k letters on."""
    texts, place = options.split("|"), "ABCD".index(answer)
    return [
        row(index + k * 1_000_000, "|".join(texts[-k:] + texts[:-k] if k else texts), "ABCD"[(place + k) % len(texts)],
            **more)
        for k in range(len(texts))
    ]  # fmt: skip


def predictions(folder: Path, texts: dict[str, str | list[str]]) -> Path:
    path = folder / "preds.json"
    records = [{"qid": q, "predictions": [t] if isinstance(t, str) else t} for q, t in texts.items()]
    path.write_text(json.dumps(records), encoding="utf-8")
    return path


def run(path: Path, data: Path | None, benchmark: str = "mmbench", **options: Any) -> Report:
    """Grade, write, and return the report as it was written."""
    graded = grade(path, Options(benchmark=benchmark, data=data, **options), Silent())
    report = read_report(graded.write()[-1])
    assert report == graded.report
    return report


def facts_of_run(report: Report) -> ChoiceRunFacts:
    """What the scorer keeps of a run."""
    return facts_as(ChoiceRunFacts, report.facts)


def figures(report: Report, reading: str) -> dict[str, float]:
    return {
        (f"{m.group}/" if m.group else "") + m.name: round(m.number, 10) for m in report.metrics if m.reading == reading
    }


def overall(report: Report, name: str) -> tuple[float, float]:
    """The overall figure, official and careful."""
    found = [report.metric(name, reading) for reading in READINGS]
    assert all(found)
    return tuple(round(m.number, 6) for m in found if m)  # type: ignore[return-value]


def answers(report: Report, reading: str) -> dict[str, str | None]:
    return {s.qid: s.reading(reading).answer for s in report.samples}  # type: ignore[arg-type]
