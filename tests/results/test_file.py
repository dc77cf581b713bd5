"""Results files: what is read back is what grading wrote, and nothing that would make a gate decide on nonsense."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.errors import InputError
from grader.results import Report, UnscoredCounts
from grader.results.file import encode_report, read_report
from grader.scorers.registry import scorer, scorer_of
from tests.made_runs import SAMPLES, choice, of_sample, report, sample


@pytest.mark.parametrize("benchmark", SAMPLES)
def test_what_grading_writes_reads_back(benchmark: str, tmp_path: Path) -> None:
    path = tmp_path / "x_results.json"
    path.write_bytes(encode_report(of_sample(benchmark)))
    assert read_report(path) == of_sample(benchmark)
    assert encode_report(read_report(path)) == path.read_bytes()


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
    made = json.loads(encode_report(choice([True, False])))
    change(made)
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(made))
    with pytest.raises(InputError) as caught:
        read_report(path)
    assert str(caught.value).startswith(f"{path}: $.")
    assert message in str(caught.value)
    assert caught.value.problems[-1].endswith("Grade the predictions again.")


# --- schema 1 -----------------------------------------------------------------------------------------------------

SCHEMA_1 = Path(__file__).parent / "schema_1"
"""Results files of the bundled samples, as grade 0.1.0 wrote them."""
SCORERS = {"vstar": "multiple_choice", "mmbench": "circular", "mr-ben": "mr_score", "humaneval-v": "execution"}


def old(benchmark: str) -> Report:
    return read_report(SCHEMA_1 / f"{benchmark}_results.json")


@pytest.mark.parametrize("benchmark", SCORERS)
def test_a_file_of_schema_1_has_the_scorer_that_made_it_and_every_value_it_had(benchmark: str) -> None:
    written = json.loads((SCHEMA_1 / f"{benchmark}_results.json").read_bytes())
    made = old(benchmark)
    assert scorer_of(made) is scorer(SCORERS[benchmark])
    assert json.loads(msgspec.json.encode(made.metrics)) == [{"ci95": None, "stderr": None} | m | {"group": m["group"]}
                                                            for m in written["metrics"]]  # fmt: skip
    assert [(s.qid, s.sample, s.careful.credit, s.official.outcome) for s in made.samples] == [
        (s["qid"], s["sample"], s["careful"]["credit"], s["official"]["outcome"]) for s in written["samples"]
    ]
    environment = written["environment"]
    provenance = msgspec.to_builtins(made.provenance)
    for name in ("grade", "python", "data", "data_digest", "predictions", "predictions_digest"):
        assert provenance[name] == environment[name]
    assert made.baselines == environment.get("baselines", {})
    assert made.abbreviations == environment.get("abbreviations", {})
    assert provenance.get("judge", {}).get("source") == environment.get("judge")
    assert provenance["intervals"]["means"].startswith("percentile bootstrap over ")


@pytest.mark.parametrize("benchmark", SCORERS)
def test_a_file_of_schema_1_written_again_is_one_of_schema_2_that_says_the_same(benchmark: str, tmp_path: Path) -> None:
    path = tmp_path / "x_results.json"
    path.write_bytes(encode_report(old(benchmark)))
    assert json.loads(path.read_bytes())["schema"] == 2
    assert read_report(path) == old(benchmark)


@pytest.mark.parametrize("benchmark", SAMPLES)
def test_a_sample_graded_today_has_the_metrics_that_schema_1_has(benchmark: str) -> None:
    """Without MMBench's vanilla metrics: since then, VLMEvalKit's mean is over passes, and it has no option "None"."""
    now, then = (
        {(m.name, m.reading, m.group): (m.value, m.n) for m in made.metrics if not m.name.startswith("vanilla")}
        for made in (of_sample(benchmark), old(benchmark))
    )
    assert now == {name: (pytest.approx(value), n) for name, (value, n) in then.items()}


def test_an_endpoint_that_judged_is_known_of_schema_1(tmp_path: Path) -> None:
    written = json.loads((SCHEMA_1 / "mr-ben_results.json").read_bytes())
    written["environment"]["judge"] = {
        "model": "gpt-x", "endpoint": "https://api.example.com/v1", "questions": 12, "calls": 14, "cached": 1,
        "failed": 2, "prompt_tokens": 100, "completion_tokens": 50,
    }  # fmt: skip
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(written))
    judge = read_report(path).provenance.judge
    assert (judge.source, judge.model, judge.endpoint) == ("endpoint", "gpt-x", "https://api.example.com/v1")
    assert (judge.questions, judge.calls, judge.cached, judge.failed) == (12, 14, 1, 2)


# --- unscored, by reading -----------------------------------------------------------------------------------------


def test_what_is_unscored_is_counted_by_reading_and_survives_writing(tmp_path: Path) -> None:
    made = report([sample("a", "unscored", official="correct"), sample("b", "unscored"), sample("c", "correct")])
    path = tmp_path / "x_results.json"
    path.write_bytes(encode_report(made))
    again = read_report(path)
    assert (again.unscored, again.unscored_by_reading) == (2, UnscoredCounts(official=1, careful=2))


def test_schema_1_counted_no_reading_and_gets_its_counts_from_its_samples(tmp_path: Path) -> None:
    written = json.loads((SCHEMA_1 / "vstar_results.json").read_bytes())
    written["samples"][0]["careful"].update(outcome="unscored", credit=0)
    written["unscored"] = 1
    path = tmp_path / "x_results.json"
    path.write_text(json.dumps(written))
    assert read_report(path).unscored_by_reading == UnscoredCounts(official=0, careful=1)
