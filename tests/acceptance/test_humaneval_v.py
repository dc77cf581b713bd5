"""HumanEval-V from file to report, as a user runs it, in each sandbox."""

import json
import shutil

import pytest

from tests.acceptance import bundled
from tests.acceptance.command import grade
from tests.acceptance.test_code_benchmarks import outcomes
from tests.conftest import BACKENDS

BUBBLEWRAP = ["--sandbox", "bubblewrap", "--workers", "1"]


# Docker is left to `make test-slow`: tests/sandbox tests both sandboxes.
@pytest.mark.parametrize(
    "backend", [pytest.param(*BACKENDS[0].values, marks=[*BACKENDS[0].marks, pytest.mark.slow]), BACKENDS[1]]
)
def test_every_sample_gets_both_expected_readings(backend, once):
    """The bundled sample: right, wrong, unparsable, slow and hostile answers."""
    folder = bundled.humaneval_v(once, backend)
    expected = json.loads((bundled.SAMPLE / "expected.json").read_text())
    for reading in ("official", "careful"):
        assert outcomes(folder / "predictions.json", reading) == expected["outcomes"][reading]
    output, said = json.loads((folder / "said.json").read_text())
    assert "Official and careful differ on" in said
    assert "The report" not in said, "a report that lacks questions or pictures says so"
    assert output == ""


@pytest.mark.bubblewrap
@pytest.mark.usefixtures("own_cache")
class TestSample:
    """What is made of the bundled sample's results later."""

    @pytest.fixture
    def graded(self, tmp_path, once):
        shutil.copytree(bundled.humaneval_v(once), tmp_path, dirs_exist_ok=True)
        return tmp_path / "predictions.json"

    def test_score_only_gives_the_same_figures_and_another_k_without_a_sandbox(self, graded):
        path = graded
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
        path = graded
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

    def test_an_executed_file_without_results_needs_the_fields_of_the_predictions_once(self, graded):
        path = graded
        path.with_name("predictions_results.json").unlink()
        records = json.loads(path.read_text())
        rows = [{"nr": record["qid"], "text": text} for record in records for text in record["predictions"]]
        path.write_text(json.dumps(rows))
        words = (path, *bundled.WORDS[:4], "--score-only")
        for more in (("--fields", "id=nr,reply=text"), ()):
            again = grade(*words, *more)
            assert again.returncode == 0, again.stderr

    def test_a_part_that_is_scored_again_from_its_executed_file_alone_is_a_part(self, graded):
        path = graded
        words = (path, *bundled.WORDS[:4], "--limit", "1", *BUBBLEWRAP)
        assert grade(*words).returncode == 0
        results = next(path.parent.glob("*_part-*_results.json"))
        part = json.loads(results.read_text())["part"]
        results.unlink()
        assert grade(*words, "--score-only").returncode == 0
        assert part["of"] == 8
        assert json.loads(results.read_text())["part"] == part

    def test_an_executed_file_without_results_is_scored_for_a_file_of_positions(self, graded):
        path = graded
        path.with_name("predictions_results.json").unlink()
        texts = [record["predictions"] for record in json.loads(path.read_text())]
        rows = {position: {"origin_prompt": "?", "prediction": each} for position, each in enumerate(texts)}
        path.write_text(json.dumps(rows))
        for source in ("the executed file", "the results file that this wrote"):
            again = grade(path, *bundled.WORDS[:4], "--score-only")
            assert again.returncode == 0, (source, again.stderr)

    def test_the_executed_file_has_the_official_layout(self, graded):
        path = graded
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
        rows = [
            {"qid": qid, "function_signature": "def solution(x):\n", "test_script": f"assert solution(2) == {wanted}\n"}
            for qid, wanted in (("q1", 4), ("q2", 5))
        ]
        tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
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

    def test_a_missing_task_is_an_error_or_counts_as_not_passed_where_that_is_asked_for(self, tmp_path):
        tasks = self._task(tmp_path)
        path = self._predictions(tmp_path, q1="```python\ndef solution(x):\n    return 4\n```")
        process = grade(path, "--data", tasks, "--sandbox", "bubblewrap")
        assert process.returncode == 2
        assert "1 of 2 tasks without a prediction" in process.stderr
        assert "--missing wrong" in process.stderr
        assert sorted(p.name for p in tmp_path.iterdir()) == ["p.json", "tasks.jsonl"]
        process = grade(path, "--data", tasks, *BUBBLEWRAP, "--missing", "wrong")
        assert process.returncode == 0, process.stderr
        results = json.loads((tmp_path / "p_results.json").read_text())
        assert [m["value"] for m in results["metrics"] if m["name"] == "pass@1"] == [50, 50]

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
    import grader

    signature = "def solution(x):\n"
    tasks = tmp_path / "tasks.jsonl"
    rows = [
        {"qid": "q1", "function_signature": signature, "test_script": "assert solution(1) == 4\n"},
        {"qid": "q2", "function_signature": signature, "test_script": "assert solution(lambda: 1) is None\n"},
    ]
    tasks.write_text("".join(json.dumps(row) + "\n" for row in rows))
    bodies = ["return 4", "return undefined", "return 5", "raise SystemExit(0)"]
    texts = [f"```python\ndef solution(x):\n    {body}\n```" for body in bodies]
    texts += ["```python\nFOUR = 4\ndef solution(x):\n    return FOUR\n```", "```python\ndef solution(x:\n```"]
    read = []
    for workers in (1, 2):
        options = {"sandbox": "bubblewrap", "workers": workers, "cache": False, "timeout": 1}
        report = grader.grade({"q1": texts, "q2": texts}, data=tasks, **options)
        read.append([(s.official.outcome, s.official.rule, s.careful.outcome, s.careful.rule) for s in report.samples])
    assert read[0] == read[1]
    outcomes = [careful for *_, careful, _ in read[0][:6]]
    assert outcomes == ["passed", "lint_failed", "failed", "error", "passed", "lint_failed"]
