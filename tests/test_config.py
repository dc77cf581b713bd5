"""The configuration table: the nearest one counts, and one that is wrong is never passed over."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.config import Config, check, find
from grader.errors import InputError


def test_the_nearest_table_upwards_counts(tmp_path: Path) -> None:
    (tmp_path / "grade.toml").write_text('benchmark = "vstar"\n')
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find(deep) == Config(path=tmp_path / "grade.toml", values={"benchmark": "vstar"})
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.grade]\nfail-under = ['accuracy=3']\n")
    assert find(deep) == Config(path=tmp_path / "a" / "pyproject.toml", values={"fail_under": ["accuracy=3"]})


def test_grade_toml_comes_before_pyproject_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "grade.toml").write_text("k = 1\n")
    (tmp_path / "pyproject.toml").write_text("[tool.grade]\nk = 2\n")
    found = find(tmp_path)
    assert found is not None
    assert found.values == {"k": 1}


def test_somebody_elses_pyproject_says_nothing_even_where_it_is_broken(tmp_path: Path) -> None:
    (tmp_path / "grade.toml").mkdir()
    (tmp_path / "pyproject.toml").write_text("[project\n")
    above = find(tmp_path)
    assert above is None or not above.path.is_relative_to(tmp_path)


def test_a_broken_pyproject_that_has_our_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.grade]\nfail-under = [\n")
    with pytest.raises(InputError, match=r"pyproject\.toml: "):
        find(tmp_path)


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    config = Config(path=Path("grade.toml"), values={"splt": "x", "split": {"a": 1}, "id": ["q1"], "limit": 3})
    with pytest.raises(InputError) as caught:
        check(config, {"split", "id", "limit"})
    assert caught.value.problems == [
        "grade.toml: splt: there is no such option",
        "grade.toml: split: a text, a number, true or false, or a list of these",
    ]
