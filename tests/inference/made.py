"""Plans and runs, for the tests."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.inference.engine import Engine, Progress
from grader.inference.log import Log
from grader.inference.plan import Conversation, Plan, Step
from grader.models.client import Patience
from grader.models.messages import Settings, user
from tests.models.made import SOON, client
from tests.models.server import ModelServer


def step(text: str, stage: str = "answer", *, noted: Mapping[str, Any] | None = None, **settings: Any) -> Step:
    """A step that asks a text; `{description}` in it is filled with the earlier step's answer."""
    return Step(
        stage=stage,
        build=lambda texts: (user(text.format_map(texts)),),
        settings=Settings(**settings),
        noted=dict(noted or {}),
    )


def plan(tasks: int = 3, samples: int = 1, *, model: str = "m", **settings: Any) -> Plan:
    """A plan of one step a sample: `ask q0`, with a seed for each sample."""
    conversations = [
        Conversation(qid=f"q{task}", sample=sample, steps=(step(f"ask q{task}", seed=sample, **settings),))
        for task in range(tasks)
        for sample in range(samples)
    ]
    return Plan(conversations=tuple(conversations), models={"model": model})


class Watcher:
    """A watcher that writes down what it is told."""

    def __init__(self) -> None:
        self.shown: list[Progress] = []
        self.messages: list[str] = []
        self.warnings: list[str] = []

    def progress(self, progress: Progress) -> None:
        self.shown.append(progress)

    def message(self, text: str) -> None:
        self.messages.append(text)

    def warning(self, text: str) -> None:
        self.warnings.append(text)


def run(
    plan: Plan,
    path: Path,
    server: ModelServer,
    *,
    concurrency: int = 4,
    patience: Patience = SOON,
    watcher: Watcher | None = None,
    **limits: Any,
) -> str:
    """Run a plan against a server; return why it stopped before its end."""
    with Log(path) as log, client(server, concurrency=concurrency, patience=patience) as model:
        engine = Engine(plan, log, {"model": model}, watcher, **limits)
        return engine.run(plan.conversations, concurrency=concurrency)
