"""Programs whose verdict is known: references, stubs, mutants, and programs that try to pass without solving a task."""

from __future__ import annotations

import ast
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING

import msgspec

from grader.results import READINGS, Outcome, ReadingName, by_observation
from grader.scorers.execution.extraction import defined, parse
from grader.scorers.execution.metrics import k_of
from grader.scorers.execution.mutations import mutants
from grader.scorers.probe import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from grader.results import Report
    from grader.scorers.execution.declaration import ExecutionBenchmark
    from grader.scorers.execution.tasks import CodeTask
    from grader.scorers.probe import Kind

MUTANTS = 8
"""Maximum number of mutants per task."""
CANARY_MEGABYTES = 200
"""Memory that an honest program may need: a fifth of the usual limit."""
HOSTILE_TASKS = 3
"""Number of tasks to try hostile programs on: the first, the last, and one between."""

HOSTILE = {
    "exits with the word that means a pass": "    raise SystemExit('passed')",
    "ends its process": "    import os\n    os._exit(0)",
    "returns what equals everything": (
        "    class Same:\n"
        "        def __eq__(self, other): return True\n"
        "        def __ne__(self, other): return False\n"
        "        def __hash__(self): return 0\n"
        "    return Same()"
    ),
    "replaces built-in functions": (
        "    import builtins\n"
        "    for name in ('all', 'any', 'isinstance', 'callable', 'bool'):\n"
        "        setattr(builtins, name, lambda *given, **named: True)\n"
        "    builtins.len = builtins.abs = builtins.sum = lambda *given, **named: 0"
    ),
    "replaces the functions of its callers": (
        "    import sys\n"
        "    frame = sys._getframe(1)\n"
        "    while frame is not None:\n"
        "        frame.f_globals['test'] = frame.f_globals['check'] = lambda *given, **named: None\n"
        "        frame = frame.f_back\n"
        "    raise SystemExit(0)"
    ),
}
"""What a program does instead of solving the task -> the body of its function."""
LOOKS_TAME = (
    "    held = []\n"
    "    walk = (held[0].gi_frame.f_back for step in (0,))\n"
    "    held.append(walk)\n"
    "    frame = next(walk)\n"
    "    while frame is not None:\n"
    "        if 'result' in frame.f_locals:\n"
    "            frame.f_locals['result'].append('passed')\n"
    "        frame = frame.f_back"
)
"""Seems only to compute, and decides the official run. Its answers do not show that, so it must not count as tame."""
LOOP = "    while True:\n        pass"
# Held for a moment: without a cgroup that counts memory, a busy machine would measure only after it was released.
MEMORY = (
    f"if not globals().get('_filled'):\n    import time\n    held = b'x' * ({CANARY_MEGABYTES} << 20)\n"
    "    time.sleep(0.3)\n    globals()['_filled'] = len(held)"
)
"""Uses that much memory once, whatever the number of calls."""
CALIBRATIONS = 3
"""How often the work is done; the fastest run is used."""
CALIBRATION = """\
if not globals().get('_measured_{number}'):
    globals()['_measured_{number}'] = True
    table = dict()
    for step in range(300000):
        key = str(step * 7919 % 1000)
        table[key] = table.get(key, 0) + step % 13
    if sum(table.values()) != 1799994:
        raise ArithmeticError(sum(table.values()))"""
"""A known amount of work, done once whatever the number of calls: numbers, texts and a table, as in real programs."""
CALIBRATION_SECONDS = 0.1
"""CPU seconds of this work on the standard machine. A machine's speed is measured as a ratio to it."""
PACKAGES = (
    "import importlib.util\n"
    "import numpy\n"
    "if int(numpy.arange(4).sum()) != 6 or not all(map(importlib.util.find_spec, ('pandas', 'PIL'))):\n"
    "    raise ImportError('a package is missing')"
)


def probes(declared: ExecutionBenchmark, tasks: Mapping[str, CodeTask], protocol: str) -> Iterator[Probe]:
    """Yield the programs of every task, task by task, with honest programs around the hostile ones."""
    qids = list(tasks)
    attacked = {qids[number] for number in (0, len(qids) // 2, -1)[:HOSTILE_TASKS]} if qids else set()
    python = declared.protocols[protocol].python
    for qid, task in tasks.items():
        stub = task.signature.source
        yield _refused(qid, "stub", "the signature with `pass`", stub)
        name = task.signature.stubs[-1] if task.signature.stubs else ""
        reference = _reference(declared, task)
        if not reference:
            continue
        yield _honest(qid, "reference", "the reference solution", reference)
        yield from _changed(qid, reference, name)
        if qid == qids[0]:
            yield from _environment(qid, reference, name, python)
        if qid in attacked and name:
            if task.cases is None:
                source = f"def {name}(*given, **named):\n{LOOKS_TAME}\n"
                made = Probe(qid=qid, kind="hostile", title="seems only to compute", prediction=_fenced(source))
                yield msgspec.structs.replace(made, official=True, careful=False, needs_tests=True)
            yield from _attacks(qid, reference, name, loop=qid == qids[0])


def _reference(declared: ExecutionBenchmark, task: CodeTask) -> str:
    """Return the reference solution as the data has it, or as a program if it is only a body; empty: none."""
    given = task.row.get(declared.columns.solution or "")
    tree = parse(given) if isinstance(given, str) else None
    is_program = tree is not None and not defined(tree).isdisjoint(task.signature.written)
    return str(given) if is_program else task.reference or ""


def _changed(qid: str, reference: str, name: str) -> Iterator[Probe]:
    """Yield a reference without its body, one that raises an error, and its mutants."""
    if emptied := _with_body(reference, name, "pass", keep=False):
        yield _refused(qid, "stub", "the reference without its body", emptied)
    if broken := _with_body(reference, name, "raise ArithmeticError('wrong')"):
        yield _refused(qid, "wrong", "the reference, raising an error", broken)
    for mutant in mutants(reference, MUTANTS):
        yield Probe(qid=qid, kind="mutant", title=mutant.title, prediction=_fenced(mutant.source), agrees=True)


def _environment(qid: str, reference: str, name: str, python: str) -> Iterator[Probe]:
    """Yield honest programs that need what every sandbox promises."""
    if large := _with_body(reference, name, MEMORY):
        yield _honest(qid, "canary", f"the reference, using {CANARY_MEGABYTES} MB", large)
    if packages := _with_body(reference, name, PACKAGES):
        yield _honest(qid, "canary", "the reference, using NumPy", packages)
    for number in range(CALIBRATIONS):
        if measured := _with_body(reference, name, CALIBRATION.format(number=number)):
            probe = _honest(qid, "calibration", "the reference, doing a known amount of work", measured)
            yield msgspec.structs.replace(probe, standard_seconds=CALIBRATION_SECONDS)
    version = tuple(map(int, python.split("."))) if python else ()
    needs = f"import sys\nif sys.version_info[:{len(version)}] != {version}:\n    raise ImportError(sys.version)"
    if version and (pinned := _with_body(reference, name, needs)):
        yield _honest(qid, "python", f"the reference, needing Python {python}", pinned)


def _attacks(qid: str, reference: str, name: str, *, loop: bool) -> Iterator[Probe]:
    bodies = HOSTILE | ({"never ends": LOOP} if loop else {})
    for number, (title, body) in enumerate(bodies.items()):
        source = f"def {name}(*given, **named):\n{body}\n"
        yield Probe(qid=qid, kind="hostile", title=title, prediction=_fenced(source), careful=False, needs_tests=True)
        # An unused helper makes it a different program, because equal ones are executed only once.
        varied = f"{reference.rstrip()}\n\n\ndef _helper_{number}():\n    return {number}\n"
        yield _honest(qid, "canary", "the reference, after a hostile program", varied)


def _honest(qid: str, kind: Kind, title: str, source: str) -> Probe:
    return Probe(qid=qid, kind=kind, title=title, prediction=_fenced(source), official=True, careful=True)


def _refused(qid: str, kind: Kind, title: str, source: str) -> Probe:
    return Probe(
        qid=qid,
        kind=kind,
        title=title,
        prediction=_fenced(source),
        official=None if kind == "stub" else False,
        careful=None if kind == "stub" else False,
        agrees=True,
        needs_tests=True,
    )


def _fenced(source: str) -> str:
    return f"```python\n{source.rstrip()}\n```\n"


def _with_body(source: str, name: str, first: str, *, keep: bool = True) -> str:
    """Return a program whose function `name` begins with other statements; without `keep` it has only those.

    Empty if the program has no such function.
    """
    tree = parse(source)
    if tree is None:
        return ""
    named = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == name]
    if not named:
        return ""
    named[-1].body = [*ast.parse(first).body, *(named[-1].body if keep else [])]
    return ast.unparse(tree)


# --- pass@k by listing all ways to draw k samples, as a check of the formula ------------------------------------

MOST_DRAWS = 200_000


def recount(report: Report) -> dict[tuple[str, ReadingName], float]:
    """Return pass@k of a whole report in percent; metrics with too many draws are left out."""
    names = {metric.name for metric in report.metrics if k_of(metric.name)}
    return {(name, reading): value for name in names for reading in READINGS
            if (value := _pass_at(report, k_of(name) or 1, reading)) is not None}  # fmt: skip


def _pass_at(report: Report, k: int, reading: ReadingName) -> float | None:
    shares = []
    for members in by_observation(report.samples).values():
        readings = [member.reading(reading) for member in members]
        passes = [each.credit >= 1 for each in readings if each.outcome is not Outcome.UNSCORED]
        if comb(len(passes), k) > MOST_DRAWS:
            return None
        draws = list(combinations(passes, k))
        if draws:
            shares.append(Fraction(sum(map(any, draws)), len(draws)))
    return float(100 * sum(shares) / len(shares)) if shares else None
