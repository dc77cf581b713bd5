"""The ledger counts verdicts that were reached twice, and bounds how many of them change."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from grader.cli import run
from grader.results import Outcome
from grader.selftest import ledger, second_opinion
from grader.selftest.ledger import Check, Flake, Rate
from tests.selftest.made import faultless, plan, reading

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def flake(qid: str, sample: int = 0, name: str = "careful") -> Flake:
    return Flake(qid=qid, sample=sample, program="p", reading=name, verdicts=("passed", "timeout"))


def check(checked: dict[str, int], *flakes: Flake, **fields: Any) -> Check:
    given: dict[str, Any] = {
        "at": "2026-11-22T00:10:05+00:00",
        "source": "second opinion",
        "benchmark": "humaneval-v",
        "protocol": "v2",
        "data_digest": "d1",
        "sandboxes": ("docker (Python 3.12.4)", "bubblewrap (Python 3.12.4)"),
        "load": 1.5,
    }
    return Check(checked=checked, flakes=list(flakes), **given | fields)


def test_none_of_300_means_at_most_one_percent() -> None:
    assert ledger.upper_bound(0, 300) == pytest.approx(1 - 0.05 ** (1 / 300))
    assert 0.0099 < ledger.upper_bound(0, 300) < 0.01
    assert ledger.upper_bound(0, 0) == 1
    assert ledger.upper_bound(5, 5) == 1


@pytest.mark.parametrize("rate", [0.002, 0.02, 0.3])
def test_the_bound_holds_in_95_of_100_simulated_ledgers(rate: float) -> None:
    draw = random.Random(7)
    missed = sum(ledger.upper_bound(sum(draw.random() < rate for _ in range(300)), 300) < rate for _ in range(1000))
    # Exact bounds miss in at most 5 %; 1,000 ledgers with that rate miss in more than 67 once in 200 times.
    assert missed <= 67


def test_checks_are_kept_in_order_and_damaged_lines_are_passed_over() -> None:
    first, second = check({"q1": 3}), check({"q2": 1}, flake("q2"))
    ledger.add(first)
    with ledger.path().open("ab") as file:
        file.write(b'{"at": \n')
    ledger.add(second)
    assert list(ledger.read()) == [first, second]


def test_a_sample_that_changes_in_both_readings_counts_once() -> None:
    found = ledger.rate([check({"q1": 3, "q2": 7}, flake("q1"), flake("q1", name="official"), flake("q1", 1))])
    assert found == Rate(flips=2, checked=10)


def test_tasks_that_flip_come_worst_first_with_all_their_checks() -> None:
    checks = [check({"q1": 4, "q2": 2}, flake("q1")), check({"q2": 2, "q3": 9}, flake("q2"), flake("q2", 1))]
    assert ledger.by_task(checks) == {"q2": Rate(flips=2, checked=4), "q1": Rate(flips=1, checked=4)}


def test_a_report_names_known_flaky_tasks_of_its_own_data_only() -> None:
    ledger.add(check({"q1": 4, "q2": 2}, flake("q1")))
    assert ledger.note("humaneval-v", "d1", ["q1", "q2"]) == [
        "Known flaky tasks (their verdicts changed when samples were graded again): q1 (1 of 4); see `grade flakes`."
    ]
    assert ledger.note("humaneval-v", "d1", ["q2"]) == []
    assert ledger.note("humaneval-v", "another", ["q1"]) == []
    assert ledger.note("vstar", "d1", ["q1"]) == []


def test_the_command_shows_rates_tasks_and_flakes(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["flakes"]) == 0
    assert "No verdict has been checked a second time yet" in capfd.readouterr().out
    ledger.add(check({"q1": 299, "q2": 1}, flake("q2")))
    assert run(["flakes"]) == 0
    said = capfd.readouterr().out.splitlines()
    assert said[0] == "humaneval-v: 1 of 300 verdicts changed, so at most 1.6 % of verdicts change (95 % confidence)"
    assert said[1] == "  q2: 1 of 1 verdicts changed, so at most 100 % of verdicts change (95 % confidence)"
    assert said[2] == (
        "2026-11-22 00:10 q2 #0 careful: passed -> timeout; program p; "
        "docker (Python 3.12.4) then bubblewrap (Python 3.12.4); load 1.5; second opinion"
    )


# --- second opinions --------------------------------------------------------------------------------------------------


def test_at_least_20_verdicts_and_every_timeout_are_looked_at_again() -> None:
    made = plan("humaneval-v")
    report = faultless(made)
    late = reading(False, outcome=Outcome.TIMEOUT)
    samples = [
        msgspec.structs.replace(sample, careful=late) if number < 5 else sample
        for number, sample in enumerate(report.samples)
    ]
    chosen = second_opinion.choose(msgspec.structs.replace(report, samples=samples), 1, random.Random(1))
    assert {(s.qid, s.sample) for s in samples[:5]} <= set(chosen)
    assert 20 <= len(chosen) <= 25
    assert len(second_opinion.choose(report, 50, random.Random(1))) == -(-len(samples) // 2)
    assert second_opinion.choose(report, 1, random.Random(1)) != second_opinion.choose(report, 1, random.Random(2))


def test_what_differs_is_a_flake_and_what_was_lost_is_not_counted() -> None:
    made = plan("humaneval-v")
    first = faultless(made)
    chosen = [("q1", 1), ("q1", 4), ("q2", 0)]
    graded = {(sample.qid, sample.sample): sample for sample in first.samples}
    lost = reading(False, outcome=Outcome.UNSCORED)
    again = [
        msgspec.structs.replace(graded["q1", 1], sample=0),
        msgspec.structs.replace(graded["q1", 4], sample=1, careful=reading(True)),
        msgspec.structs.replace(graded["q2", 0], sample=0, careful=lost),
    ]
    texts = {qid: [probe.prediction for probe in probes] for qid, probes in made.probes.items()}
    found = second_opinion.compare(first, msgspec.structs.replace(first, samples=again), chosen, texts)
    assert found.checked == {"q1": 2}
    (only,) = found.flakes
    assert (only.qid, only.sample, only.reading, only.verdicts) == ("q1", 4, "careful", ("failed", "passed"))
    assert only.program == ledger.program_hash(texts["q1"][4])
    assert "2 samples were graded again" in second_opinion.in_words(found)
    assert "1 changed (q1 #4 careful failed -> passed)" in second_opinion.in_words(found)


def test_the_command_refuses_an_output_that_it_cannot_write(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["flakes", "-o", str(tmp_path / "none" / "flakes.json")]) == 2
    said = capfd.readouterr()
    assert said.out == ""
    assert said.err.endswith(f"the folder {tmp_path / 'none'} does not exist; create it first.\n")
