"""Samples near a limit are graded again with other limits, and the report says how far its metrics move."""

import json
import textwrap
from pathlib import Path

import msgspec
import pytest

from grader.cli import run
from grader.regrading.sensitivity import near
from grader.reports import markdown
from grader.reports.provenance import made_with, notes
from grader.reports.table import render
from grader.results import Outcome, SandboxProvenance
from grader.results.file import read_report
from tests.conftest import ROOT
from tests.made_runs import tasks
from tests.selftest.made import reading

DATA = ROOT / "benchmarks/humaneval/sample/tasks.jsonl"
BURN = "import time\nif not globals().get('_done'):\n    globals()['_done'] = True\n    began = time.process_time()\n"
BURN += "    while time.process_time() - began < {}:\n        sum(range(10000))\n"


def test_what_used_a_part_of_its_time_or_could_fill_half_of_the_memory_is_near() -> None:
    made = tasks([1, 1, 1, 0, 0], samples=1).samples
    late, full = reading(False, outcome=Outcome.TIMEOUT), reading(False, detail="MemoryError: ")
    seconds = (0.049, 0.051, 0.6)
    samples = [msgspec.structs.replace(sample, seconds=used) for sample, used in zip(made, seconds, strict=False)]
    samples += [msgspec.structs.replace(made[3], careful=late), msgspec.structs.replace(made[4], official=full)]
    usual = SandboxProvenance(backend="docker", cpu_seconds=2.0, memory_bytes=1 << 30)
    qids = [sample.qid for sample in made]
    assert [qid for qid, _ in near(samples, usual)] == qids[1:]
    large = msgspec.structs.replace(usual, memory_bytes=64 << 30)
    assert [qid for qid, _ in near(samples, large)] == qids[2:]


@pytest.mark.bubblewrap
@pytest.mark.xdist_group("bubblewrap")
def test_the_tasks_that_depend_on_the_limits_are_named_in_every_report(tmp_path: Path) -> None:
    rows = [json.loads(line) for line in DATA.read_text().splitlines()]
    # Two thirds of the limit, and twice the limit; the third program needs no time.
    burnt = [(rows[0], "0.3"), (rows[0], ""), (rows[1], "0.9")]
    texts: dict[str, list[str]] = {}
    for row, seconds in burnt:
        burning = textwrap.indent(BURN.format(seconds), "    ") if seconds else ""
        program = f"```python\n{row['prompt']}{burning}{row['canonical_solution']}\n```"
        texts.setdefault(row["task_id"], []).append(program)
    records = [{"qid": qid, "predictions": given} for qid, given in texts.items()]
    (tmp_path / "p.json").write_text(json.dumps(records))
    data = tmp_path / "tasks.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    place = ["--data", str(data), "-q", "--sandbox", "bubblewrap", "--workers", "1"]
    assert run([str(tmp_path / "p.json"), "-b", "humaneval", "--timeout", "0.45", *place]) == 0
    results = tmp_path / "p_results.json"
    before = read_report(results)
    assert [sample.careful.outcome for sample in before.samples] == ["passed", "passed", "timeout"]
    assert run(["sensitivity", str(results), *place]) == 0
    report = read_report(results)
    assert (report.samples, report.metrics) == (before.samples, before.metrics)
    found = report.provenance.sensitivity
    first, second = rows[0]["task_id"], rows[1]["task_id"]
    assert [(trial.scale, trial.tasks, trial.lost) for trial in found.trials] == [
        (0.5, [first], 0), (1.0, [], 0), (3.0, [second], 0),
    ]  # fmt: skip
    assert [trial.metrics["pass@1"] for trial in found.trials] == [(25, 25), (50, 50), (100, 100)]
    said = (
        "Limits on trial (2 samples near a limit of CPU time or memory, graded again): pass@1 moves by -25.0 (official)"
        f" and -25.0 (careful) points with 0.5 times the limits because of {first}; stays with the same limits; "
        f"moves by +50.0 (official) and +50.0 (careful) points with 3 times the limits because of {second}."
    )
    assert said in notes(report)
    assert said in render(report)
    assert "stays with the same limits" in markdown.render(report, ()).decode()
    assert made_with(report)["sensitivity"] == said


def test_a_run_that_executed_nothing_has_no_limits(tmp_path: Path) -> None:
    sample = ROOT / "benchmarks/vstar/sample"
    (tmp_path / "p.json").write_bytes((sample / "predictions.json").read_bytes())
    data = ["--data", str(sample / "questions.jsonl")]
    assert run([str(tmp_path / "p.json"), "-b", "vstar", "-q", *data]) == 0
    assert run(["sensitivity", str(tmp_path / "p_results.json"), *data]) == 2
    assert read_report(tmp_path / "p_results.json").provenance.sensitivity is None
