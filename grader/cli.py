"""The command: the words it knows, where their defaults come from, and the exit code of every way to end."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click_default_group import DefaultGroup

import grader
from grader.commands import look, machine, results
from grader.commands.console import say
from grader.commands.run import EXIT_CODES, run_command
from grader.errors import GradeError, InfrastructureError, InterruptedRunError

if TYPE_CHECKING:
    from grader.config import Config


def run(arguments: list[str]) -> int:  # noqa: PLR0911 - one return a way to end
    """Run the command line; return its exit code."""
    try:
        return int(main.main(arguments, prog_name="grade", standalone_mode=False, default_map=_defaults()) or 0)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        say("Interrupted. What was finished is kept; the same command resumes.")
        return InterruptedRunError.exit_code
    except click.ClickException as error:
        say(error.format_message() if error.exit_code != 2 else f"error: {error.format_message()}")
        return 2
    except GradeError as error:
        say(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        # Whoever read the output has seen enough.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
        return 0
    except SystemExit:
        # click's way to say that the reader of the output has gone, and to end a completion.
        return 0
    except OSError as error:
        say(f"error: {error}")
        return InfrastructureError.exit_code


@click.group(
    cls=cast("type[click.Group]", DefaultGroup),
    default="run",
    default_if_no_args=False,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "GRADE", "max_content_width": 100},
    epilog=EXIT_CODES,
)
@click.version_option(grader.__version__, prog_name="grade")
def main() -> None:
    """Turn a file of model outputs into scores that can be trusted.

    `grade PREDICTIONS [OPTIONS]` grades a prediction file; `grade run --help` lists its options.
    """


for _command in (
    run_command,
    results.compare_command,
    results.report_command,
    look.list_command,
    look.show_command,
    look.check_command,
    machine.fetch_command,
    machine.doctor_command,
    machine.image_group,
    machine.cache_command,
    machine.completion_command,
):
    main.add_command(_command)


def option_names(command: click.Command) -> dict[str, click.Option]:
    """Return a command's options by their long name (`-k`: `k`), as the configuration table spells them."""
    return {
        max(parameter.opts, key=len).lstrip("-").replace("-", "_"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }


for _command in (run_command, look.check_command):
    for _name, _option in option_names(_command).items():
        # Those of the other commands are GRADE_<COMMAND>_<OPTION>.
        _option.envvar = f"GRADE_{_name.upper()}"


# --- the configuration table --------------------------------------------------------------------------------------


def _defaults() -> dict[str, Any]:
    """Return what the nearest configuration table says, by command and parameter; raises InputError."""
    from grader import config

    found = config.find(Path.cwd())
    if found is None:
        return {}
    known = option_names(run_command)
    config.check(found, known)
    return {
        command.name or "": {
            option.name or "": _value(option, found.values[name], found)
            for name, option in option_names(command).items()
            if name in found.values and name in known
        }
        for command in (run_command, look.check_command)
    }


def _value(option: click.Option, value: Any, found: Config) -> Any:
    """Return a table's value as click takes it; a path is meant from where the table is."""
    if option.multiple:
        return [_located(option, item, found) for item in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        return ",".join(map(str, value))
    return _located(option, value, found)


def _located(option: click.Option, value: Any, found: Config) -> Any:
    if not isinstance(value, str) or value == "-":
        return value if isinstance(value, bool) else str(value)
    is_path = isinstance(option.type, click.Path) or option.name == "outputs"
    if is_path or (option.name == "benchmark" and os.sep in value):
        return str(found.path.parent / value)
    return value
