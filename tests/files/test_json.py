"""JSON text: where values are, what is wrong with it, and what is safe to print."""

from __future__ import annotations

import json

from hypothesis import given, settings
from hypothesis import strategies as st

from grader.files import json_records
from grader.files.json_text import quoted, render_path
from grader.files.json_walker import find_fault, find_offset
from grader.files.surrogates import mend_surrogates
from tests.conftest import cases
from tests.files.made import JSON


@given(st.text(alphabet='\\ud8cafDC"', max_size=30))
def test_mending_leaves_everything_but_lone_surrogates_alone(text: str) -> None:
    content = json.dumps(text).encode()
    assert mend_surrogates(content) == (content, 0)


@given(JSON, st.data())
def test_the_walker_and_python_agree_on_what_is_json(value: object, data: st.DataObject) -> None:
    text = json.dumps(value, indent=data.draw(st.sampled_from([None, 1])), ensure_ascii=False)
    place = data.draw(st.integers(0, len(text)))
    text = (
        text[:place]
        + data.draw(st.sampled_from(list('[]{},:" 0.-e+1tNa\\u\n\x00')))
        + text[place + data.draw(st.integers(0, 1)) :]
    )
    try:
        json.loads(text)
    except ValueError:
        assert find_fault(text.encode(), (0, len(text.encode()))) is not None
    else:
        assert find_fault(text.encode(), (0, len(text.encode()))) is None


def _leaves(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], object]]:
    inner: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        inner = list(value.items())
    elif isinstance(value, list):
        inner = list(enumerate(value))
    return [(path, value), *(leaf for key, part in inner for leaf in _leaves(part, (*path, key)))]


@given(JSON)
@settings(max_examples=50)
def test_every_value_is_found_where_it_stands(value: object) -> None:
    text = json.dumps(value, indent=2)
    for path, leaf in _leaves(value):
        offset = find_offset(text.encode(), (0, len(text)), path)
        assert json.JSONDecoder().raw_decode(text[offset:])[0] == leaf


_TRICKY = st.text(alphabet='":\\ab {}[],') | st.sampled_from(["\\", ':"', '":', '\\":', ": ", '" :'])
_TRICKY_JSON = st.recursive(
    _TRICKY | st.integers(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TRICKY, inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.dictionaries(_TRICKY, _TRICKY_JSON, max_size=3)), st.sampled_from([":", ": ", " :", "\n : "]))
@settings(max_examples=cases(300))
def test_blocks_are_decoded_to_what_python_reads(values: list[dict[str, object]], colon: str) -> None:
    text = json.dumps(values, separators=(", ", colon))
    problems = json_records.Problems("f")
    reader = json_records.JsonText(text.encode(), problems)
    assert [entry.value for entry in reader.entries(reader.array_blocks())] == json.loads(text)
    assert problems.found == []


@given(_TRICKY, st.lists(st.dictionaries(_TRICKY, _TRICKY_JSON, max_size=2)), st.sampled_from([":", ": ", " :"]))
@settings(max_examples=cases(300))
def test_no_repeated_key_escapes_a_block(key: str, values: list[dict[str, object]], colon: str) -> None:
    plain = json.dumps(values, separators=(", ", colon))[1:-1]
    inner = f'{{"x"{colon}{{{json.dumps(key)}{colon}1, {json.dumps(key)}{colon}2}}}}'
    problems = json_records.Problems("f")
    reader = json_records.JsonText(f"[{plain}{', ' if plain else ''}{inner}]".encode(), problems)
    list(reader.entries(reader.array_blocks()))
    assert len(problems.found) == 1
    assert "is a duplicate" in problems.found[0]


def test_paths_and_names_are_safe_to_print() -> None:
    assert (
        render_path((3, "predictions", 0, "a b", "\x1b[2J", "naïve")) == '$[3].predictions[0]["a b"]["\\x1b[2J"].naïve'
    )
    assert quoted("x" * 100, 5) == '"xxxxx..."'
    assert quoted("\u202e") == '"\\u202e"'
