"""Multiple-choice benchmarks from prediction file to report: metrics, records, submissions, refusals."""

import json
import re
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from grader.data.tables import Rows
from grader.errors import InputError, UsageError
from grader.grading import grade
from grader.models.prompt import PromptOptions
from grader.observer import Silent
from grader.options import Options
from grader.results import READINGS, Report
from grader.scorers import declarations
from grader.scorers.choice.items import Item
from grader.scorers.choice.scorer import Circular, MultipleChoice
from grader.scorers.registry import scorer_of
from tests.conftest import ROOT
from tests.scorers.choice.made import answers, figures, overall, predictions, rolled, row, run, table
from tests.tables import each

VSTAR = ROOT / "benchmarks" / "vstar" / "sample"
MMBENCH = ROOT / "benchmarks" / "mmbench" / "sample"


# --- the samples -----------------------------------------------------------------------------------------------------


def check_expected(report: Report, expected: dict[str, Any]) -> None:
    for reading in READINGS:
        assert answers(report, reading) == expected["answers"][reading]
        got = figures(report, reading)
        assert {name: got[name] for name in expected["metrics"][reading]} == expected["metrics"][reading]


def test_the_vstar_sample_gives_the_figures_worked_out_by_hand(sample: Any) -> None:
    path, folder = sample("vstar")
    report = run(path, folder / "questions.jsonl", "vstar")
    expected = json.loads((VSTAR / "expected.json").read_text())
    check_expected(report, expected)
    assert {name for m in report.metrics if (name := m.group)} == {
        "category=direct_attributes", "category=relative_position", "options=2", "options=4",
    }  # fmt: skip
    assert report.baselines["all"] == expected["baselines"]
    assert [note.text for note in report.notes] == [
        "1 answer was cut off before the end (token limit, or reasoning that is never closed). Without an answer in "
        "it, such an output counts as wrong. Raise the token limit.",
        "Baselines: random letters would get 37.5, always the first letter 40.0.",
    ]


def test_the_mmbench_sample_gives_the_figures_worked_out_by_hand(sample: Any) -> None:
    path, folder = sample("mmbench")
    expected = json.loads((MMBENCH / "expected.json").read_text())
    report = run(path, folder / "questions.tsv")
    check_expected(report, expected["without_judge"])
    report = run(path, folder / "questions.tsv", judge_replies=folder / "judge_replies.json")
    check_expected(report, expected["with_judge"])
    assert report.unscored == 0
    assert [note.text for note in report.notes] == [
        "A judge decided 7 of 20 samples (7 correct) of the official reading, and 1 of 20 samples (1 correct) of the "
        "careful one."
    ]
    assert sorted(report.abbreviations.values()) == ["AR", "CP", "FP-C", "FP-S", "LR", "RR"]


# --- figures ---------------------------------------------------------------------------------------------------------


def test_abilities_are_those_of_the_first_pass_where_rolled_rows_lack_them(tmp_path: Path) -> None:
    rows = rolled(1, "one|two", "A")
    rows[0] |= {"l2-category": "coarse_perception", "category": "image_scene"}
    path = predictions(tmp_path, {"1": "A", "1000001": "A"})
    report = run(path, table(tmp_path / "q.tsv", rows))
    assert figures(report, "careful") == {
        f"{group}{name}": value
        for group in ("", "l1-category=perception/", "l2-category=coarse_perception/", "category=image_scene/")
        for name, value in (
            ("circular_accuracy", 0), ("vanilla_accuracy", 100), ("vanilla_accuracy_all_passes", 50)
        )
    }  # fmt: skip


def test_a_line_names_the_letters_that_are_predicted_too_often_beyond_chance(tmp_path: Path) -> None:
    rows = [{"index": number, "question": "q", "A": "x", "B": "y", "answer": "AB"[number % 2]} for number in range(40)]
    data = table(tmp_path / "q.tsv", rows)
    biased = (
        "Position bias (careful): A is 88 % of the answers, but right for 50 % of the questions; "
        "B is 12 % of the answers, but right for 50 % of the questions."
    )
    for always, lines in ((30, [biased]), (10, [])):
        said = {str(row["index"]): "A" if row["index"] < always else row["answer"] for row in rows}
        report = run(predictions(tmp_path, said), data)
        assert scorer_of(report).summary(report).lines == lines


def test_every_pass_is_recorded_with_its_reading_its_right_letter_and_its_questions_fate(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", rolled(7, "red|blue", "A", category="c"))
    report = run(predictions(tmp_path, {"7": "Answer: A", "1000007": "Answer: A"}), data)
    written = json.loads((tmp_path / "preds_results.json").read_text())["samples"]

    def reading(outcome: str, rule: str) -> dict[str, object]:
        credit = int(outcome == "correct")
        return {"outcome": outcome, "credit": credit, "answer": "A", "detail": "", "rule": rule, "span": [8, 9]}

    same = {"sample": 0, "seconds": 0.0, "groups": {"category": "c"}}
    fate = {"official": "wrong", "careful": "wrong"}
    assert written == [
        same
        | {"qid": "7", "official": reading("correct", "token"), "careful": reading("correct", "declaration")}
        | {"extra": {"gold": "A", "question": fate}},
        same
        | {"qid": "1000007", "official": reading("wrong", "token"), "careful": reading("wrong", "declaration")}
        | {"unit": "7", "extra": {"gold": "B", "question": fate}},
    ]
    assert overall(report, "vanilla_accuracy") == (100, 100)


def test_several_predictions_a_pass_are_several_rounds(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", rolled(1, "red|blue", "A"))
    report = run(predictions(tmp_path, {"1": ["A", "A"], "1000001": ["B", "A"]}), data)
    assert overall(report, "circular_accuracy") == (50, 50)
    assert "Questions with several predictions per pass: 1; each round of passes is one trial." in [
        note.text for note in report.notes
    ]


def test_a_letter_that_is_no_option_is_wrong_and_a_refusal_is_no_answer(tmp_path: Path) -> None:
    question = {"question_id": "0", "category": "c", "text": "Is it? (A) left (B) right", "label": "A"}
    data = tmp_path / "q.jsonl"
    data.write_text("".join(json.dumps(question | {"question_id": q}) + "\n" for q in "01"))
    path = predictions(tmp_path, {"0": "C", "1": "Sorry, I can't help with images of people yet."})
    report = run(path, data, "vstar", protocol="vlmevalkit-2026-06")
    got = [(s.official.outcome, s.official.answer, s.careful.outcome, s.careful.answer) for s in report.samples]
    assert got == [("no_answer", None, "no_answer", None), ("no_answer", None, "no_answer", None)]
    report = run(path, data, "vstar")
    assert (report.samples[0].official.outcome, report.samples[0].official.answer) == ("wrong", "C")


# --- submissions -----------------------------------------------------------------------------------------------------


def test_without_answers_the_product_is_the_submission_table_in_the_official_layout(tmp_path: Path) -> None:
    """All columns but the image in the data's order, then `prediction`; no score."""
    rows = [{**r, "image": "iVBO", "split": "test"} for r in rolled(1, "None|NA", "A", hint="look")]
    bare = row(2, "one|two|three|four", "A", **{"l2-category": "coarse_perception", "split": "test", "image": "iVBO"})
    columns = ("index", "question", "hint", "A", "B", "C", "D", "l2-category", "image", "split")
    data = table(tmp_path / "MMBench_TEST_EN.tsv",
                 [{name: r.get(name, "") for name in columns} for r in (*rows, bare)])  # fmt: skip
    path = predictions(tmp_path, {"1": "=A", "1000001": 'B\x00 is\n"right"', "2": "C"})
    graded = grade(path, Options(benchmark="mmbench", data=data, split="test-en"), Silent())
    written = graded.write()
    assert [p.name for p in written] == ["preds_submission.xlsx", "preds_results.json"]
    sheet = openpyxl.load_workbook(written[0]).active
    assert list(sheet.iter_rows(values_only=True)) == [
        ("index", "question", "hint", "A", "B", "C", "D", "l2-category", "split", "prediction"),
        (1, "Which?", "look", "None", "NA", None, None, None, "test", "=A"),
        (1000001, "Which?", "look", "NA", "None", None, None, None, "test", 'B is\n"right"'),
        (2, "Which?", None, "one", "two", "three", "four", "coarse_perception", "test", "C"),
    ]
    assert sheet["J2"].data_type == "s"
    report = graded.report
    assert (report.metrics, report.samples) == ([], [])
    assert [note.text for note in report.notes] == [
        "The data of test-en has no answers, so there are no scores, only a submission file."
    ]
    with pytest.raises(UsageError, match="nothing to score again"):
        grade(path, Options(benchmark="mmbench", data=data, split="test-en", score_only=True), Silent())


def test_a_submission_of_first_passes_alone_has_the_rotated_rows(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", [{k: v for k, v in row(5, "red|blue", "A").items() if k != "answer"}])
    path = predictions(tmp_path, {"5": "A", "1000005": "B"})
    graded = grade(path, Options(benchmark="mmbench", data=data, split="test-en"), Silent())
    sheet = openpyxl.load_workbook(graded.write()[0]).active
    assert list(sheet.iter_rows(values_only=True)) == [
        ("index", "question", "A", "B", "prediction"),
        (5, "Which?", "red", "blue", "A"),
        (1000005, "Which?", "blue", "red", "B"),
    ]


# --- private benchmarks ----------------------------------------------------------------------------------------------

PRIVATE = """
id = "birds"
name = "Birds"
scoring = "{scoring}"
default_split = "all"
default_protocol = "rules"
{top}
[columns]
id = "id"
question = "q"
answer = "right"
groups = ["season"]
{columns}
[splits.all]
data = "{data}"
[protocols.rules]
reader = "{reader}"
"""


def private(
    folder: Path, data: str, *, scoring: str = "multiple_choice", columns: str = "", top: str = "",
    reader: str = "vlmevalkit-2026-06",
) -> str:  # fmt: skip
    (folder / "birds").mkdir(exist_ok=True)
    text = PRIVATE.format(scoring=scoring, columns=columns, data=data, reader=reader, top=top)
    (folder / "birds" / "benchmark.toml").write_text(text)
    return str(folder / "birds")


@pytest.mark.parametrize("options", ['["wren", "robin"]', '{"A": "wren", "B": "robin"}'])
def test_options_may_stand_together_in_one_column(tmp_path: Path, options: str) -> None:
    reference = private(tmp_path, "birds.jsonl", columns='options = "choices"')
    line = f'{{"id": "w1", "q": "Which bird?", "choices": {options}, "right": "B"}}\n'
    (tmp_path / "birds" / "birds.jsonl").write_text(line)
    report = grade(predictions(tmp_path, {"w1": "the robin"}), Options(benchmark=reference), Silent()).report
    assert overall(report, "accuracy") == (100, 100)


SIX = '{"id": "w1", "q": "Which?", "choices": ["a1", "b2", "c3", "d4", "e5", "f6"], "right": "F"}\n'
SIX_APART = "id,q,A,B,C,D,E,F,right\nw0,Which?,k,l,,,,,B\nw1,Which?,a1,b2,c3,d4,e5,f6,F\n"


@pytest.mark.parametrize(
    ("data", "rows", "columns", "line", "enough"),
    [
        ("birds.jsonl", SIX, 'options = "choices"', "1: w1: 6 options", "ABCDEF"),
        ("birds.csv", SIX_APART, "", "3: w1: at least 5 options", "ABCDE"),
    ],
)
def test_more_options_than_letters_are_an_error_that_says_how_to_allow_them(
    tmp_path: Path, data: str, rows: str, columns: str, line: str, enough: str
) -> None:
    reference = private(tmp_path, data, columns=columns)
    (tmp_path / "birds" / data).write_text(rows)
    path = predictions(tmp_path, {"w1": "F", "w0": "B"} if "w0" in rows else {"w1": "F"})
    message = f'{line}, but letters = "ABCD" has only 4: set letters = "{enough}" in a benchmark.toml of your own'
    with pytest.raises(InputError, match=re.escape(message)):
        grade(path, Options(benchmark=reference), Silent())
    private(tmp_path, data, columns=columns, top='letters = "ABCDEF"')
    report = grade(path, Options(benchmark=reference), Silent()).report
    assert overall(report, "accuracy") == (100, 100)


def test_one_question_with_more_options_than_letters_stops_only_itself(tmp_path: Path) -> None:
    reference = private(tmp_path, "birds.jsonl", columns='options = "choices"')
    usual = "".join(f'{{"id": "v{n}", "q": "Which?", "choices": ["x", "y"], "right": "B"}}\n' for n in range(20))
    (tmp_path / "birds" / "birds.jsonl").write_text(SIX + usual)
    path = predictions(tmp_path, {"w1": "F", **{f"v{n}": "B" for n in range(20)}})
    report = grade(path, Options(benchmark=reference), Silent()).report
    assert overall(report, "accuracy") == (pytest.approx(2000 / 21), 100)
    assert any('"w1" (6 options, but letters = "ABCD" has only 4' in note.text for note in report.notes)


def test_a_question_with_one_option_is_noted_and_graded(tmp_path: Path) -> None:
    data = table(tmp_path / "q.tsv", [row(1, "red|blue", "B"), row(2, "red", "A")])
    report = run(predictions(tmp_path, {"1": "A", "2": "A"}), data)
    assert answers(report, "careful") == answers(report, "official") == {"1": "A", "2": "A"}
    assert overall(report, "circular_accuracy") == (50, 50)
    assert "1 question with only one option: 2." in [note.text for note in report.notes]


def test_circular_questions_may_be_told_by_a_column(tmp_path: Path) -> None:
    reference = private(tmp_path, "b.csv", scoring="circular", columns='group_index = "g"')
    rows = "x1,x,Which?,wren,robin,A\nx2,x,Which?,robin,wren,B\ny1,y,Which?,wren,robin,A\ny2,y,Which?,robin,wren,B\n"
    (tmp_path / "birds" / "b.csv").write_text("id,g,q,A,B,right\n" + rows)
    path = predictions(tmp_path, {"x1": "A", "x2": "B", "y1": "A", "y2": "A"})
    report = grade(path, Options(benchmark=reference), Silent()).report
    assert overall(report, "circular_accuracy") == (50, 50)
    assert overall(report, "vanilla_accuracy") == (100, 100)


# --- bad inputs ------------------------------------------------------------------------------------------------------

GOOD = [row(1, "red|blue", "A", split="dev"), row(2, "red|blue", "B", split="dev")]


@pytest.mark.parametrize(
    ("rows", "texts", "problems"),
    [
        pytest.param(
            GOOD, {"1": "A", "2": "A", "77": "A"},
            ['{path}:3: $[2].qid: the benchmark has no question "77"'],
            id="unknown index",
        ),
        pytest.param(
            [{"index": "1", "question": "Which?", "answer": "A"}], {"1": "A"},
            ["{folder}/q.tsv: no option columns A, B, ...: without them no answer can be read"],
            id="no option columns",
        ),
        pytest.param(
            [{**r, "split": "test"} for r in rolled(2, "red|blue", "B")], {"2": "A", "1000002": "A"},
            ['{folder}/q.tsv: no row is of --split dev-en: its column split has "test", not "dev"'],
            id="rows of another split",
        ),
        pytest.param(
            [GOOD[0], GOOD[0]], {"1": "A"}, ['{folder}/q.tsv:3: "1" is a duplicate: an earlier row has it'],
            id="a duplicate row",
        ),
        pytest.param(
            [{**r, "answer": ""} for r in GOOD], {"1": "A", "2": "A"},
            ["{folder}/q.tsv: no row has an answer (column answer); for a submission: --split test-en or test-cn "
             "or test-en-v11 or test-cn-v11"],
            id="no answers in a split that is scored",
        ),
        pytest.param(
            [{**GOOD[0], "index": "one"}], {"one": "A"},
            ["{folder}/q.tsv:2: 'one' is not an index: the passes of a question are found by their index"],
            id="an index that is no number",
        ),
        pytest.param(
            rolled(1, "red|blue", "A"), {"1": ["A", "B"], "1000001": "B"},
            ["{path}:3: $[0].predictions: question 1: its passes have different numbers of predictions "
             "(1: 2, 1000001: 1)"],
            id="passes with unequal samples",
        ),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_error_and_nothing_is_written(
    tmp_path: Path, rows: list[dict[str, str]], texts: dict[str, str | list[str]], problems: list[str]
) -> None:
    path = predictions(tmp_path, texts)
    with pytest.raises(InputError) as caught:
        run(path, table(tmp_path / "q.tsv", rows))
    where = [problem.replace("{path}", str(path)).replace("{folder}", str(tmp_path)) for problem in problems]
    assert [p.replace(f"{path}:1:", f"{path}:3:") for p in caught.value.problems] == where
    assert not list(tmp_path.glob("*_results.json"))


OPTIONS = {"A": "a cat", "B": "a dog"}


def item(text: str = "What is it?", options: dict[str, str] | None = None, **row: Any) -> Item:
    return Item(id="1", text=text, options=OPTIONS if options is None else options, gold="B", row=row)


def asked(benchmark: str, task: Item, template: str | None = None) -> str:
    declared = declarations.load(benchmark)
    scorer = Circular() if benchmark == "mmbench" else MultipleChoice()
    prompt_options = PromptOptions(protocol=declared.default_protocol, template=template, template_name="t.jinja")
    (turn,) = scorer.turns(declared, task, prompt_options)
    return turn.text({})


def test_mmbench_is_asked_as_vlmevalkit_does_and_markup_in_the_data_is_text() -> None:
    assert asked("mmbench", item("{{ 7 }} <b>&", hint="It barks.")) == (
        "Hint: It barks.\nQuestion: {{ 7 }} <b>&\nOptions:\nA. a cat\nB. a dog\n"
        "Please select the correct answer from the options above. \n"
    )


@each("ending", ["", " Answer with the option's letter from the given choices directly."])
def test_vstar_is_asked_as_lmms_eval_does_with_the_instruction_exactly_once(ending: str) -> None:
    assert asked("vstar", item(f"What is it? (A) a cat (B) a dog{ending}")) == (
        "What is it?\nA. a cat\nB. a dog\nAnswer with the option's letter from the given choices directly."
    )


def test_a_template_may_use_columns_fields_and_the_text_that_it_replaces() -> None:
    template = "{{ category }}|{{ question }}|{{ options.B }}|{{ options_text }}|{{ default | length > 20 }}"
    assert asked("mmbench", item(category="animals"), template) == "animals|What is it?|a dog|A. a cat\nB. a dog|True"


@each(("last", "passes"), [("a cow", ["1", "1000001", "2000001"]), ("None of the above", ["1", "1000001"])])
def test_passes_that_the_data_leaves_out_are_asked_too(last: str, passes: list[str]) -> None:
    declared = declarations.load("mmbench")
    first = item(options={**OPTIONS, "C": last}, **OPTIONS, C=last, answer="B")
    tasks, _ = Circular().complete(declared, Rows(rows=[], origin="", digest=""), {"1": first}, None)
    assert list(tasks) == passes
    assert list(tasks["1000001"].options.values())[:2] == (
        ["a cow", "a cat"] if last == "a cow" else ["a dog", "a cat"]
    )
