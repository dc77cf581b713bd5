"""Templates that replace a scorer's wording."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from grader.errors import InputError
from grader.models.prompt import Sampling, load_template, render

if TYPE_CHECKING:
    from pathlib import Path


def test_values_are_put_in_as_they_are_and_the_last_newline_stays() -> None:
    assert render("{{ question }}: <{{ n }}>\n", {"question": "a & {{ b }}", "n": 1}, "t") == "a & {{ b }}: <1>\n"


@pytest.mark.parametrize(
    ("template", "said"),
    [
        ("{{ questoin }}", "t.jinja: 'questoin' is undefined; a task has: options, question"),
        ("line\n{% if %}", "t.jinja:2: "),
        ("{{ question.__class__.__mro__ }}", "t.jinja: SecurityError: "),
        ("{{ question | nofilter }}", "t.jinja:1: No filter named 'nofilter'"),
        ("{{ 1 // 0 }}", "t.jinja: ZeroDivisionError: "),
    ],
)
def test_what_is_wrong_with_a_template_is_told_with_its_name(template: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        render(template, {"question": "q", "options": {}}, "t.jinja")
    assert str(caught.value).startswith(said)


def test_a_template_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_template(tmp_path / "none")
    (tmp_path / "binary").write_bytes(b"\xff")
    with pytest.raises(InputError, match="is not UTF-8"):
        load_template(tmp_path / "binary")
    (tmp_path / "good").write_text("\ufeff{{ question }}")
    assert load_template(tmp_path / "good") == "{{ question }}"


def test_sampling_depends_on_the_number_of_samples_only_where_that_is_declared() -> None:
    assert Sampling().settings(5).fields() == {"temperature": 0.0}
    assert Sampling(temperature=None).settings(1).fields() == {}
