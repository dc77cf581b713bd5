"""The options of the commands: few enough that a newcomer sees what is needed, and what `-o` says."""

import re

import click
import pytest

from grader.cli import main
from grader.commands.options import Seconds
from grader.reports.formats import FORMATS
from tests.tables import each


def counts() -> dict[str, int]:
    """Return the number of options of every command."""
    found: dict[str, int] = {}

    def count(command: click.Command, name: str) -> None:
        found[name] = sum(isinstance(each, click.Option) for each in command.params)
        for word, part in command.commands.items() if isinstance(command, click.Group) else ():
            count(part, f"{name} {word}".strip())

    count(main, "")
    return found


def test_the_commands_have_few_options() -> None:
    found = counts()
    assert (found["run"] <= 32, found["infer"] <= 36) == (True, True), found
    assert sum(found.values()) <= 150, found


@each(
    ("name", "endings"),
    [
        ("run", [*FORMATS]),
        ("report", [*FORMATS]),
        ("compare", [each for each in FORMATS if each != ".xml"]),
        ("leaderboard", [each for each in FORMATS if each != ".xml"]),
    ],
)
def test_the_help_of_an_output_lists_every_format_that_a_command_can_write(name: str, endings: list[str]) -> None:
    (option,) = [each for each in main.commands[name].params if each.name == "outputs"]
    assert isinstance(option, click.Option)
    assert re.findall(r"\.[a-z]+\b", option.help or "") == endings


@each(("value", "seconds"), [("0.1", 0.1), ("2", 2), ("3600", 3600)])
def test_seconds_in_the_range_are_taken(value: str, seconds: float) -> None:
    assert Seconds(min=0.1, max=3600).convert(value, None, None) == seconds


@each("value", ["0", "-1", "3601", "inf", "nan", "two", ""])
def test_other_seconds_are_refused_with_the_range(value: str) -> None:
    for limit, said in (
        (Seconds(min=0.1, max=3600), "from 0.1 to 3600"),
        (Seconds(min=0, max=3600, min_open=True), "more than 0 and at most 3600"),
    ):
        with pytest.raises(click.BadParameter) as error:
            limit.convert(value, None, None)
        assert error.value.message == f"{value!r}: must be a number of seconds, {said}"
