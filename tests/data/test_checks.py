"""What is refused of a benchmark's rows before anything is graded, and what is only noted."""

import json
from pathlib import Path

import pytest

from grader.data import load as data
from grader.data.checks import check_questions
from grader.errors import InputError
from grader.grading import check, grade
from grader.observer import Silent
from grader.options import Options
from grader.results import Note
from grader.scorers import declarations

MMBENCH = declarations.load("mmbench")
DEV = "index\tquestion\tA\tB\tanswer\tsplit\n1\tWhich?\tx\ty\tA\tdev\n1000001\tWhich?\ty\tx\tB\tdev\n"
OWN = """
id = "own"
name = "Own"
scoring = "multiple_choice"
default_split = "{split}"
default_protocol = "p"
letters = "{letters}"
[columns]
id = "index"
question = "question"
answer = "answer"
split = "split"
[splits.dev]
data = "q.tsv"
label = "dev"
[splits.all]
data = "q.tsv"
[protocols.p]
reader = "vlmevalkit-2026-06"
"""


def problems(path: Path, text: str, split: str) -> list[str]:
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        data.load(MMBENCH, split, MMBENCH.default_protocol, path, None)
    return [problem.replace(f"{path.parent}/", "") for problem in caught.value.problems]


def own(folder: Path, text: str, letters: str = "AB", split: str = "all") -> str:
    (folder / "q.tsv").write_text(text)
    (folder / "benchmark.toml").write_text(OWN.format(letters=letters, split=split))
    return str(folder)


def predictions(folder: Path, *qids: str) -> Path:
    path = folder / "predictions.json"
    path.write_text(json.dumps([{"qid": qid, "predictions": ["A"]} for qid in qids]))
    return path


# --- tables that are not what they should be --------------------------------------------------------------------


def test_a_table_without_rows_or_without_its_id_column_is_refused(tmp_path: Path) -> None:
    assert problems(tmp_path / "q.tsv", DEV.splitlines()[0], "dev-en") == ["q.tsv: no rows"]
    assert problems(tmp_path / "q.json", "[]", "dev-en") == ["q.json: no rows"]
    assert problems(tmp_path / "q.tsv", DEV.replace("index", "id"), "dev-en") == [
        'q.tsv: no column index; the columns are "id", "question", "A", "B", "answer", "split"'
    ]
    assert problems(tmp_path / "q.tsv", DEV.replace("\t", ","), "dev-en") == [
        'q.tsv: no column index; the columns are "index,question,A,B,answer,split" '
        "(is it separated by tabs as .tsv, by commas as .csv?)"
    ]


# --- splits -----------------------------------------------------------------------------------------------------


def test_rows_that_say_they_are_of_another_split_are_refused(tmp_path: Path) -> None:
    assert problems(tmp_path / "q.tsv", DEV, "ccbench") == [
        "q.tsv: its column split is 'dev', which belongs to "
        "--split dev-en or dev-cn or dev-en-v11 or dev-cn-v11, not to --split ccbench"
    ]


@pytest.mark.parametrize("said", ["", "test"])
def test_what_names_no_other_split_contradicts_nothing(said: str, tmp_path: Path) -> None:
    reference = own(tmp_path, DEV.replace("dev", said))
    assert len(data.load(declarations.load(reference), "all", "p", None, None).rows) == 2


@pytest.mark.parametrize(
    "scoring",
    ['"multiple_choice"', '"answer"\nkind = "text"', '"execution"'],
    ids=lambda scoring: scoring.split('"')[1],
)
def test_of_a_file_with_all_splits_only_the_rows_of_the_split_are_graded(scoring: str, tmp_path: Path) -> None:
    mixed = DEV.replace("1000001", "2").replace("B\tdev", "B\ttest") + "3\tWhich?\tx\ty\tA\t\n"
    reference = own(tmp_path, mixed, split="dev")
    declaration = tmp_path / "benchmark.toml"
    text = declaration.read_text().replace('"multiple_choice"', scoring)
    if "choice" not in scoring:
        text = text.replace('letters = "AB"\n', "").replace('reader = "vlmevalkit-2026-06"', "")
    if "answer" in scoring:
        text = text.replace("[protocols.p]", '[protocols.p]\nrule = "exact"')
    if "execution" in scoring:
        text = text.replace('answer = "answer"', 'signature = "A"\ntests = "B"')
    declaration.write_text(text)
    loaded = data.load(declarations.load(reference), "dev", "p", None, None)
    assert ([row["index"] for row in loaded.rows], loaded.lines) == (["1", "3"], [2, 4])


def test_a_file_that_is_its_own_data_may_have_no_rows_of_another_split(tmp_path: Path) -> None:
    path = tmp_path / "m.tsv"
    path.write_text(
        DEV.replace("\tB\tdev", "\tB\ttest").replace("\n", "\tA\n").replace("split\tA", "split\tprediction")
    )
    with pytest.raises(InputError, match=r"1 of 2 rows belong to split 'test', but --split dev-en .*: 1000001"):
        grade(path, Options(benchmark="mmbench", data=path), Silent())


# --- letters ----------------------------------------------------------------------------------------------------

GAP = "index\tquestion\tA\tB\tD\tanswer\n1\tWhich?\tx\ty\tz\tA\n"


def test_a_letter_without_an_option_column_is_noted_by_grade_and_check(tmp_path: Path) -> None:
    note = "The data has no option column 'C', which the benchmark's letters (ABCD) name."
    options = Options(benchmark=own(tmp_path, GAP, "ABCD"))
    path = predictions(tmp_path, "1")
    assert Note(note) in grade(path, options, Silent()).report.notes
    assert note in check(path, options)


@pytest.mark.parametrize(
    ("letters", "lacking"),
    [("ABCD", None), ("ABX", "column 'X'"), ("ABQRSTUV", "columns 'Q', 'R', 'S', 'T', 'U', ...")],
)
def test_letters_after_the_last_option_are_noted_where_they_were_chosen(
    letters: str, lacking: str | None, tmp_path: Path
) -> None:
    options = Options(benchmark=own(tmp_path, DEV, letters, "dev"))
    notes = [line for line in check(predictions(tmp_path, "1", "1000001"), options) if "option column" in line]
    said = f"The data has no option {lacking}, which the benchmark's letters ({letters}) name."
    assert notes == ([said] if lacking else [])


# --- tests ------------------------------------------------------------------------------------------------------


def tasks(path: Path, *scripts: str) -> Path:
    rows = ({"qid": f"q{n}", "function_signature": "def solution(a):", "test_script": s} for n, s in enumerate(scripts))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_tests_that_do_not_parse_are_the_datas_fault_and_all_named_by_grade_and_check(tmp_path: Path) -> None:
    given = tasks(tmp_path / "t.jsonl", "assert solution(1)", "x = 1\nassert solution(1", "a\0b", "def f(:\n  pass")
    path = predictions(tmp_path, "q0", "q1", "q2", "q3")
    seen = []
    for call in (lambda o: check(path, o), lambda o: grade(path, o, Silent())):
        with pytest.raises(InputError) as caught:
            call(Options(data=given))
        seen.append(caught.value.problems)
    assert seen[0] == seen[1]
    assert [problem.partition(", so every program would fail")[0] for problem in seen[0]] == [
        f"{given}:{n + 1}: q{n}: test_script is invalid Python" for n in (1, 2, 3)
    ]
    assert seen[0][0].endswith(": its line 2: '(' was never closed")


def test_a_declared_column_that_the_data_lack_is_named_with_the_nearest_one(tmp_path: Path) -> None:
    folder = own(tmp_path, "index\tquestion\tA\tB\tanswr\tplace\n1\tWhich?\tx\ty\tA\there\n")
    file = predictions(tmp_path, "1")
    said = 'the columns are "index", "question", "A", "B", "answr", "place"'
    with pytest.raises(InputError) as caught:
        check(file, Options(benchmark=folder))
    assert caught.value.problems == [
        f'{tmp_path}/q.tsv: no column answer (did you mean "answr"?); {said} (`answer` in [columns] of benchmark.toml)'
    ]
    text = (tmp_path / "benchmark.toml").read_text().replace('"answer"\n', '"answr"\ngroups = ["plce"]\n')
    (tmp_path / "benchmark.toml").write_text(text.replace('split = "split"\n', ""))
    assert check(file, Options(benchmark=folder))[1:] == [
        f'The data has no column plce (did you mean "place"?); {said} (`groups: plce` in [columns] of benchmark.toml).'
    ]


def test_a_number_beyond_the_declared_first_one_is_not_told_to_declare_it(tmp_path: Path) -> None:
    folder = own(tmp_path, "index\tquestion\tA\tB\tanswer\n1\tWhich?\tx\ty\t4\n")
    toml = tmp_path / "benchmark.toml"
    toml.write_text(toml.read_text().replace("letters =", "answer_from = 0\nletters =", 1))
    with pytest.raises(InputError, match=r"options A, B; answer_from = 0 counts them from 0 to 1$"):
        check(predictions(tmp_path, "1"), Options(benchmark=folder))


@pytest.mark.parametrize(
    ("answer", "advice"),
    [
        ("b", "write its letter: B"),
        ("y", "write its letter: B"),
        (
            "1",
            "write the letter of the option: A (counted from 1) or B (counted from 0); "
            "or set answer_from in the benchmark.toml",
        ),
        ("both", "write the letter of an option"),
        ("0000000000123", "write the letter of an option"),
    ],
)
def test_a_gold_answer_that_is_no_letter_is_told_what_to_write(answer: str, advice: str, tmp_path: Path) -> None:
    folder = own(tmp_path, f"index\tquestion\tA\tB\tanswer\n1\tWhich?\tx\ty\t{answer}\n")
    with pytest.raises(InputError) as caught:
        check(predictions(tmp_path, "1"), Options(benchmark=folder))
    (problem,) = caught.value.problems
    assert problem == f"{tmp_path}/q.tsv:2: 1: the answer {answer!r} is not one of its options A, B; {advice}"


def test_a_question_column_without_text_names_the_columns_there_are(tmp_path: Path) -> None:
    declared = declarations.load(own(tmp_path, ""))
    path = tmp_path / "q.tsv"
    path.write_text("index\tquestion\tanswer\n1\t\tA\n2\t\tB\n")
    rows = data.load(declared, "all", declared.default_protocol, path, None)
    with pytest.raises(InputError) as caught:
        check_questions(rows, declared)
    assert caught.value.problems == [
        f'{path}: no question has a text: the column "question" (`question` in [columns] of benchmark.toml) is missing '
        'or empty; the columns are "index", "question", "answer"'
    ]
    path.write_text("index\tquestion\tanswer\n1\t\tA\n2\tWhich?\tB\n")
    check_questions(data.load(declared, "all", declared.default_protocol, path, None), declared)
