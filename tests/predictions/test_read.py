"""The prediction file: what is read, what is refused, and in which words."""

# ruff: noqa: E501 - a whole message on one line is easier to compare with what a user sees

import io
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.errors import InputError
from grader.predictions.file import PredictionFile, PredictionRecord
from grader.predictions.read import read_predictions
from grader.predictions.select import missing_prediction_message, unknown_qid_messages
from tests.files.made import JSON
from tests.observers import Noting
from tests.tables import each

RECORD = '{"qid": "...", "predictions": ["..."]}'
WANTED = f"expected a JSON array, or JSON Lines, of {RECORD}"
ONE = b'[{"qid": "q1", "predictions": ["a"]}]'


@pytest.fixture(autouse=True)
def _inside_tmp_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def read(content: bytes, name: str = "preds.json") -> PredictionFile:
    Path(name).write_bytes(content)
    return read_predictions(name)


def refusal(content: bytes, name: str = "preds.json") -> str:
    with pytest.raises(InputError) as caught:
        read(content, name)
    assert caught.value.exit_code == 2
    return str(caught.value)


def from_stdin(content: bytes) -> PredictionFile:
    return read_predictions("-", stdin=io.BytesIO(content))


# What is read


def test_an_array_of_records_is_read_with_the_place_of_each() -> None:
    file = read(
        b'[\n {"qid": "q1", "predictions": ["a", "b"], "prompt": "p", "n": {"x": [1, 2.5]}},\n\n {"qid": 7, "predictions": ["c", "d"]}\n]\n'
    )
    assert file == PredictionFile(
        name="preds.json",
        path=Path("preds.json"),
        format="grade",
        records=[
            PredictionRecord(
                qid="q1",
                predictions=["a", "b"],
                fields={"prompt": "p", "n": {"x": [1, 2.5]}},
                prompts=["p", "p"],
                position="preds.json:2: $[0]",
            ),
            PredictionRecord(qid="7", predictions=["c", "d"], fields={}, position="preds.json:4: $[1]"),
        ],
    )


def test_json_lines_are_recognised_by_content_and_not_by_suffix() -> None:
    lines = b'\n{"qid": "q1", "predictions": ["a"]}\r\n\n{"qid": "q2", "predictions": ["b"]}'
    for name in ("preds.json", "preds.jsonl", "preds"):
        file = read(lines, name)
        assert [(r.qid, r.predictions, r.position) for r in file.records] == [
            ("q1", ["a"], f"{name}:2"),
            ("q2", ["b"], f"{name}:4"),
        ]
        assert file.format == "grade"
    assert read(ONE, "preds.jsonl").records[0].position == "preds.jsonl:1: $[0]"


def test_records_of_one_qid_are_joined_in_file_order_with_a_prompt_for_each_prediction() -> None:
    records = [
        {"qid": "q1", "predictions": ["a", "b"], "prompt": "first", "model": "m"},
        {"qid": "q2", "predictions": ["x", "y", "z"]},
        {"qid": "q1", "predictions": ["c"], "prompt": "second", "model": "other"},
    ]
    file = read(json.dumps(records).encode())
    assert [(r.qid, r.predictions, r.prompts, r.fields) for r in file.records] == [
        ("q1", ["a", "b", "c"], ["first", "first", "second"], {"prompt": "first", "model": "m"}),
        ("q2", ["x", "y", "z"], None, {}),
    ]
    assert file.warnings[0] == (
        '1 qid with outputs of several models ("m", "other"), which count as samples of one: to grade each model, '
        "write a file for each."
    )


def test_half_characters_become_replacement_characters_with_a_warning() -> None:
    file = read(
        rb'[{"qid": "q1", "predictions": ["\ud83d x \uDE00", "\ud83d\ude00 \\ud83d \\\ud83d \ud83d\ud83d\ude00"]}]'
    )
    assert file.records[0].predictions == ["\ufffd x \ufffd", "😀 \\ud83d \\\ufffd \ufffd😀"]
    assert file.warnings == ["4 lone surrogates (half a character, as in \\ud83d) read as U+FFFD."]


def test_nan_in_a_carried_field_becomes_null() -> None:
    file = read(
        b'[{"qid": "q1", "predictions": ["a"], "score": NaN, "more": [-Infinity, {"x": Infinity}, 1e999, 1.5]}]'
    )
    assert file.records[0].fields == {"score": None, "more": [None, {"x": None}, None, 1.5]}


def test_a_large_file_needs_little_more_memory_than_its_size() -> None:
    size = 10_000_000
    text = "def solution(x):\n    return x + 1  # a comment\n" * 20
    with Path("large.json").open("w") as out:
        out.write("[")
        for number in range(size // len(json.dumps(text))):
            out.write(",\n" * (number > 0) + json.dumps({"qid": f"q{number}", "predictions": [f"{text}{number}"]}))
        out.write("]")
    script = (
        "import resource, sys; from grader.predictions.read import read_predictions\n"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024\n"
        "before = peak(); file = read_predictions('large.json'); print(len(file.records), file.records[-1].position.replace(' ', ''), peak() - before)"
    )
    root = Path(__file__).resolve().parents[2]
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(root)!r})\n{script}"]
    count, where, grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert where == f"large.json:{count}:$[{int(count) - 1}]"
    assert int(grown) < 3.5 * Path("large.json").stat().st_size


# What is refused


def test_every_wrong_type_is_named_with_its_line_and_path() -> None:
    assert refusal(b"""[
{"qid": true, "predictions": "a"},
{"qid": "", "predictions": [
  null, 3, "fine", NaN]},
{"predictions": []},
{"qid": "q"}, 3,
{"id": "q", "prediction": "x"}]""").splitlines() == [
        "preds.json:2: $[0].qid: expected a string or an integer, found true",
        'preds.json:2: $[0].predictions: expected a list of strings, found a bare string; wrap it in a list: ["..."]',
        "preds.json:3: $[1].qid: the qid is empty",
        'preds.json:3: $[1].predictions[0]: expected a string, found null; write "" if the model returned nothing',
        "preds.json:3: $[1].predictions[1]: expected a string, found the integer 3",
        'preds.json:3: $[1].predictions[3]: expected a string, found NaN or Infinity; write "" if the model returned nothing',
        'preds.json:5: $[2]: the field "qid" is missing; the record has "predictions"; expected ' + RECORD,
        "preds.json:5: $[2].predictions: the list is empty; a record needs at least one prediction, so leave this record out",
        'preds.json:6: $[3]: the field "predictions" is missing; the record has "qid"; expected ' + RECORD,
        'preds.json:6: $[4]: expected a record {"qid": "...", "predictions": ["..."]}, found the integer 3',
        'preds.json:7: $[5]: the fields "qid" and "predictions" are missing; the record has "id", "prediction"; '
        "expected " + RECORD,
    ]


def test_the_first_record_decides_the_format_even_behind_what_is_no_record() -> None:
    assert refusal(b'[null, {"id": "a", "output": "x"}]').splitlines() == [
        f"preds.json:1: $[0]: expected a record {RECORD}, found null"
    ]


def test_every_bad_line_of_json_lines_is_reported() -> None:
    content = b"""{"qid": "q1", "predictions": ["a"]
{"qid": "q2", "predictions": [1]}

{"qid": "q3", "predic
{"qid": "q4", "predictions": ["a"]} x
{"qid": "q5", "predictions": ["cut o"""
    assert refusal(content, "preds.jsonl").splitlines() == [
        "preds.jsonl:1: $: the line ends before the value does (was it cut off?)",
        "preds.jsonl:2: $.predictions[0]: expected a string, found the integer 1",
        "preds.jsonl:4: $: the string that begins here has no end (was the line cut off?) (also at line 6)",
        'preds.jsonl:5: $: "x" after the end of the value',
    ]


REFUSED = [
    (b"", "1: $: the file is empty"),
    (ONE[:-8], '1: $[0]: the file ends before the value does (was it cut off?)'),
    (ONE + b"\n" + ONE, '2: $: \'[{"qid": "q1", "pred...\' after the end of the value (one array around all records, or one record on each line, can be read)'),
    (b'[{"qid": "q1" "predictions": []}]', '1: $[0]: expecting \',\' delimiter, found \'"predictions": []}]\''),
    (b"[{'qid': 'q1'}]", "1: $[0]: single quotes; JSON strings need double quotes (json.dumps() writes them, str() does not)"),
    (b'[{"qid": "a\nb"}]', '1: $[0]: a raw control character (0x0a) in a string; JSON writes it \\u000a'),
    (b'[{"qid": "q1", "predictions": ["a",\n"b\xff"]}]', '2: $[0]: byte 38 of the file (0xff) is not UTF-8; if Excel or Windows wrote it, convert it: iconv -f cp1252 -t UTF-8'),
    (b"[" * 100_000, '1: $[0]: nested too deeply'),
    (ONE[:-2] + b',\n"x": ' + b"[" * 150 + b"]" * 150 + b"}]", '1: $[0].x: nested deeper than 100 levels'),
    (ONE.decode().encode("utf-16"), "1: $: the file is UTF-16 or UTF-32; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"),
    (b"\x1f\x8b\x08", "1: $: the file is not a readable gzip file (Compressed file ended before the end-of-stream marker was reached); was it cut off?"),
    (b"\x28\xb5\x2f\xfd", "1: $: the file is compressed with zstd; unpack it first (unzstd)"),
    (b"\x80\x04\x95", "1: $: the file is a pickle, which can run code when it is read; save it as .xlsx, .tsv or .json"),
    (b"[]", f"1: $: the file has no records; {WANTED}"),
    (ONE.decode().encode("utf-16-le"), "1: $: the file is UTF-16 or UTF-32, or not text; save it as UTF-8 (iconv -f UTF-16 -t UTF-8)"),
    (b'{\n"qid": "a"\n}\n{\n"qid": "b"\n}', '4: $: \'{\\n"qid": "b"\\n}\' after the end of the value (one array around all records, or one record on each line, can be read)'),
    (b"hello \x1b[31m", f'1: $: the file begins with "hello \\x1b[31m"; {WANTED}'),
]  # fmt: skip


@each(("content", "message"), REFUSED)
def test_a_file_that_cannot_be_read_says_where_and_why(content: bytes, message: str) -> None:
    assert refusal(content) == f"preds.json:{message}"


@each(
    ("content", "message"),
    [
        ("{}", f"found one object; {WANTED}; name its fields with --fields"),
        ('{"model": "m", "data": [{"qid": "q1", "predictions": ["a"]}]}', f'found one object with the keys "model", "data"; {WANTED}; if its records are there, read it with --fields at=data,id=qid,reply=predictions'),
        ('{"n": 1, "outputs": {"q1": "a"}}', f'found one object with the keys "n", "outputs"; {WANTED}; if its records are there, read it with --fields at=outputs'),
        ('{"schema": 1, "benchmark": "humaneval-v", "metrics": [], "samples": []}', 'this is a results file of grade, not predictions; rescore it with "grade PREDICTIONS --score-only"'),
    ],
)  # fmt: skip
def test_a_top_level_object_is_answered_with_what_to_do(content: str, message: str) -> None:
    assert refusal(content.encode()) == f"preds.json:1: $: {message}"


def test_a_map_of_texts_and_a_single_record_are_read() -> None:
    for content in ({"q1": "a", "q2": "b"}, {"q1": ["a"], "q2": ["b"]}):
        file = read(json.dumps(content).encode())
        assert {record.qid: record.predictions for record in file.records} == {"q1": ["a"], "q2": ["b"]}
    assert read(b'{\n "qid": "q1",\n "predictions": ["a"]\n}').records[0].predictions == ["a"]


def test_a_duplicate_key_is_found_wherever_it_is() -> None:
    content = rb"""[{"qid": "a", "predictions": ["x"],
"predictions": ["y"]},
{"qid": "a", "qid": "b", "predictions": [1], "m": {"k": 1,
  "\u006b": 2}}]"""
    assert refusal(content).splitlines() == [
        'preds.json:1: $[0]: the key "predictions" is a duplicate in one object',
        'preds.json:3: $[1]: the key "k" is a duplicate in one object',
        'preds.json:3: $[1]: the key "qid" is a duplicate in one object',
        "preds.json:3: $[1].predictions[0]: expected a string, found the integer 1",
    ]


def test_reading_stops_after_a_thousand_problems_and_says_so() -> None:
    wrong = [{"qid": n, "predictions": [None]} for n in range(999)]
    assert "stopped" not in refusal(json.dumps(wrong).encode())
    lines = refusal(json.dumps([*wrong, {"predictions": ["a"]}, 3, {"qid": 4}]).encode()).splitlines()
    assert lines[0].endswith(" and 996 more places)")
    assert lines[1:] == [
        'preds.json:1: $[999]: the field "qid" is missing; the record has "predictions"; expected ' + RECORD,
        "preds.json: reading stopped after 1,000 problems; there may be more",
    ]


def test_the_progress_of_a_large_file_is_told_by_the_megabyte() -> None:
    records = [{"qid": f"q{n}", "predictions": ["x" * 900]} for n in range(21_000)]
    Path("large.json").write_text(json.dumps(records))
    told = Noting()
    assert len(read_predictions("large.json", observer=told).records) == len(records)
    size = Path("large.json").stat().st_size >> 20
    assert told.phases == [("reading large.json (MB)", size)]
    assert sum(told.steps) == size
    assert len(told.steps) > 3
    small = Noting()
    Path("small.json").write_bytes(ONE)
    read_predictions("small.json", observer=small)
    assert small.phases == []


def test_paths_that_are_no_file_say_so() -> None:
    Path("preds.json").write_bytes(ONE)
    Path("folder").mkdir()
    Path("loop").symlink_to("loop")
    messages = []
    for name in ("pred.json", "else", "folder", "loop", "a\0b"):
        with pytest.raises(InputError) as caught:
            read_predictions(name)
        messages.append(str(caught.value))
    assert messages == [
        "pred.json: no such file; did you mean preds.json?",
        "else: no such file",
        "folder: is a folder; name the prediction file in it",
        "loop: cannot be read: Too many levels of symbolic links",
        "a\0b: cannot be read: embedded null byte",
    ]


# What is worth knowing


def test_samples_that_are_suspicious_are_warned_about() -> None:
    text = "def solution(): ...\n" * 6
    assert read(json.dumps([{"qid": "a", "predictions": [text, "B", "B", text, text]}]).encode()).warnings == [
        '2 of 5 samples are identical to an earlier sample, in 1 qid: "a".'
    ]
    assert read(json.dumps([{"qid": "a", "predictions": [text] * 1001}]).encode()).warnings == [
        '1,000 of 1,001 samples are identical to an earlier sample, in 1 qid: "a".'
    ]
    joined = [{"qid": q, "predictions": ["A", text]} for q in ("a", "b", "a")]
    assert read(json.dumps(joined).encode()).warnings == [
        '1 qid with a record that is identical to another one (was the file joined twice?): "a".',
        'Tasks have different numbers of samples: 1 has 4, 1 has 2 (qid "b").',
    ]
    assert read(json.dumps([{"qid": "a", "predictions": ["B"] * 6}]).encode()).warnings == []


def test_a_qid_that_appears_twice_is_a_duplicate_unless_each_of_several_has_more() -> None:
    given = [{"qid": q, "predictions": [text]} for q, text in (("a", "A"), ("b", "A"), ("c", "B"), ("a", "C"))]
    assert read(json.dumps(given).encode()).warnings == [
        '1 duplicate qid: the predictions of all its records count as its samples: "a".',
        'Tasks have different numbers of samples: 2 have 1, 1 has 2 (qid "a").',
    ]
    given = [{"qid": q, "predictions": [text]} for q in ("a", "b") for text in ("A", "B")]
    assert read(json.dumps(given).encode()).warnings == []
    assert read(json.dumps(given[:2]).encode()).warnings == [
        '1 duplicate qid: the predictions of all its records count as its samples: "a".'
    ]


def test_unknown_qids_are_named_and_many_are_counted() -> None:
    file = read(b"\n".join(json.dumps({"qid": q, "predictions": ["A"]}).encode() for q in ("Q1", "q2", "999")))
    assert unknown_qid_messages(file, ["Q1", "999"], ["q1", "q2"], noun="question") == [
        'preds.json:1: $.qid: the benchmark has no question "Q1"',
        'preds.json:3: $.qid: the benchmark has no question "999"',
        "2 of 3 qids are unknown. Are the benchmark (-b), the split (--split) and the data (--data) right?",
    ]
    many = read(b"\n".join(json.dumps({"qid": f"x{n}", "predictions": ["A"]}).encode() for n in range(-100, 60)))
    known_of_many = [f"x{n}" for n in range(-100, 0)]
    assert unknown_qid_messages(many, [f"x{n}" for n in range(60)], known_of_many) == [
        'preds.json:101: $.qid: 60 of 160 qids are no task of the benchmark: "x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7" and 52 more.'
    ]
    assert missing_prediction_message(file, ["q1", "q3", "question_17", "241"], 5) == (
        'preds.json: $: 4 of 5 tasks without a prediction: "q1", "q3", "question_17", "241"; '
        "--missing wrong counts them as wrong, --missing skip leaves them out, --join reads several files as one run"
    )


def test_ids_where_the_data_has_row_numbers_get_the_line_that_numbers_the_records() -> None:
    file = read(json.dumps([{"qid": f"gsm8k-test-#{n}", "predictions": ["A"]} for n in range(3)]).encode())
    known = ["0", "1", "2"]
    (problem,) = unknown_qid_messages(file, [f"gsm8k-test-#{n}" for n in range(3)], known)
    assert problem.endswith("if the records are in this order, number them, too: --fields id=#,reply=FIELD")


def test_a_file_for_another_benchmark_gets_one_line() -> None:
    file = read(json.dumps([{"qid": n, "predictions": ["A"]} for n in range(200)]).encode())
    known = [f"q{n}" for n in range(10)]
    assert unknown_qid_messages(file, [str(n) for n in range(200)], known) == [
        "preds.json:1: $[0].qid: no qid of the file is a task of the benchmark: "
        'the file has "0", "1", "2", "3", "4", "5", "6", "7" and 192 more, '
        'the benchmark "q0", "q1", "q2", "q3", "q4", "q5", "q6", "q7" and 2 more. '
        "Are the benchmark (-b), the split (--split) and the data (--data) right?"
    ]


# Properties

_FIELDS = st.dictionaries(
    st.text().filter(lambda name: name not in ("qid", "predictions", "prompt", "prompts")), JSON, max_size=3
)
_RECORD = st.builds(
    lambda qid, predictions, fields: {**fields, "qid": qid, "predictions": predictions},
    st.sampled_from(["q1", "q2", "1"]) | st.text(min_size=1) | st.integers(),
    st.lists(st.text(), min_size=1, max_size=3),
    _FIELDS,
)
_RECORDS = st.lists(_RECORD, min_size=1, max_size=5)
_WRITERS: dict[str, Callable[[list[object]], str]] = {
    "array": json.dumps,
    "array of plain UTF-8": lambda records: json.dumps(records, ensure_ascii=False),
    "indented": lambda records: json.dumps(records, indent=1),
    "lines": lambda records: "\n".join(json.dumps(record) for record in records),
    "lines with blanks": lambda records: "\r\n\r\n".join(json.dumps(record) for record in records) + "\n",
}


@given(_RECORDS, st.sampled_from(sorted(_WRITERS)))
def test_any_records_come_back_merged(records: list[dict[str, object]], writer: str) -> None:
    file = from_stdin(_WRITERS[writer](list(records)).encode())
    wanted: dict[str, list[object]] = {}
    fields: dict[str, dict[str, object]] = {}
    for record in records:
        wanted.setdefault(str(record["qid"]), []).extend(record["predictions"])  # type: ignore[arg-type]
        own = {name: value for name, value in record.items() if name not in ("qid", "predictions")}
        fields.setdefault(str(record["qid"]), own)
    assert {r.qid: r.predictions for r in file.records} == wanted
    assert [r.qid for r in file.records] == list(wanted)
    assert {r.qid: r.fields for r in file.records} == fields


@given(_RECORDS, st.data())
def test_damage_is_an_input_error_or_harmless(records: list[dict[str, object]], data: st.DataObject) -> None:
    whole = bytearray(json.dumps(records, ensure_ascii=False).encode())
    for place in data.draw(st.lists(st.integers(0, len(whole) - 1), min_size=1, max_size=3)):
        whole[place] = data.draw(st.integers(0, 255))
    problems: list[str] = []
    try:
        msgspec.json.encode(from_stdin(bytes(whole)).records)
    except InputError as error:
        problems = error.problems
    assert all(problem.startswith("<stdin>:") for problem in problems)
    "".join(problems).encode()
