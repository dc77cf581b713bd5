"""A scorer in a package of its own: installed, and taken through everything that the core does for its own."""

import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from click.testing import CliRunner

from grader import resources
from grader.cli import main
from grader.errors import GradeError
from grader.scorers import registry
from tests.acceptance.command import Started, in_a_new_interpreter
from tests.docs.commands import commands_of

PACKAGE = Path(__file__).parent / "plugin"
DECLARATION = """
id = "sums"
name = "Sums"
scoring = "numeric"
default_split = "test"
default_protocol = "first-number"

[settings]
tolerance = 0.5

[columns]
id = "id"
question = "question"
answer = "answer"
working = "working"
groups = ["kind"]

[splits.test]
data = "questions.csv"

[protocols.first-number]
description = "the first number of a reply"
"""
QUESTIONS = """id,question,answer,working,kind
a,1 + 1?,2,one and one,easy
b,2 * 3?,6,,easy
c,10 / 4?,2.5,a quarter of ten,hard
"""
BEFORE = [
    {"qid": "a", "predictions": ["2"]},
    {"qid": "b", "predictions": ["2 times 3 is 6"]},
    {"qid": "c", "predictions": ["I do not know"]},
]
AFTER = [*BEFORE[:2], {"qid": "c", "predictions": ["10 / 4 = 2.4"]}]


# One worker has the package and its launcher.
pytestmark = pytest.mark.xdist_group("plugin")


@pytest.fixture(scope="module")
def site(tmp_path_factory, root):
    """Put the package into a folder of its own, as pip would (the page's is installed with pip)."""
    folder = tmp_path_factory.mktemp("site")
    shutil.copytree(PACKAGE / "grade_numeric", folder / "grade_numeric")
    ((group, scorers),) = tomllib.loads((PACKAGE / "pyproject.toml").read_text())["project"]["entry-points"].items()
    facts = folder / "grade_numeric-1.0.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text("Metadata-Version: 2.1\nName: grade-numeric\nVersion: 1.0\n")
    lines = [f"[{group}]", *(f"{name} = {place}" for name, place in scorers.items())]
    (facts / "entry_points.txt").write_text("\n".join(lines))
    return os.pathsep.join([str(folder), str(root)])


@pytest.fixture
def installed(site, monkeypatch):
    """Let commands find the package."""
    monkeypatch.setenv("PYTHONPATH", site)


@pytest.fixture
def inputs(tmp_path):
    """Make a folder with the benchmark `sums` and two prediction files."""
    folder = tmp_path / "sums"
    folder.mkdir()
    (folder / "benchmark.toml").write_text(DECLARATION)
    (folder / "questions.csv").write_text(QUESTIONS)
    (tmp_path / "before.json").write_text(json.dumps(BEFORE))
    (tmp_path / "after.json").write_text(json.dumps(AFTER))
    return tmp_path


@pytest.fixture
def grade(installed, inputs):
    """Run the command in the folder of the inputs."""

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        done = Started(*words, cwd=inputs).wait()
        assert done.returncode == code, done.stderr
        return done

    return run


def metric(path: Path, reading: str, group: str | None = None, name: str = "accuracy") -> float:
    """Return a metric of a results file."""
    rows = json.loads(path.read_text())["metrics"]
    (row,) = [row for row in rows if (row["name"], row["reading"], row["group"]) == (name, reading, group)]
    return row["value"]


def test_it_grades_both_readings_overall_and_by_group(grade, tmp_path):
    done = grade("after.json", "-b", "sums")
    results = tmp_path / "after_results.json"
    assert metric(results, "official") == pytest.approx(100 / 3)
    assert metric(results, "careful") == pytest.approx(100)
    assert metric(results, "careful", "kind=hard") == pytest.approx(100)
    assert "Wrong answers with a number: 1." in done.stderr
    assert metric(results, "official", name="within_one") == pytest.approx(100 / 3)
    assert json.loads(results.read_text())["scorer"] == "numeric"


def test_its_own_setting_is_typed_kept_and_compared(grade, tmp_path):
    grade("before.json", "-b", "sums")
    declaration = tmp_path / "sums" / "benchmark.toml"
    declaration.write_text(DECLARATION.replace("tolerance = 0.5", "tolerance = 0.01"))
    stale = grade("before.json", "-b", "sums", "--score-only", code=2)
    assert "before.json were made with other [settings]" in stale.stderr
    grade("after.json", "-b", "sums")
    results = tmp_path / "after_results.json"
    assert metric(results, "careful") == pytest.approx(200 / 3)
    assert json.loads(results.read_text())["provenance"]["settings"] == {"tolerance": 0.01}
    refused = grade("compare", "before_results.json", "after_results.json", code=2)
    assert "different settings" in refused.stderr
    declaration.write_text(DECLARATION.replace("tolerance = 0.5", "margin = 1"))
    unknown = grade("after.json", "-b", "sums", code=2)
    assert "unknown field `margin` - at `$.settings`" in unknown.stderr


def test_a_gate_decides_on_it_and_two_runs_are_compared(grade, tmp_path):
    grade("before.json", "-b", "sums")
    gates = ("--fail-under", "accuracy:kind=hard=100", "--baseline", "before_results.json", "--max-drop", "60")
    met = grade("after.json", "-b", "sums", *gates, "--fail-under", "within_one=100")
    assert met.stderr.count("GATE MET") == 3
    unknown = grade("after.json", "-b", "sums", "--fail-under", "within=1", code=2)
    assert "no metric 'within'; it has accuracy, within_one" in unknown.stderr
    compared = grade("compare", "before_results.json", "after_results.json", "-o", "-")
    rows = json.loads(compared.stdout)
    assert [flip["item"] for flip in rows["risen"]] == ["c"]
    assert rows["metrics"][0]["difference"]["n"] == 3
    assert "within_one" in {row["name"] for row in rows["metrics"]}


def test_every_report_shows_it(grade, tmp_path):
    outputs = [f"report.{ending}" for ending in ("json", "csv", "md", "xml", "html")]
    grade("after.json", "-b", "sums", *(word for name in outputs for word in ("-o", name)))
    table = list(csv.DictReader((tmp_path / "report.csv").read_text().splitlines()))
    assert [row["careful_answer"] for row in table] == ["2", "6", "2.4"]
    assert "Official and careful differ on 2 of 3 samples" in (tmp_path / "report.md").read_text()
    assert 'tests="3"' in (tmp_path / "report.xml").read_text()
    assert "<h1>Sums</h1>" in (tmp_path / "report.html").read_text()
    (tmp_path / "sums").rename(tmp_path / "elsewhere")
    grade("leaderboard", "after_results.json", "-o", "leaderboard.html")
    assert ">Sums · test · first-number: accuracy</h2>" in (tmp_path / "leaderboard.html").read_text().replace(
        "<wbr>", ""
    )


def test_it_is_listed_shown_and_checked(grade):
    assert "Sums (scorer numeric)" in grade("show", "sums").stdout
    shown = grade("show", "sums", "c").stdout
    assert "a quarter of ten" in shown
    assert "3 questions of sums" in grade("check", "after.json", "-b", "sums").stdout
    assert "numeric" in grade("list").stdout


def test_data_that_its_scorer_refuses_is_an_error_with_its_place(grade, tmp_path):
    path = tmp_path / "sums" / "questions.csv"
    path.write_text(path.read_text().replace("2.5", "much"))
    refused = grade("after.json", "-b", "sums", code=2)
    assert "questions.csv:4: no number in column answer" in refused.stderr
    path.write_text(QUESTIONS.replace("answer", "result"))
    missing = grade("after.json", "-b", "sums", code=2)
    columns = '"id", "question", "result", "working", "kind"'
    assert f'questions.csv:2: no column "answer"; the columns are {columns} (also at' in missing.stderr


def test_its_samples_have_the_groups_and_the_families_of_their_tasks(grade, tmp_path):
    declaration = tmp_path / "sums" / "benchmark.toml"
    declaration.write_text(DECLARATION.replace('groups = ["kind"]', 'groups = ["kind"]\ncluster = "kind"'))
    grade("after.json", "-b", "sums")
    samples = json.loads((tmp_path / "after_results.json").read_text())["samples"]
    assert [(one["groups"], one["family"]) for one in samples[1:]] == [
        ({"kind": "easy"}, "easy"),
        ({"kind": "hard"}, "hard"),
    ]


def test_an_error_in_its_code_is_not_one_of_grade(grade, site, tmp_path, monkeypatch):
    broken = tmp_path / "broken"
    shutil.copytree(PACKAGE / "grade_numeric", broken / "grade_numeric")
    with (broken / "grade_numeric" / "__init__.py").open("a") as code:
        code.write("\n_sample = None\n")
    monkeypatch.setenv("PYTHONPATH", f"{broken}{os.pathsep}{site}")
    failed = grade("after.json", "-b", "sums", code=3)
    assert "error of the scorer 'numeric', which is a package of its own (TypeError: 'NoneType' object" in failed.stderr


@pytest.mark.parametrize(
    ("written", "instead", "message"),
    [
        ("    sample_facts = NumericFacts\n", "", "does not name NumericFacts as its `sample_facts`"),
        ("    declaration = NumericBenchmark\n", "", "has no `declaration`"),
        ("credit=int(right)", "credit=2", "gives a #0 (official) the credit 2, which is not from 0 to 1"),
        (
            "credit=int(right)",
            "credit=right",
            "gives a #0 what a results file cannot hold: Expected `int | float | null`, got `bool`",
        ),
        ("credit=int(right)", "credit=0", "gives a #0.official: correct with credit 0"),
        ("sample=number", "sample=number + 1", "gives no result for a #0"),
        ("run.with_task_data(samples)", "run.with_task_data(samples[1:])", "gives no result for a #0"),
        ("run.with_task_data(samples)", "run.with_task_data(samples * 2)", "gives two results for a #0"),
        (
            "run.with_task_data(samples)",
            "(s for s in samples)",
            "returns generator; expected a ScorerOutput with a list",
        ),
        (
            "run.with_task_data(samples)",
            "run.with_task_data(samples), metrics=[]",
            "returns metrics with its samples",
        ),
        (
            "return float(",
            "return 100 * float(",
            "gives a #0 (official) the within_one 100.0, which is not from 0 to 1",
        ),
    ],
)
def test_what_breaks_its_results_file_is_refused(inputs, site, monkeypatch, written, instead, message):
    broken = inputs / "broken"
    shutil.copytree(PACKAGE / "grade_numeric", broken / "grade_numeric")
    code = broken / "grade_numeric" / "__init__.py"
    assert written in code.read_text()
    code.write_text(code.read_text().replace(written, instead))
    for folder in (*site.split(os.pathsep)[:1], str(broken)):
        monkeypatch.syspath_prepend(folder)
    monkeypatch.chdir(inputs)
    _forget_package()
    try:
        refused = CliRunner().invoke(main, ["after.json", "-b", "sums"])
    finally:
        _forget_package()
    assert isinstance(refused.exception, GradeError)
    assert f"The scorer 'numeric' {message}" in str(refused.exception)


def test_its_results_have_the_order_of_the_predictions(inputs, site, monkeypatch):
    code = inputs / "other" / "grade_numeric" / "__init__.py"
    shutil.copytree(PACKAGE / "grade_numeric", code.parent)
    code.write_text(code.read_text().replace("run.with_task_data(samples)", "run.with_task_data(samples[::-1])"))
    monkeypatch.setenv("PYTHONPATH", f"{inputs / 'other'}{os.pathsep}{site}")
    for more in ([], ["--score-only"]):
        done = Started("after.json", "-b", "sums", *more, cwd=inputs).wait()
        assert done.returncode == 0, done.stderr
    samples = json.loads((inputs / "after_results.json").read_text())["samples"]
    assert [sample["qid"] for sample in samples] == ["a", "b", "c"]


def _forget_package():
    """Let the process look for the package, and import it, anew."""
    sys.modules.pop("grade_numeric", None)
    registry.scorer.cache_clear()
    resources.plugins.cache_clear()


def test_the_scorer_of_the_page_works_as_typed(tmp_path, monkeypatch, root):
    page = root / "docs/own-scorer.md"
    shown = re.findall(r"^`([\w./-]+)`:\n\n```\w+\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    for name, content in shown:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    written = (tmp_path / "grade-numbers" / "grade_numbers.py").read_text()
    assert len(written.splitlines()) <= 40
    assert set(re.findall(r"grader[\w.]*", written)) == {"grader.scorers.interface"}
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", "site", "./grade-numbers"]
    subprocess.run(install, check=True, capture_output=True, cwd=tmp_path)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path / "site"), str(root)]))
    listed, graded = (in_a_new_interpreter(*command.words, cwd=tmp_path) for command in commands_of(page))
    assert "numbers" in listed.stdout
    assert graded.returncode == 0, graded.stderr
    assert [metric(tmp_path / "sums_results.json", name) for name in ("official", "careful")] == [0, 100]
