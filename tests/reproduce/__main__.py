"""Grades every published run that is in a folder, and compares it with `measured.csv`: `make reproduce`.

    python -m tests.reproduce FOLDER [--write] [--only WORD]

`runs.toml` has the runs: where they were published, their files in FOLDER, and the published values. A run whose files
are not there keeps its row. A value that moves is an error, and so is an official value that is not the published one
without a word that says why. `--write` writes the rows, and the tables of the documents, which follow from them.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

from grader.scorers.report_check import read_report
from tests.conftest import ROOT

HERE, PAGE, README = Path(__file__).parent, ROOT / "docs/reproduced.md", ROOT / "README.md"
MEASURED = HERE / "measured.csv"
COLUMNS = ("run", "answers", "published", "official", "items that agree", "careful", "no answer")
"""Of `measured.csv`. No answer: the replies in which the careful reading reads none."""
TELLING = 0.5
"""Points by which careful differs from official where docs/reproduced.md says why."""
NEAR = 0.05
"""Points by which an official value may differ from the published one: published values are rounded."""

Row = dict[str, Any]


def rows_of(path: Path, at: str = "") -> list[Row]:
    """Return the rows of a published file: a list, or an object of rows or of lists of rows by their id."""
    if path.suffix == ".xlsx":
        from openpyxl import load_workbook

        head, *rows = load_workbook(path, read_only=True).worksheets[0].iter_rows(values_only=True)
        return [dict(zip(map(str, head), row, strict=True)) for row in rows]
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            text = archive.read(archive.namelist()[0]).decode()
    else:
        text = (gzip.open(path, "rt", encoding="utf-8").read() if path.suffix == ".gz" else path.read_text()).strip()
    if ".jsonl" in path.suffixes:
        return [json.loads(line) for line in text.splitlines() if line.strip()]
    found = json.loads(text)
    found = found[at] if at else found
    if isinstance(found, dict):
        return [
            {"id": key, **row}
            for key, value in found.items()
            for row in (value if isinstance(value, list) else [value])
        ]
    return [{"id": number, **row} for number, row in enumerate(found)]


def field(row: Row, name: str) -> Any:
    """Return a field of a row; dots lead into objects."""
    for part in name.split("."):
        row = row[part]
    return row


def prepared(run: Row, own: dict[str, str], folder: Path, place: Path) -> tuple[Path, str, Path | None]:
    """Write a run's predictions, and its own benchmark and data, to a place; return its file, benchmark and data."""
    file, benchmark = source(run, folder), run["benchmark"]
    predictions, data = place / f"predictions{''.join(file.suffixes)}", folder / run["data"] if "data" in run else None
    if "of" in run:
        data = file.with_name("data.jsonl.gz")
    if "reply" in run:
        rows = rows_of(file, run.get("at", ""))
        predictions = place / "predictions.json"
        texts = [(str(field(row, run.get("id", "id"))), str(field(row, run["reply"]))) for row in rows]
        predictions.write_text(json.dumps([{"qid": qid, "predictions": [text]} for qid, text in texts]))
        if benchmark in own:
            data = place / "data.jsonl"
            data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    else:
        predictions.write_bytes(file.read_bytes())
    if benchmark in own:
        (place / benchmark).mkdir()
        (place / benchmark / "benchmark.toml").write_text(f'id = "{benchmark}"\n{own[benchmark]}')
        benchmark = str(place / benchmark)
    return predictions, benchmark, data


def graded(run: Row, own: dict[str, str], folder: Path, place: Path) -> Any:
    """Grade a run with the normal command; return its report."""
    predictions, benchmark, data = prepared(run, own, folder, place)
    given = [] if data is None else ["--data", data]
    command = [sys.executable, "-m", "grader", predictions, "-b", benchmark, *given, "-q", *run.get("options", [])]
    done = subprocess.run(list(map(str, command)), check=False)
    if done.returncode:
        raise SystemExit(f"{run['name']}: the command above failed: {' '.join(map(str, command[2:]))}")
    (results,) = place.glob("predictions*_results.json")
    return read_report(results)


def source(run: Row, folder: Path) -> Path:
    """Return the file with the predictions of a run."""
    return folder.parent / "runs" / run["of"] / "predictions.json.gz" if "of" in run else folder / run["file"]


def decisions(run: Row, folder: Path) -> dict[str, bool]:
    """Return id -> whether the published scorer credited the item."""
    decided = run["decided"]
    rows = rows_of(folder / decided.get("file", run["file"]), decided.get("at", run.get("at", "")))
    return {str(field(row, decided.get("id", run.get("id", "id")))): _credited(row, decided) for row in rows}


def _credited(row: Row, decided: Row) -> bool:
    values = [field(row, name) for name in decided["fields"]]
    if "equals" in decided:
        return bool(values == [field(row, decided["equals"])])
    if "has" in decided:
        return all(decided["has"] in str(value).lower() for value in values)
    return all(str(value).lower() in {"true", "1"} for value in values)


def value(report: Any, name: str, reading: str, sums: dict[str, list[str]]) -> float:
    """Return a metric, or a sum of metrics by group (`metric:field=label`)."""
    total = 0.0
    for part in sums.get(name, [name]):
        metric, _, group = part.partition(":")
        found = report.metric(metric, reading, group or None)
        total += float("nan") if found is None or found.value is None else found.value
    return total


class Values(NamedTuple):
    """What grading a run, or a part of it, gave."""

    answers: int
    published: dict[str, float]
    official: dict[str, float]
    careful: dict[str, float]
    agree: str
    unread: int
    """Answers of which the careful reading reads none."""


def values(run: Row, own: dict[str, str], folder: Path) -> Values:
    """Grade a run, or a part. Raises SystemExit if its official value is not the published one."""
    with tempfile.TemporaryDirectory() as name:
        report = graded(run, own, folder, Path(name))
    published = run["published"]
    official, careful = (
        {name: value(report, name, reading, run.get("sums", {})) for name in published}
        for reading in ("official", "careful")
    )
    if "differs" not in run and any(not abs(official[name] - published[name]) <= NEAR for name in published):
        raise SystemExit(f"{run['name']}: official {official} is not the published {published}, and nothing says why")
    agree = agreement(report, decisions(run, folder)) if "decided" in run else "–"
    unread = sum(sample.careful.outcome.value == "no_answer" for sample in report.samples)
    return Values(len(report.samples), published, official, careful, agree, unread)


def measure(run: Row, own: dict[str, str], folder: Path) -> dict[str, str]:
    """Return the run's row of `measured.csv`: of a run in parts, the means of their values."""
    parts = [values(run | part, own, folder) for part in run.get("parts", [{}])]
    published, official, careful = (
        {name: fmean(one[name] for one in column) for name in column[0]}
        for column in zip(*((part.published, part.official, part.careful) for part in parts), strict=True)
    )
    answers, unread = (f"{sum(each):,}" for each in zip(*((one.answers, one.unread) for one in parts), strict=True))
    measured = (run["name"], answers, shown(published), shown(official), parts[0].agree, shown(careful), unread)
    return dict(zip(COLUMNS, measured, strict=True))


def shown(values: dict[str, float]) -> str:
    """Return values by metric as text; a single one without its name."""
    named = len(values) > 1
    return ", ".join(f"{name.replace('_', ' ')} " * named + f"{number:.2f}" for name, number in values.items())


def agreement(report: Any, known: dict[str, bool]) -> str:
    """Return how many items the official reading credited as the published scorer did: `all`, or `9 of 10`."""
    credited: dict[str, bool] = {}
    for sample in report.samples:
        credited[sample.observation] = credited.get(sample.observation, True) and sample.official.points >= 1
    same = sum(known.get(item) == credit for item, credit in credited.items())
    return "all" if same == len(credited) else f"{same:,} of {len(credited):,}"


def rows_of_page(runs: list[Row], measured: dict[str, dict[str, str]]) -> list[str]:
    """Return the table of docs/reproduced.md, of the runs with something to explain, and a list of the others.

    A source stands in the first of its rows.
    """
    rows, before, same = [], "", dict[str, list[str]]()
    for run in runs:
        of = measured[run["name"]]
        published = f"{of['published']} {'✓' if of['items that agree'] == 'all' else '='}"
        if "differs" in run:
            published = f"{of['published']} (official {of['official']}: {run['differs']})"
        elif of["careful"] == of["official"]:
            same.setdefault(run["source"], []).append(f"{of['run']} ({of['answers']}): {published}")
            continue
        careful = "=" if of["careful"] == of["official"] else of["careful"]
        careful += f" ({run.get('why', '–')})" if _is_telling(of) else ""
        source = "" if run["source"] == before else run["source"]
        before = run["source"]
        rows.append(_row(source, of["run"], of["answers"], published, careful))
    listed = [f"- {source}: {'; '.join(each)}" for source, each in same.items()]
    heading = ["", "Careful gives the same score (in brackets: answers):", ""] if listed else []
    return [*_head("source", "run", "answers", "published", "careful"), *rows, *heading, *listed]


def rows_of_readme(runs: list[Row], measured: dict[str, dict[str, str]]) -> list[str]:
    """Return the table of the README: the runs of the front page, each with why careful differs."""
    columns = ("run", "answers", "published", "official", "careful")
    front = [run for run in runs if run.get("front")]
    rows = [_row(*(measured[run["name"]][name] for name in columns), run.get("why", "–")) for run in front]
    return [*_head(*columns, "why careful differs"), *rows]


def _is_telling(measured: dict[str, str]) -> bool:
    official, careful = (
        [float(part.split()[-1]) for part in measured[name].split(", ")] for name in ("official", "careful")
    )
    return any(abs(a - b) >= TELLING for a, b in zip(official, careful, strict=True))


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _head(*names: str) -> tuple[str, str]:
    return _row(*names), "|" + "---|" * len(names)


def replaced(text: str, rows: list[str]) -> str:
    """Return a page with other rows between its marks."""
    start, end = "<!-- published runs -->\n", "<!-- end of published runs -->\n"
    head, _, rest = text.partition(start)
    return head + start + "".join(f"{row}\n" for row in rows) + end + rest.partition(end)[2]


def main() -> None:
    """Grade, compare, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    listed = tomllib.loads((HERE / "runs.toml").read_text())
    known, moved = earlier(), []
    for run in listed["runs"]:
        if not source(run, options.folder).exists() or options.only not in run["name"]:
            continue
        found = measure(run, listed["benchmarks"], options.folder)
        print(_row(*found.values()), flush=True)
        if known.get(run["name"]) != found:
            moved.append(run["name"])
        known[run["name"]] = found
        if options.write:
            write(listed["runs"], known)
    if moved and not options.write:
        raise SystemExit(f"These rows are not those of {MEASURED.name}: {'; '.join(moved)}. WRITE=1 writes them.")


def earlier() -> dict[str, dict[str, str]]:
    """Return the rows of `measured.csv` by run."""
    with MEASURED.open(newline="") as file:
        return {row["run"]: row for row in csv.DictReader(file)}


def write(runs: list[Row], measured: dict[str, dict[str, str]]) -> None:
    """Write the rows and the tables of both documents, after each run: they take minutes."""
    done = [run for run in runs if run["name"] in measured]
    with MEASURED.open("w", newline="") as file:
        rows = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        rows.writeheader()
        rows.writerows(measured[run["name"]] for run in done)
    for page, table in ((PAGE, rows_of_page), (README, rows_of_readme)):
        page.write_text(replaced(page.read_text(), table(done, measured)))


if __name__ == "__main__":
    main()
