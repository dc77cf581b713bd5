"""Circular evaluation: passes that are there, made by rotation, missing, or mixed up."""

from pathlib import Path

import msgspec
import pytest

from grader.decisions.comparison import compare
from grader.errors import InputError, UsageError
from grader.grading import grade
from grader.observer import Silent
from grader.options import Options
from grader.scorers.choice.metrics import facts_of
from tests.own import TEXTS, own
from tests.scorers.choice.made import answers, overall, predictions, rolled, row, run, table


def test_first_passes_alone_are_rotated_where_the_predictions_have_the_others(tmp_path: Path) -> None:
    """Every option moves one letter on; "All of the above" stays last where the predictions have one pass fewer."""
    whole = rolled(1, "red|blue|green", "B") + rolled(2, "cat|dog|cow", "C")
    fixed = [row(3, "cut|trim|All of the above", "C"), row(1000003, "trim|cut|All of the above", "C")]
    first = table(tmp_path / "first.tsv", [r for r in (*whole, *fixed) if int(r["index"]) < 1_000_000])
    texts: dict[str, str | list[str]] = {r["index"]: r["answer"] for r in (*whole, *fixed)}
    path = predictions(tmp_path, texts)
    report = run(path, first)
    golds = {s.qid: facts_of(s).gold for s in report.samples}
    assert golds == {r["index"]: r["answer"] for r in (*whole, *fixed)}
    assert overall(report, "circular_accuracy") == (100, 100)
    assert [note.text for note in report.notes] == [
        "The data has first passes only; the other passes were made by rotating their options."
    ]
    with pytest.raises(InputError, match=r'1 of 8 questions without a prediction: "1000002"'):
        run(predictions(tmp_path, {q: t for q, t in texts.items() if q != "1000002"}), first)


def test_a_question_without_options_among_first_passes_has_no_rotations(tmp_path: Path) -> None:
    whole = [each for number in range(1, 100) for each in rolled(number, "red|blue", "A")]
    without_options = {**row(100, "|", "A"), "A": "", "B": ""}
    first = [each for each in whole if int(each["index"]) < 1_000_000]
    data = table(tmp_path / "first.tsv", [*first, without_options])
    report = run(predictions(tmp_path, {each["index"]: each["answer"] for each in (*whole, without_options)}), data)
    assert [s.qid for s in report.samples if s.observation == "100"] == ["100"]
    assert overall(report, "circular_accuracy") == (99, 100)  # the careful reading leaves out a broken row


def test_an_index_that_is_a_digit_but_no_number_has_no_rotations(tmp_path: Path) -> None:
    columns = 'columns = { id = "id", question = "question", answer = "answer", group_index = "id" }\n'
    question = {"id": "\u00b2", "question": "Which?", "A": "red", "B": "blue", "answer": "A"}
    declared = f'scoring = "circular"\n{columns}protocols.p.reader = "vlmevalkit-2026-06"\n'
    path = own(tmp_path, declared, [question], {"\u00b2": ["A"], "1000002": ["B"]})
    with pytest.raises(InputError, match="1000002"):
        run(path, None, str(tmp_path))


def test_options_none_na_and_nan_are_options_that_vlmevalkit_does_not_have(tmp_path: Path) -> None:
    rows = rolled(1, "None|NA|Some|All", "A") + rolled(2, "None|NA|Some|All", "C")
    report = run(predictions(tmp_path, {r["index"]: f"({r['answer']})" for r in rows}), table(tmp_path / "q.tsv", rows))
    assert overall(report, "circular_accuracy") == (50, 100)
    assert report.notes == []
    first = report.samples[0].official
    assert first.answer is None
    assert "treats options A (None), B (NA) as empty" in first.detail


def test_a_missing_pass_is_an_error_or_counts_as_wrong_and_is_noted(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", rolled(1, "red|blue", "A") + rolled(2, "red|blue", "A"))
    path = predictions(tmp_path, {"1": "A", "2": "A", "1000002": "B"})
    with pytest.raises(InputError, match=r'1 of 4 questions without a prediction: "1000001"; --missing wrong'):
        run(path, data)
    assert not (tmp_path / "preds_results.json").exists()
    report = run(path, data, missing="wrong")
    # The official scorer goes by the passes that are there.
    assert overall(report, "circular_accuracy") == (100, 50)
    assert overall(report, "vanilla_accuracy_all_passes") == (100, 75)
    assert [note.text for note in report.notes] == [
        "1 of 4 questions have no prediction and count as wrong.",
        "1 question without a prediction for some passes (1): official judges by the other passes, because VLMEvalKit "
        "does not notice a missing one.",
    ]
    assert [s.qid for s in report.samples] == ["1", "1000001", "2", "1000002"]
    assert report.samples[1].careful.detail == "there is no prediction"
    again = grade(path, Options(benchmark="mmbench", data=data, score_only=True), Silent()).report
    assert again == report


def test_a_part_that_was_allowed_to_miss_predictions_is_scored_again_as_it_is(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", rolled(1, "red|blue", "A") + rolled(2, "red|blue", "A"))
    path = predictions(tmp_path, {"1": "A", "2": "A"})
    part = Options(benchmark="mmbench", data=data, missing="wrong", limit=1)
    first = grade(path, part, Silent())
    first.write()
    again = msgspec.structs.replace(part, missing="error", score_only=True)
    assert grade(path, again, Silent()).report == first.report


def test_other_data_cannot_be_scored_with_the_verdicts_of_an_earlier_run(tmp_path: Path) -> None:
    """Else a corrected gold answer would seem to change nothing."""
    data = table(tmp_path / "q.tsv", rolled(1, "red|blue", "A"))
    path = predictions(tmp_path, {"1": "A", "1000001": "B"})
    grade(path, Options(benchmark="mmbench", data=data), Silent()).write()
    corrected = table(tmp_path / "corrected.tsv", rolled(1, "red|blue", "B"))
    with pytest.raises(UsageError, match=r"corrected\.tsv is not the data that was graded \(q\.tsv\)"):
        grade(path, Options(benchmark="mmbench", data=corrected, score_only=True), Silent())


def test_data_beside_the_declaration_that_has_changed_cannot_be_scored_with_the_verdicts_of_an_earlier_run(
    tmp_path: Path,
) -> None:
    question = {"id": "q", "question": "Which?", "answer": "red"}
    path = own(tmp_path, TEXTS, [question], {"q": ["red"]})
    given = Options(benchmark=str(tmp_path))
    again = msgspec.structs.replace(given, score_only=True)
    first = grade(path, given, Silent())
    first.write()
    assert grade(path, again, Silent()).report == first.report
    own(tmp_path, TEXTS, [{**question, "answer": "blue"}], {"q": ["red"]})
    with pytest.raises(UsageError, match=r"rows\.jsonl, or its \[columns\] .* have changed since it was graded"):
        grade(path, again, Silent())
    (tmp_path / "rows.jsonl").rename(tmp_path / "other.jsonl")
    graded = grade(path, msgspec.structs.replace(given, data=tmp_path / "other.jsonl"), Silent())
    graded.write()
    own(tmp_path, TEXTS, [question], {"q": ["red"]})
    assert grade(path, again, Silent()).report == graded.report, "the verdicts are not those of the declared data"


def test_a_benchmark_that_is_declared_anew_can_neither_be_scored_again_nor_be_compared(tmp_path: Path) -> None:
    question = {"id": "q", "question": "Which?", "answer": "red"}
    marked = f"answer_between = ['{{', '}}']\n{TEXTS}"
    path = own(tmp_path, marked, [question], {"q": ["red"]})
    given = Options(benchmark=str(tmp_path))
    first = grade(path, given, Silent())
    first.write()
    again = msgspec.structs.replace(given, score_only=True)
    assert grade(path, again, Silent()).report == first.report
    own(tmp_path, f"letters = 'ABC'\n{marked}".replace('"exact"', '"pope"'), [question], {"q": ["red"]})
    with pytest.raises(
        UsageError, match=r"p_results\.json was made with another benchmark\.toml: letters, rule changed"
    ):
        grade(path, again, Silent())
    with pytest.raises(UsageError, match="their scorer had different settings"):
        compare(first.report, grade(path, given, Silent()).report)


def test_passes_that_the_data_lacks_repeats_or_mixes_up_are_noted(tmp_path: Path) -> None:
    lacking = rolled(1, "red|blue|green", "A")[:2]
    twice = [row(2, "red|blue", "A"), row(1000002, "red|blue", "A")]
    mixed = [row(3, "red|blue", "A"), row(1000003, "white|red", "B")]
    stays = [row(4, "red|blue|both", "A"), row(1000004, "blue|red|both", "B")]
    rows = lacking + twice + mixed + stays
    report = run(predictions(tmp_path, {r["index"]: r["answer"] for r in rows}), table(tmp_path / "q.tsv", rows))
    assert [note.text for note in report.notes] == [
        "Questions with fewer passes in the data than their options require (scored on the passes present): 1 (1).",
        "Questions with two passes in the data with the same order of options: 1 (2).",
        "Questions with passes in the data that do not have the same options: 1 (3).",
    ]


def test_id_and_limit_choose_questions_with_all_their_passes(tmp_path: Path) -> None:
    rows = [*rolled(1, "red|blue", "A"), *rolled(2, "red|blue|green", "B"), *rolled(3, "red|blue", "A")]
    data = table(tmp_path / "q.tsv", sorted(rows, key=lambda r: int(r["index"])))
    path = predictions(tmp_path, {r["index"]: r["answer"] for r in rows})
    assert set(answers(run(path, data, limit=1), "careful")) == {"1", "1000001"}
    assert set(answers(run(path, data, ids=("1000002",)), "careful")) == {"2", "1000002", "2000002"}
