"""Variables that look like an option's: an unknown one is an error, what belongs to others is left alone."""

from pathlib import Path

import pytest

from grader.commands.defaults import Config, OptionKind, check_values, check_variables, find_config
from grader.errors import InputError, UsageError
from tests.tables import each

OPTIONS = {
    "GRADE_FAIL_UNDER",
    "GRADE_CACHE",
    "GRADE_K",
    "GRADE_SERVE_PORT",
    "GRADE_SERVE_HOST",
    "GRADE_IMAGE_BUILD_BASE",
}


def test_every_unknown_name_is_in_the_error() -> None:
    with pytest.raises(UsageError, match="unknown environment variable: GRADE_FAIL_UNDR, GRADE_THRESHOLD"):
        check_variables({"GRADE_THRESHOLD": "75", "GRADE_FAIL_UNDR": "a=1", "GRADE_K": "1"}, OPTIONS)


@each(
    ("name", "value"),
    [
        *((name, "1") for name in sorted(OPTIONS)),
        ("GRADE_FAIL_UNDR", ""),
        ("GRADES", "1"),
        ("_GRADE_COMPLETE", "bash_source"),
        ("GRADE_POOL", "{}"),
        ("GRADE_SERVE_TOKEN", "0123456789abcdef"),
        ("GRADE_TEST_REQUIRE", "docker"),
        ("GRADE_SERVER_API_KEY", "sk-1"),
        ("GRADE_SERVICE_PORT_HTTP", "80"),
        ("GRADE_PORT_80_TCP_ADDR", "10.0.0.1"),
    ],
)
def test_options_and_the_variables_of_others_are_no_concern(name: str, value: str) -> None:
    check_variables({name: value}, OPTIONS)


KNOWN: dict[str, OptionKind] = {"split": "value", "id": "list", "limit": "value", "quiet": "flag"}


def test_the_nearest_table_upwards_counts(tmp_path: Path) -> None:
    (tmp_path / "grade.toml").write_text('benchmark = "vstar"\n')
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    assert find_config(deep) == Config(path=tmp_path / "grade.toml", values={"benchmark": "vstar"})
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.grade]\nfail-under = ['accuracy=3']\n")
    assert find_config(deep) == Config(path=tmp_path / "a" / "pyproject.toml", values={"fail_under": ["accuracy=3"]})


def test_grade_toml_comes_before_pyproject_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "grade.toml").write_text("k = 1\n")
    (tmp_path / "pyproject.toml").write_text("[tool.grade]\nk = 2\n")
    found = find_config(tmp_path)
    assert found.values == {"k": 1}


def test_a_broken_pyproject_that_has_our_table_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.grade]\nfail-under = [\n")
    with pytest.raises(InputError, match=r"pyproject\.toml: "):
        find_config(tmp_path)


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    values = {"splt": "x", "split": {"a": 1}, "id": ["q1", ""], "limit": True, "quiet": "yes"}
    with pytest.raises(InputError) as caught:
        check_values(Config(path=Path("grade.toml"), values=values), KNOWN)
    assert caught.value.problems == [
        "grade.toml: splt: unknown option",
        "grade.toml: split: expected one string or number, not empty",
        "grade.toml: id: expected a string or a number, or a list of these, none of them empty",
        "grade.toml: limit: expected one string or number, not empty",
        "grade.toml: quiet: expected true or false, without quotes",
    ]


@pytest.mark.parametrize(
    "text",
    [
        '[tool]\ngrade = {fail-under = "accuracy=99"}\n',
        '[ tool . grade ]\nfail-under = "accuracy=99"\n',
        '\ufefftool.grade.fail-under = "accuracy=99"\n',
    ],
)
def test_every_way_to_write_our_table_is_read(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")
    found = find_config(tmp_path)
    assert found.values == {"fail_under": "accuracy=99"}


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("pyproject.toml", b"[[tool.grade]]\nk = 1\n", "must be a table"),
        ("grade.toml", b"k = " + 9_999 * b"[", "maximum recursion depth exceeded"),
        ("grade.toml", b"k = " + 9_999 * b"1", "Exceeds the limit"),
        ("grade.toml", b'benchmark = "vst\xe9r"\n', "cannot be read: 'utf-8'"),
        ("grade.toml", b"fail-under = 'a=1'\nfail_under = 'a=2'\n", "fail-under: duplicate option"),
    ],
)
def test_a_table_that_cannot_be_taken_as_one_is_an_error(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=message):
        find_config(tmp_path)
