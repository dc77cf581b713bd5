"""`grade list`, `grade show` and `grade check`: commands that look at data and grade nothing."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.commands import options
from grader.errors import GradeError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.benchmark import Benchmark
    from grader.options import Options
    from grader.reports.material import Material
    from grader.results import Report, SampleResult
    from grader.scorers.registry import AnyScorer
    from grader.task import Task


@click.command("list", short_help="List the benchmarks, their splits and protocols.")
def list_command() -> None:
    """List the benchmarks, their splits and protocols."""
    from grader.commands.console import fit_to_stream, terminal_width
    from grader.scorers import registry

    width = terminal_width(sys.stdout) if sys.stdout.isatty() else UNLIMITED_WIDTH
    click.echo(_benchmarks_table(width).strip("\n"))
    click.echo(fit_to_stream("\nThe first split and protocol of a benchmark are its defaults.", sys.stdout))
    scorers = f"Scorers, for `scoring` in your own benchmark.toml: {', '.join(registry.names())}"
    click.echo(fit_to_stream(scorers, sys.stdout))


UNLIMITED_WIDTH = 10_000
"""Width of a table for other programs: one line for each row."""


def _benchmarks_table(width: int) -> str:
    """Return the table of the bundled benchmarks, the defaults first."""
    from grader.reports.document import Column, Table, cells
    from grader.reports.formats import terminal
    from grader.scorers import declarations

    rows = [
        [benchmark.id, benchmark.name, *_splits_and_protocols(benchmark)]
        for benchmark in declarations.bundled_benchmarks()
    ]
    columns = [Column(name="benchmark", kind="word"), Column(name="name", kind="word")]
    columns += [Column(name=name, kind="name") for name in ("splits", "protocols")]
    table = Table(title="", columns=columns, rows=list(map(cells, rows)))
    return "\n".join(terminal.table_lines(table, width))


def _splits_and_protocols(benchmark: Benchmark) -> tuple[str, str]:
    """Return the names of the splits and of the protocols, the defaults first."""
    splits = sorted(benchmark.splits, key=lambda name: name != benchmark.default_split)
    protocols = sorted(benchmark.protocols, key=lambda name: name != benchmark.default_protocol)
    return ", ".join(splits), ", ".join(protocols)


@click.command("show", short_help="Show a task, or the settings of a benchmark.")
@click.argument("benchmark", metavar="[ID|DIR]", required=False)
@click.argument("qid", metavar="[QID]", required=False)
@options.SPLIT
@click.option("--data", type=options.PATH, metavar="PATH", help="Local copy of the data.")
@options.PROTOCOL
@click.option("--results", type=click.Path(path_type=Path, exists=True, dir_okay=False), metavar="FILE",
              help="Show a graded sample of this results file instead of the data.")  # fmt: skip
@click.option("--sample", type=click.IntRange(0), metavar="N", help="With --results: the sample (default: 0).")
def show_command(
    benchmark: str | None,
    qid: str | None,
    *,
    results: Path | None,
    sample: int | None,
    **data_options: Any,
) -> None:
    """Show the data of a task; without a QID, show the benchmark's settings and the ids of its tasks.

    With --results, show a sample: what was asked, both verdicts and why, what its calls returned, its output
    and its program.

    Without an ID, the benchmark is read from the config file. Its split, data and protocol are read from there too.
    """
    from grader.commands.console import fit_to_stream
    from grader.options import Options
    from grader.wording import clean

    configured = _configured_defaults()
    configured_benchmark = configured.pop("benchmark", None)
    benchmark = benchmark or configured_benchmark
    if benchmark is None:
        raise UsageError("No benchmark given. Name one (`grade list` shows them), or a folder with a benchmark.toml.")
    if benchmark.endswith("_results.json"):
        raise UsageError(
            f"{benchmark} is a results file. To show one of its samples: grade show ID QID --results FILE."
        )
    # The config file's data belong to its own benchmark only.
    if configured_benchmark is None or Path(benchmark).resolve() == Path(configured_benchmark).resolve():
        unset_options = [name for name, value in data_options.items() if value is None and name in configured]
        data_options |= {name: configured[name] for name in unset_options}
    run_options = Options(benchmark=benchmark, **data_options)
    if sample is not None and results is None:
        raise UsageError("--sample needs --results: the results file (<stem>_results.json) that has the sample.")
    if results is not None and qid is None:
        raise UsageError("--results needs a QID: the task whose sample is shown.")
    if qid is None:
        for line in benchmark_lines(run_options):
            click.echo(fit_to_stream(clean(line), sys.stdout))
        return
    if results is None:
        fields = iter(task_fields(run_options, qid))
    else:
        fields = _sample_in_words(run_options, qid, sample or 0, results)
    for name, text in fields:
        if "\n" in text:
            # Programs and outputs keep their lines.
            click.echo("\n".join([f"{clean(name)}:", *map(clean, text.splitlines()), ""]))
        else:
            click.echo(fit_to_stream(clean(f"{name}: {text}"), sys.stdout))


def _configured_defaults() -> dict[str, Any]:
    """Return the config file's settings for the benchmark and its data: the defaults of `grade check`."""
    defaults = dict((click.get_current_context().find_root().default_map or {}).get("check", {}))
    return defaults | ({"data": Path(defaults["data"])} if "data" in defaults else {})


@click.command("check", short_help="Check prediction files without grading them.")
@click.argument("predictions", type=options.FILE, metavar="PREDICTIONS...", nargs=-1, required=True)
@options.data_options
@options.FIELDS
@options.JOIN
@options.MISSING
def check_command(predictions: tuple[str, ...], *, join: bool, **values: Any) -> None:
    """Check prediction files against their benchmark, without grading them."""
    from grader.commands.console import fit_to_stream
    from grader.commands.progress import progress_reporter
    from grader.errors import InputError
    from grader.grading import check
    from grader.options import Options

    problems: list[str] = []
    is_one_run = join and len(predictions) > 1
    for source in [predictions] if is_one_run else predictions:
        try:
            with progress_reporter(quiet=False) as observer:
                lines = check(source, Options(**values), observer)
        except InputError as error:
            problems += error.problems
        else:
            for line in lines:
                click.echo(fit_to_stream(line, sys.stdout))
    if problems:
        raise InputError(problems)


def benchmark_lines(options: Options) -> list[str]:
    """Return lines with a benchmark's settings, and the ids of its tasks if its data is available."""
    from grader.grading.setup import load_tasks, make_setup
    from grader.wording import counted

    setup = make_setup(options)
    benchmark = setup.declared
    splits, protocols = _splits_and_protocols(benchmark)
    lines = [
        f"{benchmark.id}: {benchmark.name} (scorer {benchmark.scoring})",
        benchmark.description,
        f"splits, the default first: {splits}",
        f"protocols, the default first: {protocols}",
    ]
    lines = list(filter(None, lines))
    try:
        tasks = load_tasks(setup)
    except GradeError as error:
        return [*lines, *f"{benchmark.unit}s: {error}".splitlines()]
    return [*lines, f"{counted(len(tasks), benchmark.unit)}:", *tasks]


def task_fields(options: Options, qid: str) -> list[tuple[str, str]]:
    """Return a task's columns as (name, text), without images. Raises UsageError if the task does not exist."""
    from grader.grading.setup import load_tasks, make_setup

    setup = make_setup(options)
    benchmark, tasks = setup.declared, load_tasks(setup)
    if qid not in tasks:
        hint = f"`grade show {options.benchmark}` lists the ids."
        raise UsageError(f"{benchmark.id} has no {benchmark.unit} {qid!r}. {hint}")
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))
        for name, value in tasks[qid].row.items()
        if name != benchmark.columns.image and value not in (None, "")
    ]


# --- a graded sample ------------------------------------------------------------------------------------------------


def _sample_in_words(run_options: Options, qid: str, number: int, results: Path) -> Iterator[tuple[str, str]]:
    """Yield (name, text) of one sample of a results file. Raises UsageError if it has no such sample."""
    from grader.reports.material import files_of_results
    from grader.reports.why import labelled_facts
    from grader.scorers import declarations
    from grader.scorers.registry import scorer_of
    from grader.scorers.report_check import read_report

    report = read_report(results)
    benchmark = declarations.load(run_options.benchmark)
    if report.benchmark != benchmark.id:
        raise UsageError(f"{results} has results of {report.benchmark}, not of {benchmark.id}.")
    sample = _find_sample(report, qid, number, results)
    files = files_of_results(results, report, data=run_options.data, benchmark=run_options.benchmark)
    material = files.material()
    scorer = scorer_of(report)
    if (task := material.tasks.get(qid)) is not None:
        yield from _question(task)
    yield from _verdicts(scorer, sample)
    yield from labelled_facts(scorer, sample)
    yield from _reply_and_program(material, qid, number)
    for gap in material.gaps:
        if gap.kind != "images":  # no text shows images
            yield "note", f"The {gap.kind} cannot be shown: {gap.reason}"


def _question(task: Task) -> Iterator[tuple[str, str]]:
    """Yield the question, its options, the gold answer, and the blocks that a page shows without a click."""
    parts = ("question", task.text), *task.options.items(), ("gold answer", task.gold)
    yield from ((name, text) for name, text in parts if text)
    yield from ((block.title, block.content.rstrip() + "\n") for block in task.blocks if block.is_open)


def _verdicts(scorer: AnyScorer, sample: SampleResult) -> Iterator[tuple[str, str]]:
    """Yield each reading's outcome and why."""
    from grader.reports.why import outcome_name, partial_credit, reason
    from grader.results import READINGS

    for name in READINGS:
        reading = sample.reading(name)
        outcome = ", ".join(filter(None, (outcome_name(scorer, reading), partial_credit(reading))))
        answer = f"{reading.answer} ({outcome})" if reading.answer else outcome
        why = reason(reading, scorer.words.glossary)
        yield name, f"{answer}: {why}" if why else answer


def _reply_and_program(material: Material, qid: str, number: int) -> Iterator[tuple[str, str]]:
    replies, programs = material.replies.get(qid, []), material.programs.get(qid, [])
    if number < len(replies):
        yield "raw output", f"{replies[number]}\n"
    if number < len(programs):
        yield "program (official run)", f"{programs[number].program}\n"


def _find_sample(report: Report, qid: str, number: int, results: Path) -> SampleResult:
    """Return the sample of a task; raises UsageError with the ids or numbers that there are."""
    samples = {sample.sample: sample for sample in report.samples if sample.qid == qid}
    if not samples:
        raise UsageError(f"{results} has no sample of {qid!r}.")
    if number not in samples:
        numbers = ", ".join(map(str, samples))
        which = "only sample" if len(samples) == 1 else "samples"
        raise UsageError(f"{results} has no sample {number} of {qid!r}; it has {which} {numbers}.")
    return samples[number]
