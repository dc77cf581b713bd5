"""Receipts hold for the machine that was tested, and no longer than it stays the same."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader import receipts
from grader.data.tables import Rows
from grader.errors import InfrastructureError
from grader.receipts import Receipt, Strength, Subject, subject_of, this_machine
from grader.reports.provenance import in_words
from grader.results import Provenance, Report, SelftestProvenance
from grader.scorers import declarations
from tests.selftest.made import SANDBOX

HERE = this_machine(SANDBOX)
SUBJECT = Subject(benchmark="humaneval-v", protocol="v2", declaration="toml", rows="d1")
OTHER_DATA = msgspec.structs.replace(SUBJECT, rows="d2")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def receipt(subject: Subject = SUBJECT, where: receipts.Machine = HERE, **fields: Any) -> Receipt:
    given: dict[str, Any] = {
        "at": "2026-11-22T00:10:05+00:00",
        "passed": True,
        "counts": {"reference": (8, 8)},
        "data": "tasks.jsonl",
        "data_digest": "d1",
        "load": 17.5,
    }
    return Receipt(subject=subject, machine=where, tested=SelftestProvenance(**given | fields))


def find(**fields: Any) -> SelftestProvenance | None:
    where = msgspec.structs.replace(HERE, **fields)
    return receipts.find(where, SUBJECT)


def test_a_receipt_is_found_again_with_all_that_it_says() -> None:
    receipts.keep(receipt())
    assert find() == msgspec.structs.replace(receipt().tested, same_data=True)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("grade", "0.0.9"),
        ("cpu", "another"),
        ("sandbox", "another image"),
        ("cpu_seconds", 9.0),
    ],
)
def test_a_receipt_is_void_once_anything_that_can_change_a_verdict_has_changed(field: str, value: Any) -> None:
    receipts.keep(receipt())
    assert find(**{field: value}) is None


def test_data_with_broken_references_does_not_damn_data_that_passed() -> None:
    receipts.keep(receipt())
    receipts.keep(receipt(subject=OTHER_DATA, at="2026-11-23T00:00:00+00:00", passed=False, problems=3))
    found = find()
    assert found.passed
    receipts.keep(receipt(at="2026-11-24T00:00:00+00:00", passed=False, problems=1))
    failed = find()
    assert not failed.passed


def test_a_subject_is_everything_that_a_self_test_tests() -> None:
    declared: Any = declarations.load("humaneval-v")
    rows = Rows(rows=[], origin="tasks.jsonl", digest="d1", whole="w1")
    first = subject_of(declared, "v2", rows)
    copied = msgspec.structs.replace(declared, folder="/elsewhere", bundled=False)
    assert subject_of(copied, "v2", rows) == first
    assert subject_of(msgspec.structs.replace(declared, unit="problem"), "v2", rows) != first
    assert subject_of(declared, "v2", msgspec.structs.replace(rows, whole="w2")) != first


def test_a_damaged_receipt_is_no_receipt() -> None:
    receipts.keep(receipt()).write_text('{"at": ')
    assert find() is None


# --- --require-selftest ---------------------------------------------------------------------------------------------


def report(tested: SelftestProvenance | None) -> Report:
    return Report(
        benchmark="humaneval-v",
        split="test",
        protocol="v2",
        metrics=[],
        samples=[],
        provenance=Provenance(sandbox=SANDBOX, selftest=tested),
    )


def test_a_run_without_one_is_told_what_changed_and_what_to_do() -> None:
    assert receipts.problem(report(msgspec.structs.replace(receipt().tested, same_data=True))) == ""
    receipts.keep(receipt(where=msgspec.structs.replace(HERE, sandbox="an older image")))
    said = receipts.problem(report(None))
    assert (
        "since the self-test of 2026-11-22 00:10 UTC, the version of grade, the machine, its sandbox, a limit" in said
    )
    assert "grade selftest -b humaneval-v" in said
    receipts.keep(receipt(passed=False, problems=1))
    assert "the self-test of 2026-11-22 00:10 UTC failed" in receipts.problem(report(find()))


def test_a_machine_that_was_never_tested_is_refused_before_anything_runs() -> None:
    declared = declarations.load("humaneval-v")
    with pytest.raises(
        InfrastructureError, match="no self-test of this benchmark and protocol was run on this machine"
    ):
        receipts.check_before(declared, "v2")
    subject = subject_of(declared, "v2")
    receipts.keep(receipt(subject=subject, where=msgspec.structs.replace(HERE, kernel="5.0")))
    with pytest.raises(InfrastructureError, match="the machine, its sandbox, a limit or"):
        receipts.check_before(declared, "v2")
    receipts.keep(receipt(subject=subject, where=msgspec.structs.replace(HERE, sandbox="not known before the run")))
    receipts.check_before(declared, "v2")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"passed": True, "same_data": True},
            "Self-tested on 2026-11-22 00:10 UTC on the machine that graded: 8 of 8 references pass.",
        ),
        (
            {"passed": False, "problems": 1},
            "The self-test on 2026-11-22 00:10 UTC on the machine that graded FAILED with 1 problem (8 of 8 references "
            "pass, tested with tasks.jsonl, not with the data of this run): do not trust these values before "
            "`grade selftest` passes.",
        ),
    ],
)
def test_reports_say_what_was_tested_and_with_which_data(fields: dict[str, Any], said: str) -> None:
    tested = SelftestProvenance(
        at="2026-11-22T00:10:05+00:00", counts={"reference": (8, 8)}, data="tasks.jsonl", **fields
    )
    assert in_words(tested) == said


@pytest.mark.parametrize(
    ("fields", "level"),
    [
        ({"mutants": 4, "passing": ["one"]}, "partial"),
        ({"mutants": 4, "passing": ["one", "another"]}, "weak"),
        ({"mutants": 2, "passing": ["one", "another"]}, "partial"),
        ({"mutants": 4, "passing": [], "stub_passes": True}, "weak"),
        ({"mutants": 0, "passing": []}, "unmeasured"),
    ],
)
def test_the_strength_of_tests_has_a_level(fields: dict[str, Any], level: str) -> None:
    assert Strength(**{"qid": "q1", "stub_passes": False} | fields).level == level


def test_strengths_hold_for_their_data_on_every_machine_and_the_newest_self_test_counts() -> None:
    strong = Strength(qid="q1", mutants=4, passing=[], stub_passes=False)
    weak = Strength(qid="q1", mutants=4, passing=["line 1: + becomes -"] * 4, stub_passes=False)
    elsewhere = msgspec.structs.replace(HERE, cpu="another")
    receipts.keep(msgspec.structs.replace(receipt(), strengths=[strong]))
    newer = receipt(where=elsewhere, at="2026-11-23T00:10:05+00:00")
    receipts.keep(msgspec.structs.replace(newer, strengths=[weak]))
    assert receipts.strengths("humaneval-v", "v2", "d1") == {"q1": weak}
    assert receipts.strengths("humaneval-v", "v2", "d2") == {}
    assert receipts.strengths("humaneval-v", "v1", "d1") == {}


def test_a_report_says_once_where_a_pass_shows_little() -> None:
    weak = Strength(qid="q1", mutants=4, passing=["line 1: + becomes -"] * 4, stub_passes=False)
    noted = msgspec.structs.replace(report(None), notes=["a note"])
    for _ in range(2):
        noted = msgspec.structs.replace(noted, notes=receipts.notes_with_strength(noted, {"q1": weak}))
    assert noted.notes == [
        "a note",
        "A pass shows little where the tests accept almost any program: q1 (1 of 1 tasks that a self-test has "
        "measured; `grade show humaneval-v ID` says what their tests let pass).",
    ]
    strong = msgspec.structs.replace(weak, passing=[])
    assert receipts.notes_with_strength(noted, {"q1": strong}) == ["a note"]
