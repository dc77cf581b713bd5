"""Every labelled reply under every reader of multiple-choice answers, as a table: `python -m conformance.readers`.

The label of a reply (`says`) is a letter, `none` (it decides on no option) or `ambiguous` (on several). The published
readers are the reproductions in `grade`, which `make peers` compares with their sources.
"""

from __future__ import annotations

import argparse
import datetime
import json
import string
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from conformance.run import HERE, lines
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.scorers.choice.readers import official_readers

CLASSES = ("real", "written")
KINDS = ("right letter", "another letter", "no letter", "invented letter")
"""What a reader makes of a reply: three kinds for replies that say a letter, the last one for all others."""
BENCHMARK = """\
id = "replies"
name = "Labelled replies"
scoring = "multiple_choice"
letters = "{letters}"
default_split = "all"
default_protocol = "mmlu-pro"
[columns]
id = "id"
question = "question"
answer = "answer"
options = "options"
[splits.all]
data = "questions.jsonl"
"""
Answers = dict[str, dict[str, str | None]]
"""Reader -> id -> the letter that it reads, or None."""


def read(replies: list[dict[str, Any]]) -> Answers:
    """Return what every reader makes of the replies."""
    letters = string.ascii_uppercase[: max(len(reply["options"]) for reply in replies)]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # The gold answer matters to no reader.
        questions = [{"answer": "A"} | {key: each[key] for key in ("id", "question", "options")} for each in replies]
        folder.joinpath("questions.jsonl").write_text("".join(json.dumps(row) + "\n" for row in questions))
        predictions = [{"qid": each["id"], "predictions": [each["reply"]]} for each in replies]
        folder.joinpath("predictions.json").write_text(json.dumps(predictions))
        protocols = "".join(f'[protocols."{reader}"]\nreader = "{reader}"\n' for reader in official_readers())
        folder.joinpath("benchmark.toml").write_text(BENCHMARK.format(letters=letters) + protocols)
        reports = {
            reader: grade(folder / "predictions.json", Options(benchmark=name, protocol=reader), Silent()).report
            for reader in official_readers()
        }
    samples = {f"{reader} (official)": report.samples for reader, report in reports.items()}
    answers = {reader: {each.qid: each.official.answer for each in own} for reader, own in samples.items()}
    careful = {each.qid: each.careful.answer for each in next(iter(samples.values()))}
    every = {"grade, careful": careful} | answers
    return {reader: {qid: _letter(answer) for qid, answer in own.items()} for reader, own in every.items()}


def _letter(answer: str | None) -> str | None:
    return answer if answer and len(answer) == 1 and answer in string.ascii_uppercase else None


def kind_of(says: str, answer: str | None) -> str:
    """Return which of KINDS a reading is; empty if the reply says no letter, and none was read."""
    if len(says) > 1:
        return KINDS[3] if answer else ""
    if answer is None:
        return KINDS[2]
    return KINDS[0] if answer == says else KINDS[1]


def report(replies: list[dict[str, Any]], answers: Answers) -> str:
    """Return the tables as Markdown."""
    day = datetime.datetime.now(datetime.UTC).date()
    text = [
        f"# Readers of multiple-choice answers, {day}\n",
        f"Written by `make conformance`: {len(replies)} replies.\n",
    ]
    for name in CLASSES:
        own = [reply for reply in replies if reply["class"] == name]
        letters = sum(len(reply["says"]) == 1 for reply in own)
        text += [f"## {name}: {letters} replies say a letter, {len(own) - letters} say none or several\n"]
        text += [f"| reader | {' | '.join(KINDS)} |", f"|---|{'---:|' * len(KINDS)}"]
        counts = {
            reader: Counter(kind_of(reply["says"], read_[reply["id"]]) for reply in own)
            for reader, read_ in answers.items()
        }
        ordered = sorted(counts, key=lambda reader: -counts[reader][KINDS[0]])
        text += [f"| {reader} | {' | '.join(str(counts[reader][kind]) for kind in KINDS)} |" for reader in ordered]
        text.append("")
    careful = answers["grade, careful"]
    missed = [reply for reply in replies if kind_of(reply["says"], careful[reply["id"]]) not in {"", KINDS[0]}]
    text += [
        "## What careful reads differently from the label\n",
        "| reply | says | careful | why |",
        "|---|---|---|---|",
    ]
    text += [f"| {each['id']} | {each['says']} | {careful[each['id']] or 'none'} | {each['why']} |" for each in missed]
    return "\n".join(text) + "\n"


def main() -> None:
    """Write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=HERE / "readers.md")
    given = parser.parse_args()
    replies = lines("replies.jsonl")
    given.output.write_text(report(replies, read(replies)))
    print(f"Wrote {given.output}")


if __name__ == "__main__":
    main()
