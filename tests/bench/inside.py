"""Measures CPU a program by phase and by process of the sandbox, also of two versions side by side.

    python tests/bench/inside.py --data FOLDER [--samples 4] [--against OTHER/sandbox_image] [--backend bubblewrap]
    python tests/bench/inside.py --data FOLDER --samples 6 --group 164 --lint --canaries

The kernel's accounts of the sandbox's own processes count, not the machine's: other load disturbs little. With
`--against` each group of tasks is graded by either version before the next group is, so that both meet the same
machine; the verdicts are compared as well. With `--canaries` the two versions are a sandbox without canaries and one
with them; a group is then as many programs as a run has, since each phase ends with canaries.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests/bench")]

import bench
from msgspec.structs import replace
from variations import variations

from grader import resources
from grader.executors.local import Local
from grader.observer import Silent
from grader.options import Options
from grader.sandbox import choice
from grader.sandbox.canary_check import Canaries
from grader.sandbox.interface import Limits
from grader.sandbox.pool import Pool
from grader.sandbox.verdict_cache import VerdictCache
from grader.scorers import declarations
from grader.scorers.execution import jobs, phases
from grader.scorers.execution.confirming import Confirmation
from grader.scorers.execution.settling import Settler
from grader.scorers.execution.spool import Spool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from grader.scorers.execution.sample import Sample

_TICK = os.sysconf("SC_CLK_TCK")
Cost = dict[str, float]
"""CPU seconds by process: `supervisor`, `zygote`, `linter`, and `children` for all that they forked."""


def _stat(pid: int) -> list[str] | None:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return None


def _below(root: int) -> dict[int, list[str]]:
    """Return pid -> fields of /proc/<pid>/stat of a process and of all below it."""
    every = {int(p.name): fields for p in Path("/proc").glob("[0-9]*") if (fields := _stat(int(p.name)))}
    found = {root: every[root]} if root in every else {}
    while new := {pid: f for pid, f in every.items() if int(f[1]) in found and pid not in found}:
        found |= new
    return found


def _is_runner(pid: int) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return b"python" in words[0] and words[-2].endswith(b"runner.py")
    except (OSError, IndexError):
        return False


class Watched:
    """The processes of one version's sandbox."""

    def __init__(self, root: int) -> None:
        below = _below(root)
        supervisor = min(pid for pid in below if _is_runner(pid) and not _is_runner(int(below[pid][1])))
        self._root = supervisor
        kin = sorted(pid for pid, f in below.items() if int(f[1]) == supervisor)
        self._roles = {supervisor: "supervisor", **dict.fromkeys(kin[:-1], "zygote"), kin[-1]: "linter"}

    def cost(self) -> Cost:
        """Return what they have used so far."""
        used = dict.fromkeys(("supervisor", "zygote", "linter", "children"), 0.0)
        for pid, fields in _below(self._root).items():
            own, ended = (sum(map(int, fields[i : i + 2])) / _TICK for i in (11, 13))
            used[self._roles.get(pid, "children")] += own
            used["children"] += ended
        return used


class Measured(Silent):
    """Notes what each phase of a run costs."""

    def __init__(self) -> None:
        self.costs: dict[str, Cost] = defaultdict(lambda: defaultdict(float))
        self.counts: dict[str, int] = defaultdict(int)
        self.watched: Watched | None = None
        self._phase = "start"
        self._before: Cost = {}

    def phase(self, name: str, total: int) -> None:
        """End one phase and begin another."""
        assert self.watched is not None
        now = self.watched.cost()
        for role, seconds in now.items():
            self.costs[self._phase][role] += seconds - self._before.get(role, seconds)
        self._phase, self._before = name, now
        self.counts[name] += total


class Version:
    """One version of sandbox_image, with a sandbox of its own."""

    def __init__(self, folder: Path, backend: str, canaries: Canaries | None = None) -> None:
        resources.folder = lambda name: folder if name == "sandbox_image" else _folder(name)  # type: ignore[assignment]
        self.limits = Limits()
        self.observer = Measured()
        self.backend: Any = choice.open_backend(Options(sandbox=backend), self.limits, Silent())  # type: ignore[arg-type]
        self.pool = Pool(self.backend, 1, 300, canaries=canaries)
        supervisor: Any = self.pool.supervisors.get(0)
        root = supervisor._process.pid if hasattr(supervisor, "_process") else self._pid(supervisor._container)
        self.observer.watched = Watched(root)

    @staticmethod
    def _pid(container: Any) -> int:
        container.reload()
        return int(container.attrs["State"]["Pid"])

    def grade(self, attempts: list[jobs.Attempt], words: jobs.Texts) -> list[tuple[Any, ...]]:
        """Grade as a run does; return what came of each attempt."""
        tasks = {attempt.task.id: attempt.task for attempt in attempts}
        with Spool() as spool:
            settler = Settler(Local(self.backend, self.pool, VerdictCache(None), self.limits), self.observer)
            run = phases.Phases(Confirmation(tasks, settler, spool, self.limits), words, self.limits, settler)
            samples = run.all(attempts)
        self.observer.phase("start", 0)
        return [_outcome(sample) for sample in samples]


def _outcome(sample: Sample) -> tuple[Any, ...]:
    executed, split = sample.executed, sample.apart.completion.split
    ran = executed.run.result if executed is not None and executed.run is not None else None
    careful = (split.confirmed, split.reason, split.kind) if split is not None else None
    return sample.attempt.task.id, sample.attempt.sample, sample.lint and sample.lint.messages, careful, ran


_folder = resources.folder


def _groups(options: argparse.Namespace, words: jobs.Texts) -> Iterator[list[jobs.Attempt]]:
    tasks, predictions = bench.tasks_and_predictions(options.data, "v1")
    chosen = list(predictions)[:: options.every]
    for first in range(0, len(chosen), options.group):
        some = {
            qid: variations(predictions[qid], options.samples) if options.samples else predictions[qid]
            for qid in chosen[first : first + options.group]
        }
        yield list(jobs.attempts(tasks, some, words))


def _print(versions: dict[str, Version], programs: int) -> None:
    phases_ = list(dict.fromkeys(p for v in versions.values() for p in v.observer.costs if p != "start"))
    print(f"\n{programs} programs; CPU in ms a program (supervisor + zygote + linter + what they forked)")
    for phase in [*phases_, "all"]:
        for name, version in versions.items():
            costs = version.observer.costs
            sums = {
                role: 1000 / programs * sum(costs[p][role] for p in phases_ if phase in {p, "all"})
                for role in ("supervisor", "zygote", "linter", "children")
            }
            parts = " + ".join(f"{value:5.2f}" for value in sums.values())
            count = version.observer.counts[phase] or ""
            print(f"{phase:28} {name:8} {sum(sums.values()):6.2f} = {parts}   {count}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT / "benchmarks/humaneval-v/sample")
    parser.add_argument("--samples", type=int, default=4, help="variations a task; 0: the predictions as they are")
    parser.add_argument("--every", type=int, default=1, help="take each n-th task")
    parser.add_argument("--group", type=int, default=8, help="tasks a group")
    parser.add_argument("--against", type=Path, help="another sandbox_image folder")
    parser.add_argument("--backend", default="bubblewrap")
    parser.add_argument(
        "--canaries", action="store_true", help="compare a sandbox without canaries with one that has them"
    )
    parser.add_argument("--lint", action="store_true", help="lint too, as a run does")
    options = parser.parse_args()
    declared = declarations.load("humaneval-v")
    words = jobs.texts(declared.protocols["v1"], 2.0)
    if not options.lint:
        words = replace(words, lint=False)
    folders = {"before": options.against} if options.against else {}
    if options.canaries:
        folders = {"without": ROOT / "sandbox_image"}
    versions = {
        name: Version(folder.resolve(), options.backend, Canaries() if options.canaries and name == "now" else None)
        for name, folder in {**folders, "now": ROOT / "sandbox_image"}.items()
    }
    programs = different = 0
    try:
        for version in versions.values():
            # What is paid once, such as the end of an unused linter, counts for no program.
            version.grade(next(_groups(options, words))[:4], words)
            version.observer.costs.clear()
            version.observer.counts.clear()
        for attempts in _groups(options, words):
            programs += len(attempts)
            seen = [version.grade(attempts, words) for version in versions.values()]
            for one, other in zip(seen[0], seen[-1], strict=True):
                if one != other:
                    different += 1
                    print("different:", one, other, sep="\n  ")
        _print(versions, programs)
        print(f"{different} verdicts differ")
    finally:
        for version in versions.values():
            version.pool.close()


if __name__ == "__main__":
    main()
