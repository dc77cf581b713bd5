"""Results files: what is read back is what grading wrote, and nothing that would make a gate decide on nonsense."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.errors import InputError, UsageError
from grader.files.compact_json import encode_indented
from grader.results import Report, UnscoredCounts
from grader.results import file as results_file
from grader.scorers.registry import fact_types
from tests.made_runs import SAMPLES, choice, mr_ben, of_sample, report, sample


def read_report(path: Path) -> Report:
    return results_file.read_report(path, fact_types)


@pytest.mark.parametrize("benchmark", SAMPLES)
def test_what_grading_writes_reads_back(benchmark: str, tmp_path: Path) -> None:
    path = tmp_path / "x_results.json"
    path.write_bytes(encode_indented(of_sample(benchmark)))
    assert read_report(path) == of_sample(benchmark)
    assert encode_indented(read_report(path)) == path.read_bytes()


def test_a_file_that_is_no_results_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.json: cannot be read: No such file"):
        read_report(tmp_path / "gone.json")
    other = tmp_path / "predictions.json"
    for data in (b"[]", b"", b"\xff\xfe", b"[" * 100_000, b'{"x": ' + b"[" * 100_000, b'{"schema": "1"}'):
        other.write_bytes(data)
        with pytest.raises(InputError, match=r"not a results file .* give the `_results.json` that grading wrote"):
            read_report(other)


@pytest.mark.parametrize("data", [encode_indented(choice([True], schema=2)), b'{"schema": 2, "runs": []}'])
def test_another_schema_is_said_to_be_one(data: bytes, tmp_path: Path) -> None:
    later = tmp_path / "later_results.json"
    later.write_bytes(data)
    with pytest.raises(
        InputError, match=r"\$\.schema: 2; this version of grade reads schema 1; grade the predictions again$"
    ):
        read_report(later)


def test_a_file_that_cannot_be_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    path, whole = tmp_path / "a_results.json", encode_indented(choice([True]))
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(
        InputError, match=r"a_results\.json: not a results file .*truncated.*grade the predictions again$"
    ):
        read_report(path)
    path.write_bytes(encode_indented(choice([True], scorer="mine")))
    with pytest.raises(UsageError, match=r"a_results\.json: scoring = 'mine': unknown scorer"):
        read_report(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r["samples"][1]["careful"].update(credit=-3), "$.samples[1].careful.credit: -3 is not between"),
        (lambda r: r["samples"][0].update(sample=-1), "$.samples[0].sample: -1 is not a valid position"),
        (lambda r: r["samples"].append(r["samples"][0]), "sample 0 is a duplicate"),
        (lambda r: r["samples"][0]["careful"].update(outcome="unscored"), "$.unscored: 0, but 1 samples are"),
        (
            lambda r: r["unscored_by_reading"].update(official=1),
            "$.unscored_by_reading: official 0 and careful 0 are unscored",
        ),
    ],
)
def test_a_file_that_was_changed_by_hand_is_refused(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    made = json.loads(encode_indented(choice([True, False])))
    change(made)
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(made))
    with pytest.raises(InputError) as caught:
        read_report(path)
    assert str(caught.value).startswith(f"{path}: $.")
    assert message in str(caught.value)
    assert caught.value.problems[-1].endswith("Grade the predictions again.")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda extra: extra.update(gold=1),
            r"not a results file \(Expected `str`.*at `\$\.samples\[0\]\.extra\.gold`",
        ),
        (lambda extra: extra.pop("gold"), r"missing required field `gold` - at `\$\.samples\[0\]\.extra`"),
        (lambda extra: extra.clear(), "missing required field `gold`"),
    ],
)
def test_what_a_scorer_keeps_about_a_sample_is_checked_when_the_file_is_read(
    change: Callable[[dict[str, Any]], object], message: str, tmp_path: Path
) -> None:
    made = json.loads(encode_indented(mr_ben([("s", "q", True, True, True, True)])))
    change(made["samples"][0]["extra"])
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(made))
    with pytest.raises(InputError, match=message):
        read_report(path)


@pytest.mark.parametrize("asked", [{"f1_of": ["area=a"]}, {"f1_of": ["a", "b", "c"]}, {"k": [0]}])
def test_a_file_that_asks_for_a_metric_that_cannot_be_is_refused(asked: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(json.loads(encode_indented(choice([True, False]))) | {"aggregation": asked}))
    with pytest.raises(InputError, match="f1_of needs two groups, and each k is at least 1"):
        read_report(path)


def test_a_sample_without_what_its_metrics_are_made_of_is_refused(tmp_path: Path) -> None:
    made = json.loads(encode_indented(mr_ben([("s", "q", True, True, True, True)])))
    del made["samples"][0]["extra"]
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(made))
    with pytest.raises(InputError, match=r"\$\.samples\[0\]\.extra: missing"):
        read_report(path)


# --- unscored, by reading -----------------------------------------------------------------------------------------


def test_what_is_unscored_is_counted_by_reading_and_survives_writing(tmp_path: Path) -> None:
    made = report([sample("a", "unscored", official="correct"), sample("b", "unscored"), sample("c", "correct")])
    path = tmp_path / "x_results.json"
    path.write_bytes(encode_indented(made))
    again = read_report(path)
    assert (again.unscored, again.unscored_by_reading) == (2, UnscoredCounts(official=1, careful=2))
