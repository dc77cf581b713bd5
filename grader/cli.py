"""The command line: its subcommands, the sources of their defaults, and the exit codes."""

from __future__ import annotations

import difflib
import errno
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click
from click.shell_completion import CompletionItem
from click_default_group import DefaultCommandFormatter, DefaultGroup

from grader import resources
from grader.commands import gate, infer, leaderboard, look, machine, results
from grader.commands.console import cause_of, report_crash, say
from grader.commands.machine import selftest_command
from grader.commands.run import EXIT_CODES, run_command
from grader.commands.serve import serve_command
from grader.errors import GradeError, InfrastructureError, InterruptedRunError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.commands.defaults import Config, OptionKind

NO_ROOM = (
    ". Make room, or set TMPDIR (temporary files) and XDG_CACHE_HOME (the cache) to folders on another disk, and run "
    "the command again."
)


def run(arguments: list[str]) -> int:  # noqa: PLR0911 - one return a way to end
    """Run the command line; return its exit code."""
    try:
        return int(main.main(arguments, prog_name="grade", standalone_mode=False) or 0)
    except click.exceptions.Exit as error:
        return error.exit_code
    except (click.exceptions.Abort, KeyboardInterrupt):
        say("Interrupted. What was finished is kept; the same command resumes.")
        return InterruptedRunError.exit_code
    except click.exceptions.NoArgsIsHelpError as error:
        say(error.format_message())
        return 2
    except click.ClickException as error:
        say(f"error: {error.format_message()}{_hint(error)}")
        return 2
    except InterruptedRunError as error:
        say(str(error))
        return error.exit_code
    except GradeError as error:
        say(f"error: {error}")
        return error.exit_code
    except BrokenPipeError:
        # The reader of the output has closed the pipe, which is not an error.
        sys.stdout = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - for the rest of the process
        return 0
    except SystemExit:
        # click exits this way when the reader of the output has gone, and after a shell's completion.
        return 0
    except OSError as error:
        is_removed = error.errno == errno.ENOENT and error.filename is None
        why = "the current folder no longer exists" if is_removed else cause_of(error)
        say(f"error: {why}{NO_ROOM if error.errno == errno.ENOSPC else ''}")
        return InfrastructureError.exit_code
    except Exception as error:  # the outermost edge: Python's own exit code is that of a gate that is not met
        return report_crash(error)


HELP_REQUESTED = f"{__name__}.help_requested"
"""The key in click's `Context.meta`."""


class _GradeGroup(cast("type[click.Group]", DefaultGroup)):  # type: ignore[misc]  # it has no types
    """A group whose first argument is a subcommand or a prediction file; both are completed."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the default command first, under its plain name: a mark would be taken for a part of it."""
        first = cast("click.HelpFormatter", DefaultCommandFormatter(self, formatter, mark=""))
        click.Group.format_commands(self, ctx, first)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete commands; if none matches, complete files."""
        return super().shell_complete(ctx, incomplete) or [CompletionItem(incomplete, type="file")]

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Refuse a misspelt command and suggest the right one, unless the word is a file."""
        word = args[0]
        similar = difflib.get_close_matches(word, [*self.list_commands(ctx), "--help"], 1, 0.7)
        if similar and word not in self.commands and "." not in word and not Path(word).exists():
            raise UsageError(f"{word!r} is neither a command nor a file. Did you mean `grade {similar[0]}`?")
        return cast("tuple[Any, Any, list[str]]", super().resolve_command(ctx, args))

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Note whether help is requested: a broken config file must not prevent help."""
        ctx.meta[HELP_REQUESTED] = not set(ctx.help_option_names).isdisjoint(args)
        return cast("list[str]", super().parse_args(ctx, args))


def _show_version(context: click.Context, _: click.Parameter, is_given: bool) -> None:
    if is_given and not context.resilient_parsing:
        click.echo(f"grade, version {resources.version()}")
        context.exit()


@click.group(
    cls=_GradeGroup,
    default="run",
    default_if_no_args=False,
    context_settings={"help_option_names": ["-h", "--help"], "auto_envvar_prefix": "GRADE", "max_content_width": 100},
    epilog=EXIT_CODES,
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, allow_from_autoenv=False,
    help="Show the version.",
)  # fmt: skip
@click.pass_context
def main(context: click.Context) -> None:
    """Turn a file of model outputs into scores that can be trusted.

    `grade PREDICTIONS [OPTIONS]` grades a prediction file; `grade run --help` lists its options.
    """
    if context.meta[HELP_REQUESTED]:
        return
    if note := resources.make_cache_private():
        say(note)
    command = main.commands.get(context.invoked_subcommand or "")
    # A misspelled variable cannot matter to a command without options.
    has_options = command is not None and (options_by_name(command) or isinstance(command, click.Group))
    if has_options:
        _check_variables()
    if command in (run_command, look.check_command, look.show_command, infer.infer_command):
        _configure(context)


for _command in (
    run_command,
    gate.gate_command,
    results.compare_command,
    leaderboard.leaderboard_command,
    results.report_command,
    look.list_command,
    look.show_command,
    look.check_command,
    infer.infer_command,
    machine.fetch_command,
    machine.doctor_command,
    selftest_command,
    serve_command,
    machine.image_group,
    machine.cache_command,
):
    main.add_command(_command)


def options_by_name(command: click.Command) -> dict[str, click.Option]:
    """Return a command's options by their long name (`-k`: `k`), as the config file spells them."""
    return {
        max(parameter.opts, key=len).lstrip("-").replace("-", "_"): parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }


def _name_environment_variables(command: click.Command, prefix: str) -> None:
    """Give every option its environment variable, named after the option."""
    for name, option in options_by_name(command).items():
        option.envvar = f"{prefix}_{name.upper()}"
    for subcommand in command.commands.values() if isinstance(command, click.Group) else ():
        _name_environment_variables(subcommand, f"{prefix}_{(subcommand.name or '').upper()}")


for _command in main.commands.values():
    _name_environment_variables(_command, f"GRADE_{(_command.name or '').upper()}")
for _command in (run_command, look.check_command):
    _name_environment_variables(_command, "GRADE")


def _variables(command: click.Command, prefix: str) -> Iterator[str]:
    """Yield each option's variables: `GRADE_OUTPUT`, and click's own for its parameter, `GRADE_RUN_OUTPUTS`."""
    for option in options_by_name(command).values():
        yield str(option.envvar)
        yield f"{prefix}_{(option.name or '').upper()}"
    for subcommand in command.commands.values() if isinstance(command, click.Group) else ():
        yield from _variables(subcommand, f"{prefix}_{(subcommand.name or '').upper()}")


def _check_variables() -> None:
    """Raise UsageError for unknown variables."""
    from grader.commands import defaults

    commands = main.commands.values()
    known = {name for command in commands for name in _variables(command, f"GRADE_{(command.name or '').upper()}")}
    defaults.check_variables(os.environ, known)


# --- the config file ----------------------------------------------------------------------------------------------


def _configure(context: click.Context) -> None:
    """Make the nearest config file's values the defaults of the commands' options. Raises InputError.

    The file has the options of `grade PREDICTIONS`; `check` and `infer` use those that they have, too. `show` reads
    the defaults of `check`.
    """
    from grader.commands import defaults

    config = defaults.find_config(Path.cwd())
    if config is None:
        return
    run_options = options_by_name(run_command)
    defaults.check_values(config, {name: _option_kind(option) for name, option in run_options.items()})
    context.obj = config
    context.default_map = {}
    for command in (run_command, look.check_command, infer.infer_command):
        # In the config file, `output` names reports; for `infer`, it is the prediction file.
        unused_names = {"output"} if command is infer.infer_command else set()
        context.default_map[command.name or ""] = {
            option.name or "": _value(option, config.values[name], config)
            for name, option in options_by_name(command).items()
            if name in config.values and name not in unused_names
        }


def _option_kind(option: click.Option) -> OptionKind:
    if option.is_flag:
        return "flag"
    return "list" if option.multiple or option.name == "k" else "value"


def _value(option: click.Option, value: Any, config: Config) -> Any:
    """Return a config file's value in click's form; a path is relative to the file's folder."""
    if option.multiple:
        return [_single_value(option, item, config) for item in (value if isinstance(value, list) else [value])]
    if isinstance(value, list):
        return ",".join(map(str, value))
    return _single_value(option, value, config)


def _single_value(option: click.Option, value: Any, config: Config) -> Any:
    """Return one value in click's form: a flag, or a text; a path (also a benchmark's) begins at the file's folder."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, str) or value == "-":
        return str(value)
    is_own_benchmark = option.name == "benchmark" and _is_folder(value, config.path.parent)
    if is_own_benchmark or isinstance(option.type, click.Path):
        return str(config.path.parent / value)
    return value


def _is_folder(benchmark: str, parent: Path) -> bool:
    """Return whether a benchmark is a folder in `parent`, not the id of a built-in benchmark."""
    from grader.scorers.declarations import names

    return os.sep in benchmark or ((parent / benchmark / "benchmark.toml").is_file() and benchmark not in names())


def _hint(error: click.ClickException) -> str:
    """Return the source of a bad value, if it is not the command line, or what a missing option is for."""
    if not isinstance(error, click.BadParameter) or error.ctx is None or error.param is None:
        return ""
    if isinstance(error, click.MissingParameter):
        meaning = f" {error.param.help}" if isinstance(error.param, click.Option) else ""
        return f"{meaning} See `{error.ctx.command_path} --help`."
    source = error.ctx.get_parameter_source(error.param.name or "")
    if source is click.core.ParameterSource.ENVIRONMENT:
        return f" (from the environment: {error.param.envvar})"
    if source is click.core.ParameterSource.DEFAULT_MAP:
        return f" (from {cast('Config', error.ctx.obj).path})"
    return ""
