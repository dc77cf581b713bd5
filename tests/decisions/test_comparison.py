"""Two runs of one benchmark, paired: what may be compared, how far metrics moved, and which items moved."""

from typing import Any

import msgspec
import pytest

from grader.decisions.comparison import (
    Comparison,
    Flip,
    RunName,
    check_comparable,
    compare,
    distinct_names,
    same_outputs,
)
from grader.errors import InputError, UsageError
from grader.results import Provenance, Report
from grader.scorers.means import each_observation, metric_rows
from grader.scorers.mr_ben.facts import MrBenRunFacts
from grader.wording import counted
from tests.made_runs import Row, choice, circular, figures, mr_ben, report, sample, tasks
from tests.tables import each


def questions(words: dict[str, str], **fields: Any) -> Report:
    """V* questions and their outcomes, with the metrics that the scorer makes."""
    groups = fields.pop("groups", {})
    samples = [sample(qid, word, group=groups.get(qid, "")) for qid, word in words.items()]
    return report(samples, metric_rows(samples, "accuracy", each_observation), **fields)


def flips(made: Comparison) -> tuple[list[str], list[str]]:
    return [flip.item for flip in made.risen], [flip.item for flip in made.fallen]


def test_a_metric_that_only_one_run_has_is_named() -> None:
    several, one = tasks([2, 0], 3), tasks([1, 0], 1)
    both = msgspec.structs.replace(several, metrics=[*several.metrics, *figures("pass@3", 50, 2)])
    said = "Not compared, because only one run has a value: pass@3."
    assert [said in compare(*pair).notes for pair in ((both, one), (one, both), (both, both))] == [True, True, False]


# --- what may be compared -----------------------------------------------------------------------------------------


@each(
    ("fields", "message"),
    [
        ({"benchmark": "mmbench"}, "benchmark 'vstar' and 'mmbench'"),
        ({"protocol": "v2"}, "protocol 'p' and 'v2'"),
        ({"provenance": Provenance()}, "they were graded against different data (d1 and unknown)"),
        ({"samples": []}, "the second one has no scored samples"),
    ],
)
def test_runs_of_different_things_are_refused(fields: dict[str, Any], message: str) -> None:
    before = choice([True, False], provenance=Provenance(data_digest="d1"))
    after = msgspec.structs.replace(before, **fields)
    for refuse in (check_comparable, compare):
        with pytest.raises(UsageError) as caught:
            refuse(before, after)
        stop = "" if message.endswith("samples") else "."
        assert str(caught.value).rstrip(".") + stop == f"These runs cannot be compared: {message}{stop}"


@each(
    ("before", "after"),
    [({"a": "correct"}, {"b": "correct"}), ({"a": "unscored", "b": "correct"}, {"a": "correct", "b": "unscored"})],
)
def test_runs_without_a_scored_item_in_common_are_refused(before: dict[str, str], after: dict[str, str]) -> None:
    with pytest.raises(UsageError, match=r"^These runs cannot be compared: no item is scored in both\.$"):
        compare(questions(before), questions(after))


# --- metrics ------------------------------------------------------------------------------------------------------


def test_metrics_are_means_over_the_items_that_both_runs_have() -> None:
    before = questions({"a": "correct", "b": "correct", "c": "wrong", "gone": "correct"})
    after = questions({"new": "wrong", "c": "correct", "b": "wrong", "a": "correct"})
    made = compare(before, after)
    (row,) = [m for m in made.metrics if m.reading == "careful"]
    assert (row.before, row.after) == pytest.approx((200 / 3, 200 / 3))
    assert (row.difference.value, row.difference.n, row.difference.differing) == (0, 3, 2)
    assert flips(made) == (["c"], ["b"])
    assert made.notes == [
        "1 item is only in the first run: excluded from all differences.",
        "1 item is only in the second run: excluded from all differences.",
    ]


ROWS = [("s", f"q{n // 2}", False, n % 2 == 0, n % 2 == 1, n % 2 == 1) for n in range(40)]
"""Two solutions a question, of which the first is read wrongly."""


@each(
    ("before", "lost"),
    [
        (circular([[True, True], [True, False]]), {"g1.1"}),
        (mr_ben(ROWS), {f"q{n // 2}/{n}" for n in range(2, 40, 4)}),
    ],
)
def test_an_item_of_which_a_run_has_only_some_passes_or_solutions_is_left_out_and_counted(
    before: Report, lost: set[str]
) -> None:
    after = msgspec.structs.replace(before, samples=[one for one in before.samples if one.qid not in lost])
    number = len({sample.observation for sample in before.samples}) // 2
    for pair in ((before, after), (after, before)):
        made = compare(*pair)
        assert {(row.difference.value, row.difference.n) for row in made.metrics} == {(0, number)}
        assert flips(made) == ([], [])
        assert [note for note in made.notes if "with different parts" in note] == [
            f"{counted(number, 'item')} with different parts (passes, solutions) in the runs: excluded from all "
            "differences."
        ]


def test_unscored_items_are_left_out_and_counted() -> None:
    before = questions({"a": "correct", "b": "unscored", "c": "correct"})
    after = questions({"a": "wrong", "b": "correct", "c": "unscored"})
    made = compare(before, after)
    assert {(row.before, row.after, row.difference.n) for row in made.metrics} == {(100, 0, 1)}
    assert flips(made) == ([], ["a"])
    assert made.notes == [
        "1 sample of the first run is unscored: excluded from the differences of all metrics.",
        "1 sample of the second run is unscored: excluded from the differences of all metrics.",
    ]


def test_a_weighted_mean_of_the_pairs_does_not_depend_on_items_that_one_run_lost() -> None:
    """Questions with four passes weigh more than those with two, and only of these some are lost."""
    before = circular([[True, True]] * 20 + [[True, False, False, False]] * 20)
    lost = {f"g{n}" for n in range(10)}
    samples = [
        sample(one.qid, "unscored", unit=one.observation) if one.observation in lost else one for one in before.samples
    ]
    metrics = figures("vanilla_accuracy_all_passes", 50, 40)
    first, second = (msgspec.structs.replace(before, samples=s, metrics=metrics) for s in (before.samples, samples))
    for pair in ((first, second), (second, first)):
        for row in compare(*pair).metrics:
            # Ten questions with two right passes each, and twenty with one of four.
            assert (row.before, row.after) == pytest.approx((40, 40))
            assert (row.difference.value, row.difference.n, row.difference.differing) == (0, 30, 0)


def test_unscored_rows_of_mr_ben_did_not_fall() -> None:
    before = mr_ben([("s", "q1", False, False, True, True), ("s", "q2", False, False, True, True)])
    after = mr_ben([("s", "q1", False, False, True, None), ("s", "q2", False, True, False, False)])
    assert flips(compare(before, after)) == ([], ["q2"])
    earned = [("s", "q1", False, False, True, True), ("s", "q1", False, True, False, False)]
    lost = [("s", "q1", False, False, True, None), ("s", "q1", False, True, False, False)]
    assert flips(compare(mr_ben(earned), mr_ben(lost))) == ([], [])


def test_a_flip_shows_the_outcomes_of_the_rows_that_both_runs_scored() -> None:
    before = mr_ben([("s", "q1", False, False, True, None), ("s", "q1", False, False, True, True)])
    after = mr_ben([("s", "q1", False, False, True, True), ("s", "q1", False, True, False, False)])
    assert compare(before, after).fallen == [Flip(item="q1", before=1, after=0, outcomes=(["correct"], ["wrong"]))]


def test_both_readings_are_compared_and_flips_follow_the_one_asked_for() -> None:
    before = report([sample("a", "correct", official="wrong")], figures("accuracy", 50, 1))
    after = report([sample("a", "wrong", official="correct")], figures("accuracy", 50, 1))
    made = compare(before, after)
    assert {row.reading: (row.before, row.after) for row in made.metrics} == {"official": (0, 100), "careful": (100, 0)}
    assert flips(made) == ([], ["a"])
    assert flips(compare(before, after, reading="official")) == (["a"], [])


def test_flips_go_from_the_furthest_to_the_nearest_and_say_what_happened() -> None:
    made = compare(tasks([2, 2, 0, 1], samples=2), tasks([1, 0, 2, 1], samples=2))
    assert made.risen == [Flip(item="t2", before=0, after=1, outcomes=(["failed", "failed"], ["passed", "passed"]))]
    assert made.fallen == [
        Flip(item="t1", before=1, after=0, outcomes=(["passed", "passed"], ["failed", "failed"])),
        Flip(item="t0", before=1, after=0.5, outcomes=(["passed", "passed"], ["passed", "failed"])),
    ]
    (careful,) = [row for row in made.metrics if row.reading == "careful"]
    assert (careful.before, careful.after, careful.difference.test) == (62.5, 50, "paired permutation")


def test_a_circular_group_is_one_item() -> None:
    made = compare(circular([[True] * 4, [True] * 4]), circular([[True, False, False, True], [True] * 4]))
    outcomes = ["correct"] * 4, ["correct", "wrong", "wrong", "correct"]
    assert made.fallen == [Flip(item="g0", before=1, after=0, outcomes=outcomes)]
    assert {(row.difference.n, row.difference.differing, row.difference.value) for row in made.metrics} == {(2, 1, -50)}


def test_the_headlines_groups_are_compared_and_a_group_without_a_common_item_is_passed_over() -> None:
    groups = {"a": "c=x", "b": "c=x", "d": "c=y", "e": "c=y"}
    before = questions({"a": "correct", "b": "correct", "d": "correct"}, groups=groups)
    after = questions({"a": "correct", "b": "wrong", "e": "correct"}, groups=groups)
    rows = [(row.group, row.before, row.after) for row in compare(before, after).metrics if row.reading == "careful"]
    assert rows == [(None, 100, 50), ("c=x", 100, 50)]


def test_a_breakdown_of_very_many_labels_is_not_compared() -> None:
    words = {str(n): "correct" for n in range(41)}
    made = questions(words, groups={qid: f"id={qid}" for qid in words})
    assert [row.group for row in compare(made, made).metrics] == [None, None]


def test_mr_score_moves_by_the_difference_of_the_metrics() -> None:
    rows = [(f"s{n % 2}", f"q{n}", n % 3 == 0, n % 3 == 0, n % 3 != 0, n % 5 == 1) for n in range(40)]
    worse = [(*row[:3], not row[3], False, False) if n % 6 == 1 else row for n, row in enumerate(rows)]
    before, after = mr_ben(rows), mr_ben(worse)
    made = compare(before, after)
    assert {row.name for row in made.metrics} == {"mr_score", "mcc", "acc_step", "acc_reason", "precision", "recall"}
    assert {row.group for row in made.metrics} == {None, "subject=s0", "subject=s1"}
    for row in made.metrics:
        assert row.after - row.before == pytest.approx(row.difference.value)
        assert row.difference.n == (40 if row.group is None else 20)
    assert flips(made) == ([], ["q1", "q31"])


def test_a_run_with_weights_for_other_parts_is_an_input_error() -> None:
    whole = mr_ben([("s", "q", True, True, True, True)])
    odd = msgspec.structs.replace(whole, facts=MrBenRunFacts(weights={"mcc": 1, "style": 2}))
    with pytest.raises(InputError, match="weights"):
        compare(odd, odd)


# --- the same outputs ---------------------------------------------------------------------------------------------


@each(("first", "second", "same"), [("x", "x", True), ("x", "y", False), (None, None, False)])
def test_the_same_outputs_are_known_by_their_digest(first: str | None, second: str | None, same: bool) -> None:
    before, after = (choice([True], provenance=Provenance(predictions_digest=d)) for d in (first, second))
    assert same_outputs(before, after) is same
    assert ("Both runs graded the same outputs." in compare(before, after).notes) is same


# --- many categories ----------------------------------------------------------------------------------------------


def test_the_first_metric_is_not_corrected_and_the_page_says_what_was_done() -> None:
    words = {f"q{n}": "correct" if n < 60 else "wrong" for n in range(100)}
    worse = {qid: "wrong" if qid in {f"q{n}" for n in range(8)} else word for qid, word in words.items()}
    names = {f"q{n}": f"category={'xyz'[n % 3]}" for n in range(100)}
    made = compare(questions(words, groups=names), questions(worse, groups=names))
    first, *others = [row for row in made.metrics if row.reading == "careful"]
    assert (first.group, first.corrected, first.is_significant) == (None, None, True)
    assert all(row.corrected is not None and row.corrected >= row.difference.p_value for row in others)
    assert made.notes[0].startswith("The p values of the other metrics and of the categories are corrected for 3")


def test_without_a_value_of_the_first_metric_all_p_values_are_corrected_and_the_page_says_so() -> None:
    rows: list[Row] = [("s", f"q{n}", n % 3 == 0, n % 2 == 0, True, True) for n in range(6)]
    lost: list[Row] = [(*rows[0][:3], False, None, None), *rows[1:]]
    made = compare(mr_ben(rows), mr_ben([(*row[:5], None) for row in lost]))
    assert made.metrics[0].name != "mr_score"
    assert all(row.corrected is not None for row in made.metrics)
    assert "The p value of" not in made.notes[0]
    assert "The p values are corrected for" in made.notes[0]


@each(
    ("paths", "model", "names"),
    [
        (["a/step1/p_results.json", "a/step2/p_results.json"], "", ["step1", "step2"]),
        (["x/1/p_results.json", "y/1/p_results.json", "x/2/p_results.json"], "", ["x/1", "y/1", "x/2"]),
        (["p_results.json", "a/p_results.json"], "", ["p", "a/p"]),
        (["step1/p_results.json", "step2/p_results.json"], "tiny", ["tiny (step1)", "tiny (step2)"]),
        (["", ""], "tiny", ["tiny", "tiny"]),
    ],
)
def test_runs_that_are_called_alike_are_named_by_the_part_of_their_paths_that_differs(
    paths: list[str], model: str, names: list[str]
) -> None:
    runs = [RunName(results=path, predictions="p.json", model=model) for path in paths]
    assert [run.short for run in distinct_names([*runs, RunName(name="other")])] == [*names, "other"]
