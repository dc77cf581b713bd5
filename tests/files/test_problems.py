"""Lists of problems stay short enough to be read, and nothing in them is lost without a word."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.files.problems import shown


def test_a_short_list_is_shown_as_it_is() -> None:
    problems = ["preds.json:1: $[0]: one", "preds.json:2: $[1]: one", "preds.json:3: $[2].qid: two", "no place"]
    assert shown(problems) == problems
    assert shown([]) == []


def test_the_same_problem_is_listed_at_three_places_and_counted_at_the_others() -> None:
    same = [f"preds.json:{n}: $[{n}]: same" for n in range(1, 71)]
    assert shown(["preds.json:1: $: other", *same, "preds.json:99: $: last"]) == [
        "preds.json:1: $: other",
        "preds.json:1: $[1]: same",
        "preds.json:2: $[2]: same",
        "preds.json:3: $[3]: same (and in 67 more places)",
        "preds.json:99: $: last",
    ]
    assert shown(same[:4])[-1] == "preds.json:3: $[3]: same (and in 1 more place)"


def test_what_is_left_out_of_a_long_list_is_counted() -> None:
    problems = [f"preds.json:{n}: $: the qid q{n} is unknown" for n in range(2037)]
    assert shown(problems) == [*problems[:1000], "... and 1,037 more"]
    assert shown(problems[:1000]) == problems[:1000]
    assert shown(problems, 2) == [*problems[:2], "... and 2,035 more"]


@pytest.mark.parametrize(
    "place",
    ["a b.json:12: $[3].qid: ", "data.tsv:4: ", "data.parquet: row 7: ", "a.json: ", 'x:1: $.m["a: b"].c: ', "a: $: "],
)
def test_problems_are_the_same_wherever_they_are(place: str) -> None:
    lines = shown([place + "expected a string: found 3"] * 3 + ["other.json:1: expected a string: found 3"])
    assert lines[2:] == [place + "expected a string: found 3 (and in 1 more place)"]


@given(st.lists(st.sampled_from(["a:1: x", "a:2: x", "b: y", "z", "a:3: $[1]: y", "a:4: w"])), st.integers(1, 9))
def test_every_problem_is_listed_or_counted(problems: list[str], most: int) -> None:
    lines = shown(problems, most)
    last = lines[-1] if lines else ""
    left_out = int(last.removeprefix("... and ").removesuffix(" more")) if last.startswith("... ") else 0
    listed = lines[:-1] if left_out else lines
    counted = sum(int(line.partition("(and in ")[2].split()[0]) for line in listed if "(and in " in line)
    assert len(listed) <= most
    assert len(listed) + counted + left_out == len(problems)
