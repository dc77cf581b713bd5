"""HumanEval-V from file to report, as a user runs it, in each sandbox."""

from __future__ import annotations

import json
import shutil

import pytest

from tests.acceptance import bundled
from tests.acceptance.command import grade
from tests.conftest import BACKENDS

BUBBLEWRAP = ["--sandbox", "bubblewrap", "--workers", "1"]


def _outcomes(results: dict, reading: str) -> dict[str, list[str]]:
    table: dict[str, list[str]] = {}
    for row in results["samples"]:
        table.setdefault(row["qid"], []).append(row[reading]["outcome"])
    return table


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.usefixtures("own_cache")  # with self-tests of this machine, reports have more metrics
class TestSample:
    """The bundled sample: right, wrong, unparsable, slow and hostile answers."""

    @pytest.fixture
    def graded(self, backend, tmp_path, once):
        shutil.copytree(bundled.humaneval_v(once, backend), tmp_path, dirs_exist_ok=True)
        return tmp_path / "predictions.json", *json.loads((tmp_path / "said.json").read_text())

    def test_every_sample_gets_both_expected_readings(self, graded):
        path, output, said = graded
        expected = json.loads((bundled.SAMPLE / "expected.json").read_text())
        results = json.loads(path.with_name("predictions_results.json").read_text())
        for reading in ("official", "careful"):
            assert _outcomes(results, reading) == expected["outcomes"][reading]
        assert "Official and careful differ on" in said
        assert output == ""

    def test_the_page_shows_all_questions_and_pictures(self, graded):
        """A report that lacks any of them says so on the terminal."""
        path, _, said = graded
        assert "The report" not in said
        later = grade(
            "report", path.with_name("predictions_results.json"), *bundled.WORDS[:4], "-o", path.with_name("x.html")
        )
        assert (later.returncode, later.stderr) == (0, f"Wrote {path.with_name('x.html')}\n")

    def test_score_only_gives_the_same_figures_and_another_k_without_a_sandbox(self, graded):
        path, *_ = graded
        results = path.with_name("predictions_results.json")
        before = json.loads(results.read_text())
        again = grade(path, *bundled.WORDS[:4], "--score-only", "-k", "1,2,3")
        assert again.returncode == 0, again.stderr
        after = json.loads(results.read_text())
        kept = [m for m in after["metrics"] if m["name"] != "pass@2"]
        assert kept == before["metrics"]
        assert any(m["name"] == "pass@2" for m in after["metrics"])
        assert after["samples"] == before["samples"]

    def test_an_executed_file_is_scored_only_for_the_outputs_that_it_has(self, graded):
        path, *_ = graded
        results = path.with_name("predictions_results.json")
        words = (path, *bundled.WORDS[:4], "--score-only")
        results.unlink()
        for source in ("the executed file", "the results file that this wrote"):
            assert grade(*words).returncode == 0, source
        records = json.loads(path.read_text())
        records[0]["predictions"][0] = "another output"
        path.write_text(json.dumps(records))
        for source in ("the results file", "the executed file"):
            again = grade(*words)
            assert (again.returncode, "has changed since it was graded" in again.stderr) == (2, True), source
            results.unlink(missing_ok=True)

    def test_the_executed_file_has_the_official_layout(self, graded):
        path, *_ = graded
        records = json.loads(path.with_name("predictions_executed.json").read_text())
        source = {r["qid"]: r["predictions"] for r in json.loads(path.read_text())}
        assert {r["qid"]: r["predictions"] for r in records} == source
        for record in records:
            assert list(record) == [
                "qid", "prompts", "predictions", "processed_predictions", "concatenated_predictions", "results",
            ]  # fmt: skip
            assert [row["task_id"] for row in record["results"]] == list(range(len(record["predictions"])))
            assert all(set(row) == {"qid", "task_id", "passed", "result"} for row in record["results"])
            assert all((row["result"] == "passed") == bool(row["passed"]) for row in record["results"])


@pytest.mark.bubblewrap
class TestRun:
    """What surrounds the grading."""

    def _task(self, folder):
        tasks = folder / "tasks.jsonl"
        tasks.write_text(
            json.dumps(
                {"qid": "q1", "function_signature": "def solution(x):\n", "test_script": "assert solution(2) == 4\n"}
            )
            + "\n"
            + json.dumps(
                {"qid": "q2", "function_signature": "def solution(x):\n", "test_script": "assert solution(2) == 5\n"}
            )
            + "\n"
        )
        return tasks

    def _predictions(self, folder, **texts):
        path = folder / "p.json"
        path.write_text(json.dumps([{"qid": qid, "predictions": [text]} for qid, text in texts.items()]))
        return path

    def test_standard_input_is_graded_and_the_report_goes_to_standard_output(self, tmp_path):
        tasks = self._task(tmp_path)
        text = json.dumps([{"qid": "q1", "predictions": ["```python\ndef solution(x):\n    return x * 2\n```"]}])
        process = grade("-", "--data", tasks, "--id", "q1", *BUBBLEWRAP, "-o", "-", "-q", stdin=text, cwd=tmp_path)
        assert (process.returncode, process.stderr) == (0, "")
        report = json.loads(process.stdout)
        assert [m["value"] for m in report["metrics"] if m["name"] == "pass@1"] == [100, 100]
        assert sorted(p.name for p in tmp_path.iterdir()) == ["tasks.jsonl"]

    def test_a_missing_task_is_an_error_and_nothing_is_written(self, tmp_path):
        tasks = self._task(tmp_path)
        path = self._predictions(tmp_path, q1="```python\ndef solution(x):\n    return 4\n```")
        process = grade(path, "--data", tasks, "--sandbox", "bubblewrap")
        assert process.returncode == 2
        assert "1 of 2 tasks without a prediction" in process.stderr
        assert "--missing wrong" in process.stderr
        assert sorted(p.name for p in tmp_path.iterdir()) == ["p.json", "tasks.jsonl"]

    def test_a_missing_task_counts_as_not_passed_where_that_is_asked_for(self, tmp_path):
        tasks = self._task(tmp_path)
        path = self._predictions(tmp_path, q1="```python\ndef solution(x):\n    return 4\n```")
        process = grade(path, "--data", tasks, *BUBBLEWRAP, "--missing", "wrong")
        assert process.returncode == 0, process.stderr
        results = json.loads((tmp_path / "p_results.json").read_text())
        assert [m["value"] for m in results["metrics"] if m["name"] == "pass@1"] == [50, 50]

    def test_a_k_with_too_few_samples_is_an_error_that_says_so(self, tmp_path):
        tasks = self._task(tmp_path)
        path = self._predictions(tmp_path, q1="a", q2="b")
        process = grade(path, "--data", tasks, "-k", "1,10", "--sandbox", "bubblewrap")
        assert process.returncode == 2
        assert 'pass@10 needs at least 10 samples of every task, and "q1" has only 1' in process.stderr

    @pytest.mark.usefixtures("own_cache")
    def test_an_interrupted_run_resumes_from_the_cache(self, tmp_path):
        tasks = self._task(tmp_path)
        path = self._predictions(tmp_path, q1="```python\ndef solution(x):\n    return 4\n```", q2="nothing")
        words = [path, "--data", tasks, *BUBBLEWRAP]
        first, second = grade(*words), grade(*words)
        assert (first.returncode, second.returncode) == (0, 0), first.stderr + second.stderr
        sandbox = json.loads((tmp_path / "p_results.json").read_text())["provenance"]["sandbox"]
        assert sandbox["verdicts_from_cache"] == sandbox["programs"] == 2


@pytest.mark.bubblewrap
def test_the_number_of_workers_changes_no_verdict(tmp_path):
    """With two, one lints while the other lets accepted programs answer."""
    import grader
    from grader.observer import Silent

    class Phases(Silent):
        def __init__(self) -> None:
            self.names: list[str] = []

        def phase(self, name, total):
            self.names.append(name)

    signature = "def solution(x):\n"
    tasks = tmp_path / "tasks.jsonl"
    rows = [
        {"qid": "q1", "function_signature": signature, "test_script": "assert solution(1) == 4\n"},
        {"qid": "q2", "function_signature": signature, "test_script": "assert solution(lambda: 1) is None\n"},
    ]
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    bodies = ["return 4", "return undefined", "return 5", "while True:\n        pass", "raise SystemExit(0)"]
    texts = [f"```python\ndef solution(x):\n    {body}\n```" for body in bodies]
    texts += ["```python\nFOUR = 4\ndef solution(x):\n    return FOUR\n```", "```python\ndef solution(x:\n```"]
    read = []
    for workers in (1, 2):
        shown = Phases()
        options = {"sandbox": "bubblewrap", "workers": workers, "cache": False, "timeout": 1, "observer": shown}
        report = grader.grade({"q1": texts, "q2": texts}, data=tasks, **options)
        read.append([(s.official.outcome, s.official.rule, s.careful.outcome, s.careful.rule) for s in report.samples])
        # Beside the linter, the calls are recorded without being shown.
        assert ("recording calls" in shown.names) is (workers == 1)
    assert read[0] == read[1]
    outcomes = [careful for *_, careful, _ in read[0][:7]]
    assert outcomes == ["passed", "lint_failed", "failed", "timeout", "error", "passed", "lint_failed"]


@pytest.mark.bubblewrap
def test_nothing_runs_beside_its_tests_before_everything_is_confirmed(tmp_path):
    """What a program learns from its tests, no confirming run comes after."""
    import grader
    from grader.observer import Silent

    class Phases(Silent):
        names: list[str] = []

        def phase(self, name, total):
            self.names.append(name)

    tasks = tmp_path / "tasks.jsonl"
    signature = "def solution(x):\n"
    row = {"qid": "q1", "function_signature": signature, "test_script": "assert solution(1) == 4\n"}
    tasks.write_text(json.dumps(row) + "\n")
    code = "FOUR = 4\ndef solution(x):\n    return FOUR"
    texts = {"q1": [f"```python\n{code}\n```", "```python\ndef solution(x):\n    return 4\n```"]}
    report = grader.grade(texts, data=tasks, sandbox="bubblewrap", workers=1, cache=False, observer=Phases())
    assert [sample.careful.outcome for sample in report.samples] == ["passed", "passed"]
    assert Phases.names == ["linting", "recording calls", "answering", "judging", "running official tests"]


@pytest.mark.bubblewrap
def test_a_task_whose_programs_are_all_refused_has_no_right_calls(tmp_path):
    """It counts as 0 in the mean over tasks; without it, the mean would be too high."""
    import grader

    signature = "def solution(x):\n"
    tests, right = "assert solution(1) == 4\n", "def solution(x):\n    return 4\n"
    row = {"function_signature": signature, "test_script": tests, "ground_truth_solution": right}
    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text("".join(json.dumps({"qid": qid, **row}) + "\n" for qid in ("q1", "q2")))
    refused = "```python\ndef solution(x):\n    return undefined\n```"
    texts = {"q1": [f"```python\n{right}```"], "q2": [refused]}
    report = grader.grade(texts, data=tasks, sandbox="bubblewrap", workers=1)
    assert [sample.careful.outcome for sample in report.samples] == ["passed", "lint_failed"]
    metric = report.metric("calls_right", "careful")
    assert (metric.value, metric.n) == (50, 2)
