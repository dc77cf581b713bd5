"""Careful minus official, paired by item."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from grader.cli import main
from grader.decisions.readings import careful_minus_official, in_words
from grader.scorers.means import each_task, metric_rows
from grader.statistics.paired import difference
from tests.conftest import ROOT
from tests.made_runs import of_sample, report, sample


def test_a_difference_of_readings_is_paired_by_item() -> None:
    samples = [
        sample(f"q{n}", "correct" if n < 60 else "wrong", official="correct" if n < 50 else "wrong") for n in range(100)
    ]
    made = report(samples, metric_rows(samples, "accuracy", each_task), scorer="multiple_choice")
    found = careful_minus_official(made)["accuracy"]
    assert found == difference([1] * 50 + [0] * 50, [1] * 60 + [0] * 40)
    # The intervals of the two readings overlap widely; the paired one does not even come near 0.
    assert found.ci95[0] > 4
    assert in_words(made)[0].startswith(
        "Careful minus official, paired by item: accuracy +10.0 points (95 % interval +"
    )


@pytest.mark.parametrize("benchmark", ["mmbench", "mr-ben"])
def test_the_differences_of_the_bundled_samples_are_those_of_their_values(benchmark: str) -> None:
    made = of_sample(benchmark)
    for name, moved in careful_minus_official(made).items():
        official, careful = made.metric(name, "official"), made.metric(name, "careful")
        if official.bounds is careful.bounds is msgspec.UNSET:
            assert moved.value == pytest.approx(careful.number - official.number)


SAMPLE = ROOT / "benchmarks" / "mmlu-pro" / "sample"


def compare(folder: Path, *words: str) -> list[str]:
    answers = shutil.copy(SAMPLE / "predictions.json", folder)
    data = ["-b", "mmlu-pro", "--data", str(SAMPLE / "questions.jsonl")]
    return ["compare", str(answers), "--readings", *data, *words]


def test_every_reading_has_its_accuracy_and_the_items_that_differ(tmp_path: Path) -> None:
    written, page = tmp_path / "readings.json", tmp_path / "readings.html"
    done = CliRunner().invoke(main, compare(tmp_path, "-o", str(written), "-o", str(page)), env={"COLUMNS": "120"})
    assert done.exit_code == 0, done.output
    assert "simple-evals = simple-evals-multilingual" in done.output, "readings that read all alike are shown as one"
    assert "lmms-eval-0.7.1" not in done.output.partition("The credit depends on the reading")[2]
    assert "4 readings side by side" in page.read_text()
    found = json.loads(written.read_text())
    rows = {row["reader"]: (row["value"], row["unread"], row["differing"]) for row in found["rows"]}
    assert rows["careful"] == (100, 0, 0)
    assert rows["mmlu-pro"] == (75, 1, 1)
    assert rows["simple-evals"] == (0, 3, 4)
    assert found["rows"][0]["reader"] == "careful"
    fourth = next(item for item in found["items"] if item["qid"] == "4")
    assert (fourth["answers"]["mmlu-pro"], fourth["answers"]["simple-evals"]) == ("B", "D")
    assert "mmlu-pro" in fourth["right"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["compare", "{}", "{}", "--readings"], "one prediction file and --readings"),
        (["compare", "{}", "--readings"], "name the benchmark"),
        (["compare", "{}", "--readings", "-b", "mmlu-pro", "-o", "x.csv"], "written as .json or .html"),
    ],
)
def test_other_arguments_are_refused(words: list[str], message: str, tmp_path: Path) -> None:
    answers = shutil.copy(SAMPLE / "predictions.json", tmp_path)
    done = CliRunner().invoke(main, [word.format(answers) for word in words])
    assert done.exit_code != 0
    assert message in done.output + str(done.exception)
