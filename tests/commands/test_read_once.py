"""Everything that a run reads, it reads once: the data, the declaration, and what a scorer keeps about a sample."""

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from grader.benchmark import Benchmark
from grader.cli import main
from grader.data import load
from grader.results import Facts, Outcome, Reading, SampleResult, facts_as
from grader.scorers import declarations, registry
from grader.scorers.interface import SampleDetails, Scorer, ScorerOutput
from grader.task import Task
from tests.made_runs import BENCHMARKS

DECLARATION = """
id = "sums"
name = "Sums"
scoring = "counted"
default_split = "test"
default_protocol = "exact"
columns = {id = "id", question = "question"}
splits.test.data = "questions.jsonl"
protocols.exact.description = "the whole reply"
"""
IDS = "abcdefgh"
MADE: Counter[str] = Counter()


class CountedFacts(Facts, frozen=True, kw_only=True):
    """Counts how often the facts of a sample are made, also by decoding them."""

    gold: str

    def __post_init__(self) -> None:
        MADE[self.gold] += 1


class Counted(Scorer[Benchmark, Task]):
    """Wants the id of a question as its answer, and shows facts wherever a scorer can."""

    declaration = Benchmark
    sample_facts = CountedFacts

    def tasks(self, declared: Any, split: str, rows: Any) -> dict[str, Task]:
        return rows.tasks(lambda row: Task(id=row["id"], text=row["question"], gold=row["id"]))

    def score(self, run: Any) -> ScorerOutput:
        return ScorerOutput(samples=[_sample(task, number, text) for task, number, text in run.replies()])

    def metrics(self, report: Any) -> Any:
        assert all(facts_as(CountedFacts, sample.facts) for sample in report.samples)
        return super().metrics(report)

    def sample_details(self, sample: SampleResult) -> SampleDetails:
        return SampleDetails(gold=facts_as(CountedFacts, sample.facts).gold)


def _sample(task: Task, number: int, text: str) -> SampleResult:
    right = Reading(outcome=Outcome.CORRECT, credit=1, answer=text)
    wrong = Reading(outcome=Outcome.WRONG, credit=0, answer=text)
    facts = CountedFacts(gold=str(task.gold))
    return SampleResult(qid=task.id, sample=number, official=wrong, careful=right, facts=facts)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "sums").mkdir()
    (tmp_path / "sums/benchmark.toml").write_text(DECLARATION)
    rows = (f'{{"id": "{qid}", "question": "Which letter is {qid}?"}}\n' for qid in IDS)
    (tmp_path / "sums/questions.jsonl").write_text("".join(rows))
    replies = ", ".join(f'{{"qid": "{qid}", "predictions": ["{qid}"]}}' for qid in IDS)
    (tmp_path / "p.json").write_text(f"[{replies}]")
    monkeypatch.setitem(registry._BUILT_IN, "counted", f"{__name__}:Counted")
    monkeypatch.chdir(tmp_path)
    registry.scorer.cache_clear()
    MADE.clear()
    return tmp_path


def counted(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> list[object]:
    calls: list[object] = []
    whole = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given, **named: (calls.append(given), whole(*given, **named))[1])
    return calls


def run(*words: str) -> None:
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output


def test_a_run_with_a_page_reads_its_data_once_and_never_decodes_what_it_just_made(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, declared = counted(monkeypatch, load, "read"), counted(monkeypatch, declarations, "load")
    run("p.json", "-b", "sums", "-o", "r.html", "-o", "r.xml", "-o", "r.json")
    assert (len(data), len(declared), set(MADE.values()), set(MADE)) == (1, 1, {1}, set(IDS))


@pytest.mark.parametrize(
    "words",
    [
        ("report", "p_results.json", "-o", "r.html", "-o", "r.xml"),
        ("p.json", "-b", "sums", "--score-only", "-o", "r.html"),
    ],
)
def test_whoever_reads_results_reads_the_data_and_what_the_scorer_kept_once(
    folder: Path, words: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    run("p.json", "-b", "sums", "-q")
    MADE.clear()
    data, declared = counted(monkeypatch, load, "read"), counted(monkeypatch, declarations, "load")
    run(*words)
    assert (len(data), len(declared), dict(MADE)) == (1, 1, dict.fromkeys(IDS, 1))


@pytest.mark.parametrize(("benchmark", "name"), [("vstar", "questions.jsonl"), ("mmbench", "questions.tsv")])
def test_a_page_reads_nothing_twice_and_changes_no_result(
    benchmark: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(BENCHMARKS / benchmark / "sample", tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    words, results = ("predictions.json", "-b", benchmark, "--data", name, "-q"), tmp_path / "predictions_results.json"
    run(*words)
    without = results.read_bytes()
    for options in ((), ("--score-only",), ("--score-only", "--missing", "skip")):
        data, declared = counted(monkeypatch, load, "read"), counted(monkeypatch, declarations, "load")
        run(*words, "-o", "r.html", *options)
        assert (len(data), len(declared)) == (1, 1)
        assert options or results.read_bytes() == without
    assert (tmp_path / "r.html").is_file()
