"""Rows of a benchmark from every format a user may have, with every cell as it stands."""

import csv
import gzip
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.data import hub
from grader.data import load as data
from grader.data.formats import read
from grader.data.tables import ALL
from grader.errors import DataUnavailableError, InputError, UsageError
from grader.scorers import declarations, registry
from grader.scorers.rows import rows_of
from tests.made_runs import BENCHMARKS, SAMPLES
from tests.tables import each

ROWS: list[dict[str, Any]] = [
    {"qid": "q1", "text": "None", "number": 1, "labels": ["a"]},
    {"qid": "q2", "text": 'nan, "NA"\n\tñ \U0001f600', "number": 2, "labels": []},
]
COLUMNS = ["qid", "text", "number", "labels"]
HUMANEVAL_V = declarations.load("humaneval-v")


def cells(path: Path) -> list[dict[str, Any]]:
    """A table's rows, each with the cells that have something."""
    return [{name: cell for name, cell in row.items() if cell is not None} for row in read(path, ALL).rows]


def problems(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(path, ALL)
    return [problem.replace(f"{path.parent}/", "") for problem in caught.value.problems]


def write_json_lines(path: Path) -> None:
    path.write_text("\n\n".join(json.dumps(row) for row in ROWS) + "\n")


def write_parquet(path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row | {"image": b"\xff"} for row in ROWS]), path)


def write_parquet_folder(path: Path) -> None:
    path.mkdir()
    (path / "dev-00000-of-00001.parquet").write_bytes(b"another split")
    write_parquet(path / "test-00000-of-00001.parquet")


def write_datasets_folder(path: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    datasets.Dataset.from_list(ROWS).save_to_disk(str(path))


def write_datasets_dictionary(path: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    splits = {"dev": datasets.Dataset.from_list(ROWS[:1]), "test": datasets.Dataset.from_list(ROWS)}
    datasets.DatasetDict(splits).save_to_disk(str(path))


FORMATS: dict[str, Callable[[Path], None]] = {
    "rows.jsonl": write_json_lines,
    "rows.json": lambda path: path.write_text(json.dumps(ROWS)) and None,
    "rows.jsonl.gz": lambda path: path.write_bytes(gzip.compress("\n".join(map(json.dumps, ROWS)).encode())) and None,
    "rows.parquet": write_parquet,
    "parquet-folder": write_parquet_folder,
    "datasets-folder": write_datasets_folder,
    "datasets-dictionary": write_datasets_dictionary,
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_rows_and_digest(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    FORMATS[name](path)
    loaded = data.load(HUMANEVAL_V, "test", "v2", path, COLUMNS)
    assert (loaded.rows, loaded.origin) == (ROWS, name)
    (tmp_path / "same.json").write_text(json.dumps(ROWS))
    assert data.load(HUMANEVAL_V, "test", "v2", tmp_path / "same.json", COLUMNS).digest == loaded.digest


@each(("benchmark", "name"), [("humaneval-v", "tasks.jsonl"), ("humaneval", "tasks.jsonl"), *SAMPLES.items()])
def test_the_digest_is_of_what_scoring_uses_however_much_is_read(benchmark: str, name: str) -> None:
    """A report reads the pictures and the reference solutions too, and must know the data that was graded."""
    declared = declarations.load(benchmark)
    scorer = registry.scorer(declared.scoring)
    place = BENCHMARKS / benchmark / "sample" / name
    where = (declared, declared.default_split, declared.default_protocol, place, scorer)
    scored, whole = rows_of(*where), rows_of(*where, wanted=ALL)
    assert scored.digest == whole.digest
    assert all(row.items() <= more.items() for row, more in zip(scored.rows, whole.rows, strict=True))


def test_a_reference_solution_does_not_change_what_runs_are_compared_by(tmp_path: Path) -> None:
    scorer = registry.scorer("execution")
    loaded = []
    for number in range(2):
        path = tmp_path / f"{number}.jsonl"
        row = {
            "qid": "q1",
            "function_signature": "def f():",
            "test_script": "f()",
            "ground_truth_solution": str(number),
        }
        path.write_text(json.dumps(row))
        loaded.append(rows_of(declarations.load("humaneval-v"), "test", "v2", path, scorer))
    assert loaded[0].digest == loaded[1].digest


CELLS = st.sampled_from(
    ["None", "NA", "nan", "NULL", "null", "true", "1", "1.0", "007", "-", " x ", 'a"b', "a,b", "é", "1e5"]
)


@given(
    st.lists(
        st.dictionaries(st.sampled_from("ABCD"), CELLS | st.text("abc\n\t\"',", min_size=1, max_size=5), max_size=4),
        max_size=5,
    )
)
@pytest.mark.parametrize(("suffix", "delimiter"), [("tsv", "\t"), ("csv", ",")])
def test_a_tables_cells_are_text_as_it_stands_and_an_empty_cell_is_none(
    suffix: str, delimiter: str, tmp_path_factory: pytest.TempPathFactory, rows: list[dict[str, str]]
) -> None:
    path = tmp_path_factory.mktemp("tables") / f"rows.{suffix}"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, ["index", *"ABCD"], delimiter=delimiter, restval="")
        writer.writeheader()
        writer.writerows(row | {"index": "1"} for row in rows)
    assert cells(path) == [{"index": "1"} | dict(sorted(row.items())) for row in rows]


# --- what is refused --------------------------------------------------------------------------------------------


def test_every_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"qid": "q1"}\n{"qid": }\n\n[1]\n')
    assert problems(path) == [
        "rows.jsonl:2: $: expecting value, found '}'".replace("'", '"'),
        "rows.jsonl:4: $: expected an object",
    ]


OPEN_QUOTE = "a quote is opened here and never closed (was the file cut off inside a quoted cell?)"


@each(
    ("name", "content", "problem"),
    [
        ("rows.json", b'[\n{"qid": 1},\n1]', "rows.json:3: $[1]: expected an object"),
        ("rows.json", b'[{"qid": 1},\n{"qid" 2}]', 'rows.json:2: $[1]: expecting \':\' delimiter, found "2}]"'),
        ("rows.jsonl", b'{"qid": 1}\n{"text": "\\ud83d"}\n',
         "rows.jsonl:2: $: a lone surrogate (an escape such as \\ud83d without its other half)"),
        ("rows.json", b'{"qid": 1}', "rows.json:1: $: begins with '{\"qid\": 1}'; expected a list of objects"),
        ("rows.json", b"", "rows.json:1: the file is empty"),
        ("rows.parquet", b"", "rows.parquet: the file is empty"),
        ("rows.tsv", b"", "rows.tsv:1: the file is empty"),
        ("rows.tsv", b"\na\tb\n", "rows.tsv:1: the line is blank, but should name the columns"),
        ("rows.tsv", b"a\tb\n1\t2\t3\n",
         "rows.tsv:2: 3 cells, the header has 2 (a tab or a line break outside quotes?)"),
        ("rows.tsv", b"a\tb\n" + b"1\t2\n" * 9000 + b"\xff\t1\n",
         "rows.tsv:9002: byte 36004 of the file (0xff) is not UTF-8; "
         "if Excel or Windows wrote it, convert it: iconv -f cp1252 -t UTF-8"),
        ("rows.tsv", b'index\tA\n1\tx\n2\t"y\n3\tz\n', f"rows.tsv:3: {OPEN_QUOTE}"),
        ("rows.tsv", b'"index\tA\n1\tx\n', f"rows.tsv:1: {OPEN_QUOTE}"),
        ("rows.tsv", b'index\tA\tB\n1\t"x\ty\n2\tthe "u\n3\tx\ty\n', "rows.tsv:2: not a tab-separated table: "
         "'\t' expected after '\"' (is a quote opened and not closed?)"),
        ("rows.tsv", b'index\tA\tB\n1\t"x\ty\n2\tthe "\n3\tx\ty\n',
         "rows.tsv:2: 2 cells, the header has 3; it ends on "
         "line 3: is a quote opened and not closed?"),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert problems(path) == [problem]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("q.tsv", b"index\tanswer\tA\tanswer\n1\tA\tx\tB\n",
         ['q.tsv:1: the column "answer" is a duplicate']),
        ("q.csv", b"a,b,a,b,a\n", ['q.csv:1: the column "a" is a duplicate',
                                   'q.csv:1: the column "b" is a duplicate']),
        ("q.jsonl", b'{"index": 1, "label": "A"}\n{"index": 2, "label": "A", "label": "B"}\n',
         ['q.jsonl:2: $: the key "label" is a duplicate in one object']),
    ],
)  # fmt: skip
def test_a_column_or_key_that_stands_twice_is_refused(
    name: str, content: bytes, expected: list[str], tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert problems(path) == expected


def test_a_column_that_stands_twice_in_parquet_is_refused(tmp_path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.table([[1], [2]], names=["a", "a"]), tmp_path / "q.parquet")
    assert problems(tmp_path / "q.parquet") == ['q.parquet: the column "a" is a duplicate']


@pytest.mark.parametrize(
    ("end", "cell"),
    [('x\t', None), ('""\n', None), ('"x\ny"\t\r\n', "x\ny"), ('5" disk\n', '5" disk'),
     ('"say ""x"""', 'say "x"'), ("x\n\n\n", "x")],
)  # fmt: skip
def test_a_table_may_end_with_any_cell_that_is_whole(end: str, cell: str | None, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(f"index\tA\tB\n1\t{end}".encode())
    expected = {"index": "1"} | ({"A": cell} if cell else {}) | ({"A": "x"} if end == "x\t" else {})
    assert cells(path) == [expected]


def test_a_nan_that_pandas_wrote_is_an_empty_cell(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"index": 1, "C": NaN}\n')
    assert read(path, ALL).rows == [{"index": 1, "C": None}]


def test_a_row_is_named_by_the_path_as_it_was_given_and_the_line_it_begins_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text('qid,text\nq1,"a\nb"\n\nq2,c\n')
    rows = data.load(HUMANEVAL_V, "test", "v2", Path("./rows.csv"), ["qid"])
    assert [rows.position_of(number) for number in (1, 2)] == ["rows.csv:2", "rows.csv:5"]
    write_parquet(Path("rows.parquet"))
    rows = data.load(HUMANEVAL_V, "test", "v2", tmp_path / "rows.parquet", ["qid"])
    assert rows.position_of(2) == f"{tmp_path}/rows.parquet: row 2"


@pytest.mark.parametrize("content", [b"PAR1", b"not parquet" * 10])
def test_a_file_that_is_no_parquet_is_an_error_that_names_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    assert problems(path)[0].startswith("rows.parquet: not a readable parquet file (")


@pytest.mark.parametrize(("value", "kind"), [(b"\xff", "string"), (2**62, "timestamp[us]")])
def test_a_cell_of_parquet_that_python_cannot_hold_is_an_error(value: bytes | int, kind: str, tmp_path: Path) -> None:
    import pyarrow.parquet

    stored = pyarrow.binary() if isinstance(value, bytes) else pyarrow.int64()
    cells = pyarrow.array([value], stored).view(kind)
    pyarrow.parquet.write_table(pyarrow.table({"qid": cells}), tmp_path / "rows.parquet")
    assert problems(tmp_path / "rows.parquet")[0].startswith("rows.parquet: not a readable parquet file (")


def test_a_folder_without_the_split_names_those_that_it_has(tmp_path: Path) -> None:
    for name in ("dev", "validation"):
        write_parquet(tmp_path / f"{name}-00000-of-00001.parquet")
    with pytest.raises(InputError) as caught:
        data.load(HUMANEVAL_V, "test", "v2", tmp_path, ["qid"])
    assert caught.value.problems == [f"{tmp_path}: the folder has the splits dev, validation, but not test"]


@pytest.mark.parametrize(
    "name", ["test.parquet", "test-00000-of-00001.parquet", "test-00000-of-00001-3f8f2d3c.parquet"]
)
def test_of_a_folder_with_several_splits_only_the_wanted_one_is_read(name: str, tmp_path: Path) -> None:
    (tmp_path / name.replace("test", "dev")).write_bytes(b"another split")
    write_parquet(tmp_path / name)
    assert [row["qid"] for row in read(tmp_path, ALL, "test").rows] == ["q1", "q2"]


@pytest.mark.parametrize("write", [write_parquet_folder, write_datasets_folder, write_datasets_dictionary])
def test_a_folder_around_the_right_one_names_it(write: Callable[[Path], None], tmp_path: Path) -> None:
    write(tmp_path / "data")
    (problem,) = problems(tmp_path)
    assert problem.endswith(f"nor one of parquet files; did you mean {tmp_path.name}/data?")


@pytest.mark.parametrize(
    ("name", "content"),
    [*(("state.json", content) for content in ("", "{}", "[]", "null", '{"_data_files": []}')),
     *(("dataset_info.json", content) for content in ("", "[]", '{"features": 3}'))],
)  # fmt: skip
def test_a_broken_folder_of_datasets_is_an_error_that_names_it(name: str, content: str, tmp_path: Path) -> None:
    write_datasets_folder(tmp_path / "rows")
    (tmp_path / "rows" / name).write_text(content)
    assert problems(tmp_path / "rows")[0].startswith("rows: not a folder written by `datasets` (")


def test_a_link_to_a_file_that_is_gone_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "test.parquet").symlink_to(tmp_path / "gone")
    assert "test.parquet: not a readable parquet file ([Errno 2] No such file or directory" in problems(tmp_path)[0]


@pytest.mark.parametrize("name", FORMATS)
def test_data_without_the_id_has_rows_and_the_error_names_its_columns(name: str, tmp_path: Path) -> None:
    FORMATS[name](tmp_path / name)
    mmlu_pro = declarations.load("mmlu-pro")
    with pytest.raises(InputError, match=r'no column question_id; the columns are "qid", "text"'):
        data.load(mmlu_pro, "test", mmlu_pro.default_protocol, tmp_path / name, ["question_id"])


def test_a_folder_that_holds_no_rows_is_an_error_that_names_it(tmp_path: Path) -> None:
    assert problems(tmp_path) == [f"{tmp_path.name}: neither a folder written by `datasets` nor one of parquet files"]
    (tmp_path / "dataset_dict.json").write_text('{"splits": []}')
    assert problems(tmp_path) == [f"{tmp_path.name}: the folder has no split"]


def test_a_file_that_is_not_there_and_a_format_nobody_reads_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--data .*gone\.jsonl: this file does not exist\.$"):
        read(tmp_path / "gone.jsonl", ALL)
    (tmp_path / "gone.jsonl").symlink_to("nowhere")
    with pytest.raises(UsageError, match=r"^--data .*gone\.jsonl: this file does not exist\.$"):
        read(tmp_path / "gone.jsonl", ALL)
    (tmp_path / "questions.jsonl").write_text("")
    with pytest.raises(UsageError, match=r"this file does not exist; did you mean .*/questions\.jsonl\?$"):
        read(tmp_path / "question.jsonl", ALL)
    (tmp_path / "rows.pickle").write_bytes(b"")
    with pytest.raises(UsageError, match=r"^--data .*rows\.pickle: unknown format; grade reads \.jsonl, "):
        read(tmp_path / "rows.pickle", ALL)


def test_without_a_recorded_revision_the_error_says_how_to_give_the_tasks() -> None:
    with pytest.raises(DataUnavailableError) as caught:
        data.load(HUMANEVAL_V, "test", "v1", None, ["qid"])
    assert str(caught.value) == (
        "The revision of HumanEval-V/HumanEval-V-Benchmark that protocol v1 used is not publicly recorded. "
        "Give the 108 tasks with --data FILE, "
        "or set protocols.v1.revision in a copy of humaneval-v/benchmark.toml and use -b FOLDER."
    )


@pytest.mark.parametrize("error", [ConnectionError("no network"), RuntimeError("gone\n" * 200), KeyError("split")])
def test_a_hub_that_cannot_be_reached_is_an_error_that_names_the_file_to_pass_instead(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    def refuse(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    monkeypatch.setattr(hub.HubRequest, "is_answered", lambda _: True)
    with pytest.raises(DataUnavailableError) as caught:
        data.load(HUMANEVAL_V, "test", "v2", None, ["qid"])
    first, last = str(caught.value).split("\n")
    assert first.startswith("The data of HumanEval-V/HumanEval-V-Benchmark could not be loaded: ")
    give = "Without a network, give a local copy with --data FILE"
    assert last == f"{give}: .jsonl, .parquet, or a folder written by `datasets`."


def test_a_hub_with_another_number_of_rows_is_not_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    asked: list[object] = []

    def lend(*args: object, **named: object) -> Any:
        asked.append((args, named))
        return datasets.Dataset.from_list(ROWS)

    monkeypatch.setattr(datasets, "load_dataset", lend)
    monkeypatch.setattr(hub.HubRequest, "is_answered", lambda _: True)
    with pytest.raises(DataUnavailableError) as caught:
        data.load(HUMANEVAL_V, "test", "v2", None, ["qid"])
    revision = "8a3465c8cdcd25f65b3e13651e21cef9406e1799"
    assert str(caught.value) == f"HumanEval-V/HumanEval-V-Benchmark@{revision} has 2 rows; v2 has 253."
    assert asked == [(("HumanEval-V/HumanEval-V-Benchmark", None), {"split": "test", "revision": revision})]


def test_a_benchmarks_own_file_is_found_beside_its_declaration(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    (tmp_path / "benchmark.toml").write_text(
        '\ufeffid = "own"\nname = "Own"\nscoring = "multiple_choice"\ndefault_split = "s"\ndefault_protocol = "p"\n'
        '[columns]\nid = "qid"\n[splits.s]\ndata = "rows.json"\n[splits.empty]\n[protocols.p]\nreader = "mmmu"\n'
    )
    own = declarations.load(str(tmp_path))
    assert data.load(own, "s", "p", None, ["qid"]).rows == [{"qid": "q1"}, {"qid": "q2"}]
    (tmp_path / "rows.json").unlink()
    with pytest.raises(InputError, match=r"benchmark\.toml: the data of split s are missing: there is no .*rows\.json"):
        data.load(own, "s", "p", None, ["qid"])
    with pytest.raises(DataUnavailableError, match=r"^The data of own \(empty\) is not on this machine\."):
        data.load(own, "empty", "p", None, ["qid"])


def test_a_workbook_is_data(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["a note"])
    sheet = book.create_sheet("Sheet2")
    for row in (["index", "question", "A", None], [1, "Which?", "None"], [], [2, "=A", 3.5]):
        sheet.append(row)
    book.save(tmp_path / "q.xlsx")
    assert cells(tmp_path / "q.xlsx") == [
        {"index": 1, "question": "Which?", "A": "None"},
        {"index": 2, "question": "=A", "A": 3.5},
    ]
    assert read(tmp_path / "q.xlsx", ALL).lines == [2, 4]
    (tmp_path / "q.xlsx").write_bytes(b"PK\x03\x04")
    assert problems(tmp_path / "q.xlsx") == [
        "q.xlsx:1: not a readable .xlsx workbook (File is not a zip file); was it cut off?"
    ]


APART = """
id = "apart"
name = "Apart"
scoring = "multiple_choice"
letters = "ABC"
other_answers = "Other Answers"
default_split = "test"
default_protocol = "mmmu"
columns = { id = "index", question = "question", answer = "answer" }
splits.test = { data = "questions.tsv", answers = { data = "answers.json", key = "id", field = "ground_truth" } }
protocols.mmmu.reader = "mmmu"
"""
QUESTIONS = "index\tid\tquestion\tA\tB\tC\n1\ttest_Art_1\tWhich?\tred\tblue\t\n2\ttest_Art_2\tHow many?\t\t\t\n"


def apart(folder: Path, answers: object, questions: str = QUESTIONS) -> dict[str, Any]:
    (folder / "benchmark.toml").write_text(APART)
    (folder / "questions.tsv").write_text(questions)
    if answers is not None:
        (folder / "answers.json").write_text(json.dumps(answers))
    declared = declarations.load(str(folder))
    scorer = registry.scorer(declared.scoring)
    rows = rows_of(declared, "test", "mmmu", None, scorer)
    return {qid: (task.options, task.gold) for qid, task in scorer.tasks(declared, "test", rows).items()}


def test_answers_in_a_file_of_their_own_are_joined_and_open_questions_have_two_options(tmp_path: Path) -> None:
    answers = {
        "test_Art_1": {"question_type": "multiple-choice", "ground_truth": "B"},
        "test_Art_2": {"question_type": "short-answer", "ground_truth": ["3", "3.0"]},
    }
    assert apart(tmp_path, answers) == {
        "1": ({"A": "red", "B": "blue"}, "B"),
        "2": ({"A": "['3', '3.0']", "B": "Other Answers"}, "A"),
    }


def test_data_with_answers_of_their_own_need_no_other_file(tmp_path: Path) -> None:
    own = "index\tid\tquestion\tA\tB\tC\tanswer\n1\ttest_Art_1\tWhich?\tred\tblue\t\tA\n"
    assert apart(tmp_path, None, own) == {"1": ({"A": "red", "B": "blue"}, "A")}


def test_a_file_of_answers_that_is_missing_or_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(DataUnavailableError, match=r"in a file of their own, answers\.json, which is not on this"):
        apart(tmp_path, None)
    with pytest.raises(InputError, match=r"answers\.json: .*expected an object of answers"):
        apart(tmp_path, ["B"])
