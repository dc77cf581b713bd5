"""An execution report made by hand: its verdicts need no sandbox, and every kind of them is there."""

import io
from pathlib import Path

from PIL import Image

from grader.reports.material import Material
from grader.results import Metric, Note, Outcome, Provenance, Reading, Report, SampleResult, SandboxProvenance
from grader.scorers.interface import ExecutedProgram
from grader.task import Block, Task
from tests.reports.shown import as_page

TESTS = "def test():\n    assert solution(1) == 2\n\ntest()\n"
HEAD = 'def solution(x):\n    """\n    Add what the diagram shows.\n    """\n'
CODE = "def solution(x):\n    return x + 1  # why"
_KINDS = {
    "passed": (Outcome.PASSED, Outcome.PASSED, "split", ""),
    "suspect": (Outcome.PASSED, Outcome.SUSPECT, "split", "passes in the tests' own process, not apart from them"),
    "failed": (Outcome.FAILED, Outcome.FAILED, "execution", "a test's assertion failed"),
    "recovered": (Outcome.LINT_FAILED, Outcome.PASSED, "recovered", "passes once the program keeps top-level STEP"),
    "unscored": (Outcome.UNSCORED, Outcome.UNSCORED, "infrastructure", "the supervisor died three times"),
}


def _sample(qid: str, number: int, kind: str) -> SampleResult:
    first, second, rule, detail = _KINDS[kind]
    readings = [Reading(outcome=o, credit=int(o is Outcome.PASSED), rule=rule, detail=detail) for o in (first, second)]
    return SampleResult(
        qid=qid, sample=number, seconds=0.25, official=readings[0], careful=readings[1],
        groups={"task_type": "Odd" if qid in {"q1", "q3"} else "Even", "aspect": ["Shared", qid]},
    )  # fmt: skip


def _run(kind: str) -> ExecutedProgram:
    return ExecutedProgram(
        completion=CODE, program=f"{HEAD}\n{CODE}\n{TESTS}", result="passed" if kind == "passed" else "no"
    )


def _image(number: int) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (300, 225), (60 * number, 90, 120)).save(file, "PNG")
    return file.getvalue()


def execution(path: Path) -> Path:
    """Write the report of four tasks with three samples each."""
    rows = {
        "q1": ["passed", "suspect", "failed"],
        "q2": ["failed", "failed", "failed"],
        "q3": ["recovered", "passed", "unscored"],
        "q10": ["passed", "passed", "passed"],
    }
    samples = [_sample(qid, number, kind) for qid, kinds in rows.items() for number, kind in enumerate(kinds)]
    figures = [
        Metric(
            name=f"pass@{k}", reading=reading, group=group, value=value, n=4,
            ci95=(value - 9, value + 9), bounds=(40.0, 60.0),
        )
        for group in (None, "task_type=Odd", "task_type=Even")
        for k in (1, 3)
        for reading, value in (("official", 50.0 + k), ("careful", 45.0 + k))
    ]  # fmt: skip
    report = Report(
        benchmark="humaneval-v", scorer="execution", split="test", protocol="v2", metrics=figures, samples=samples,
        unscored=1, provenance=Provenance(sandbox=SandboxProvenance(backend="docker", identity="sha256:1")),
        notes=[Note("One task has no diagram.")],
    )  # fmt: skip
    material = Material(
        runs_programs=True,
        unit="task",
        tasks={qid: Task(id=qid, blocks=(Block(kind="code", title="Signature", content=HEAD, is_open=True),
                                         Block(kind="code", title="Tests", content=TESTS))) for qid in rows},
        image_of={qid: qid for qid in rows},
        images={qid: _image(number) for number, qid in enumerate(rows)},
        replies={qid: [f"Sample {n} of {qid}:\n```python\n{CODE}\n```" for n in range(3)] for qid in rows},
        programs={qid: [_run(kind) for kind in kinds] for qid, kinds in rows.items()},
    )  # fmt: skip
    path.write_bytes(as_page(report, material))
    return path
