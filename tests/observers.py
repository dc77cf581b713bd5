"""An observer that keeps what it is told."""

from grader.observer import Silent


class Noting(Silent):
    """Phases with their totals, steps, messages and warnings, each in the order in which they come."""

    def __init__(self) -> None:
        self.phases: list[tuple[str, int | None]] = []
        self.steps: list[int] = []
        self.messages: list[str] = []
        self.warnings: list[str] = []

    def phase(self, name: str, total: int | None) -> None:
        self.phases.append((name, total))

    def advance(self, steps: int = 1, *, passed: int = 0) -> None:
        self.steps.append(steps)

    def message(self, text: str) -> None:
        self.messages.append(text)

    def warning(self, text: str) -> None:
        self.warnings.append(text)
