"""One `grade infer` from end to end: tasks, plan, requests, prediction file, and what it came to."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from grader.benchmark import Benchmark
from grader.data.images import Images, folder_of
from grader.data.load import rows_of
from grader.errors import InputError, UsageError
from grader.inference import batch, conversations, dry_run, output, resume
from grader.inference.conversations import Chosen
from grader.inference.engine import Engine, Limits
from grader.inference.log import Log, free_name, peek
from grader.inference.options import InferOptions
from grader.inference.plan import Conversation, Plan, Role
from grader.inference.summary import Summary, summarize
from grader.models.client import Client
from grader.models.endpoint import Server, Settings, Wording
from grader.models.prompt import Asking, load_template
from grader.options import Options
from grader.predictions.select import chosen as chosen_tasks
from grader.scorers import declarations, registry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from grader.inference.batch import Taken, Written
    from grader.inference.dry_run import DryRun
    from grader.inference.events import Watcher
    from grader.inference.options import ModelAt
    from grader.models.prompt import Sampling
    from grader.scorers.registry import AnyScorer
    from grader.task import Task

_IMAGES_KEPT = 64
_WORDINGS: dict[Role, Wording] = {
    "model": Wording(who="The model", model_option="--model", address_option="--base-url", key_option="--api-key-env"),
    "coder": Wording(
        who="The coder model",
        model_option="--coder-model",
        address_option="--coder-base-url",
        key_option="--coder-api-key-env",
    ),
}


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be asked."""

    options: InferOptions
    benchmark: Benchmark
    plan: Plan
    """Every sample of every task of the benchmark."""
    selected: tuple[Conversation, ...]
    """Those of the tasks that `--id` and `--limit` leave."""


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a run came to."""

    summary: Summary
    stopped: str = ""
    """Why the run ended before everything was asked; empty: it did not."""
    written: int = 0
    """Predictions in the prediction file."""
    set_aside: tuple[Path, ...] = ()
    """Where `--fresh` put earlier files."""


def prepare(options: InferOptions) -> Prepared:
    """Load the tasks and plan what is asked; raises UsageError, InputError, DataUnavailableError."""
    declared = declarations.load(options.benchmark)
    scorer = registry.scorer(declared.scoring)
    split, _ = declared.split(options.split)
    protocol = declared.check_protocol(options.protocol)
    # Without the name of the image column, no column is left out.
    whole = msgspec.structs.replace(declared, columns=msgspec.structs.replace(declared.columns, image=None))
    tasks = scorer.tasks_to_ask(
        declared,
        scorer.tasks(declared, split, rows_of(whole, split, protocol, options.data, columns=None, own=scorer.own_rows)),
    )
    asking = _asking(options, scorer, protocol, declared, split)
    plan = conversations.make(
        tasks,
        lambda task: scorer.turns(declared, task, asking),
        _image_reader(declared, split, protocol, options.data, tasks),
        _chosen(options, scorer.sampling(declared)),
    )
    limited = Options(limit=options.limit, ids=options.ids)
    wanted = chosen_tasks(tasks, limited, declared.unit, whole_units=scorer.whole_units)
    selected = tuple(each for each in plan.conversations if each.qid in wanted)
    return Prepared(options=options, benchmark=declared, plan=plan, selected=selected)


def run(prepared: Prepared, watcher: Watcher) -> Result:
    """Ask what is missing and write the prediction file; raises a GradeError, KeyboardInterrupt.

    The prediction file is written however the run ends.
    """
    options, plan = prepared.options, prepared.plan
    with _opened(prepared) as (log, set_aside), contextlib.ExitStack() as stack:
        clients = {role: stack.enter_context(client) for role, client in _clients(options, plan).items()}
        limits = Limits(max_total_tokens=options.max_total_tokens, accept_empty=options.accept_empty)
        written = 0
        try:
            stopped = Engine(plan, log, clients, limits, watcher).run(
                prepared.selected, concurrency=options.concurrency
            )
        finally:
            written = output.write(options.output, plan, log.replies)
        return Result(summary=summarize(prepared.selected, log), stopped=stopped, written=written, set_aside=set_aside)


def look(prepared: Prepared) -> DryRun:
    """Return what a run would send; nothing is sent or written."""
    replies = {} if prepared.options.fresh else peek(prepared.options.log)
    resume.check(prepared.plan, replies, prepared.options.log)
    return dry_run.look(prepared.plan, prepared.selected, replies)


def status(prepared: Prepared) -> tuple[int, int]:
    """Return how many of the selected samples have a prediction, and how many there are."""
    replies = peek(prepared.options.log)
    done = sum(not resume.missing(each, replies) for each in prepared.selected)
    return done, len(prepared.selected)


def write_batch(prepared: Prepared, path: Path) -> Written:
    """Write the requests that are missing as a batch file; raises UsageError, OSError."""
    with _opened(prepared) as (log, _):
        return batch.write(path, prepared.plan, prepared.selected, log)


def take_batch(prepared: Prepared, path: Path) -> tuple[Taken, Result]:
    """Take a batch's replies and write the prediction file; raises UsageError, InputError, OSError."""
    with _opened(prepared) as (log, set_aside):
        taken = batch.take(path, prepared.plan, prepared.selected, log)
        written = output.write(prepared.options.output, prepared.plan, log.replies)
        return taken, Result(summary=summarize(prepared.selected, log), written=written, set_aside=set_aside)


@contextlib.contextmanager
def _opened(prepared: Prepared) -> Iterator[tuple[Log, tuple[Path, ...]]]:
    """Give the log, found to belong to what is asked, and where earlier files were put."""
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
    """Refuse a prediction file that this command did not make, or cannot write; raises UsageError."""
    path = options.output
    if path.suffix not in {".json", ".jsonl"}:
        raise UsageError(f"-o {path}: a prediction file ends in .json or .jsonl.")
    if path.is_dir() or not path.parent.is_dir():
        raise UsageError(f"-o {path}: there is no folder {path.parent}, or it is a folder itself; name a file.")
    if path.exists() and not options.log.exists() and not options.fresh:
        raise UsageError(
            f"-o {path}: is there already, without its {options.log.name}: another program made it. "
            "Name another file, or use --fresh (the old file is kept under another name)."
        )


def _asking(options: InferOptions, scorer: AnyScorer, protocol: str, declared: Benchmark, split: str) -> Asking:
    if options.mode and options.mode not in scorer.modes:
        known = f"it has {', '.join(scorer.modes)}" if scorer.modes else "it has no modes"
        raise UsageError(f"--mode {options.mode}: not a mode of {declared.id}; {known}.")
    shown = scorer.demonstrations(declared, split, options.data) if options.shots else {}
    if options.shots and not shown:
        raise UsageError(f"--shots: {declared.id} has no demonstrations.")
    return Asking(
        protocol=protocol,
        mode=options.mode or next(iter(scorer.modes), ""),
        shots=options.shots,
        demonstrations=shown,
        template=load_template(options.prompt) if options.prompt is not None else None,
        template_name=str(options.prompt or ""),
    )


def _image_reader(
    declared: Benchmark, split: str, protocol: str, given: Path | None, tasks: Mapping[str, Task]
) -> Callable[[Task], bytes | None]:
    column = declared.protocols[protocol].image or declared.columns.image
    if column is None:
        return lambda _: None
    images = Images(tasks, column, folder_of(declared, split, given))

    # Samples of one task follow each other, and a request is built more than once.
    @functools.lru_cache(maxsize=_IMAGES_KEPT)
    def read(qid: str) -> bytes | None:
        task = tasks[qid]
        picture = images.of(task)
        if picture is None and images.has_cell(task):
            raise InputError([f"{task.id}: its image is not where the data says (column {column})"])
        return picture.read_bytes() if isinstance(picture, Path) else picture

    return lambda task: read(task.id)


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
