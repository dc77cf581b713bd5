"""Compares derived official outcomes with executed ones, on all available programs: `python -m tests.bench.derived`.

Every outcome that could be derived is executed as well, and the two are compared: outcome, credit, text, failed test.
Give parts of names to choose corpora. Exit status 1 if an outcome differs.
"""

import argparse
import json
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/bench"), str(ROOT / "tests/sandbox")]

import variations
from catalogue import PROGRAMS as HONEST
from hostile import exhausting, forging, leaking, outside, sources, stubborn, tampering

from grader import cli
from grader.scorers.execution import deriving
from grader.scorers.execution.extraction import extract_plain, parse
from grader.scorers.execution.mutations import mutants
from grader.scorers.execution.tameness import tame
from tests.golden.corpora import CORPORA, SHARED, Corpus, sample

MUTANTS = 8
HOSTILE = (exhausting, forging, leaking, outside, sources, stubborn, tampering)


def _written(folder: Path, tasks: list[dict[str, Any]], texts: list[list[str]], *options: str) -> list[str]:
    """Write tasks and their predictions; return the options that grade them."""
    names = [f"t{number}" for number in range(len(tasks))]
    lines = [json.dumps(task | {"qid": name}) + "\n" for name, task in zip(names, tasks, strict=True)]
    (folder / "tasks.jsonl").write_text("".join(lines))
    records = [{"qid": name, "predictions": answers} for name, answers in zip(names, texts, strict=True)]
    (folder / "predictions.json").write_text(json.dumps(records))
    return ["--data", str(folder / "tasks.jsonl"), "--protocol", "v1", "-k", "1", *options]


def _task(signature: str, tests: str, solution: str = "") -> dict[str, str]:
    task = {"function_signature": signature, "test_script": tests}
    return task | ({"ground_truth_solution": solution} if solution else {})


def _fenced(source: str) -> str:
    return f"```python\n{source}\n```"


def _conformance(with_reference: bool, folder: Path) -> list[str]:
    tasks = {one["id"]: one for one in _lines(ROOT / "conformance/tasks.jsonl") if one["form"] == "function"}
    programs = [one for one in _lines(ROOT / "conformance/programs.jsonl") if one["task"] in tasks]
    rows = [
        _task(
            task["prompt"],
            f"{task['check']}\ncheck({task['entry_point']})\n",
            task["solution"] if with_reference else "",
        )
        for task in (tasks[one["task"]] for one in programs)
    ]
    return _written(folder, rows, [[_fenced(one["source"])] for one in programs])


def _honest(with_reference: bool, folder: Path) -> list[str]:
    rows = [_task(one.signature, one.tests, one.source if with_reference else "") for one in HONEST]
    return _written(folder, rows, [[_fenced(one.source)] for one in HONEST])


def _hostile(folder: Path) -> list[str]:
    every = [one for module in HOSTILE for one in module.PROGRAMS]
    rows = [_task(one.signature, one.tests, one.reference) for one in every]
    texts = [[one.answer(), *map(_fenced, one.more)] for one in every]
    return _written(folder, rows, texts, "--timeout", "0.6", "--memory", "512m")


def _mutants(source: Path, folder: Path) -> list[str]:
    """Write wrong programs of many kinds: mutants of real programs."""
    (file,) = (one for one in source.glob("*.json") if not one.stem.endswith("expected"))
    tasks = {one["qid"]: one for one in _lines(source / "tasks.jsonl")}
    records = json.loads(file.read_text(encoding="utf-8"))
    texts = [[_fenced(one.source) for one in mutants(_code(record["predictions"]), MUTANTS)] for record in records]
    kept = [(tasks[record["qid"]], made) for record, made in zip(records, texts, strict=True) if made]
    return _written(folder, [task for task, _ in kept], [made for _, made in kept])


def _code(predictions: list[str]) -> str:
    """Return the first program of a task that is valid Python, without its fence."""
    found = (extract_plain(text, ()) for text in predictions)
    return next((source for source in found if parse(source) is not None), "")


def _distinct(source: Path, folder: Path) -> list[str]:
    variations.write(source, 20, folder)
    return ["--data", str(folder / "tasks.jsonl"), "--protocol", "v1", "-k", "1"]


def _lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


_OF_CODE = ("humaneval", "mbpp", "attacks", "honest")
EVERY = [
    *(corpus for corpus in CORPORA if any(word in corpus.name for word in _OF_CODE)),
    sample("mbpp", "tasks.jsonl"),
    Corpus(name="humaneval-mutants", write=partial(_mutants, SHARED / "humaneval")),
    Corpus(name="humaneval-3280-distinct", write=partial(_distinct, SHARED / "humaneval")),
    *(
        Corpus(name=f"{name}{'' if solved else '-without-a-reference'}", write=partial(write, solved), shared=False)
        for name, write in (("conformance", _conformance), ("catalogue", _honest))
        for solved in (True, False)
    ),
    Corpus(name="hostile", write=_hostile, shared=False),
]


class Counted:
    """Counts the programs of one run, and which of them are tame."""

    def __init__(self) -> None:
        self.tame: dict[str, bool] = {}
        """Program -> whether it is tame."""
        self._derived = deriving.derived

    def derived(self, found: Any, words: Any) -> Any:
        """Count a program; return its derived outcome."""
        task, head = found.attempt.task, found.attempt.head
        self.tame[head + task.tests] = tame(head) is not None
        return self._derived(found, words)


def _graded(corpus: Corpus, *options: str) -> dict[str, Any]:
    """Grade a corpus; return the results file."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        code = cli.run([str(folder / "predictions.json"), *corpus.write(folder), "-q", *options])
        assert code == 0, code
        (found,) = folder.glob("*_results.json")
        return dict(json.loads(found.read_text(encoding="utf-8")))


def compare(corpus: Corpus, sandbox: str) -> tuple[int, str]:
    """Return how many outcomes differ, and a line of the table."""
    counted, deriving_ = Counted(), deriving.derived
    deriving.derived, deriving.AUDITED_PERCENT = counted.derived, 100
    try:
        results = _graded(corpus, "--sandbox", sandbox, "--official", "derive")
    finally:
        deriving.derived, deriving.AUDITED_PERCENT = deriving_, 2
    official = results["provenance"]["sandbox"]["official"]
    for note in results["notes"]:
        if note.startswith("Error: the official outcome"):
            print(note)
    programs = len(counted.tame)
    cells = [
        corpus.name,
        f"{len(results['samples']):,}",
        f"{programs:,}",
        f"{100 * sum(counted.tame.values()) / max(1, programs):.1f} %",
        f"{official.get('audited', 0):,}",
        f"{official.get('different', 0)}",
    ]
    return official.get("different", 0), f"| {' | '.join(cells)} |"


def main() -> int:
    """Compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("only", nargs="*", help="parts of the names of corpora")
    parser.add_argument("--sandbox", default="bubblewrap")
    asked = parser.parse_args()
    every = [one for one in EVERY if SHARED.exists() or not one.shared]
    chosen = [one for one in every if not asked.only or any(word in one.name for word in asked.only)]
    heads = ["corpus", "samples", "distinct programs", "tame", "derived and executed", "different"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    different = 0
    for corpus in chosen:
        count, line = compare(corpus, asked.sandbox)
        different += count
        print(line, flush=True)
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
