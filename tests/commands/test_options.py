"""How many options the commands have: few enough that a newcomer sees what is needed."""

import click
import pytest

from grader.cli import main, run


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


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["x.json", "--force"], "remove the earlier results"),
        (["run", "x.json", "--ray-address", "h:1"], "RAY_ADDRESS"),
        (["check", "x.json", "--limit", "1"], "A whole file is checked"),
        (["infer", "--fail-under", "accuracy=1"], "grade PREDICTIONS --fail-under"),
    ],
)
def test_an_option_that_does_not_exist_says_what_serves_in_its_place(
    words: list[str], advice: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert advice in capsys.readouterr().err
