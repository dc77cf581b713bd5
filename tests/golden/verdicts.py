"""Golden verdicts: grades the corpora and writes what came of each sample, without intervals, times and free text.

    make golden [ONLY=word]

Run it after a change that is meant to move verdicts, and read the diff: each line of it is a sample that is judged
differently, or a metric with another value.
"""

import json
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

from tests.acceptance.command import grade
from tests.golden.corpora import CORPORA, SHARED, Corpus

FROZEN = Path(__file__).parent / "frozen"
READINGS = ("official", "careful")
LONGEST = 60
"""Characters of an answer that are kept."""


def path(corpus: Corpus) -> Path:
    """Return where the verdicts of a corpus are frozen."""
    return FROZEN / f"{corpus.name}.tsv"


def graded(corpus: Corpus, folder: Path, every: int = 1) -> dict[str, Any]:
    """Grade a corpus, or one of `every` tasks of it, in an empty folder; return the results file."""
    predictions = folder / "predictions.json"
    options = corpus.write(folder)
    if every > 1:
        options += [word for qid in _qids(predictions)[::every] for word in ("--id", qid)]
    done = grade(predictions, *options, "--sandbox", "bubblewrap", "--no-cache", "-q")
    assert done.returncode == 0, done.stderr
    (found,) = folder.glob("*_results.json")
    return dict(json.loads(found.read_text(encoding="utf-8")))


def _qids(predictions: Path) -> list[str]:
    text = predictions.read_text(encoding="utf-8")
    records = json.loads(text) if text.startswith("[") else map(json.loads, text.splitlines())
    return list(dict.fromkeys(record["qid"] for record in records))


def metrics(results: dict[str, Any]) -> list[str]:
    """Return a line for each metric of a group: name, group, and the value and n of each reading."""
    rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for metric in results["metrics"]:
        value = "-" if metric["value"] is None else f"{metric['value']:.4f}"
        rows[metric["name"], metric["group"] or "all"][metric["reading"]] = f"{value} of {metric['n']}"
    return ["\t".join((*key, *(row.get(reading, "-") for reading in READINGS))) for key, row in rows.items()]


def samples(results: dict[str, Any]) -> list[str]:
    """Return a line for each task and verdict: task, the samples that have it, and what each reading says."""
    alike: dict[tuple[str, ...], list[int]] = defaultdict(list)
    for sample in results["samples"]:
        alike[sample["qid"], *(_shown(sample[reading]) for reading in READINGS)].append(sample["sample"])
    return ["\t".join((qid, _ranges(numbers), *shown)) for (qid, *shown), numbers in alike.items()]


def _shown(reading: dict[str, Any]) -> str:
    answer = "-" if reading["answer"] is None else json.dumps(reading["answer"][:LONGEST], ensure_ascii=False)[1:-1]
    return f"{reading['outcome']} {reading['credit']} {answer} ({reading.get('rule')})"


def _ranges(numbers: list[int]) -> str:
    """Return numbers as text: 0-3,7."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    return ",".join("-".join(map(str, ends)) for ends in found)


def frozen(results: dict[str, Any]) -> str:
    """Return what is frozen of a results file."""
    heads = ("metric\tgroup\tofficial\tcareful", "task\tsamples\tofficial\tcareful")
    return "\n".join((heads[0], *metrics(results), "", heads[1], *samples(results), ""))


def main(only: str = "") -> None:
    """Freeze the verdicts of every corpus anew."""
    if not SHARED.exists():
        print(f"{SHARED} is not there, so only the verdicts of the bundled samples are made again.")
    for corpus in CORPORA:
        if only in corpus.name and (SHARED.exists() or not corpus.shared):
            with tempfile.TemporaryDirectory() as folder:
                path(corpus).write_text(frozen(graded(corpus, Path(folder))), encoding="utf-8")
            print(path(corpus).relative_to(FROZEN.parents[2]))


if __name__ == "__main__":
    main(*sys.argv[1:])
