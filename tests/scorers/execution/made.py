"""Code tasks for tests."""

from grader.scorers.execution.assembly import read_signature
from grader.scorers.execution.tasks import CodeTask
from grader.scorers.execution.undeclared import completed, open_names


def make(
    qid: str, signature: str, tests: str, groups: dict[str, str | list[str]], solution: str | None = None
) -> CodeTask:
    """Return a task with only a signature and tests. `solution`: a body or a program, or None."""
    return CodeTask(
        id=qid,
        signature_text=signature,
        tests=tests,
        signature=completed(read_signature(signature), tests, signature, solution),
        tested=open_names(tests, signature),
        solution=solution,
        groups=groups,
    )
