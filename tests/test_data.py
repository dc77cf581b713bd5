"""Rows of a benchmark from every format a user may have, with every cell as it stands."""

from __future__ import annotations

import csv
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import benchmark, data
from grader.errors import DataUnavailableError, InputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ROWS: list[dict[str, Any]] = [
    {"qid": "q1", "text": "None", "number": 1, "labels": ["a"]},
    {"qid": "q2", "text": 'nan, "NA"\n\tñ \U0001f600', "number": 2, "labels": []},
]
COLUMNS = ["qid", "text", "number", "labels"]
HUMANEVAL_V = benchmark.load("humaneval-v")


ALL = data.Wanted(None, None)


def cells(path: Path) -> list[dict[str, Any]]:
    """A table's rows, each with the cells that have something."""
    return [{name: cell for name, cell in row.items() if cell is not None} for row in data.read(path, ALL)]


def problems(path: Path) -> list[str]:
    with pytest.raises(InputError) as caught:
        data.read(path, ALL)
    return caught.value.problems


def write_json_lines(path: Path) -> None:
    path.write_text("\n\n".join(json.dumps(row) for row in ROWS) + "\n")


def write_parquet(path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    pyarrow.parquet.write_table(pyarrow.Table.from_pylist([row | {"image": b"\xff"} for row in ROWS]), path)


def write_parquet_folder(path: Path) -> None:
    path.mkdir()
    write_parquet(path / "test-00000-of-00001.parquet")


def write_datasets_folder(path: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    datasets.Dataset.from_list(ROWS).save_to_disk(str(path))


def write_datasets_dictionary(path: Path) -> None:
    import datasets

    datasets.disable_progress_bars()
    datasets.DatasetDict({"test": datasets.Dataset.from_list(ROWS)}).save_to_disk(str(path))


FORMATS: dict[str, Callable[[Path], None]] = {
    "rows.jsonl": write_json_lines,
    "rows.NDJSON": write_json_lines,
    "rows.json": lambda path: path.write_text(json.dumps(ROWS)) and None,
    "marked.json": lambda path: path.write_bytes(b"\xef\xbb\xbf" + json.dumps(ROWS).encode()) and None,
    "rows.parquet": write_parquet,
    "parquet-folder": write_parquet_folder,
    "datasets-folder": write_datasets_folder,
    "datasets-dictionary": write_datasets_dictionary,
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    FORMATS[name](path)
    loaded = data.load(HUMANEVAL_V, "test", "v2", path, COLUMNS)
    assert (loaded.rows, loaded.origin) == (ROWS, name)


def test_the_same_rows_have_the_same_digest_whatever_the_format(tmp_path: Path) -> None:
    digests = set()
    for name, write in FORMATS.items():
        write(tmp_path / name)
        digests.add(data.load(HUMANEVAL_V, "test", "v2", tmp_path / name, COLUMNS).digest)
    assert len(digests) == 1


def test_columns_that_nobody_asked_for_are_not_kept_and_not_in_the_digest(tmp_path: Path) -> None:
    path = tmp_path / "rows.json"
    path.write_text(json.dumps(ROWS))
    one = data.load(HUMANEVAL_V, "test", "v2", path, ["qid"])
    path.write_text(json.dumps([row | {"text": "other"} for row in ROWS]))
    two = data.load(HUMANEVAL_V, "test", "v2", path, ["qid"])
    assert one.rows == two.rows == [{"qid": "q1"}, {"qid": "q2"}]
    assert one.digest == two.digest
    path.write_text(json.dumps(ROWS[::-1]))
    assert data.load(HUMANEVAL_V, "test", "v2", path, ["qid"]).digest != one.digest


EVERYTHING = data.Wanted(None, None)
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


def test_a_table_may_begin_with_a_mark_and_end_lines_as_windows_does(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(b"\xef\xbb\xbfindex\tA\r\n1\tNone\r\n2\r\n")
    assert cells(path) == [{"index": "1", "A": "None"}, {"index": "2"}]


def test_a_cell_of_megabytes_is_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text("index\timage\n1\t" + "A" * 5_000_000 + "\n")
    assert len(cells(path)[0]["image"]) == 5_000_000


# --- what is refused --------------------------------------------------------------------------------------------


def test_every_wrong_line_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text('{"qid": "q1"}\n{"qid": }\n\n[1]\n')
    assert problems(path) == [
        "rows.jsonl:2: JSON is malformed: invalid character (byte 8)",
        "rows.jsonl:4: Expected `object`, got `array`",
    ]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("rows.json", b'{"qid": 1}', "rows.json: Expected `array`, got `object`; expected a list of objects"),
        ("rows.json", b"[1]", "rows.json: Expected `object`, got `int` - at `$[0]`; expected a list of objects"),
        ("rows.json", b"", "rows.json: Input data was truncated; expected a list of objects"),
        ("rows.tsv", b"", "rows.tsv: empty"),
        ("rows.tsv", b"a\tb\n1\t2\t3\n", "rows.tsv:2: 3 cells, the header has 2"),
        ("rows.tsv", b"a\tb\n\xff\t1\n", "rows.tsv: not UTF-8 at byte 4"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(name: str, content: bytes, problem: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    assert problems(path) == [problem]


@pytest.mark.parametrize("content", [b'{"qid": "\xff"}\n', b"\xff\xfe{\x00", b'{"qid": "a\x00b"}'])
def test_a_line_that_is_no_text_is_an_error_that_names_the_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(content)
    assert problems(path)[0].startswith("rows.jsonl")


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet" * 10])
def test_a_file_that_is_no_parquet_is_an_error_that_names_it(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    path.write_bytes(content)
    assert problems(path)[0].startswith("rows.parquet: not a parquet file (")


def test_a_folder_that_holds_no_rows_is_an_error_that_names_it(tmp_path: Path) -> None:
    assert problems(tmp_path) == [f"{tmp_path.name}: neither a folder written by `datasets` nor one of parquet files"]


def test_a_damaged_datasets_folder_is_an_error_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text("{")
    assert problems(tmp_path)[0].startswith(f"{tmp_path.name}: ")


def test_a_file_that_is_not_there_and_a_format_nobody_reads_are_usage_errors(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"^--data .*gone\.jsonl: there is no such file\.$"):
        data.read(tmp_path / "gone.jsonl", ALL)
    (tmp_path / "rows.pickle").write_bytes(b"")
    with pytest.raises(UsageError, match=r"^--data rows\.pickle: not a format grade reads \(\.jsonl, "):
        data.read(tmp_path / "rows.pickle", ALL)


def test_without_a_recorded_revision_the_error_says_how_to_give_the_tasks() -> None:
    with pytest.raises(DataUnavailableError) as caught:
        data.load(HUMANEVAL_V, "test", "v1", None, ["qid"])
    assert str(caught.value) == (
        "The revision of HumanEval-V/HumanEval-V-Benchmark that protocol v1 was made with is not publicly recorded. "
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
    with pytest.raises(DataUnavailableError) as caught:
        data.load(HUMANEVAL_V, "test", "v2", None, ["qid"])
    first, last = str(caught.value).split("\n")
    assert first.startswith("The data set HumanEval-V/HumanEval-V-Benchmark could not be loaded from the hub (")
    assert (
        last
        == "Without a network, give a local copy: --data FILE (.jsonl, .parquet, or a folder written by `datasets`)."
    )


def test_a_hub_with_another_number_of_rows_is_not_the_benchmark(monkeypatch: pytest.MonkeyPatch) -> None:
    import datasets

    asked: list[object] = []

    def lend(*args: object, **named: object) -> Any:
        asked.append((args, named))
        return datasets.Dataset.from_list(ROWS)

    monkeypatch.setattr(datasets, "load_dataset", lend)
    with pytest.raises(DataUnavailableError) as caught:
        data.load(HUMANEVAL_V, "test", "v2", None, ["qid"])
    revision = "8a3465c8cdcd25f65b3e13651e21cef9406e1799"
    assert str(caught.value) == f"HumanEval-V/HumanEval-V-Benchmark@{revision} has 2 rows; v2 has 253."
    assert asked == [(("HumanEval-V/HumanEval-V-Benchmark", None), {"split": "test", "revision": revision})]


def test_a_benchmarks_own_file_is_found_beside_its_declaration(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text(json.dumps(ROWS))
    (tmp_path / "benchmark.toml").write_text(
        'id = "own"\nname = "Own"\nscoring = "execution"\ndefault_split = "s"\ndefault_protocol = "p"\n'
        '[columns]\nid = "qid"\n[splits.s]\ndata = "rows.json"\n[splits.empty]\n[protocols.p]\n'
    )
    own = benchmark.load(str(tmp_path))
    assert data.load(own, "s", "p", None, ["qid"]).rows == [{"qid": "q1"}, {"qid": "q2"}]
    with pytest.raises(DataUnavailableError, match=r"^The data of own \(empty\) is not here\."):
        data.load(own, "empty", "p", None, ["qid"])
