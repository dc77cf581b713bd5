"""How many options the commands have: few enough that a newcomer sees what is needed."""

import click

from grader.cli import main


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
