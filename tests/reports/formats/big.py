"""A report of 253 tasks with 20 samples each, made up."""

import io
import random

from grader.reports.material import Material
from grader.results import Metric, Outcome, Reading, Report, SampleResult
from grader.scorers.interface import ExecutedProgram
from grader.task import Block, Task

TASKS, SAMPLES = 253, 20
_NAMES = ("grid", "row", "column", "value", "total", "index", "node", "left", "right", "depth", "count", "result")
_TEXT = (
    "the diagram shows a grid in which every cell moves to its neighbour until the line is closed so that the answer "
    "must be computed from the left column first then mirrored along the falling diagonal and summed over all rows"
)
_WORDS = tuple(_TEXT.split())
_OUTCOMES = (Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.TIMEOUT, Outcome.LINT_FAILED)


def made(tasks: int = TASKS, samples: int = SAMPLES, width: int = 960) -> tuple[Report, Material]:
    """Return a report and its material: outputs of 2 kB, of which half is code, and an image of noise a task."""
    dice = random.Random(5)
    results, predictions, programs, questions, images = [], {}, {}, {}, {}
    for task in range(tasks):
        qid = f"q{task + 1}"
        signature, tests = _signature(dice), _tests(dice)
        images[qid] = _image(dice, width)
        parts = (("Signature", signature), ("Tests", tests))
        blocks = tuple(Block(kind="code", title=title, content=code) for title, code in parts)
        questions[qid] = Task(id=qid, blocks=blocks)
        codes = [_code(dice) for _ in range(samples)]
        predictions[qid] = [f"{_prose(dice, 900)}\n\n```python\n{code}\n```\n{_prose(dice, 150)}" for code in codes]
        for sample in range(samples):
            results.append(_result(dice, qid, sample, f"type {task % 6}"))
        programs[qid] = [
            ExecutedProgram(
                completion=code,
                program=f"{signature}    pass\n\n{code}\n\n{tests}",
                result="passed" if results[at - samples].official.credit else "name 'x' is not defined",
            )
            for at, code in enumerate(codes)
        ]
    figures = [
        Metric(name=f"pass@{k}", reading=name, value=30 + k, ci95=(25.0 + k, 35.0 + k), n=tasks)
        for k in (1, 10)
        for name in ("official", "careful")
    ]
    report = Report(
        benchmark="humaneval-v", scorer="execution", split="test", protocol="v2", metrics=figures, samples=results
    )
    material = Material(
        runs_programs=True,
        unit="task",
        tasks=questions,
        image_of={qid: qid for qid in questions},
        images=images,
        replies=predictions,
        programs=programs,
    )
    return report, material


def _result(dice: random.Random, qid: str, sample: int, kind: str) -> SampleResult:
    outcome = dice.choice(_OUTCOMES)
    credit, detail = int(outcome is Outcome.PASSED), _prose(dice, 60)
    official = Reading(outcome=outcome, credit=credit, detail=detail, rule="execution")
    careful = official
    if outcome is Outcome.PASSED and dice.random() < 0.1:
        careful = Reading(outcome=Outcome.SUSPECT, credit=0, detail="not confirmed: " + _prose(dice, 60), rule="split")
    return SampleResult(
        qid=qid, sample=sample, seconds=dice.random(), official=official, careful=careful, groups={"task_type": kind}
    )


def _prose(dice: random.Random, size: int) -> str:
    words: list[str] = []
    length = 0
    while length < size:
        words.append(dice.choice(_WORDS) if dice.random() < 0.9 else str(dice.randrange(10_000)))
        length += len(words[-1]) + 1
    return " ".join(words)


def _code(dice: random.Random) -> str:
    lines = ["def solution(grid):", f"    {dice.choice(_NAMES)} = {dice.randrange(100)}"]
    while sum(map(len, lines)) < 900:
        a, b, c = (dice.choice(_NAMES) for _ in range(3))
        kinds = (
            f"    for {a} in range({dice.randrange(99)}, len({b})):",
            f"        {a} = {b}[{dice.randrange(9)}] + {c}",
            f"        if {a} > {b} and {c} != {dice.randrange(50)}:",
            f"            {a}.append({b} * {dice.random():.3f})",
            f"        # {_prose(dice, 40)}",
            f"            return [{a}, '{b}', {c}]",
        )
        lines.append(dice.choice(kinds))
    return "\n".join(lines)


def _signature(dice: random.Random) -> str:
    head = "from typing import List\n\ndef solution(grid: List[int]) -> int:\n"
    return f'{head}    """\n    {_prose(dice, 300)}\n    """\n'


def _tests(dice: random.Random) -> str:
    grids = [[dice.randrange(99) for _ in range(12)] for _ in range(10)]
    rows = [f"    assert solution({grid}) == {sum(grid)}" for grid in grids]
    return "def test():\n" + "\n".join(rows) + "\n\ntest()\n"


def _image(dice: random.Random, width: int) -> bytes:
    """A picture that compresses badly: coarse noise and lines."""
    from PIL import Image, ImageDraw

    height = width * 3 // 4
    image = Image.effect_noise((width // 10, height // 10), 90).convert("RGB").resize((width, height))
    pen = ImageDraw.Draw(image)
    for _ in range(40):
        ends = [(dice.randrange(width), dice.randrange(height)) for _ in range(2)]
        pen.line(ends, fill=tuple(dice.randrange(256) for _ in range(3)), width=dice.randrange(1, 9))
    file = io.BytesIO()
    image.save(file, "JPEG", quality=90)
    return file.getvalue()
