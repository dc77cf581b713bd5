"""The names of a run's files, and what a run refuses to replace."""

from pathlib import Path

import msgspec
import pytest

from grader.errors import UsageError
from grader.results.names import results_path, stem_of
from grader.results.outputs import Outputs
from grader.results.provenance import Provenance
from tests.made_runs import report
from tests.tables import each

NAMES = ["a.json", "a.jsonl", "a.csv", "a.tsv", "a.xlsx", "a.parquet", "a.eval", "a.json.gz", "a.csv.gz", "a.zip", "a"]


@each("name", NAMES)
def test_the_results_of_every_format_have_the_same_name(name: str) -> None:
    assert results_path(stem_of(Path("runs") / name)) == Path("runs/a_results.json")


def test_a_suffix_that_is_not_one_of_predictions_is_kept() -> None:
    assert results_path(stem_of(Path("model-v1.5"))).name == "model-v1.5_results.json"


def test_a_run_does_not_replace_the_results_of_another_file(tmp_path: Path) -> None:
    stem = tmp_path / "a"
    made = msgspec.structs.replace(report([]), provenance=Provenance(predictions="a.csv"))
    results_path(stem).write_bytes(msgspec.json.encode(made))
    with (
        Outputs() as refused,
        pytest.raises(UsageError, match=r"a_results.json has the results of a.csv, and would be replaced by those of"),
    ):
        refused.claim(stem, "a.json", judged=True)
    with Outputs() as allowed:
        allowed.claim(stem, "a.csv", judged=True)
