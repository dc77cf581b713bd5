"""The options, in groups that several commands share, and how their values are parsed."""

from __future__ import annotations

import math
import pkgutil
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from grader.errors import UsageError
from grader.reports.formats import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from grader.decisions.comparison import RunName
    from grader.results import Report

_Command = Any
"""A click command, or the function that becomes one."""
PATH = click.Path(path_type=Path)
FILE = click.Path(allow_dash=True)
"""A file name as the user wrote it, `-` for a stream; shells complete it."""


class Seconds(click.FloatRange):
    """A number of seconds in a range; `nan`, which click takes, is in none."""

    name = "number of seconds"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Parse the number."""
        seconds = super().convert(value, param, ctx)
        if math.isnan(seconds):
            self.fail(f"{value!r} is not a valid {self.name}.", param, ctx)
        return seconds


def parsing_callback(function: str) -> Callable[[click.Context, click.Parameter, Any], Any]:
    """Return a click callback that parses the option's value (None without one), or each value of a repeatable one.

    `function`: `module:name` of the parser, which is imported when a value is parsed, so that help stays instant.
    """

    def callback(_context: click.Context, _parameter: click.Parameter, value: Any) -> Any:
        if value is None or value == ():
            return value
        parse = pkgutil.resolve_name(function)
        try:
            return tuple(map(parse, value)) if isinstance(value, tuple) else parse(value)
        except UsageError as error:
            raise click.BadParameter(str(error)) from None

    return callback


def _parse_k(_context: click.Context, _parameter: click.Parameter, value: str | None) -> tuple[int, ...]:
    if not value:
        return ()
    try:
        ks = tuple(int(part) for part in value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a list like 1,10") from None
    if min(ks) < 1:
        raise click.BadParameter("k must be at least 1")
    return ks


def complete_benchmarks(_context: click.Context, _parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the id of a benchmark, else a folder."""
    from grader.scorers.declarations import names

    items = [CompletionItem(name) for name in names() if name.startswith(incomplete)]
    return items or [CompletionItem(incomplete, type="dir")]


def combine(*options: Callable[[_Command], _Command]) -> Callable[[_Command], _Command]:
    """Return a decorator that adds several options, in this order."""

    def add(command: _Command) -> _Command:
        for option in reversed(options):
            command = option(command)
        return command

    return add


def sandbox_option(meaning: str) -> Callable[[_Command], _Command]:
    """Return `--sandbox` with this help."""
    sandboxes = click.Choice(["auto", "docker", "bubblewrap"])
    return click.option("--sandbox", type=sandboxes, default="auto", show_default=True, help=meaning)


# fmt: off
SPLIT = click.option("--split", metavar="S", help="Split of the benchmark.")
PROTOCOL = click.option("--protocol", metavar="P", help="Version of the official scorer.")
_SANDBOX = sandbox_option("Where untrusted code runs; auto: Docker if an engine answers, else bubblewrap.")
_RUNTIME = click.option("--runtime", metavar="NAME", help="OCI runtime of the Docker engine, e.g. runsc.")
_LIMITS = combine(
    click.option("--workers", type=click.IntRange(min=1, max=256), metavar="N",
                 help="Programs that run at a time (default: one per core); requests to a judge (default: 8)."),
    click.option("--timeout", type=Seconds(min=0.1, max=3600), metavar="S",
                 help="CPU seconds that a program may use (default: the benchmark's, else 2)."),
    click.option("--memory", default="1g", show_default=True, metavar="SIZE",
                 callback=parsing_callback("grader.options:parse_memory"),
                 help="Memory that a program may use."),
)

LIMIT = click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N tasks.")
IDS = click.option("--id", "ids", multiple=True, metavar="QID", help="Only this task; repeatable.")
FIELDS = click.option("--fields", metavar="id=F,reply=F",
             callback=parsing_callback("grader.predictions.fields:parse_fields"),
             help="Fields of a file that no known tool wrote: id, reply (or code), and at: where the records are.")
JOIN = click.option("--join", is_flag=True, help="Grade several files as one run, not as a run each.")
MISSING = click.option("--missing", type=click.Choice(["error", "wrong", "skip"]), default="error", show_default=True,
             help="How to treat a task without a prediction; skip leaves it out.")

_DATA = combine(
    click.option("-b", "--benchmark", default="humaneval-v", show_default=True, metavar="ID|DIR",
                 shell_complete=complete_benchmarks, help="Benchmark, or a folder with a benchmark.toml."),
    SPLIT,
    click.option("--data", type=PATH, metavar="PATH",
                 help="Local copy of the data (JSON Lines, JSON, TSV, CSV, .xlsx, parquet, `datasets` folder)."),
)

data_options = combine(_DATA, PROTOCOL)
"""The benchmark and its data."""

date_options = combine(
    click.option("--since", default="", metavar="DAY", help="Only tasks from this day on (2024-08-01)."),
    click.option("--until", default="", metavar="DAY", help="Only tasks up to this day, included."),
)
"""Which tasks, by their date."""

benchmark_options = combine(
    data_options,
    LIMIT,
    IDS,
    date_options,
    FIELDS,
    MISSING,
)
"""The benchmark, its data, and which tasks are graded."""

serve_options = combine(_DATA, _SANDBOX, _RUNTIME, _LIMITS)
"""What an administrator sets; everything else is in the requests."""

sandbox_options = combine(
    click.option("-k", "k", callback=_parse_k, metavar="1,10",
                 help="Report pass@k for these k (default: 1 and the protocol's; answers: all samples of a task)."),
    _SANDBOX,
    _RUNTIME,
    _LIMITS,
    click.option("--cache/--no-cache", default=True, help="Reuse cached verdicts of identical programs (the default)."),
    click.option("--executor", type=click.Choice(["local", "ray"]), default="local", show_default=True,
                 help="Run programs here, or on the Ray cluster of RAY_ADDRESS."),
)
"""Execution on one or many machines, and pass@k."""

BENCHMARK = click.option("-b", "--benchmark", metavar="ID|DIR",
             help="The benchmark's folder, if it is not a built-in benchmark.")

judge_options = combine(
    click.option("--judge-model", metavar="M", help="Model that judges the replies that rules cannot read."),
    click.option("--judge-base-url", metavar="U",
                 help="URL of the judge's OpenAI-compatible server. Its key is read from OPENAI_API_KEY."),
    click.option("--judge-replies", type=PATH, metavar="FILE",
                 help="Recorded judge replies ({qid: text}), instead of a judge."),
)

reading_option = click.option(
    "--reading", type=click.Choice(["careful", "official"]), default="careful", show_default=True,
    help="The reading to compare, rank and gate with.")
"""Which of the two readings is compared, ranked, or decides a gate."""

gate_options = combine(
    click.option("--fail-under", "thresholds", multiple=True, metavar="METRIC=V",
                 callback=parsing_callback("grader.decisions.thresholds:parse_fail_under"),
                 help="Fail (exit 1) if METRIC is below V; METRIC:FIELD=LABEL=V for a group; repeatable."),
    click.option("--confident", is_flag=True,
                 help="Decide --fail-under by a test at the 5 % level; exit 4 if inconclusive."),
    click.option("--baseline", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="RESULTS",
                 help="The _results.json of an earlier run, to compare with item by item."),
    click.option("--max-drop", "drops", multiple=True, metavar="[METRIC=]V",
                 callback=parsing_callback("grader.decisions.thresholds:parse_max_drop"),
                 help="Points that METRIC (default: the first) may drop below --baseline; exit 4 if inconclusive."),
    reading_option,
)

# fmt: on


def report_option(verb_and_what: str, *, required: bool = False, excluded: str = "") -> Callable[[_Command], _Command]:
    """Return `-o`, whose help lists the formats there are. `excluded`: the ending that the document cannot have."""
    # An ending such as .json names its format; .md does not.
    endings = ", ".join(
        ending if name in ending else f"{ending} ({name})" for ending, name in FORMATS.items() if ending != excluded
    )
    return click.option(
        "-o",
        "--output",
        "outputs",
        type=FILE,
        multiple=True,
        required=required,
        metavar="FILE",
        help=f"{verb_and_what} here: {endings}, or `-` (JSON); repeatable.",
    )


run_report_option = report_option("Also write a report")


class NamedFile(NamedTuple):
    """A results file, and the name that the user gave its run (empty: no name)."""

    name: str
    path: Path


class NamedFileType(click.ParamType[NamedFile]):
    """Parser for `RESULTS` or `NAME=RESULTS`. The path of an existing file may contain `=`."""

    name = "results"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> NamedFile:
        """Return the name and the path; fail if the file does not exist."""
        if isinstance(value, NamedFile):
            return value
        name, equals, path = str(value).partition("=")
        has_name = equals and not Path(value).is_file()
        file = NamedFile(name.strip(), Path(path)) if has_name else NamedFile("", Path(value))
        if file.path.is_dir():
            self.fail(f"{file.path} is a folder; name the `_results.json` in it.", param, ctx)
        if not file.path.is_file():
            self.fail(f"The file {file.path} does not exist.", param, ctx)
        return file

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Complete files."""
        del ctx, param
        return [CompletionItem(incomplete, type="file")]


NAMED_FILE = NamedFileType()


def read_runs(files: Sequence[NamedFile], *, may_repeat: bool = False) -> list[tuple[RunName, Report]]:
    """Read the results files. Raises InputError; UsageError if one is given twice, unless it `may_repeat`."""
    from grader.decisions.comparison import run_name
    from grader.scorers.report_check import read_report

    seen: set[Path] = set()
    runs = []
    for file in files:
        if file.path.resolve() in seen and not may_repeat:
            raise UsageError(f"{file.path} is given twice.")
        seen.add(file.path.resolve())
        report = read_report(file.path)
        runs.append((run_name(report, str(file.path), file.name), report))
    return runs
