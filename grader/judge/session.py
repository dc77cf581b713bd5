"""The judge of a run: a model on a server, recorded replies, or none."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import msgspec

from grader.errors import UsageError
from grader.judge import Judge, RecordedJudge, load_replies
from grader.results import JudgeProvenance
from grader.wording import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.judge.prompts import PromptKind
    from grader.observer import Observer
    from grader.options import Options


class JudgeSession(msgspec.Struct, kw_only=True):
    """A judge, its prompt template, and its cost."""

    judge: Judge | None
    template: str | None
    provenance: JudgeProvenance | None = None
    """For the report; complete once the session has ended."""
    notes: list[str] = []
    """Notes about the judge for the report; complete once the session has ended."""


@contextlib.contextmanager
def judge_session(
    options: Options,
    observer: Observer,
    kind: PromptKind,
    prompt: str = "",
    replies: Mapping[str, str] | None = None,
) -> Iterator[JudgeSession]:
    """Yield the judge of a run. Raises UsageError, InputError.

    `prompt`: a template that replaces the built-in one, if it is not empty; `replies` came with the predictions.
    """
    template = _template(prompt, kind)
    if options.judge_replies is not None and options.judge_model is not None:
        raise UsageError("--judge-replies and --judge-model: give only one of them.")
    if options.judge_replies is not None:
        recorded = RecordedJudge(load_replies(options.judge_replies))
        yield JudgeSession(
            judge=recorded,
            template=template,
            provenance=JudgeProvenance(source=f"replies from {options.judge_replies.name}"),
        )
    elif options.judge_model is not None:
        yield from _endpoint_session(options, observer, template)
    elif options.judge_base_url is not None:
        raise UsageError("--judge-base-url needs --judge-model, the name of the model on this server.")
    elif replies:
        yield JudgeSession(
            judge=RecordedJudge(replies),
            template=template,
            provenance=JudgeProvenance(source="replies from the predictions"),
        )
    else:
        yield JudgeSession(judge=None, template=template)


def _template(prompt: str, kind: PromptKind) -> str | None:
    """Return a template after a check; None: the built-in one is used."""
    if not prompt:
        return None
    from grader.judge.prompts import check_template

    check_template(prompt, kind)
    return prompt


def _endpoint_session(options: Options, observer: Observer, template: str | None) -> Iterator[JudgeSession]:
    """Yield the session of a model that is asked; its provenance and notes follow when it ends."""
    from grader.judge.client import DEFAULT_CONCURRENCY, OpenAIJudge, ReplyCache

    assert options.judge_model is not None
    cache = ReplyCache() if options.cache else None
    judge = OpenAIJudge(
        model=options.judge_model,
        cache=cache,
        base_url=options.judge_base_url,
        concurrency=options.workers or DEFAULT_CONCURRENCY,
        observer=observer,
    )
    with judge:
        session = JudgeSession(judge=judge, template=template)
        yield session
    session.provenance = judge.provenance()
    session.notes = [_cost_sentence(session.provenance)]


def _cost_sentence(judge: JudgeProvenance) -> str:
    without_reply = judge.failed - judge.unreadable
    failures = f", {counted(without_reply, 'question')} without a reply" if without_reply else ""
    if judge.unreadable:
        failures += f", {counted(judge.unreadable, 'question')} with replies that could not be read"
    return (
        f"Judge {judge.model} at {judge.endpoint}: {counted(judge.calls, 'call')}, "
        f"{counted(judge.cached, 'reply', 'replies')} from the cache"
        f"{failures}; {judge.prompt_tokens} prompt and {judge.completion_tokens} completion tokens."
    )
