"""Results files: what is read back is what grading wrote, and nothing that would make a gate decide on nonsense."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from grader.errors import InputError
from grader.files.results_file import encode_report, read_report
from tests.made_runs import SAMPLES, choice, of_sample

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize("benchmark", SAMPLES)
def test_what_grading_writes_reads_back(benchmark: str, tmp_path: Path) -> None:
    path = tmp_path / "x_results.json"
    path.write_bytes(encode_report(of_sample(benchmark)))
    assert read_report(path) == of_sample(benchmark)


def test_a_file_that_is_no_results_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.json: No such file"):
        read_report(tmp_path / "gone.json")
    other = tmp_path / "predictions.json"
    for data in (b"[]", b"", b"\xff\xfe", b"[" * 100_000, b'{"x": ' + b"[" * 100_000, b'{"schema": "1"}'):
        other.write_bytes(data)
        with pytest.raises(InputError, match=r"not a results file .* give the `_results.json` that grading wrote"):
            read_report(other)


@pytest.mark.parametrize("data", [encode_report(choice([True], schema=3)), b'{"schema": 3, "runs": []}'])
def test_another_schema_is_said_to_be_one(data: bytes, tmp_path: Path) -> None:
    later = tmp_path / "later_results.json"
    later.write_bytes(data)
    with pytest.raises(InputError, match=r"\$\.schema: 3; this version of grade reads 1 and 2$"):
        read_report(later)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["samples"][1]["careful"].update(credit=-3), "$.samples[1].careful.credit: -3.0 is not between"),
        (lambda r: r["samples"][0]["official"].update(credit=1e308), "$.samples[0].official.credit: 1e+308 is not"),
        (lambda r: r["samples"][0].update(sample=-1), "$.samples[0].sample: -1 is not a position"),
        (lambda r: r["samples"].append(r["samples"][0]), "sample 0 is a duplicate"),
        (lambda r: r["samples"][0]["careful"].update(outcome="unscored"), "$.unscored: 0, but 1 samples are"),
        (lambda r: r.update(unscored=-7), "$.unscored: -7, but 0 samples are"),
        (
            lambda r: r["unscored_by_reading"].update(official=1),
            "$.unscored_by_reading: official 0 and careful 0 are unscored",
        ),
    ],
)
def test_a_file_that_was_changed_by_hand_is_refused(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    made = json.loads(encode_report(choice([True, False])))
    change(made)
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(made))
    with pytest.raises(InputError) as caught:
        read_report(path)
    assert str(caught.value).startswith(f"{path}: $.")
    assert message in str(caught.value)
    assert caught.value.problems[-1].endswith("Grade the predictions again.")
