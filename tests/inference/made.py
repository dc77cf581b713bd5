"""Plans and runs, for the tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.inference.asking import ask_all
from grader.inference.log import Log
from grader.inference.plan import Conversation, Plan, Step
from grader.models.messages import user
from grader.models.model import RequestRecord
from grader.observer import Observer, Silent
from tests.models.made import model
from tests.models.server import ModelServer


def step(text: str, stage: str = "answer", *, extra_settings: Mapping[str, Any] | None = None, **settings: Any) -> Step:
    """A step that asks a text; `{description}` in it is filled with the earlier step's answer."""
    return Step(
        stage=stage,
        build=lambda texts: (user(text.format_map(texts)),),
        settings=settings,
        by_coder=stage == "code",
        extra_settings=dict(extra_settings or {}),
    )


def plan(tasks: int = 3, samples: int = 1, *, model: str = "m", **settings: Any) -> Plan:
    """A plan of one step a sample: `ask q0`, with a seed for each sample."""
    conversations = [
        Conversation(qid=f"q{task}", sample=sample, steps=(step(f"ask q{task}", seed=sample, **settings),))
        for task in range(tasks)
        for sample in range(samples)
    ]
    return Plan(conversations=tuple(conversations), model=model)


def two_stages(samples: int = 1, coder: str | None = None) -> Plan:
    """A plan of one task, in which code is asked for a description that was asked for before."""
    steps = step("describe", "description", temperature=0.8), step("code for {description}", "code", temperature=0)
    conversations = [Conversation(qid="q", sample=sample, steps=steps) for sample in range(samples)]
    return Plan(conversations=tuple(conversations), model="m", coder=coder)


def record(qid: str = "q", sample: int = 0, content: str | None = "A", **fields: Any) -> RequestRecord:
    """A record of a request that the plans above make."""
    made = {"stage": "answer", "model": "m", "settings": {"seed": sample}, "prompt": f"ask {qid}", **fields}
    error = None if content is not None else "no"
    return RequestRecord(qid=qid, sample=sample, content=content, error=error, **made)


def run(
    plan: Plan,
    path: Path,
    server: ModelServer,
    *,
    coder: ModelServer | None = None,
    concurrency: int = 4,
    observer: Observer | None = None,
) -> str:
    """Run a plan against a server; return why it stopped before its end."""
    with Log(path) as log, model(server, model=plan.model) as asked, model(coder or server, model="coder") as writer:
        return ask_all(
            plan.conversations,
            log,
            asked,
            writer if coder is not None else None,
            concurrency=concurrency,
            observer=observer or Silent(),
        )
