"""The metrics that a declaration asks for, of every scorer: values by hand, their bounds, and what is refused."""

import math
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from grader.decisions.comparison import check_comparable
from grader.errors import GradeError, UsageError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Aggregation, Metric, Report
from grader.scorers import aggregates
from grader.scorers.pairing import MetricComparison, Side
from grader.scorers.registry import scorer_of
from tests.made_runs import choice, report, sample, tasks
from tests.own import own

CHOICE = """
scoring = "multiple_choice"
letters = "AB"
columns = { id = "id", question = "q", answer = "answer", groups = ["area", "place"] }
protocols.p.reader = "vlmevalkit-2026-06"
"""


def graded(
    folder: Path, declared: str, rows: list[dict[str, Any]], replies: dict[str, list[str]], **options: Any
) -> Report:
    """Grade replies to rows of a benchmark of its own."""
    file = own(folder, declared, rows, replies)
    return grade(file, Options(benchmark=str(folder), **options), Silent()).report


def questions(right: dict[str, list[bool]]) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Return rows, by `area/place`, and replies of which these are right."""
    rows, replies = [], {}
    for name, answers in right.items():
        area, place = name.split("/")
        for good in answers:
            qid = f"q{len(rows)}"
            rows.append(
                {"id": qid, "q": "Which?", "A": "red", "B": "blue", "answer": "A", "area": area, "place": place}
            )
            replies[qid] = ["A" if good else "B"]
    return rows, replies


def found(made: Report, name: str, group: str | None = None) -> float | None:
    metric = made.metric(name, "careful", group)
    return None if metric is None else metric.value


@pytest.mark.parametrize(
    ("levels", "group", "value"),
    [
        ('"area"', None, (5 / 8 + 1) / 2),
        ('["area", "place"]', None, ((1 + 1 / 2) / 2 + 1) / 2),
        ('["area", "place"]', "area=flat", (1 + 1 / 2) / 2),
        ('["area", "place"]', "area=deep", None),
        ('"area"', "area=flat", None),
    ],
)
def test_labels_count_alike_on_each_level(levels: str, group: str | None, value: float | None, tmp_path: Path) -> None:
    rows, replies = questions({"flat/a": [True] * 2, "flat/b": [True] * 3 + [False] * 3, "deep/c": [True]})
    made = graded(tmp_path, f"mean_over = {levels}\n{CHOICE}", rows, replies)
    assert found(made, "macro_accuracy", group) == (None if value is None else pytest.approx(100 * value))
    assert made.metrics[0].name == "macro_accuracy"
    assert found(made, "accuracy") == pytest.approx(100 * 6 / 9)


def test_f1_is_the_harmonic_mean_of_two_groups_and_their_mean_over_labels(tmp_path: Path) -> None:
    declared = CHOICE.replace("groups", "groups").replace('"place"]', '"place"]') + (
        'derived.kind = { source = "place", values = { c = "correct" }, otherwise = "erroneous" }\n'
    )
    right = {"flat/a": [True, False], "flat/c": [True] * 3 + [False], "deep/b": [False], "deep/c": [True]}
    rows, replies = questions(right)
    made = graded(tmp_path, f'f1_of = ["kind=erroneous", "kind=correct"]\n{declared}', rows, replies)
    errors, correct = 1 / 3, 4 / 5
    assert found(made, "f1") == pytest.approx(100 * 2 * errors * correct / (errors + correct))
    assert found(made, "f1", "area=flat") == pytest.approx(100 * 2 * 0.5 * 0.75 / 1.25)
    assert found(made, "f1", "area=deep") == 0
    assert found(made, "accuracy", "kind=erroneous") == pytest.approx(100 / 3)
    declared = f'mean_over = "area"\nf1_of = ["kind=erroneous", "kind=correct"]\n{declared}'
    mean = graded(tmp_path, declared, rows, replies)
    assert found(mean, "f1") == pytest.approx(100 * 0.6 / 2)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (
            'mean_over = "subject"\n',
            "mean_over: there is no grouping 'subject'; `groups` and `derived` have area, place",
        ),
        ('f1_of = ["kind=a", "kind=b"]\n', "f1_of: there is no grouping 'kind'"),
        ('f1_of = ["area=a"]\n', "f1_of"),
        ('f1_of = ["area", "area=a"]\n', "f1_of: expected FIELD=LABEL, found 'area'"),
        (
            'f1_of = ["kind=wrog", "kind=right"]\nderived.kind = { source = "area", values = { a = "right" }, '
            'otherwise = "wrong" }\n',
            "f1_of: kind has no label 'wrog'; its labels are right, wrong",
        ),
        (
            'derived.kind = { source = "aera", values = { a = "right" }, otherwise = "wrong" }\n',
            'no column "aera" (`derived.kind.source` in benchmark.toml)',
        ),
        (
            'mean_over = "kind"\nderived.kind = { source = "aera", values = { a = "right" } }\n',
            'no column "aera" (`derived.kind.source` in benchmark.toml)',
        ),
        (
            "together.pair.rows = 1\n",
            "name `columns`, an `id_pattern` with groups in parentheses, or `rows` (2 or more)",
        ),
        ('together.pair.columns = ["picture"]\n', "q0: no value in column picture"),
    ],
)
def test_a_metric_that_cannot_be_is_an_error(declared: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(GradeError) as caught:
        graded(tmp_path, declared + CHOICE, *questions({"flat/a": [True]}))
    assert message in str(caught.value)


def test_adjacent_rows_are_a_set_also_in_a_part_of_the_data(tmp_path: Path) -> None:
    rows, replies = questions({"flat/a": [True, True, False, True, True, True]})
    declared = f"together.pair.rows = 2\n{CHOICE}"
    assert found(graded(tmp_path, declared, rows, replies), "pair_accuracy") == pytest.approx(100 * 2 / 3)
    part = graded(tmp_path, declared, rows, replies, ids=("q1", "q2", "q3"))
    assert found(part, "pair_accuracy") == 50


def test_a_set_is_right_only_in_rounds_that_have_a_sample_of_each_of_its_tasks(tmp_path: Path) -> None:
    rows, replies = questions({"flat/a": [False, True, True, True]})
    replies |= {"q1": ["A", "A", "A"]}
    assert found(graded(tmp_path, f"together.pair.rows = 2\n{CHOICE}", rows, replies), "pair_accuracy") == 50


def test_programs_have_sets_and_means_too() -> None:
    made = tasks([10, 0, 5], samples=10)
    labels = {"t0": "a", "t1": "a", "t2": "b"}
    made = report(
        [one.__class__(**{name: getattr(one, name) for name in one.__struct_fields__} | {
            "groups": {"area": labels[one.qid]}, "together": {"family": labels[one.qid]}}) for one in made.samples],
        scorer="execution", benchmark="humaneval-v", aggregation=Aggregation(mean_over=["area"]),
    )  # fmt: skip
    values = {(m.name, m.group): m.value for m in aggregates.with_declared_metrics(made, []) if m.reading == "careful"}
    assert values["macro_accuracy", None] == pytest.approx(50)
    assert values["family_accuracy", None] == pytest.approx(25)


def of(right: dict[str, list[bool | None]]) -> Report:
    """A run of questions by area, with the metric; None is unscored."""
    outcomes = {True: "correct", False: "wrong", None: "unscored"}
    samples = [
        sample(f"{area}{number}", outcomes[good], group=f"area={area}")
        for area, answers in right.items()
        for number, good in enumerate(answers)
    ]
    return report(samples, scorer="multiple_choice", aggregation=Aggregation(mean_over=["area"]))


def macro(made: Report) -> Metric:
    return next(
        m for m in aggregates.with_declared_metrics(made, scorer_of(made).metrics(made)) if m.reading == "careful"
    )


def test_unscored_samples_bound_a_mean_over_groups() -> None:
    metric = macro(of({"a": [True, None, False], "b": [True]}))
    assert metric.value == pytest.approx(75)
    assert metric.bounds == (pytest.approx(100 * (1 / 3 + 1) / 2), pytest.approx(100 * (2 / 3 + 1) / 2))


def test_a_set_with_an_unscored_task_is_unscored_even_if_another_one_is_wrong() -> None:
    made = of({"a": [True, True], "b": [False, True], "c": [False, None], "d": [True, None]})
    in_sets = [msgspec.structs.replace(one, together={"pair": one.qid[0]}) for one in made.samples]
    made = msgspec.structs.replace(made, samples=in_sets, aggregation=Aggregation())
    (pairs,) = [m for m in aggregates.with_declared_metrics(made, []) if (m.reading, m.group) == ("careful", None)]
    assert (pairs.value, pairs.n, pairs.dropped, pairs.bounds) == (50, 2, 2, (25, 50))


def test_one_label_is_its_own_mean() -> None:
    assert macro(of({"a": [True, False]})).value == 50


def test_the_interval_is_that_of_a_mean_of_independent_means() -> None:
    metric = macro(of({"a": [True] * 30 + [False] * 70, "b": [True] * 300 + [False] * 100}))
    assert metric.value == pytest.approx(52.5)
    assert metric.stderr == pytest.approx(100 * math.sqrt(0.3 * 0.7 / 100 + 0.75 * 0.25 / 400) / 2, rel=0.02)


def test_two_runs_are_compared_in_the_mean_over_groups() -> None:
    before, after = of({"a": [True] * 9 + [False], "b": [True] * 40}), of({"a": [False] * 10, "b": [True] * 40})
    found = change(before, after, "macro_accuracy")
    assert found is not None
    assert (found.before, found.after) == (pytest.approx(95), pytest.approx(50))
    assert (found.difference.value, found.difference.differing) == (pytest.approx(-45), 9)
    assert change(choice([True]), choice([True]), "macro_accuracy") is None


def change(before: Report, after: Report, name: str) -> MetricComparison | None:
    return scorer_of(after).compare(Side(before, "careful"), Side(after, "careful"), name)


def of_kinds(first: list[bool | None], second: list[bool | None]) -> Report:
    """A run of questions of two areas, with the F1 of their accuracies."""
    made = of({"a": first, "b": second})
    return msgspec.structs.replace(made, aggregation=Aggregation(f1_of=["area=a", "area=b"]))


def test_two_runs_are_compared_in_the_f1_of_two_groups() -> None:
    before = of_kinds([True] * 10 + [False] * 30, [True] * 30 + [False] * 10)
    after = of_kinds([True] * 20 + [False] * 20, [True] * 30 + [False] * 9 + [None])
    found = change(before, after, "f1")
    assert found is not None
    was, now = 2 * 0.25 * 0.75 / 1, 2 * 0.5 * (30 / 39) / (0.5 + 30 / 39)
    kept = 2 * 0.25 * (30 / 39) / (0.25 + 30 / 39)  # on the pairs that both runs scored
    assert macro(before).value == pytest.approx(100 * was)
    assert (found.before, found.after) == (pytest.approx(100 * kept), pytest.approx(100 * now))
    difference = found.difference
    assert (difference.n, difference.differing) == (79, 10)
    assert difference.value == pytest.approx(100 * (now - kept))
    assert difference.p_value == pytest.approx(2 / 2**10)
    assert difference.ci95[0] > 0
    same = change(before, before, "f1")
    assert same is not None
    assert same.difference.p_value == 1


def test_runs_whose_f1_is_of_other_groups_are_not_compared() -> None:
    before = of_kinds([True, False], [True, True])
    after = msgspec.structs.replace(before, aggregation=Aggregation(f1_of=["area=b", "area=c"]))
    with pytest.raises(UsageError, match="cannot be compared: `mean_over` or `f1_of`"):
        check_comparable(before, after)


@pytest.mark.parametrize(
    ("declared", "name", "absent"),
    [
        ('f1_of = ["area=flat", "area=b"]\n', "f1", "area=b"),
        ('mean_over = "size"\nderived.size = { source = "q", values = { Why = "s" } }\n', "macro_accuracy", "size"),
    ],
)
def test_a_group_without_a_task_is_noted(declared: str, name: str, absent: str, tmp_path: Path) -> None:
    made = graded(tmp_path, declared + CHOICE, *questions({"flat/a": [True]}))
    note = f"There is no {name}: no graded task has {absent} (`mean_over`, `f1_of` in benchmark.toml)."
    assert note in [one.text for one in made.notes]
    assert name not in {metric.name for metric in made.metrics}


def test_a_declared_f1_replaces_that_of_yes_and_no(tmp_path: Path) -> None:
    declared = """
scoring = "answer"
kind = "yes_no"
f1_of = ["area=a", "area=b"]
columns = { id = "id", answer = "answer", groups = ["area"] }
protocols.p.rule = "pope"
"""
    rows = [{"id": qid, "answer": "yes", "area": qid[0]} for qid in ("a1", "a2", "b1", "b2")]
    made = graded(tmp_path, declared, rows, {"a1": ["yes"], "a2": ["yes"], "b1": ["yes"], "b2": ["no"]})
    assert [(m.name, m.value) for m in made.metrics if m.reading == "careful" and m.group is None][:2] == [
        ("f1", pytest.approx(100 * 2 * 0.5 / 1.5)),
        ("accuracy", 75),
    ]
    assert_distinct(made)


def test_a_declared_set_replaces_a_metric_of_its_name(tmp_path: Path) -> None:
    rows, replies = questions({"flat/a": [True, False]})
    circular = CHOICE.replace("multiple_choice", "circular")
    rows = [row | {"id": row["id"].strip("q")} for row in rows]
    replies = {qid.strip("q"): texts for qid, texts in replies.items()}
    assert_distinct(graded(tmp_path, f"together.circular.rows = 2\n{circular}", rows, replies))


def assert_distinct(made: Report) -> None:
    assert len({(m.name, m.reading, m.group) for m in made.metrics}) == len(made.metrics)


def test_several_samples_have_any_of_k_and_all_of_k(tmp_path: Path) -> None:
    declared = """
scoring = "answer"
kind = "number"
columns = { id = "id", answer = "answer" }
protocols.p.rule = "exact"
"""
    rows = [{"id": "a", "answer": "1"}, {"id": "b", "answer": "2"}]
    replies = {"a": ["1", "1", "1", "0"], "b": ["2", "0", "0", "0"]}
    made = graded(tmp_path, declared, rows, replies)
    values = {m.name: m.value for m in made.metrics if m.reading == "careful"}
    assert values == {"accuracy": 50, "maj@4": 50, "pass@4": 100, "pass^4": 0}
    made = graded(tmp_path, declared, rows, replies, k=(2, 1, 2))
    names = [m.name for m in made.metrics if m.reading == "careful"]
    assert names == ["accuracy", "maj@4", "pass@1", "pass@2", "pass^2"]
    values = {m.name: m.value for m in made.metrics if m.reading == "careful"}
    assert values["pass@1"] == 50
    assert values["pass@2"] == pytest.approx(100 * (1 + 3 / 6) / 2)
    assert values["pass^2"] == pytest.approx(100 * (3 / 6 + 0) / 2)
    with pytest.raises(UsageError, match="-k 5: pass@5 needs at least 5 samples of every task, and one has only 4"):
        graded(tmp_path, declared, rows, replies, k=(5,))
    shutil.rmtree(tmp_path)


def test_every_metric_of_several_samples_counts_the_variants_of_a_task_as_one_cluster(tmp_path: Path) -> None:
    declared = """
scoring = "answer"
kind = "number"
columns = { id = "id", answer = "answer", cluster = "family" }
protocols.p.rule = "exact"
"""
    rows = [{"id": qid, "answer": "1", "family": qid[0]} for qid in ("a1", "a2", "b1", "b2", "c1", "c2")]
    made = graded(tmp_path, declared, rows, {row["id"]: ["0" if row["family"] == "a" else "1"] * 2 for row in rows})
    assert {m.name for m in made.metrics} == {"accuracy", "maj@2", "pass@2", "pass^2"}
    assert len({(m.value, m.n, m.stderr and round(m.stderr, 9)) for m in made.metrics}) == 1
