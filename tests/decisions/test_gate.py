"""Gates: how they are written, what becomes of them, and what is said about it."""

import functools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import msgspec
import pytest

from grader.decisions import gate
from grader.decisions.gate import GateResult, State, check_baseline, decide_all, exit_code
from grader.decisions.thresholds import FailUnder, MaxDrop, check_before_run, parse_fail_under, parse_max_drop
from grader.errors import UsageError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Metric, Provenance, Report
from grader.scorers.choice.scorer import MultipleChoice
from grader.scorers.execution import metrics as execution_metrics
from grader.scorers.interface import Scorer
from grader.scorers.means import each_observation, metric_rows
from grader.scorers.registry import scorer_of
from grader.statistics.paired import difference
from grader.wording import signed
from tests.made_runs import choice, circular, figures, mr_ben, of_sample, read, report, sample, tasks
from tests.tables import each

Sample = Callable[[str], tuple[Path, Path]]


def line(made: Report, text: str, **fields: Any) -> GateResult:
    (result,) = decide_all(made, thresholds=[parse_fail_under(text)], **fields)
    return result


def drop(baseline: Report, made: Report, text: str, **fields: Any) -> GateResult:
    (result,) = decide_all(made, baseline=baseline, drops=[parse_max_drop(text)], **fields)
    return result


def questions(words: dict[str, str], group: str = "", **fields: Any) -> Report:
    samples = [sample(qid, word, group=group) for qid, word in words.items()]
    metrics = metric_rows(samples, "accuracy", each_observation)
    return report(samples, metrics, **fields)


def mostly(right: int, wrong: int, **fields: Any) -> Report:
    return choice([True] * right + [False] * wrong, **fields)


# --- how they are written -----------------------------------------------------------------------------------------


@each(
    ("text", "name", "group", "value"),
    [
        ("accuracy=80", "accuracy", None, 80),
        (" pass@1=36.8 ", "pass@1", None, 36.8),
        ("mcc=-5", "mcc", None, -5),
        ("accuracy:category=relative_position=75", "accuracy", "category=relative_position", 75),
        ("accuracy:topic=a=b: c=7e1", "accuracy", "topic=a=b: c", 70),
    ],
)
def test_a_line_is_read(text: str, name: str, group: str | None, value: float) -> None:
    assert parse_fail_under(text) == FailUnder(name=name, group=group, value=value)


@each(
    "text",
    ["", "80", "accuracy", "accuracy=", "=80", "accuracy:category=75", "a b=1", "accuracy=nan", "accuracy==80"],
)  # fmt: skip
def test_what_is_no_line_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_fail_under(text)
    assert str(caught.value) == f"{text!r}: write it like accuracy=80, or accuracy:category=relative_position=75."


@each("text", ["accuracy=100.5", "mcc=-101"])
def test_a_threshold_that_no_percentage_can_have_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"metrics are percentages, from 0 to 100, so a threshold cannot be "):
        parse_fail_under(text)


@each(("text", "name", "value"), [("0", None, 0), ("pass@1=2.5", "pass@1", 2.5)])
def test_a_drop_is_read(text: str, name: str | None, value: float) -> None:
    assert parse_max_drop(text) == MaxDrop(name=name, value=value)


@each("text", ["", "accuracy=-1", "two", "nan", "a:c=x=2"])
def test_what_is_no_drop_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_max_drop(text)
    assert str(caught.value) == f"{text!r}: write it like 2 or pass@1=2, in points, or 3% of the baseline; not below 0."


# --- a line -------------------------------------------------------------------------------------------------------


@each(("right", "wrong", "at"), [(29, 71, 29), (1, 2, 33.333333333)])
def test_a_value_exactly_at_the_line_meets_it(right: int, wrong: int, at: float) -> None:
    made = questions({str(n): "correct" if n < right else "wrong" for n in range(right + wrong)})
    assert line(made, f"accuracy={at}").state == "met"
    assert line(made, f"accuracy={at + 0.001}").state == "not met"


def test_a_line_that_is_met_and_one_that_is_not_say_by_what_values() -> None:
    metrics = [Metric(name="accuracy", reading="careful", value=200 / 3, ci95=(58.25, 74.25), n=191)]
    made = report([sample("q", "correct")], metrics)
    assert line(made, "accuracy=60") == GateResult(
        gate="accuracy >= 60 (careful)", state="met", reason="it is 66.67 (95 % interval 58.2 to 74.2, n 191)"
    )
    assert line(made, "accuracy=66.6667") == GateResult(
        gate="accuracy >= 66.6667 (careful)",
        state="not met",
        reason="it is 66.66667 (95 % interval 58.2 to 74.2, n 191)",
    )


def test_a_line_that_looks_like_a_share_is_said_to_be_a_percentage() -> None:
    made = mostly(78, 22)
    with pytest.raises(UsageError, match=r"'accuracy=0.75': metrics are percentages, from 0 to 100. Write 75 if"):
        line(made, "accuracy=0.75")
    assert "percentages, so this threshold is 1 of 100" in line(made, "accuracy=1").reason
    assert "percentages" not in line(made, "accuracy=75").reason + line(made, "accuracy=0").reason


def test_a_gate_says_how_many_tasks_are_not_judged() -> None:
    made = questions({"a": "correct", "b": "not_judged", "c": "wrong"})
    assert line(made, "accuracy=50").reason.endswith(", n 2); 1 of 3 tasks are not judged")


def test_a_gate_on_a_group_counts_the_tasks_of_the_group() -> None:
    """The group `c=y` has a task that is not judged; the group `c=x` has none."""
    groups = {"a": ("correct", "c=x"), "b": ("not_judged", "c=y"), "c": ("wrong", "c=y")}
    samples = [sample(qid, word, group=group) for qid, (word, group) in groups.items()]
    made = report(samples, metric_rows(samples, "accuracy", each_observation))
    assert line(made, "accuracy:c=y=50").reason.endswith("; 1 of 2 tasks are not judged")
    assert "not judged" not in line(made, "accuracy:c=x=50").reason


def test_a_split_without_public_answers_meets_no_gate_and_says_why() -> None:
    found = line(report([], split="test-en"), "accuracy=0")
    assert (found.state, found.reason[:34]) == ("blocked", "the data of test-en has no answers")


def test_metrics_that_do_not_exist_are_named_with_those_that_do() -> None:
    made = questions({"a": "correct"}, group="c=x")
    with pytest.raises(UsageError, match=r"^This report has no metric 'pass@1'; it has accuracy\.$"):
        line(made, "pass@1=1")
    with pytest.raises(UsageError, match=r"^accuracy has no group 'c=y'; it has c=x\.$"):
        line(made, "accuracy:c=y=1")
    with pytest.raises(UsageError, match=r"^accuracy has no group 'c=y'; it has none\.$"):
        line(choice([True]), "accuracy:c=y=1")
    with pytest.raises(UsageError, match="no metric 'recall'"):
        drop(made, made, "recall=1")


# --- unscored -----------------------------------------------------------------------------------------------------


@each(("value", "state"), [(49, "met"), (50, "met"), (60, "blocked"), (75, "blocked"), (76, "not met")])
def test_a_line_is_decided_only_if_nothing_lost_could_turn_it(value: int, state: State) -> None:
    made = questions({"a": "correct", "b": "correct", "c": "unscored", "d": "wrong"})
    found = line(made, f"accuracy={value}")
    assert found.state == state
    assert found.reason.startswith("it is 66.67 (95 % interval ")
    assert ("; undecided because 1 of 4 samples are unscored" in found.reason) is (state == "blocked")
    assert found.reason.endswith("; with the unscored samples it is between 50.00 and 75.00")


def test_a_dead_judge_is_no_regression() -> None:
    """Without it only the rows are left that earn nothing: a drop, and a significant one, of the very same outputs."""
    missed = [("s", f"q{n}", False, True, False, False) for n in range(40, 60)]
    before, now = (
        mr_ben([("s", f"q{n}", False, False, True, reason) for n in range(40)] + missed) for reason in (True, None)
    )
    found = drop(before, now, "1")
    assert found.state == "blocked"
    assert (
        found.reason
        == "it was not judged; with the unscored samples it is between 20.00 and 53.33; name a judge (--judge-model)"
    )


@each(("lost", "state"), [(100, "blocked"), (20, "not met")])
def test_a_drop_is_failed_only_if_nothing_lost_could_undo_it(lost: int, state: str) -> None:
    baseline = questions({f"q{n}": "correct" for n in range(200)})
    made = questions({f"q{n}": "unscored" if n < lost else "wrong" if n % 2 else "correct" for n in range(200)})
    assert drop(baseline, made, "30").state == state


@each("text", ["accuracy=0", "accuracy:c=x=0"])
def test_a_run_that_lost_everything_is_unscored_under_every_gate(text: str) -> None:
    made = questions({"a": "unscored", "b": "unscored"}, group="c=x")
    lost = "none of its samples could be scored"
    assert (line(made, text).state, line(made, text).reason) == ("blocked", lost)
    baseline = questions({"a": "correct", "b": "wrong"}, group="c=x")
    for asked in ("2", "accuracy=2"):
        assert drop(baseline, made, asked) == GateResult(
            gate="accuracy no more than 2 points below the baseline (careful)", state="blocked", reason=lost
        )
    assert drop(made, made, "2").state == "blocked"


def test_a_reading_or_a_group_that_was_lost_is_unscored() -> None:
    samples = [sample("a", "unscored", official="correct", group="c=x"), sample("b", "correct", group="c=y")]
    made = report(samples, metric_rows(samples, "accuracy", each_observation))
    assert line(made, "accuracy:c=x=0").state == "blocked"
    official = line(made, "accuracy:c=x=50", reading="official")
    assert official.state == "met", "the official reading has lost nothing"
    gone = questions({"a": "unscored", "b": "unscored"}, group="c=x")
    both = msgspec.structs.replace(
        gone, samples=[*gone.samples, sample("d", "correct")], metrics=figures("accuracy", 100, 1)
    )
    assert line(both, "accuracy:c=x=0").state == "blocked"
    with pytest.raises(UsageError, match="no group 'c=z'"):
        line(both, "accuracy:c=z=0")


def test_a_pass_at_k_for_which_too_few_samples_are_left_is_unscored() -> None:
    samples = [sample("t", word, number=n) for n, word in enumerate(("failed", "failed", "unscored"))]
    made = report(samples, execution_metrics.metrics(samples, (1, 3), has_linter=True), scorer="execution")
    assert {metric.name for metric in made.metrics} == {"pass@1", "parse_success_rate"}
    assert line(made, "pass@3=0").state == "blocked"
    with pytest.raises(UsageError, match="no metric 'pass@4'"):
        line(made, "pass@4=0")


@each(
    ("before", "after", "said"),
    [
        ("correct", "unscored", "10 of 300 samples are unscored"),
        ("unscored", "wrong", "10 of 300 samples of the baseline are unscored"),
        ("unscored", "unscored", "10 of 300 samples are unscored and 10 of 300 samples of the baseline are unscored"),
    ],
)
def test_a_drop_is_decided_only_if_nothing_lost_could_turn_it(before: str, after: str, said: str) -> None:
    words = {f"q{n}": "wrong" if n % 100 == 0 else "correct" for n in range(290)}
    baseline, made = (questions({**words, **{f"l{n}": word for n in range(10)}}) for word in (before, after))
    undecided = drop(baseline, made, "3")
    assert (undecided.state, undecided.reason.partition("; undecided because ")[2].partition(";")[0]) == (
        "blocked",
        said,
    )
    assert drop(baseline, made, "12").state == "met"
    fallen = questions({**dict.fromkeys(words, "wrong"), **{f"l{n}": after for n in range(10)}})
    assert drop(baseline, fallen, "5").state == "not met"


def test_a_case_of_lost_samples_has_the_interval_of_the_case() -> None:
    """All scored ones are right, so their interval is narrower than that of 990 right and 10 wrong ones."""
    words = {f"q{n}": "correct" for n in range(1000)}
    lost, wrong = (questions(words | {f"q{n}": word for n in range(10)}) for word in ("unscored", "wrong"))
    for decide in (
        functools.partial(line, text="accuracy=98.5", confident=True),
        functools.partial(drop, questions(words), text="1.4"),
    ):
        assert [decide(made=made).state for made in (questions(words), wrong, lost)] == [
            "met",
            "inconclusive",
            "blocked",
        ]


def test_a_case_asks_no_answer_of_a_lost_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    class Short(MultipleChoice):
        sample_values: ClassVar = {"accuracy": lambda sample, reading: 1 / len(sample.reading(reading).answer)}
        metrics = Scorer.metrics

    monkeypatch.setattr(gate, "scorer_of", lambda _: Short())
    made = questions({"a": "correct", "b": "unscored"})
    assert line(made, "accuracy=50", confident=True).state == "inconclusive"


def test_rows_that_no_judge_decided_block_a_threshold_on_mr_score_that_they_could_decide() -> None:
    """MR-Score is made of facts about rows: other outcomes of these rows alone leave it as it is."""
    rows = [("s", f"q{n}", False, n % 4 == 0, True, None if n % 10 == 1 else n % 4 > 1) for n in range(200)]
    made = mr_ben(rows)
    samples = [
        msgspec.structs.replace(one, facts=msgspec.structs.replace(one.facts, judge="-")) for one in made.samples
    ]
    made = msgspec.structs.replace(made, samples=samples)
    made = msgspec.structs.replace(made, metrics=scorer_of(made).metrics(made))
    score = made.metric("mr_score", "careful")
    assert score is not None
    assert score.ci95 is not None
    low = score.ci95[0]
    for limit, state in ((low - 10, "met"), (low - 1, "blocked"), (score.number, "inconclusive")):
        assert line(made, f"mr_score={limit}", confident=True).state == state


def test_a_lost_sample_does_not_hide_a_drop_behind_tasks_that_only_one_run_judges() -> None:
    judged = {f"q{n}": "correct" if n < 60 else "wrong" for n in range(100)}
    fallen = judged | {f"q{n}": "wrong" for n in range(10)} | {f"q{n}": "not_judged" for n in range(60, 100)}
    for made in (fallen, fallen | {"q20": "unscored"}):
        assert drop(questions(judged), questions(made), "5").state == "not met"


def test_without_a_scored_pair_a_drop_is_blocked() -> None:
    scored, lost = questions({"a": "correct", "b": "wrong"}), questions({"a": "unscored", "b": "unscored"})
    halves = questions({"a": "correct", "b": "unscored"}), questions({"a": "unscored", "b": "wrong"})
    for baseline, made in ((lost, scored), halves):
        assert drop(baseline, made, "5").state == "blocked"


def test_a_value_that_only_unjudged_groups_have_is_unscored_overall() -> None:
    samples = [
        sample("a", "unscored", group="c=x"),
        msgspec.structs.replace(sample("b", "unscored", group="c=y"), careful=read("not_judged")),
    ]
    made = report(samples, metric_rows(samples, "accuracy", each_observation))
    assert [metric.group for metric in made.metrics] == ["c=y"]
    assert line(made, "accuracy=50").state == "blocked"


def test_whole_questions_none_of_which_is_complete_are_unscored() -> None:
    samples = [sample(f"g{n}", word, unit="g") for n, word in enumerate(("correct", "unscored"))]
    made = report(samples, figures("vanilla_accuracy", 100, 1), benchmark="mmbench", scorer="circular")
    assert line(made, "circular_accuracy=50").state == "blocked"


# --- a drop -------------------------------------------------------------------------------------------------------


@each(
    ("fallen", "risen", "allowed", "state"),
    [(2, 2, 5, "met"), (40, 2, 5, "not met"), (12, 2, 5, "inconclusive"), (0, 20, 0, "met"), (0, 0, 0, "inconclusive")],
)
def test_a_drop_is_met_failed_or_neither_by_its_bounds(fallen: int, risen: int, allowed: int, state: State) -> None:
    before = [True] * 100 + [False] * 91
    after = [False] * fallen + [True] * (100 - fallen) + [True] * risen + [False] * (91 - risen)
    found = drop(choice(before), choice(after), str(allowed))
    change = difference(before, after)
    low, high = change.ci90
    assert found.state == state
    assert found.state == ("met" if low >= -allowed else "not met" if high < -allowed else "inconclusive")
    assert found.gate == f"accuracy no more than {allowed} points below the baseline (careful)"
    assert found.reason.partition("; this is ")[0] == (
        f"52.36 before, {100 * sum(after) / 191:.2f} now, a change of {signed(change.value, 2)} points "
        f"(one-sided 95 % bounds {signed(low, 2)} and {signed(high, 2)}; "
        f"191 paired items, {fallen + risen} of them differ)"
    )
    assert ("; this is " in found.reason) == (state == "inconclusive")


def test_the_same_outputs_meet_any_drop() -> None:
    baseline, made = (mostly(1, 9, provenance=Provenance(data_digest="d", predictions_digest="x")) for _ in range(2))
    found = drop(baseline, made, "0")
    assert (found.state, found.reason) == ("met", "both runs graded the same outputs")
    other = msgspec.structs.replace(made, provenance=Provenance(data_digest="d", predictions_digest="y"))
    assert drop(baseline, other, "0").state == "inconclusive"


def test_the_same_outputs_that_got_better_also_in_the_worst_case_of_unscored_samples_meet_a_drop() -> None:
    words = {f"q{n}": "correct" if n < 40 else "wrong" for n in range(100)}
    regraded = words | {f"q{n}": "correct" for n in range(40, 50)} | {f"q{n}": "unscored" for n in range(80, 100)}
    baseline, made = (
        msgspec.structs.replace(questions(run), provenance=Provenance(data_digest="d", predictions_digest="x"))
        for run in (words, regraded)
    )
    assert drop(baseline, made, "1").state == "met", "40 before, and now between 50 and 70"


def test_the_same_outputs_are_no_excuse_for_a_metric_that_fell_with_the_grading() -> None:
    baseline, made = (
        mostly(n, 200 - n, provenance=Provenance(data_digest="d", predictions_digest="x")) for n in (180, 60)
    )
    found = drop(baseline, made, "5")
    assert found.state == "not met"
    assert "the outputs are the same, so only the grading differs" in found.reason
    assert drop(made, baseline, "0").state == "met"


def test_a_baseline_with_other_items_blocks_its_gate() -> None:
    baseline, made = questions(dict.fromkeys("abcd", "correct")), questions(dict.fromkeys("cdefg", "correct"))
    found = drop(baseline, made, "1")
    assert found.state == "blocked"
    assert "2 items of the baseline are missing in it, and it has 3 other items. Grade" in found.reason
    found = drop(baseline, questions(dict.fromkeys("abc", "correct")), "1")
    assert "1 item of the baseline is missing in it, and it has 0 other items. Grade" in found.reason
    with pytest.raises(UsageError, match="cannot be compared with the baseline"):
        check_baseline(made, questions({"c": "correct"}))


def test_a_circular_question_with_fewer_passes_than_in_the_baseline_is_another_item() -> None:
    """As one pass of each question is easier than all, the run would always be better."""
    baseline, made = circular([[True, False]] * 50), circular([[True]] * 50)
    for pair in ((baseline, made), (made, baseline)):
        assert drop(*pair, "100").state == "blocked"


def test_a_baseline_that_lacks_the_metric_is_refused() -> None:
    baseline, made = tasks([1]), tasks([1])
    made = msgspec.structs.replace(made, metrics=[*made.metrics, *figures("pass@5", 50, 1)])
    lost_one = msgspec.structs.replace(baseline, unscored=1)
    for lacking in (baseline, lost_one):
        with pytest.raises(UsageError, match=r"^The baseline has no pass@5 \(careful\)\. Score it again with -k 5"):
            drop(lacking, made, "pass@5=1")


@each("benchmark", ["mmbench", "mr-ben"])
def test_a_real_report_can_be_its_own_baseline(benchmark: str) -> None:
    made = of_sample(benchmark)
    assert drop(made, made, "0").state == "met"
    reworded = msgspec.structs.replace(
        made, provenance=msgspec.structs.replace(made.provenance, predictions_digest="other")
    )
    assert drop(made, reworded, "0").state == "inconclusive"
    assert drop(made, reworded, "100").state == "met"


def test_a_baseline_without_a_margin_is_refused_with_one_that_an_unchanged_model_meets() -> None:
    with pytest.raises(UsageError, match="--baseline needs --max-drop V") as of_items:
        decide_all(mostly(150, 41), baseline=mostly(151, 40))
    assert re.search(r"meets --max-drop [56]\.\d in four of five runs", str(of_items.value))
    assert "if 10 % of the items change by chance" in str(of_items.value)
    with pytest.raises(UsageError) as of_samples:
        decide_all(tasks([5] * 40), baseline=tasks([5] * 40))
    assert "by chance" not in str(of_samples.value)


def test_an_undecided_drop_says_how_far_it_is_from_the_margin() -> None:
    reason = drop(mostly(150, 41), choice([False] * 4 + [True] * 146 + [False] * 41), "2").reason
    assert "this is 0.09 points from the allowed drop, but 191 items decide a gate reliably (80 % power)" in reason


# --- with confidence ----------------------------------------------------------------------------------------------


@each(("right", "state"), [(180, "met"), (157, "inconclusive"), (143, "inconclusive"), (120, "not met")])
def test_a_confident_threshold_asks_the_interval(right: int, state: State) -> None:
    made = questions({f"q{n}": "correct" if n < right else "wrong" for n in range(200)})
    found = line(made, "accuracy=75", confident=True)
    assert (found.state, found.gate) == (state, "accuracy >= 75 (careful), confident")
    assert re.search(
        r"; the hypothesis that the true value is (at least|below) 75 has p = \S+ \(one-sided\)", found.reason
    )


def test_a_metric_without_an_interval_has_no_confidence() -> None:
    with pytest.raises(UsageError, match="pass@1 has no interval"):
        line(tasks([5] * 9), "pass@1=20", confident=True)


# --- all gates together -------------------------------------------------------------------------------------------


def test_one_of_several_failing_gates_must_fail_by_more() -> None:
    """Holm's method: beside 19 other gates, 6 falls of 191 are no longer significant."""
    before, after = mostly(150, 41), choice([False] * 8 + [True] * 142 + [False] * 41)
    few = decide_all(after, baseline=before, drops=[MaxDrop(name=None, value=0)])
    many = decide_all(after, baseline=before, drops=[MaxDrop(name=None, value=0)] + [MaxDrop(name=None, value=3)] * 19)
    assert [result.state for result in few] == ["not met"]
    assert many[0].state == "inconclusive"
    assert "not significant as one of 20 gates (Holm's correction)" in many[0].reason


@each(
    ("states", "code"),
    [
        ((), 0),
        (("met", "not met"), 1),
        (("met", "blocked"), 3),
        (("met", "inconclusive"), 4),
        (("inconclusive", "blocked"), 3),
        (("blocked", "inconclusive", "not met", "met"), 3),
        (("inconclusive", "not met"), 1),
    ],
)
def test_the_worst_gate_gives_the_exit_code(states: tuple[State, ...], code: int) -> None:
    assert exit_code([GateResult(gate="g", state=state, reason="r") for state in states]) == code


DATA = {"humaneval-v": "tasks.jsonl", "humaneval": "tasks.jsonl", "mmbench": "questions.tsv", "mr-ben": "data"}


class BegunError(Exception):
    """The run was not refused."""


def begin(sample: Sample, benchmark: str, gate: str, *, samples: int = 1, **options: Any) -> None:
    """Begin a run with this gate; nothing is ever scored. Raises BegunError if the gate is accepted."""
    path, folder = sample(benchmark)
    records = json.loads(path.read_text())
    path.write_text(json.dumps([record | {"predictions": record["predictions"][:1] * samples} for record in records]))
    asked = Options(benchmark=benchmark, data=folder / DATA[benchmark], **options)

    def check_run(scorer: Any, run: Any) -> None:
        functools.partial(check_before_run, thresholds=[parse_fail_under(gate)], drops=[])(scorer, run)
        raise BegunError

    grade(path, asked, Silent(), check_run=check_run)


@pytest.mark.parametrize(
    ("gate", "samples", "k", "message"),
    [
        ("pass@10=5", 3, (), r"it has pass@1, calls_right\. pass@10 needs at least 10 samples of "
         r"every task, and task \S+ has only 3 samples\.$"),
        ("pass@3=5", 3, (2,), r"it has pass@2, calls_right\. Add -k 2,3\.$"),
        ("pas@1=5", 3, (), r"it has pass@1, calls_right\.$"),
        ("parse_success_rate=5", 3, (), r"Protocol openai has no linter, which parse_success_rate needs\.$"),
    ],
)  # fmt: skip
def test_a_pass_at_k_that_a_run_will_not_have(
    sample: Sample, gate: str, samples: int, k: tuple[int, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        begin(sample, "humaneval", gate, samples=samples, k=k)


@pytest.mark.parametrize(
    ("benchmark", "gate"),
    [
        ("humaneval-v", "parse_success_rate=5"),
        ("mmbench", "vanilla_accuracy_all_passes=5"),
        ("mr-ben", "recall:subject=math=5"),
        ("mr-ben", "mcc=-5"),
    ],
)
def test_a_gate_on_what_a_run_will_have_is_accepted(sample: Sample, benchmark: str, gate: str) -> None:
    with pytest.raises(BegunError):
        begin(sample, benchmark, gate, missing="wrong")


def test_a_drop_of_a_metric_whose_difference_cannot_be_tested_is_refused() -> None:
    with pytest.raises(UsageError, match="--max-drop parse_success_rate: a difference in this metric cannot be tested"):
        drop(of_sample("mr-ben"), of_sample("mr-ben"), "parse_success_rate=2")
    f1 = metric_rows([sample("a", "correct")], "f1", each_observation)
    made = report([sample("a", "correct")], f1, scorer="answer")
    with pytest.raises(UsageError, match="--max-drop f1: a difference in this metric cannot be tested"):
        drop(made, made, "f1=2")
