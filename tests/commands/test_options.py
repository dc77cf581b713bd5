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


@each("value", ["0", "-1", "3601", "inf", "nan", "two", ""])
def test_only_seconds_in_the_range_are_taken(value: str) -> None:
    limit = Seconds(min=0.1, max=3600)
    assert (limit.convert("0.1", None, None), limit.convert("3600", None, None)) == (0.1, 3600)
    with pytest.raises(click.BadParameter, match=r"is not in the range|is not a valid number of seconds"):
        limit.convert(value, None, None)
