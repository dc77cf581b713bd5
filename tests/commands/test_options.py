"""The options of the commands: few enough that a newcomer sees what is needed, and what `-o` says."""

import re

import click

from grader.cli import main
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
