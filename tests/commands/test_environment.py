"""Variables that look like an option's: what is misspelled is refused, what belongs to others is left alone."""

from __future__ import annotations

import pytest

from grader.commands.environment import check
from grader.errors import UsageError

OPTIONS = {
    "GRADE_FAIL_UNDER",
    "GRADE_CACHE",
    "GRADE_K",
    "GRADE_SERVE_PORT",
    "GRADE_SERVE_HOST",
    "GRADE_IMAGE_BUILD_BASE",
}
READ = {"GRADE_RUN_LINES"}


@pytest.mark.parametrize(
    ("name", "value", "meant"),
    [
        ("GRADE_FAIL_UNDR", "1", "GRADE_FAIL_UNDER"),
        ("GRADE_FAILUNDER", "1", "GRADE_FAIL_UNDER"),
        ("GRADE_fail_under", "1", "GRADE_FAIL_UNDER"),
        ("GRADE_RUN_FAIL_UNDER", "1", "GRADE_FAIL_UNDER"),
        ("GRADE_RUN_K", "1", "GRADE_K"),
        ("GRADE_NO_CACHE", "1", "GRADE_CACHE=0"),
        ("GRADE_NO_CACHE", "false", "GRADE_CACHE=1"),
        ("GRADE_SERV_PORT", "80", "GRADE_SERVE_PORT"),
    ],
)
def test_a_misspelled_option_is_refused_with_the_right_name(name: str, value: str, meant: str) -> None:
    with pytest.raises(UsageError) as caught:
        check({name: value}, OPTIONS, READ)
    assert str(caught.value) == (
        f"the environment variable {name} is not the name of an option. Did you mean {meant}? "
        f"If another program uses {name}, run `env -u {name} grade ...`."
    )


def test_every_misspelled_option_is_told_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        check({"GRADE_FAIL_UNDR": "1", "GRADE_CACH": "1", "GRADE_ELSE": "1"}, OPTIONS, READ)
    assert [line.split()[3] for line in str(caught.value).splitlines()] == ["GRADE_CACH", "GRADE_FAIL_UNDR"]


def test_a_name_that_resembles_no_option_is_a_warning() -> None:
    assert check({"GRADE_THRESHOLD": "75"}, OPTIONS, READ) == [
        "WARNING: the environment variable GRADE_THRESHOLD is ignored: it is not the name of an option "
        "(`grade run --help` lists the options)."
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, "1") for name in sorted(OPTIONS | READ)),
        ("GRADE_FAIL_UNDR", ""),
        ("GRADES", "1"),
        ("_GRADE_COMPLETE", "bash_source"),
        ("GRADE_POOL", "{}"),
        ("GRADE_SERVE_TOKEN", "0123456789abcdef"),
        ("GRADE_TEST_REQUIRE", "docker"),
        ("GRADE_SERVER_API_KEY", "sk-1"),
        ("GRADE_SERVICE_HOST", "10.0.0.1"),
        ("GRADE_SERVICE_PORT", "80"),
        ("GRADE_SERVICE_PORT_HTTP", "80"),
        ("GRADE_PORT", "tcp://10.0.0.1:80"),
        ("GRADE_PORT_80_TCP", "tcp://10.0.0.1:80"),
        ("GRADE_PORT_80_TCP_ADDR", "10.0.0.1"),
    ],
)
def test_options_and_the_variables_of_others_are_no_concern(name: str, value: str) -> None:
    assert check({name: value}, OPTIONS, READ) == []
