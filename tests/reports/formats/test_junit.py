"""JUnit: a suite a category, a case an item, and nothing that a strict parser refuses."""

from xml.etree import ElementTree

import pytest
from hypothesis import given

from grader.results import Calls, FirstDifference, Metric, Outcome
from grader.scorers.choice.facts import ChoiceFacts, UnitOutcome
from tests.reports import made_reports as made
from tests.reports.shown import as_file
from tests.tables import each

UNSCORED = made.read("unscored", detail="no sandbox")


def parsed(data: bytes) -> ElementTree.Element:
    """Parse strictly, and check what the Jenkins and GitLab readers of the format rely on."""
    root = ElementTree.fromstring(data)
    assert root.tag == "testsuites"
    counted = ("tests", "failures", "errors", "skipped")
    sums = dict.fromkeys(counted, 0)
    for suite in root:
        assert suite.tag == "testsuite"
        tags = [child.tag for child in suite]
        assert tags == ["properties"] * tags.count("properties") + ["testcase"] * tags.count("testcase")
        assert tags.count("properties") <= 1
        found = {name: sum(case.find(tag) is not None for case in suite.iter("testcase"))
                 for name, tag in zip(counted[1:], ("failure", "error", "skipped"), strict=True)}  # fmt: skip
        assert {name: int(suite.attrib[name]) for name in counted} == {"tests": tags.count("testcase"), **found}
        times = [float(case.attrib["time"]) for case in suite.iter("testcase")]
        assert float(suite.attrib["time"]) == pytest.approx(sum(times), abs=0.002)
        for case in suite.iter("testcase"):
            assert {"name", "classname", "time"} == set(case.attrib)
            results = [child.tag for child in case]
            assert sorted(results) == sorted(set(results))
            assert set(results) <= {"failure", "error", "skipped", "system-out"}
            assert len(set(results) - {"system-out"}) <= 1
        for name in counted:
            sums[name] += int(suite.attrib[name])
    assert {name: int(root.attrib[name]) for name in counted} == sums
    return root


def verdict(data: bytes) -> str:
    """Return what became of the only case, with its message."""
    [case] = parsed(data).iter("testcase")
    return " | ".join(f"{child.tag}: {child.get('message') or child.text}" for child in case) or "passed"


def test_a_suite_a_category_and_a_case_a_task() -> None:
    report = made.report(
        [
            made.sample("q1", made.read("passed"), seconds=0.25, groups={"type": ["count", "draw"], "level": "1"}),
            made.sample("q2", made.read("failed", detail="assert 1 == 2\nin f"), seconds=0.5, groups={"type": "draw"}),
            made.sample("q3", made.read("passed"), UNSCORED, groups={"type": "draw"}),
        ],
        metrics=[
            Metric(name="pass@1", reading="official", value=66.66666666666667, n=3),
            Metric(name="pass@1", reading="careful", value=50.0, n=2),
            Metric(name="pass@1", reading="careful", group="type=draw", value=0.0, n=1),
        ],
    )
    gates = [
        made.gate("pass@1 >= 40", "met", "50.0 >= 40"),
        made.gate("pass@1 >= 60", "not met", "50.0 < 60"),
        made.gate("drop <= 1", "inconclusive", "3 items decide nothing"),
    ]
    assert (
        as_file("x.xml", report, gates).decode()
        == """\
<?xml version="1.0" encoding="utf-8"?>
<testsuites name="grade vstar" tests="6" failures="1" errors="1" skipped="1" time="0.75">
	<testsuite name="gates" tests="3" errors="1" failures="1" skipped="0" time="0.0">
		<testcase name="pass@1 &gt;= 40" classname="vstar.gates" time="0.0"/>
		<testcase name="pass@1 &gt;= 60" classname="vstar.gates" time="0.0">
			<failure message="50.0 &lt; 60" type="not met"/>
		</testcase>
		<testcase name="drop &lt;= 1" classname="vstar.gates" time="0.0">
			<error message="3 items decide nothing" type="inconclusive"/>
		</testcase>
	</testsuite>
	<testsuite name="type=count" tests="1" errors="0" failures="0" skipped="0" time="0.25">
		<properties>
			<property name="benchmark" value="vstar"/>
			<property name="split" value="test"/>
			<property name="protocol" value="lmms-eval-0.7.1"/>
			<property name="reading" value="careful"/>
			<property name="pass@1 (official)" value="66.66666666666667"/>
			<property name="pass@1 (careful)" value="50.0"/>
		</properties>
		<testcase name="q1" classname="vstar.count" time="0.25"/>
	</testsuite>
	<testsuite name="type=draw" tests="2" errors="0" failures="0" skipped="1" time="0.5">
		<properties>
			<property name="benchmark" value="vstar"/>
			<property name="split" value="test"/>
			<property name="protocol" value="lmms-eval-0.7.1"/>
			<property name="reading" value="careful"/>
			<property name="pass@1 (official)" value="66.66666666666667"/>
			<property name="pass@1 (careful)" value="50.0"/>
			<property name="pass@1 (careful) type=draw" value="0.0"/>
		</properties>
		<testcase name="q2" classname="vstar.draw" time="0.5">
			<system-out>failed
q2 #0: failed: assert 1 == 2
in f</system-out>
		</testcase>
		<testcase name="q3" classname="vstar.draw" time="0.0">
			<skipped message="unscored, which says nothing about the model: no sandbox (1 unscored)" type="unscored">\
q3 #0: unscored: no sandbox</skipped>
			<system-out>careful: unscored; official: passed</system-out>
		</testcase>
	</testsuite>
</testsuites>
"""
    )


def test_without_categories_the_benchmark_is_the_suite() -> None:
    root = parsed(as_file("x.xml", made.report([made.sample("q", made.read("correct"))])))
    assert [(suite.get("name"), case.get("classname")) for suite in root for case in suite.iter("testcase")] == [
        ("vstar", "vstar")
    ]
    assert list(parsed(as_file("x.xml", made.report()))) == []


@each(
    ("outcomes", "expected"),
    [
        (["passed", "failed", "timeout"], "system-out: 1 of 3 samples pass"),
        (
            ["failed", "timeout", "failed"],
            "system-out: 0 of 3 samples pass: 2 failed, 1 timeout\nq #0: failed\nq #1: timeout\nq #2: failed",
        ),
        (
            ["failed", "unscored"],
            "skipped: unscored, which says nothing about the model: infrastructure failed (1 failed, 1 unscored)"
            " | system-out: 0 of 2 samples pass",
        ),
        (["suspect"], "system-out: suspect\nq #0: suspect"),
    ],
)
def test_a_task_says_that_none_of_its_samples_passes_and_is_skipped_where_a_lost_one_might_have(
    outcomes: list[str], expected: str
) -> None:
    samples = [made.sample("q", made.read(outcome), number=number) for number, outcome in enumerate(outcomes)]
    assert verdict(as_file("x.xml", made.report(samples, scorer="circular"))) == expected


@each(("detail", "why"), [("", "the careful reading does not judge this task"), ("draws at random", "draws at random")])
def test_a_task_outside_the_careful_reading_is_skipped_and_nothing_failed(detail: str, why: str) -> None:
    outside = made.read("not_judged", detail=detail)
    data = as_file("x.xml", made.report([made.sample("q", made.read("passed"), outside)], scorer="execution"))
    assert verdict(data) == (
        f"skipped: not judged, which says nothing about the model: {why} (1 not_judged)"
        " | system-out: careful: not judged; official: passed"
    )
    assert parsed(data).find(".//skipped").get("type") == "not_judged"  # type: ignore[union-attr]


def test_a_question_with_a_lost_row_beside_one_outside_the_careful_reading_is_unscored() -> None:
    rows = [made.sample(f"u/{word}", made.read(word), unit="u") for word in ("not_judged", "unscored")]
    assert verdict(as_file("x.xml", made.report(rows))).startswith("skipped: unscored, which says nothing")


def test_a_question_of_several_rows_passes_where_a_round_of_them_is_all_right() -> None:
    right, wrong = made.read("correct"), made.read("wrong", "A")
    one = [made.sample("u/a", right, unit="u"), made.sample("u/b", wrong, unit="u")]
    assert verdict(as_file("x.xml", made.report(one))).startswith("system-out: 1 of 2 right: 1 wrong\n")
    mixed = [*one, made.sample("u/a", wrong, unit="u", number=1), made.sample("u/b", right, unit="u", number=1)]
    assert verdict(as_file("x.xml", made.report(mixed))).startswith("system-out: 0 of 2 rounds pass: 2 wrong\n")
    third = [*mixed, made.sample("u/a", right, unit="u", number=2), made.sample("u/b", right, unit="u", number=2)]
    assert verdict(as_file("x.xml", made.report(third))) == "system-out: 1 of 3 rounds pass"
    # The second round has one of the two rows: right as it is, it is no whole round.
    partial = [*one, made.sample("u/a", right, unit="u", number=1)]
    assert verdict(as_file("x.xml", made.report(partial))).startswith("system-out: 0 of 2 rounds pass")


@each(
    ("said", "expected"),
    [("correct", "passed"), ("wrong", "system-out: 1 of 2 right: 1 no_answer\n1000001 #0: no_answer\ngold answer: A")],
)
def test_of_a_circular_question_the_scorer_has_the_word(said: str, expected: str) -> None:
    # Officially, a pass that is missing does not count against its question.
    passes = [made.read("correct", "A"), made.read("no_answer", rule="missing")]
    facts = ChoiceFacts(gold="A", question=UnitOutcome(official=Outcome(said), careful=Outcome(said)))
    samples = [made.sample(str(1 + n * 1_000_000), reading, unit="1", facts=facts) for n, reading in enumerate(passes)]
    assert verdict(as_file("x.xml", made.report(samples, scorer="circular"))) == expected


@each(
    ("reading", "expected"),
    [
        ("careful", "system-out: suspect\nq #0: suspect\ncareful: failed; official: passed"),
        ("official", "system-out: official: passed; careful: failed"),
    ],
)
def test_the_reading_that_was_asked_for_decides_and_the_other_is_named_where_it_differs(
    reading: str, expected: str
) -> None:
    report = made.report([made.sample("q", made.read("passed"), made.read("suspect"))])
    assert verdict(as_file("x.xml", report, reading=reading)) == expected  # type: ignore[arg-type]


def test_with_all_gates_met_nothing_fails() -> None:
    report = made.report([made.sample("q1", made.read("wrong", "A"), facts=ChoiceFacts(gold="B"))])
    root = parsed(as_file("x.xml", report, [made.gate("accuracy >= 0", "met", "0 >= 0")]))
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("2", "0", "0")
    assert [said.text for said in root.iter("system-out")] == ["wrong\nq1 #0: wrong (answer A)\ngold answer: B"]


def test_details_are_bounded() -> None:
    samples = [made.sample("q", made.read("failed", detail="x" * 10_000), number=n) for n in range(200)]
    [said] = parsed(as_file("x.xml", made.report(samples))).iter("system-out")
    assert len(said.text) < 45_000
    assert said.text.endswith("\n... 180 more; all are in the results file.")


@each(
    ("text", "shown"),
    [
        ("nul \0 and \x1b[31m", "nul \ufffd and \ufffd[31m"),
        ("]]> & <b> 'q' \"q\"", "]]> & <b> 'q' \"q\""),
        ("line\r\nline\rline", "line\nline\nline"),
    ],
)
def test_untrusted_text_comes_back_as_text(text: str, shown: str) -> None:
    [case] = parsed(as_file("x.xml", made.report([made.sample("q", made.read("failed", detail=text))]))).iter(
        "testcase"
    )
    assert case.findtext("system-out") == f"failed\nq #0: failed: {shown}"


@given(made.any_text)
def test_any_text_anywhere_leaves_a_document_that_parses_with_the_same_structure(text: str) -> None:
    root = parsed(as_file("x.xml", made.hostile_report(text), made.hostile_gates(text)))
    assert len(root[0].findall("testcase")) == 4
    assert len(list(root.iter("testcase"))) == 6


def test_a_failure_has_the_first_call_that_is_answered_in_another_way() -> None:
    first = FirstDifference(call="solution(3)", expected="6", returned="5")
    calls = Calls(n=2, same=1, first=first)
    wrong = made.sample("q1", made.read("failed", detail="a test fails"), calls=calls)
    named = made.sample("q2", made.read("suspect", detail="passes, but solution(3) returned 5"), calls=calls)
    right = made.sample("q3", made.read("passed"), calls=calls)
    root = parsed(as_file("x.xml", made.report([wrong, named, right])))
    assert [said.text for said in root.iter("system-out")] == [
        "failed\nq1 #0: failed: a test fails\n  solution(3) returned 5, expected 6",
        "suspect\nq2 #0: suspect: passes, but solution(3) returned 5",
    ]
