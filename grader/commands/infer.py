"""`grade infer`: ask a model on a server for predictions, write the prediction file, and grade it if asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from grader.commands import infer_options, options
from grader.commands.console import say, write_to_stdout
from grader.errors import InfrastructureError

if TYPE_CHECKING:
    from grader.inference.dry_run import DryRun
    from grader.inference.options import InferOptions
    from grader.inference.session import Result

EXIT_CODES = (
    "Exit codes: 0 = every sample has a reply; 2 = bad input; 3 = some samples are missing (the same command asks only "
    "for those); 130 = interrupted (the same command continues). With --grade, the exit codes of `grade` as well."
)
_MAX_LISTED = 10
"""Failed samples whose reasons are printed; the log has all."""


@click.command("infer", short_help="Ask a model for predictions.", epilog=EXIT_CODES)
@options.data_options
@infer_options.model_options
@infer_options.sampling_options
@infer_options.prompt_options
@infer_options.run_options
@click.option("-q", "--quiet", is_flag=True, help="Only errors and warnings.")
@click.pass_context
def infer_command(context: click.Context, /, **values: Any) -> int:
    """Ask a model for predictions. An interrupted run can be continued with the same command.

    Every request and reply is logged in <stem>_requests.jsonl, and the prediction file beside it is built from this
    log. The key is read from OPENAI_API_KEY (another variable with --api-key-env).
    """
    infer_options.check(context, values)
    run_options = infer_options.parse(values)
    from grader.commands.progress import progress_reporter
    from grader.inference import session

    prepared = session.prepare(run_options)
    quiet: bool = values["quiet"]
    if values["dry_run"]:
        _print_dry_run(session.dry_run(prepared), run_options)
        return 0
    with progress_reporter(quiet=quiet) as observer:
        result = session.run(prepared, observer)
    _print_result(result, run_options, quiet=quiet)
    if result.summary.missing:
        return InfrastructureError.exit_code
    return _grade_output(context, values) if values["grade"] else 0


def _print_dry_run(dry_run: DryRun, run_options: InferOptions) -> None:
    from grader.wording import counted

    if dry_run.first_request is not None:
        request = json.dumps(dry_run.first_request, ensure_ascii=False, indent=1)
        write_to_stdout(request.encode("utf-8", errors="replace") + b"\n")
    summary = counted(dry_run.requests, "request")
    if run_options.model:
        summary += f" to {run_options.model}"
    if dry_run.answered_requests:
        more = " more" if dry_run.requests else ""
        summary += f" ({dry_run.answered_requests}{more} already have a reply)"
    summary += "."
    if dry_run.first_request is not None:
        abbreviated = "; its images are abbreviated" if dry_run.has_images else ""
        summary += f" The first one is above{abbreviated}."
    say(summary)
    if not dry_run.requests:
        return
    if dry_run.max_completion_tokens is not None:
        say(f"At most {dry_run.max_completion_tokens:,} completion tokens.")
    else:
        say("The replies have no token limit; --gen-kwargs max_tokens=N sets one.")


def _print_result(result: Result, run_options: InferOptions, *, quiet: bool) -> None:
    """Print the run's result; warnings and errors are printed with --quiet as well."""
    summary, written = result.summary, result.written
    if not quiet:
        for path in result.backup_paths:
            say(f"The earlier file is kept as {path}")
    for stage, count in summary.truncated.items():
        say(_truncation_warning(stage, count))
    if result.stopped:
        say(f"error: the run stopped: {result.stopped}")
    if summary.missing:
        _print_missing(result, run_options)
    elif not quiet:
        say(f"{summary.done} samples, {summary.usage.total:,} tokens.")
    if written and not quiet:
        say(f"Wrote {run_options.output} ({written} predictions); requests and replies are in {run_options.log}")


def _truncation_warning(stage: str, count: int) -> str:
    """Warn of replies that were cut. Only those of the stage `answer` are predictions; others lead to an answer."""
    replies = "answers" if stage == "answer" else f"replies ({stage})"
    return (
        f'WARNING: {count} {replies} were cut at the token limit (finish_reason "length"): their conclusion may be '
        "missing. Raise --gen-kwargs max_tokens=N and start over with --fresh."
    )


def _print_missing(result: Result, run_options: InferOptions) -> None:
    from grader.wording import counted

    summary = result.summary
    failed = summary.failed
    for sample in failed[:_MAX_LISTED]:
        say(f"{sample.qid} #{sample.sample}: {sample.reason}")
    if len(failed) > _MAX_LISTED:
        say(f"... and {len(failed) - _MAX_LISTED} more; all are in {run_options.log} (error)")
    verb = "is" if len(summary.missing) == 1 else "are"
    unfinished = len(summary.missing) - len(failed)
    unfinished_note = f", {unfinished} {'was' if unfinished == 1 else 'were'} not finished" if unfinished else ""
    say(
        f"error: {len(summary.missing):,} of {counted(summary.samples, 'sample')} {verb} missing: "
        f"{counted(len(failed), 'request')} failed{unfinished_note}. The same command asks only for these."
    )


def _grade_output(context: click.Context, values: dict[str, Any]) -> int:
    """Grade the prediction file: the same tasks of the same benchmark, otherwise as the config file says."""
    from grader.commands.run import grade_files, run_command

    # click fills in the defaults of `grade PREDICTIONS`, with the config file and the environment.
    with run_command.make_context("run", ["--", str(values["output"])], parent=context.find_root()) as run_context:
        run_values = run_context.params
    # Of the options that both commands have (benchmark, data, tasks, quiet), those given to this one have priority.
    common = {name: values[name] for name in run_values.keys() & values.keys() if values[name]}
    return grade_files(**run_values | common)
