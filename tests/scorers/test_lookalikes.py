"""A wrong `-b` or `--data` is answered with the benchmark that the files look like, and nothing is graded on that."""

import json
from pathlib import Path

import pytest

from grader.errors import InputError
from grader.predictions.read import read_predictions
from grader.scorers import declarations
from grader.scorers.lookalikes import suggest_other_benchmark

DATA = {
    "humaneval": "tasks.jsonl",
    "humaneval-v": "tasks.jsonl",
    "vstar": "questions.jsonl",
    "mmbench": "questions.tsv",
    "mr-ben": "data",
}


def said(declared: str, predictions: Path, data: Path | None) -> str:
    """What an error becomes where the files are those of another benchmark than the declared one."""
    file = read_predictions(predictions)
    with pytest.raises(InputError) as caught, suggest_other_benchmark(declarations.load(declared), file, data):
        raise InputError(["wrong"])
    return str(caught.value)


def predictions_of(root: Path, name: str) -> Path:
    return root / "benchmarks" / name / "sample" / "predictions.json"


def data_of(root: Path, name: str) -> Path:
    return root / "benchmarks" / name / "sample" / DATA[name]


@pytest.mark.parametrize("own", sorted(DATA))
@pytest.mark.parametrize("declared", sorted(DATA))
def test_data_and_predictions_name_the_benchmark_that_was_meant_and_never_the_one_that_was_given(
    root: Path, declared: str, own: str
) -> None:
    text = said(declared, predictions_of(root, own), data_of(root, own))
    if declared == own:
        assert text == "wrong"
    elif (declared, own) == ("mmbench", "vstar"):  # the ids of V*'s questions could be those of MMBench's
        assert text == "wrong\nThe data looks like that of vstar: did you mean -b vstar, or another --data?"
    else:
        wanted = f"The data and the predictions look like those of {own}: did you mean -b {own}?"
        assert text == f"wrong\n{wanted}"


@pytest.mark.parametrize(
    ("declared", "data", "hint"),
    [
        (
            "vstar",
            "humaneval-v",
            "The data looks like that of humaneval-v, but the predictions look like those of vstar: is --data right?",
        ),
        ("vstar", "mmbench", "The data looks like that of mmbench: did you mean -b mmbench, or another --data?"),
    ],
)
def test_where_only_the_data_is_wrong_the_benchmark_is_not_doubted(
    root: Path, declared: str, data: str, hint: str
) -> None:
    assert said(declared, predictions_of(root, declared), data_of(root, data)) == f"wrong\n{hint}"


def test_where_only_the_benchmark_of_the_predictions_differs_they_name_it(root: Path, tmp_path: Path) -> None:
    predictions = tmp_path / "p.json"
    predictions.write_text('[{"qid": "Mbpp/2", "predictions": ["x"]}, {"qid": "Mbpp/3", "predictions": ["x"]}]')
    text = said("humaneval", predictions, data_of(root, "humaneval"))
    assert text == "wrong\nThe predictions look like those of mbpp-plus: did you mean -b mbpp-plus?"


def test_a_benchmark_of_ones_own_is_not_doubted_because_of_its_ids(root: Path, tmp_path: Path) -> None:
    declaration = (root / "benchmarks" / "vstar" / "benchmark.toml").read_text()
    lines = [line for line in declaration.splitlines() if not line.startswith("id_pattern")]
    (tmp_path / "benchmark.toml").write_text("\n".join(lines).replace('id = "vstar"', 'id = "mine"', 1))
    table = tmp_path / "table.csv"
    table.write_text("number,words\n1,x\n")
    own = str(tmp_path)
    assert said(own, predictions_of(root, "vstar"), table) == "wrong"
    assert said(own, predictions_of(root, "mmbench"), data_of(root, "mmbench")) == (
        "wrong\nThe data looks like that of mmbench: did you mean -b mmbench, or another --data?"
    )


def test_data_with_most_columns_of_a_benchmark_can_have_more_of_another_one(tmp_path: Path) -> None:
    """HumanEval+ is also published with its inputs as one program of tests, as HumanEval has them."""
    data = tmp_path / "HumanEvalPlus-OriginFmt.jsonl"
    columns = ("task_id", "prompt", "canonical_solution", "entry_point", "test")
    data.write_text(json.dumps(dict.fromkeys(columns, "x")))
    predictions = tmp_path / "predictions.json"
    predictions.write_text('[{"qid": "HumanEval/0", "predictions": ["x"]}]')
    text = said("humaneval-plus", predictions, data)
    assert text == "wrong\nThe data looks like that of humaneval: did you mean -b humaneval, or another --data?"


def test_predictions_alone_name_every_benchmark_whose_ids_they_could_have(root: Path) -> None:
    text = said("humaneval-v", predictions_of(root, "vstar"), None)
    look = "gsm8k, mbpp, mmbench, mmlu-pro, mmmu, mmstar, pope or vstar"
    assert text == f"wrong\nThe predictions look like those of {look}: did you mean one of these (-b NAME)?"
    assert said("humaneval-v", predictions_of(root, "humaneval-v"), None) == "wrong"
