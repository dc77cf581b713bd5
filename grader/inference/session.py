"""The steps of `grade infer`: tasks, plan, requests, prediction file, summary."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.benchmark import Benchmark
from grader.data.checks import check_questions
from grader.data.load import ALL
from grader.errors import GradeError, InfrastructureError, UsageError
from grader.inference import conversations, dry_run, output, resume
from grader.inference.conversations import Chosen, Pictures
from grader.inference.engine import Engine, what_is_kept
from grader.inference.log import Log, free_name, peek
from grader.inference.options import InferOptions
from grader.inference.output import Summary, summarize
from grader.inference.plan import Conversation, Plan, Role
from grader.models.client import Client
from grader.models.endpoint import Server, Wording
from grader.models.prompt import Asking, load_template
from grader.options import Options
from grader.predictions.select import chosen as chosen_tasks
from grader.scorers import declarations, registry
from grader.scorers.capabilities import HasPrompts, HasUnits
from grader.scorers.rows import rows_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.inference.dry_run import DryRun
    from grader.inference.engine import Watcher
    from grader.inference.options import ModelAt
    from grader.models.messages import Settings
    from grader.models.prompt import Sampling

_WORDINGS: dict[Role, Wording] = {
    "model": Wording(who="The model", model_option="--model", address_option="--base-url", key_option="--api-key-env"),
    "coder": Wording(
        who="The coder model",
        model_option="--coder-model",
        address_option="--base-url",
        key_option="--api-key-env",
    ),
}


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run, and the selected part of it."""

    options: InferOptions
    benchmark: Benchmark
    plan: Plan
    """Every sample of every task of the benchmark."""
    selected: tuple[Conversation, ...]
    """The conversations of the tasks that `--id` and `--limit` select."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run."""

    summary: Summary
    stopped: str = ""
    """Why the run stopped early; empty: it did not."""
    written: int = 0
    """Number of predictions in the prediction file."""
    set_aside: tuple[Path, ...] = ()
    """The new paths of earlier files, with `--fresh`."""


def prepare(options: InferOptions) -> Prepared:
    """Load the tasks and plan the requests. Raises UsageError, InputError, DataUnavailableError."""
    declared = declarations.load(options.benchmark)
    scorer = registry.scorer(declared.scoring)
    split, _ = declared.split(options.split)
    protocol = declared.check_protocol(options.protocol)
    rows = rows_of(declared, split, protocol, options.data, scorer, wanted=ALL)
    check_questions(rows, declared)
    tasks = HasUnits.of(scorer).tasks_to_ask(declared, scorer.tasks(declared, split, rows))
    asks = HasPrompts.of(scorer)
    asking = _asking(options, asks, protocol, declared, split)
    pictures = Pictures(declared, split, protocol, options.data, tasks)
    chosen = _chosen(options, msgspec.structs.replace(asks.usual_sampling, **declared.inference.given()))
    plan = conversations.make(tasks, lambda task: asks.turns(declared, task, asking), pictures.read, chosen)
    limited = Options(limit=options.limit, ids=options.ids, since=options.since, until=options.until)
    date = declared.columns.date
    wanted = chosen_tasks(tasks, limited, declared.unit, whole_units=isinstance(scorer, HasUnits), date=date)
    selected = tuple(each for each in plan.conversations if each.qid in wanted)
    pictures.check({each.qid: None for each in selected if any(step.shows_images for step in each.steps)})
    return Prepared(options=options, benchmark=declared, plan=plan, selected=selected)


def run(prepared: Prepared, watcher: Watcher) -> Result:
    """Send the missing requests and write the prediction file. Raises GradeError, KeyboardInterrupt.

    The prediction file is also written if the run fails or is interrupted.
    """
    options, plan = prepared.options, prepared.plan
    with _opened(prepared) as (log, set_aside), contextlib.ExitStack() as stack:
        clients = {role: stack.enter_context(client) for role, client in _clients(options, plan).items()}
        budget, accept_empty = options.max_total_tokens, options.accept_empty
        engine = Engine(plan, log, clients, watcher, max_total_tokens=budget, accept_empty=accept_empty)
        try:
            stopped = engine.run(prepared.selected, concurrency=options.concurrency)
        except GradeError:
            # This error is reported; a second one, of the same full disk, would hide it.
            with contextlib.suppress(OSError):
                output.write(options.output, plan, log.replies)
            raise
        except BaseException:
            _write(prepared, log)
            raise
        written = _write(prepared, log)
        return Result(summary=summarize(prepared.selected, log), stopped=stopped, written=written, set_aside=set_aside)


def _write(prepared: Prepared, log: Log) -> int:
    """Write the prediction file; return the number of predictions. Raises InfrastructureError: what is kept."""
    path = prepared.options.output
    try:
        return output.write(path, prepared.plan, log.replies)
    except OSError as error:
        raise InfrastructureError(
            f"{path} could not be written: {error.strerror}. {what_is_kept(prepared.selected, log)}"
        ) from error


def look(prepared: Prepared) -> DryRun:
    """Return the requests that a run would send, without sending or writing anything."""
    replies = {} if prepared.options.fresh else peek(prepared.options.log)
    resume.check(prepared.plan, replies, prepared.options.log)
    return dry_run.look(prepared.plan, prepared.selected, replies)


def status(prepared: Prepared) -> tuple[int, int]:
    """Return (number of selected samples with a prediction, number of selected samples)."""
    replies = peek(prepared.options.log)
    done = sum(not resume.missing(each, replies) for each in prepared.selected)
    return done, len(prepared.selected)


@contextlib.contextmanager
def _opened(prepared: Prepared) -> Iterator[tuple[Log, tuple[Path, ...]]]:
    """Yield the log, checked against the plan, and the new paths of earlier files."""
    options = prepared.options
    _check_output(options)
    with Log(options.log, fresh=options.fresh) as log:
        resume.check(prepared.plan, log.replies, options.log)
        set_aside = [log.set_aside] if log.set_aside is not None else []
        if options.fresh and options.output.exists():
            set_aside.append(free_name(options.output))
            options.output.rename(set_aside[-1])
        yield log, tuple(set_aside)


def _check_output(options: InferOptions) -> None:
    """Raise UsageError for a prediction file that `grade infer` did not write, or cannot write."""
    path = options.output
    if path.suffix not in {".json", ".jsonl"}:
        raise UsageError(f"-o {path}: a prediction file ends in .json or .jsonl.")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"-o {path}: the folder {path.parent} does not exist, or this is a folder; name a file.")
    if path.exists() and not options.log.exists() and not options.fresh:
        raise UsageError(
            f"-o {path}: this file exists without its {options.log.name}, so another program wrote it. "
            "Name another file, or use --fresh (the old file is kept under another name)."
        )


def _asking(options: InferOptions, asks: HasPrompts, protocol: str, declared: Benchmark, split: str) -> Asking:
    if options.mode and options.mode not in asks.modes:
        known = f"it has {', '.join(asks.modes)}" if asks.modes else "it has no modes"
        raise UsageError(f"--mode {options.mode}: not a mode of {declared.id}; {known}.")
    shown = asks.demonstrations(declared, split, options.data) if options.shots else {}
    if options.shots and not shown:
        raise UsageError(f"--shots: {declared.id} has no demonstrations.")
    return Asking(
        protocol=protocol,
        mode=options.mode or next(iter(asks.modes), ""),
        shots=options.shots,
        demonstrations=shown,
        template=load_template(options.prompt) if options.prompt is not None else None,
        template_name=str(options.prompt or ""),
    )


def _chosen(options: InferOptions, sampling: Sampling) -> Chosen:
    declared = sampling.settings(options.samples)
    given: dict[str, Any] = {
        name: value
        for name in ("temperature", "top_p", "max_tokens")
        if (value := getattr(options, name)) is not msgspec.UNSET
    }
    models: dict[Role, str] = {"model": options.model.name}
    if options.coder is not None:
        models["coder"] = options.coder.name
    settings: Settings = msgspec.structs.replace(declared, seed=options.seed, extra=options.extra_body, **given)
    return Chosen(
        samples=options.samples,
        settings=settings,
        system=load_template(options.system) if options.system is not None else "",
        image_detail=options.image_detail,
        max_image_pixels=options.max_image_pixels,
        without_images=options.without_images,
        models=models,
    )


def _clients(options: InferOptions, plan: Plan) -> dict[Role, Client]:
    at: dict[Role, ModelAt | None] = {"model": options.model, "coder": options.coder}
    return {
        role: _client(options, place, role) for role, place in at.items() if place is not None and role in plan.models
    }


def _client(options: InferOptions, place: ModelAt, role: Role) -> Client:
    wording = msgspec.structs.replace(_WORDINGS[role], key_variable=place.key_variable or "")
    server = Server(model=place.name, base_url=place.base_url, timeout=options.request_timeout)
    return Client(server, wording, concurrency=options.concurrency, patience=options.patience)
