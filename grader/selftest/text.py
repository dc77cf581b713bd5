"""The result of a self-test as text: a headline, a table, the problems, and the strength of the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.reports.document import Cell, Column, Table
from grader.reports.terminal import drawn
from grader.reports.text import clean

if TYPE_CHECKING:
    from grader.receipts import Strength
    from grader.selftest.outcome import Outcome, Problem, Tested

SHOWN_PROBLEMS = 20
SHOWN_TASKS = 10

KINDS = {
    "reference": "reference solutions pass",
    "canary": "honest programs that need memory, packages, or ran after hostile ones pass",
    "calibration": "programs that do a known amount of work pass",
    "python": "programs that need the official Python pass if the sandbox has it",
    "stub": "programs without a body get the same verdict in both readings",
    "mutant": "mutants of references get the same verdict in both readings",
    "hostile": "hostile programs get no credit",
    "wrong": "wrong answers get no credit",
    "wording": "correct answers in many wordings are read",
    "refusal": "refusals get no credit",
}
"""Kind of probe -> condition that all probes of the kind must meet."""


def headline(outcome: Outcome) -> str:
    """Return the result of the whole self-test in one line."""
    counts = ", ".join(f"{each.benchmark} {_main_count(each)}" for each in outcome.tested)
    how = f" ({outcome.repeats} times" if outcome.repeats > 1 else ""
    how += (" (" if not how else ", ") + "under load" if outcome.under_load else ""
    verdict = "This machine grades correctly" if outcome.passed else "THIS MACHINE MISGRADES"
    return f"{verdict}: {counts}; {outcome.seconds:.0f} s{how}{')' if how else ''}"


def _main_count(tested: Tested) -> str:
    first = next((t for t in tested.tallies if t.kind in {"reference", "wording"}), tested.tallies[0])
    what = "references pass" if first.kind == "reference" else "correct answers are read"
    problems = f", {len(tested.problems)} problems" if tested.problems else ""
    return f"{first.as_expected} of {first.of} {what}{problems}"


def render(outcome: Outcome, *, width: int = 100, colour: bool = False) -> str:
    """Return the table and the problems."""
    columns = [Column(name="benchmark", kind="word"), Column(name="condition", kind="name")]
    columns += [Column(name=name) for name in ("met", "of")]
    rows = [
        [
            Cell(text=text, tone="strong" if tally.as_expected < tally.of else "")
            for text in (each.benchmark, KINDS[tally.kind], str(tally.as_expected), str(tally.of))
        ]
        for each in outcome.tested
        for tally in each.tallies
    ]
    lines = list(drawn(Table(title="Self-test", columns=columns, rows=rows), "Self-test", width, colour=colour))
    for each in outcome.tested:
        lines += map(clean, (*_strength_lines(each), *each.notes, *_problem_lines(each.problems)))
    lines += _speed_lines([each.cpu_ratio for each in outcome.tested if each.cpu_ratio])
    if outcome.left_out:
        lines.append(f"Not tested, because the built-in sample has no answers: {', '.join(outcome.left_out)}.")
    return "\n".join([*lines, ""])


def _strength_lines(tested: Tested) -> list[str]:
    """Return lines with the share of mutants that pass the tests."""
    mutants = sum(each.mutants for each in tested.strengths)
    if not mutants:
        return []
    passing = sum(len(each.passing) for each in tested.strengths)
    lines = [
        f"Strength of the tests of {tested.benchmark}: they let {passing} of {mutants} mutants pass "
        f"({100 * passing / mutants:.0f} %; some mutants are correct programs)."
    ]
    weak = [each for each in tested.strengths if each.is_weak]
    if weak:
        lines.append(
            f"{len(weak)} tasks have tests that accept almost any program: {', '.join(each.qid for each in weak)}."
        )
    return lines + [_task_line(each) for each in tested.strengths[:SHOWN_TASKS] if each.passing or each.stub_passes]


def _speed_lines(ratios: list[float]) -> list[str]:
    """Return a line with the speed of this CPU, as it was measured with each benchmark."""
    times = " to ".join(dict.fromkeys(f"{end:.2f}" for end in (min(ratios), max(ratios)))) if ratios else ""
    line = (
        f"CPU: the calibration program takes {times} times as long as on the standard machine; `--timeout` is in "
        "seconds of this CPU."
    )
    return [line] if ratios else []


def _task_line(strength: Strength) -> str:
    stub = "; a program without a body passes" if strength.stub_passes else ""
    return f"  {strength.qid}: {len(strength.passing)} of {strength.mutants} mutants pass{stub}"


def _problem_lines(problems: list[Problem]) -> list[str]:
    lines = [f"  {problem.what}" for problem in problems[:SHOWN_PROBLEMS]]
    if len(problems) > SHOWN_PROBLEMS:
        lines.append(f"  ... {len(problems) - SHOWN_PROBLEMS} more; -o FILE.json has them all.")
    return [*lines, *(f"To fix: {mend}" for mend in dict.fromkeys(problem.mend for problem in problems))]
