"""A judge with little patience, questions, and an observer, for the tests."""

import threading
from collections.abc import Callable
from typing import Any

from grader.judge import JudgeQuestion
from grader.judge.client import OpenAIJudge
from tests.models.server import ModelServer

KEY = "sk-test-0123456789abcdef"


def a_letter(text: str) -> bool:
    return text.strip() in set("ABCDZ")


def question(qid: str = "q1", prompt: str | None = None, accept: Callable[[str], bool] = a_letter) -> JudgeQuestion:
    return JudgeQuestion(qid=qid, prompt=prompt or f"prompt of {qid}", accept=accept)


def questions(count: int) -> list[JudgeQuestion]:
    return [question(f"q{number}") for number in range(count)]


def judge(server: ModelServer | str, **options: Any) -> OpenAIJudge:
    url = server if isinstance(server, str) else server.url
    return OpenAIJudge(**{"model": "m", "cache": None, "base_url": url, "api_key": KEY, "retries": 2, **options})


class Watcher:
    """An observer that writes down what it is told, and by which thread."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, int | None]] = []
        self.messages: list[str] = []
        self.warnings: list[str] = []
        self.done = 0
        self.threads: set[int] = set()

    def phase(self, name: str, total: int | None) -> None:
        self.threads.add(threading.get_ident())
        self.phases.append((name, total))

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        self.threads.add(threading.get_ident())
        self.done += steps

    def message(self, text: str) -> None:
        self.threads.add(threading.get_ident())
        self.messages.append(text)

    def warning(self, text: str) -> None:
        self.message(text)
        self.warnings.append(text)
