"""Code tasks for tests."""

from grader.scorers.execution.assembly import read_signature
from grader.scorers.execution.signature_completion import complete_signature, names_to_define
from grader.scorers.execution.tasks import CodeTask


def make(
    qid: str, signature: str, tests: str, groups: dict[str, str | list[str]], solution: str | None = None
) -> CodeTask:
    """Return a task with only a signature and tests. `solution`: a body or a program, or None."""
    return CodeTask(
        id=qid,
        signature_text=signature,
        tests=tests,
        signature=complete_signature(read_signature(signature), tests, signature, solution),
        names_to_define=names_to_define(tests, signature),
        solution=solution,
        groups=groups,
    )
