"""JSON text: the records and their lines, what is wrong with it, and what is safe to print."""

import json
import re

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from grader.files import compact_json
from grader.files.compact_json import replace_surrogates
from grader.files.json_records import JsonText, Problems
from grader.files.json_text import problem_lines, quoted, render_path
from tests.conftest import cases
from tests.files.made import JSON
from tests.tables import each


@given(st.lists(JSON), st.sampled_from([None, 1]), st.data())
@settings(max_examples=cases(300))
def test_an_array_has_the_records_that_python_reads_or_a_problem(
    values: list[object], indent: int | None, data: st.DataObject
) -> None:
    text = json.dumps(values, indent=indent, ensure_ascii=data.draw(st.booleans()))
    if data.draw(st.booleans()):
        place = data.draw(st.integers(1, len(text)))
        text = (
            text[:place]
            + data.draw(st.sampled_from(list('[]{},:" 0.-e+1tNa\\u\n\x00')))
            + text[place + data.draw(st.integers(0, 1)) :]
        )
    problems = Problems("f")
    entries = list(JsonText(text.encode(), problems).array())
    try:
        wanted = json.loads(text)
    except ValueError:
        assert problems.messages
    else:
        assert repr([entry.value for entry in entries]) == repr([replace_surrogates(value)[0] for value in wanted])
        assert [entry.path for entry in entries] == [(number,) for number in range(len(wanted))]
        assert all("is a duplicate" in problem for problem in problems.messages)


_KEY = st.text(alphabet='":\\ab {}[],')


@given(_KEY, st.lists(st.dictionaries(_KEY, _KEY, max_size=2)), st.sampled_from([":", ": ", " :"]))
def test_no_duplicate_key_is_missed(key: str, values: list[dict[str, object]], colon: str) -> None:
    plain = json.dumps(values, separators=(", ", colon))[1:-1]
    inner = f'{{"x"{colon}{{{json.dumps(key)}{colon}1, {json.dumps(key)}{colon}2}}}}'
    problems = Problems("f")
    list(JsonText(f"[{plain}{', ' if plain else ''}{inner}]".encode(), problems).array())
    assert len(problems.messages) == 1
    assert "is a duplicate" in problems.messages[0]


def test_paths_and_names_are_safe_to_print() -> None:
    assert (
        render_path((3, "predictions", 0, "a b", "\x1b[2J", "naïve")) == '$[3].predictions[0]["a b"]["\\x1b[2J"].naïve'
    )
    assert quoted("x" * 100, 5) == '"xxxxx..."'
    assert quoted("\u202e") == '"\\u202e"'


def test_the_same_problem_is_one_line_with_three_places_and_the_number_of_the_others() -> None:
    same = [f"preds.json:{n}: $[{n}]: same" for n in range(1, 71)]
    assert problem_lines(["preds.json:1: $: other", *same, "preds.json:99: $: last"]) == [
        "preds.json:1: $: other",
        "preds.json:1: $[1]: same (also at line 2: $[2], line 3: $[3] and 67 more places)",
        "preds.json:99: $: last",
    ]
    assert problem_lines(same[:2]) == ["preds.json:1: $[1]: same (also at line 2: $[2])"]
    assert problem_lines(same[:4])[-1].endswith("(also at line 2: $[2], line 3: $[3] and 1 more place)")
    lines = [f"a.jsonl:{n}: $: same" for n in (1, 2)]
    for other in ("b.tsv", "2.tsv"):
        assert problem_lines([*lines, f"{other}:7: same"]) == [f"a.jsonl:1: $: same (also at line 2 and {other}:7)"]


def test_what_is_left_out_of_a_long_list_is_counted() -> None:
    problems = [f"preds.json:{n}: $: the qid q{n} is unknown" for n in range(2037)]
    assert problem_lines(problems) == [*problems[:20], "... and 2,017 more"]
    assert problem_lines(problems[:20]) == problems[:20]


@each(
    "place",
    ["a b.json:12: $[3].qid: ", "data.tsv:4: ", "data.parquet: row 7: ", "a.json: ", 'x:1: $.m["a: b"].c: ', "a: $: "],
)
def test_problems_are_the_same_wherever_they_are(place: str) -> None:
    (line,) = problem_lines([place + "expected a string: found 3"] * 3 + ["other.json:1: expected a string: found 3"])
    assert line.startswith(place + "expected a string: found 3 (also at ")
    assert re.search(r"\d more places?\)$", line)


class Pair(msgspec.Struct):
    text: str
    number: int = 1


@each("text", ["plain", "é 漢 😀", '"\\\n', "half \ud83d", "\ude00\ud83d"])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert compact_json.decode(compact_json.encode({"a": [text, None, 1.5, True]})) == {"a": [text, None, 1.5, True]}
    assert compact_json.decode(compact_json.encode(Pair(text))) == {"text": text, "number": 1}


def test_half_characters_are_replaced_where_a_text_is_shown() -> None:
    data = rb'{"text": "a\ud83dz \ud83d\ude00"}'
    assert compact_json.decode(data, replace_lone_surrogates=True) == {"text": "a\ufffdz 😀"}
    assert compact_json.decode(data) == {"text": "a\ud83dz 😀"}
