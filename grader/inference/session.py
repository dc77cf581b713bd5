"""The steps of `grade infer`: tasks, plan, requests, prediction file, summary."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from grader.benchmark import Benchmark
from grader.data.checks import check_questions
from grader.data.tables import ALL
from grader.errors import GradeError, InfrastructureError, InputError, InterruptedRunError, UsageError
from grader.grading.setup import make_setup
from grader.inference import conversations, output
from grader.inference.asking import ask_all, resume_advice
from grader.inference.conversations import RequestSettings, TaskImages
from grader.inference.dry_run import DryRun, describe_run
from grader.inference.log import Log, unused_backup_path
from grader.inference.options import InferOptions
from grader.inference.output import InferSummary, summarize
from grader.inference.plan import Conversation, Plan
from grader.inference.resume import ResumeCheck
from grader.models.model import Model, Server
from grader.models.prompt import PromptOptions, load_template
from grader.options import Options
from grader.predictions.select import selected_ids
from grader.scorers.rows import tasks_of
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.models.prompt import Sampling
    from grader.observer import Observer
    from grader.scorers.registry import AnyScorer


_TASK_OPTIONS = ("benchmark", "split", "protocol", "data", "limit", "ids", "since", "until")
"""The options that choose tasks, of requests as of grading."""


class PreparedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run, and the selected part of it."""

    options: InferOptions
    benchmark: Benchmark
    plan: Plan
    """Every sample of every task of the benchmark."""
    selected: tuple[Conversation, ...]
    """The conversations of the tasks that the options select."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    summary: InferSummary
    written: int
    """Number of predictions in the file."""
    stopped: str = ""
    """Why the run stopped early; empty: it did not."""
    backup_paths: tuple[Path, ...] = ()
    """The new paths of earlier files, with `--fresh`."""


def prepare(options: InferOptions) -> PreparedRun:
    """Load the tasks and plan the requests. Raises UsageError, InputError, DataUnavailableError.

    All tasks are planned: the prediction file also has those that earlier runs asked and this one does not select.
    """
    setup = make_setup(Options(**{name: getattr(options, name) for name in _TASK_OPTIONS}))
    benchmark, scorer, split, protocol = setup.declared, setup.scorer, setup.split, setup.protocol
    rows = setup.rows(ALL)
    check_questions(rows, benchmark)
    tasks, _notes = scorer.complete(benchmark, rows, tasks_of(scorer, benchmark, split, rows), None)
    prompt_options = _prompt_options(options, scorer, protocol, benchmark, split)
    images = TaskImages(benchmark, split, protocol, options.data, tasks)
    # The benchmark's own settings replace those that its scorer usually has.
    sampling = msgspec.structs.replace(scorer.usual_sampling, **benchmark.inference.declared_settings())
    plan = conversations.make_plan(
        tasks,
        lambda task: scorer.turns(benchmark, task, prompt_options),
        images.read,
        _request_settings(options, sampling),
    )
    date = benchmark.columns.date
    qids = selected_ids(tasks, setup.options, benchmark.unit, whole_units=scorer.has_units, date=date)
    selected = tuple(conversation for conversation in plan.conversations if conversation.qid in qids)
    qids_with_images = dict.fromkeys(c.qid for c in selected if any(step.shows_images for step in c.steps))
    images.check(qids_with_images)
    return PreparedRun(options=options, benchmark=benchmark, plan=plan, selected=selected)


def run(prepared: PreparedRun, observer: Observer) -> Result:
    """Send the missing requests and write the prediction file. Raises GradeError.

    The prediction file is also written if the run fails or is interrupted.
    """
    options, plan, selected = prepared.options, prepared.plan, prepared.selected
    with _open_log(prepared) as (log, backup_paths), _model(options) as model, _coder(options) as coder:
        try:
            stopped = ask_all(selected, log, model, coder, concurrency=options.concurrency, observer=observer)
        except KeyboardInterrupt:
            _write(prepared, log)
            raise InterruptedRunError(_interruption_message(prepared, log)) from None
        except GradeError:
            # This error is reported; a second one, of the same full disk, would hide it.
            with contextlib.suppress(OSError):
                output.write(options.output, plan, log)
            raise
        written = _write(prepared, log)
        return Result(summary=summarize(selected, log), written=written, stopped=stopped, backup_paths=backup_paths)


def _write(prepared: PreparedRun, log: Log) -> int:
    """Write the prediction file; return how many it has. Raises InfrastructureError, which says what is kept."""
    path = prepared.options.output
    try:
        return output.write(path, prepared.plan, log)
    except OSError as error:
        raise InfrastructureError(
            f"{path} could not be written: {error.strerror}. {resume_advice(prepared.selected, log)}"
        ) from error


def _interruption_message(prepared: PreparedRun, log: Log) -> str:
    total, summary = len(prepared.selected), summarize(prepared.selected, log)
    if not summary.done:
        return f"Interrupted. No sample was answered; the same command asks for all {total}."
    answered = f"{summary.done:,} of {counted(total, 'sample')} in {prepared.options.output}"
    return f"Interrupted. {answered}; the same command asks for the other {total - summary.done}."


def dry_run(prepared: PreparedRun) -> DryRun:
    """Return the requests that a run would send, without sending or writing anything."""
    options, check = prepared.options, ResumeCheck(prepared.plan)
    with Log(options.log, fresh=options.fresh, writes=False, on_reply=check.compare) as log:
        check.raise_differences(options.log)
        return describe_run(prepared.plan, prepared.selected, log)


@contextlib.contextmanager
def _open_log(prepared: PreparedRun) -> Iterator[tuple[Log, tuple[Path, ...]]]:
    """Yield the log, checked against the plan, and the new paths of earlier files."""
    options, check = prepared.options, ResumeCheck(prepared.plan)
    _check_output(options)
    with Log(options.log, fresh=options.fresh, on_reply=check.compare) as log:
        check.raise_differences(options.log)
        backup_paths = [log.backup_path] if log.backup_path is not None else []
        if options.fresh and options.output.exists():
            backup_paths.append(unused_backup_path(options.output))
            options.output.rename(backup_paths[-1])
        yield log, tuple(backup_paths)


def _check_output(options: InferOptions) -> None:
    """Raise UsageError for a prediction file that `grade infer` did not write, or cannot write."""
    path = options.output
    if path.suffix not in {".json", ".jsonl"}:
        raise UsageError(f"-o {path}: a prediction file ends in .json or .jsonl.")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"-o {path}: the folder {path.parent} does not exist, or this is a folder; name a file.")
    has_requests = options.log.exists() and options.log.stat().st_size
    if path.exists() and not has_requests and not options.fresh:
        raise UsageError(
            f"-o {path}: this file exists without requests in {options.log.name}, so another program wrote it, or all "
            "requests were deleted. Name another file, or use --fresh (the old file is kept under another name)."
        )


def _prompt_options(
    options: InferOptions, scorer: AnyScorer, protocol: str, benchmark: Benchmark, split: str
) -> PromptOptions:
    """Return what the user chose of the prompts; raises UsageError if the benchmark has no such mode, or no shots."""
    if options.mode and options.mode not in scorer.modes:
        modes = f"it has {', '.join(scorer.modes)}" if scorer.modes else "it has no modes"
        raise UsageError(f"--mode {options.mode}: not a mode of {benchmark.id}; {modes}.")
    if options.shots and "shots" not in scorer.options:
        raise UsageError(f"--shots: {benchmark.id} has no demonstrations.")
    template = load_template(options.prompt) if options.prompt is not None else None
    if template is not None and not template.strip():
        raise InputError([f"--prompt {options.prompt}: the file is empty"])
    return PromptOptions(
        protocol=protocol,
        mode=options.mode or next(iter(scorer.modes), ""),
        shots=options.shots,
        split=split,
        data=options.data,
        template=template,
        template_name=str(options.prompt or ""),
    )


def _request_settings(options: InferOptions, sampling: Sampling) -> RequestSettings:
    # The user's own limit, under its other name, replaces the benchmark's: a server with both would choose one.
    other_limit = {"max_tokens": None} if options.gen_kwargs.get("max_completion_tokens") is not None else {}
    return RequestSettings(
        samples=options.samples,
        settings={**sampling.settings(options.samples), "seed": 0, **other_limit, **options.gen_kwargs},
        system=load_template(options.system) if options.system is not None else "",
        image_detail=options.image_detail,
        without_images=options.without_images,
        model=options.model,
        coder=options.coder_model,
    )


def _model(options: InferOptions) -> Model:
    return Model(
        Server(
            model=options.model,
            base_url=options.base_url,
            key_variable=options.api_key_env,
            timeout=options.request_timeout,
            alternative_advice=", or name another variable with --api-key-env",
        )
    )


def _coder(options: InferOptions) -> contextlib.AbstractContextManager[Model | None]:
    if options.coder_model is None:
        return contextlib.nullcontext()
    return _model(msgspec.structs.replace(options, model=options.coder_model))
