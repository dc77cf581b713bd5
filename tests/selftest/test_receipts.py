"""Receipts hold for the machine that was tested, and no longer than it stays the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from grader.errors import InfrastructureError
from grader.reports.selftested import in_words
from grader.results import Provenance, Report, SelftestProvenance
from grader.scorers import declarations
from grader.selftest import machine, receipts, required
from grader.selftest.machine import this_machine
from grader.selftest.receipts import Receipt
from tests.selftest.made import SANDBOX

if TYPE_CHECKING:
    from pathlib import Path

HERE = this_machine(SANDBOX)


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def receipt(**fields: Any) -> Receipt:
    given: dict[str, Any] = {
        "at": "2026-11-22T00:10:05+00:00",
        "benchmark": "humaneval-v",
        "protocol": "v2",
        "machine": HERE,
        "data": "tasks.jsonl",
        "data_digest": "d1",
        "passed": True,
        "problems": 0,
        "counts": {"reference": (8, 8)},
        "repeats": 1,
        "under_load": False,
        "load": 0.5,
    }
    return Receipt(**given | fields)


def find(**fields: Any) -> SelftestProvenance | None:
    where = msgspec.structs.replace(HERE, **fields)
    return receipts.find(where, "humaneval-v", "v2", "d1")


def test_a_receipt_is_found_again_with_all_that_it_says() -> None:
    receipts.keep(receipt())
    found = find()
    assert found is not None
    assert (found.passed, found.same_data, found.counts) == (True, True, {"reference": (8, 8)})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("grade", "0.0.9"),
        ("kernel", "6.0"),
        ("cpu", "another"),
        ("cores", 1000),
        ("backend", "bubblewrap"),
        ("sandbox", "another image"),
        ("runtime", "runsc"),
        ("python", "3.11.2"),
        ("cpu_seconds", 9.0),
        ("memory_bytes", 1 << 29),
    ],
)
def test_a_receipt_is_void_once_anything_that_can_change_a_verdict_has_changed(field: str, value: Any) -> None:
    receipts.keep(receipt())
    assert find(**{field: value}) is None
    changed = msgspec.structs.replace(HERE, **{field: value})
    assert receipts.why_void(changed, "humaneval-v", "v2").endswith(f"{machine.NAMES[field]} changed")


def test_every_field_of_a_machine_is_compared() -> None:
    assert set(machine.NAMES) == set(machine.Machine.__struct_fields__)


def test_the_load_is_recorded_and_not_compared() -> None:
    receipts.keep(receipt(load=17.5))
    found = find()
    assert found is not None
    assert found.load == 17.5


def test_a_test_of_other_data_speaks_for_the_machine_and_not_for_the_data() -> None:
    receipts.keep(receipt(data_digest="another"))
    found = find()
    assert found is not None
    assert not found.same_data


def test_a_test_of_the_same_data_is_preferred_to_a_newer_one_of_other_data() -> None:
    receipts.keep(receipt())
    receipts.keep(receipt(data_digest="another", at="2026-11-23T00:00:00+00:00"))
    found = find()
    assert found is not None
    assert found.same_data


def test_a_newer_test_that_failed_voids_one_that_passed() -> None:
    receipts.keep(receipt())
    receipts.keep(receipt(data_digest="another", at="2026-11-23T00:00:00+00:00", passed=False, problems=3))
    found = find()
    assert found is not None
    assert not found.passed


def test_a_test_that_failed_is_replaced_by_the_same_one_that_passes() -> None:
    receipts.keep(receipt(passed=False, problems=3))
    receipts.keep(receipt(at="2026-11-23T00:00:00+00:00"))
    assert len(list(receipts.folder().iterdir())) == 1
    found = find()
    assert found is not None
    assert found.passed


def test_another_protocol_and_another_benchmark_have_receipts_of_their_own() -> None:
    receipts.keep(receipt())
    assert receipts.find(HERE, "humaneval-v", "v1", "d1") is None
    assert receipts.find(HERE, "vstar", "v2", "d1") is None


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


def test_a_run_with_a_passed_self_test_meets_the_requirement() -> None:
    receipts.keep(receipt())
    assert required.problem(report(find())) == ""


def test_a_run_without_one_is_told_what_changed_and_what_to_do() -> None:
    receipts.keep(receipt(machine=msgspec.structs.replace(HERE, sandbox="an older image")))
    said = required.problem(report(None))
    assert "since the self-test of 2026-11-22 00:10 UTC, the sandbox image changed" in said
    assert "grade selftest -b humaneval-v" in said


def test_a_self_test_that_failed_does_not_meet_the_requirement() -> None:
    receipts.keep(receipt(passed=False, problems=1))
    assert "the self-test of 2026-11-22 00:10 UTC failed" in required.problem(report(find()))


def test_a_machine_that_was_never_tested_is_refused_before_anything_runs() -> None:
    declared = declarations.load("humaneval-v")
    with pytest.raises(
        InfrastructureError, match="no self-test of this benchmark and protocol was run on this machine"
    ):
        required.check_before(declared, "v2")
    receipts.keep(receipt(machine=msgspec.structs.replace(HERE, kernel="5.0")))
    with pytest.raises(InfrastructureError, match="the kernel changed"):
        required.check_before(declared, "v2")
    receipts.keep(receipt(machine=msgspec.structs.replace(HERE, sandbox="not known before the run")))
    required.check_before(declared, "v2")


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        (
            {"passed": True, "same_data": True},
            "Self-tested on 2026-11-22 00:10 UTC on the machine that graded: 8 of 8 references pass.",
        ),
        (
            {"passed": True},
            "Self-tested on 2026-11-22 00:10 UTC on the machine that graded: 8 of 8 references pass, tested with "
            "tasks.jsonl, not with the data of this run.",
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
