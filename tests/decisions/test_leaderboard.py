"""Several runs of one benchmark or of many: their order, their ranks, and which runs are never put together."""

import itertools
from typing import Any

import msgspec
import pytest

from grader.decisions.comparison import RunName
from grader.decisions.leaderboard import Leaderboard, leaderboard
from grader.errors import UsageError
from grader.results import JudgeProvenance, Part, Provenance, Report
from grader.scorers.means import each_observation, metric_rows
from tests.made_runs import choice, circular, figures, report, sample, tasks


def board(**runs: Report) -> Leaderboard:
    return leaderboard([(RunName(name=name, results=f"{name}_results.json"), run) for name, run in runs.items()])


def questions(right: int, n: int = 200, *, official: int | None = None, **fields: Any) -> Report:
    """A run of n questions, the first ones right; every second one is in category x."""
    samples = [
        sample(
            f"q{i}",
            "correct" if i < right else "wrong",
            official="" if official is None else "correct" if i < official else "wrong",
            group=f"category={'xy'[i % 2]}",
        )
        for i in range(n)
    ]
    return report(samples, metric_rows(samples, "accuracy", each_observation), **{"scorer": "multiple_choice"} | fields)


def test_runs_are_ordered_by_the_careful_reading_and_both_are_there() -> None:
    (made,) = board(low=questions(100, official=150), high=questions(150, official=90)).boards
    assert [run.short for run in made.runs] == ["high", "low"]
    values = {name: [v.number for v in one.values if v] for name, one in made.rankings.items()}
    assert values == {"official": [45, 75], "careful": [75, 50]}
    runs = [(RunName(name="low"), questions(100, official=150)), (RunName(name="high"), questions(150, official=90))]
    assert [run.short for run in leaderboard(runs, reading="official").boards[0].runs] == ["low", "high"]


def test_ranks_follow_the_tests_not_the_values() -> None:
    (made,) = board(a=questions(150), b=questions(148), c=questions(142), d=questions(90)).boards
    careful = made.rankings["careful"]
    # 150 and 142 differ in 8 questions, all one way: p = 0.0078, times 3 comparisons that are left.
    assert careful.ranks == [(1, 2), (1, 3), (2, 3), (4, 4)]
    assert (careful.comparisons, careful.tests) == (6, ["exact McNemar"])


def test_p_values_are_corrected_for_all_pairs() -> None:
    """A difference of 7 questions has p = 0.0156, which is significant alone, and not as one of six."""
    (made,) = board(a=questions(150), b=questions(143)).boards
    assert made.rankings["careful"].ranks == [(1, 1), (2, 2)]
    (made,) = board(a=questions(150), b=questions(143), c=questions(143), d=questions(143)).boards
    assert made.rankings["careful"].ranks == [(1, 4), (1, 4), (1, 4), (1, 4)]


def test_runs_of_other_benchmarks_protocols_data_judges_or_parts_get_boards_of_their_own() -> None:
    judged = Provenance(data_digest="d", judge=JudgeProvenance(source="endpoint", model="m", questions=5))
    made = board(
        a=questions(150),
        b=questions(150),
        protocol=questions(150, protocol="other"),
        data=questions(150, provenance=Provenance(data_digest="other")),
        judge=questions(150, provenance=judged),
        part=questions(150, part=Part(n=200, of=300, ids_hash="x")),
        groups=circular([[True, False], [True, True]]),
    )
    assert [[run.short for run in one.runs] for one in made.boards] == [
        ["a", "b"],
        ["protocol"],
        ["data"],
        ["judge"],
        ["part"],
        ["groups"],
    ]
    assert made.boards[1].notes == []
    assert "Not in the same table as a." in made.boards[2].notes[0]
    assert "different data (d and other)" in made.boards[2].notes[0]
    assert "different judges" in made.boards[3].notes[0]
    assert "different parts" in made.boards[4].notes[0]


def test_each_run_of_a_board_fits_every_other_one_in_any_order_of_the_files() -> None:
    def judged(**judge: Any) -> Report:
        return questions(150, provenance=Provenance(data_digest="d", judge=JudgeProvenance(**judge)))

    models = [judged(source="endpoint", model=model, questions=5) for model in ("m1", "m2")]
    runs = {"recorded": judged(source="replies.json"), **dict(zip(("m1", "m2"), models, strict=True))}
    for order in itertools.permutations(runs):
        boards = board(**{name: runs[name] for name in order}).boards
        assert [len(one.runs) for one in boards] == [2, 1]


def test_the_metric_is_the_first_one_that_all_runs_have_in_any_order_of_the_files() -> None:
    plain, made = questions(150), questions(160)
    with_more = msgspec.structs.replace(made, metrics=[*figures("macro_accuracy", 80, 2), *made.metrics])
    for order in ({"plain": plain, "more": with_more}, {"more": with_more, "plain": plain}):
        (one,) = board(**order).boards
        assert (one.metric, one.rankings["careful"].ranks) == ("accuracy", [(1, 1), (2, 2)])


def test_a_run_without_a_value_is_last_and_has_no_rank() -> None:
    empty = questions(150)
    none = [msgspec.structs.replace(metric, value=None, ci95=None) for metric in empty.metrics]
    (made,) = board(judged=questions(100), unjudged=msgspec.structs.replace(empty, metrics=none)).boards
    careful = made.rankings["careful"]
    assert [run.short for run in made.runs] == ["judged", "unjudged"]
    assert careful.ranks == [None, None]
    assert careful.comparisons == 0


def test_what_makes_runs_less_comparable_is_said() -> None:
    first = tasks([5] * 10, provenance=Provenance(data_digest="d", grade="1", predictions_digest="same"))
    second = tasks([5] * 9, provenance=Provenance(data_digest="d", grade="2", predictions_digest="same"))
    (made,) = board(one=first, two=second).boards
    assert made.notes == [
        "one and two had different conditions: grade's version 1 and 2.",
        "The runs do not have the same items. Tests use the items that both runs have.",
        "Some runs graded the same outputs.",
    ]


def test_questions_with_fewer_passes_than_in_another_run_decide_no_rank() -> None:
    (made,) = board(one_pass=circular([[True]] * 50), all_passes=circular([[True, False]] * 50)).boards
    assert [one.comparisons for one in made.rankings.values()] == [0, 0]
    assert made.notes == ["The runs do not have the same items. Tests use the items that both runs have."]


def test_runs_of_one_name_are_told_apart_by_their_files_also_in_notes() -> None:
    versions = (Provenance(data_digest="d", grade=version) for version in ("1", "2"))
    runs = [
        (RunName(model="tiny", results=f"{n}_results.json"), questions(100 + n, provenance=version))
        for n, version in enumerate(versions, 1)
    ]
    (made,) = leaderboard(runs).boards
    assert [run.short for run in made.runs] == ["tiny (2)", "tiny (1)"]
    assert made.notes == ["tiny (2) and tiny (1) had different conditions: grade's version 2 and 1."]


def test_files_of_two_benchmarks_with_one_name_are_one_model_only_if_the_user_or_the_file_says_so() -> None:
    def models(**names: str) -> list[str]:
        runs = {"vstar": questions(150), "groups": circular([[True, False], [True, True]])}
        return leaderboard(
            [
                (RunName(results=f"{folder}/p_results.json", predictions="p.json", **names), run)
                for folder, run in runs.items()
            ]
        ).models()

    assert models() == ["vstar", "groups"]
    assert models(model="m") == models(name="m") == ["m"]


def test_where_file_names_repeat_the_folder_is_the_model() -> None:
    runs = {
        "m1/vstar": questions(150),
        "m1/groups": circular([[True, False], [True, True]]),
        "m2/vstar": questions(140),
    }
    made = leaderboard([(RunName(results=f"{path}_results.json"), run) for path, run in runs.items()])
    assert made.models() == ["m1", "m2"]


def test_more_runs_than_can_be_compared_are_refused() -> None:
    few = choice([True])
    with pytest.raises(UsageError, match="61 runs of one benchmark; a leaderboard compares at most 60"):
        leaderboard([(RunName(name=str(n)), few) for n in range(61)])
