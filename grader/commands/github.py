"""What a run tells GitHub: a gate's decision at the top of the page, its results files, and the step summary."""

from __future__ import annotations

import contextlib
import os
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from grader.commands.console import say

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from grader.decisions.gate import GateResult
    from grader.reports.document import Document

_LEVELS = {"met": "notice", "not met": "error", "inconclusive": "warning", "blocked": "error"}


_RESUME_TOKEN = uuid.uuid4().hex
"""The word that lets GitHub obey workflow commands again; nothing that is printed can know it."""


@contextlib.contextmanager
def without_workflow_commands() -> Iterator[None]:
    """Let GitHub obey no line that is printed: models wrote some, and a line could begin like a workflow command."""
    if not _is_on_github():
        yield
        return
    say(f"::stop-commands::{_RESUME_TOKEN}")
    try:
        yield
    finally:
        say(f"::{_RESUME_TOKEN}::")


def annotate_gate(gate: GateResult) -> None:
    """Print a gate's decision as a workflow command, which GitHub shows at the top of the run.

    GitHub obeys commands for this one line only; see `without_workflow_commands`.
    """
    if _is_on_github():
        level = "notice" if gate.is_advisory else _LEVELS[gate.state]
        command = f"::{level} title=grade::{_escape(f'{gate.gate}: {gate.reason}')}"
        say(f"::{_RESUME_TOKEN}::\n{command}\n::stop-commands::{_RESUME_TOKEN}")


def _is_on_github() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def _escape(text: str) -> str:
    """Escape the characters that are special in GitHub's workflow commands (docs.github.com, workflow commands)."""
    pairs = [("%", "%25"), ("\r", "%0D"), ("\n", "%0A")]
    for character, code in pairs:
        text = text.replace(character, code)
    return text


def set_results_output(path: Path) -> None:
    """Give the path of the results file to the workflow's later steps, as the output `results`."""
    if os.environ.get("GITHUB_OUTPUT"):
        # A random delimiter, so that a file's name cannot end the value and begin another output.
        delimiter = uuid.uuid4().hex
        lines = [f"results<<{delimiter}", str(path), delimiter, ""]
        _append_to_github_file("GITHUB_OUTPUT", "\n".join(lines).encode(errors="surrogateescape"))


def append_step_summary(make_document: Callable[[], Document]) -> None:
    """Append a document to the step summary, if the CI has one."""
    if os.environ.get("GITHUB_STEP_SUMMARY"):
        from grader.reports.formats import markdown

        _append_to_github_file("GITHUB_STEP_SUMMARY", markdown.make(make_document()) + b"\n")


def _append_to_github_file(variable: str, data: bytes) -> None:
    """Append to one of GitHub's files. A failure does not fail the run."""
    try:
        with Path(os.environ[variable]).open("ab") as file:
            file.write(data)
    except OSError as error:
        say(f"{variable} could not be written: {error}")
