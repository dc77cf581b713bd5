"""The supervisor: it runs jobs one after another, and leaves no traces of a job to the next one.

jobs.py describes jobs. Each part of a job is answered under its name.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from typing import cast

from grade_sandbox import values
from grade_sandbox.confine import isolation
from grade_sandbox.supervise import dialogue, watch
from grade_sandbox.supervise.kept_process import JudgeProcess, LintProcess
from grade_sandbox.supervise.zygote import Zygotes, needs_numpy

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from typing import Any, BinaryIO

    from grade_sandbox.jobs import Answer, Compare, Job, JudgedTask, Script, Task, Work
    from grade_sandbox.supervise.zygote import End

OFFICIAL_SLOT, CANDIDATE_SLOT, TESTS_SLOT = SLOTS = 0, 1, 2
MAX_RECORD = 56 << 20
FILLED = ("shared", "disturbed")
STARVED = ("wall", "blocked", *FILLED)
"""Reasons for a stop that other programs on the machine can cause. The grader then sends the job again."""
_OFFICIAL = {"result": str, "kind": str, "lines": str}
_JUDGED = {"confirmed": bool, "reason": str, "kind": str, "likeness": dict, "right": list}


class DamagedError(Exception):
    """Raised if this supervisor's answers are no longer reliable; the grader replaces it."""


class Supervisor:
    """Runs jobs; for `settings` see `_settings` in runner.py. `slow` is called when a program is slow."""

    def __init__(self, settings: dict[str, Any], slow: Callable[[], object]) -> None:
        self.settings, self._say_slow = settings, slow
        memory = settings["memory"]
        root = os.getuid() == 0
        self.isolation = isolation.usable(memory, settings["first_uid"])
        self.zygotes = Zygotes(self.isolation, settings)
        self._baselines: dict[int, int] = {}
        self.linter = LintProcess(self.zygotes, self._end, nested=not root)
        self.judge = JudgeProcess(self.zygotes, "judge", TESTS_SLOT, self._end, nested=not root)
        self.retired = ""
        self._oom = watch.OomKills()
        self.counts_oom: bool = self._oom.count() is not None and settings["cgroup"]
        self._kinds: dict[str, Callable[[Job], dict[str, Any]]] = {
            "record": self._record,
            "answer": self._answer,
            "judge": self._judge,
            "compare": self._compare,
            "run": self._run,
        }
        # The kernel's limit includes memory for the supervisor; a program's own limit is the same on every backend.
        self.watched_memory: int = memory
        # Loading pylint takes longer than linting a hundred programs, and many supervisors never get a lint job.
        if settings["lint"]:
            self.linter.start()

    def known(self) -> set[int]:
        """Return the pids of the supervisor's own processes."""
        return {1, os.getpid(), *self.zygotes.pids, *self.linter.pids, *self.judge.pids}

    def handle(self, job: Job) -> dict[str, Any]:
        """Do one job; return its answer."""
        answer: dict[str, Any] = {"id": job["id"]}
        self.watched_memory = job.get("memory", self.settings["memory"])
        # No process with tests is alive while a candidate is.
        if not (job.get("judge") or job.get("compare") or job.get("record")):
            self.judge.stop()
        if job.get("lint"):
            answer["lint"] = self.linter.lint(job["head"] + job["test"])
            if answer["lint"].get("messages") != []:
                return answer
        else:
            self.linter.stop()
        for name, run in self._kinds.items():
            if job.get(name):
                answer[name] = self._undisturbed(job, run)
        return answer

    def _undisturbed(self, job: Job, run: Callable[[Job], dict[str, Any]]) -> dict[str, Any]:
        """Run a program; if others fill the machine's memory although it runs alone, once more with patience."""
        seen = run(job)
        if job.get("alone") and seen["evidence"]["stopped"] == "disturbed":
            seen = run({**job, "patient": True})
            if seen["evidence"]["stopped"] == "disturbed":
                raise DamagedError("others are filling this machine's memory")
        return seen

    # --- kinds of jobs ---

    def _run(self, job: Job) -> dict[str, Any]:
        """Do the single-process run; see official_run.py."""
        program = job["head"] + job["test"]
        spec = {"program": program, "file": job.get("file", False)}
        spec |= {"failed_prefix": job["failed_prefix"], "timed_out": job["timed_out"]}
        with _pipe() as (read_end, handed_over):
            fds, numeric = [handed_over.fileno()], needs_numpy([program])
            pid = self.zygotes.start("official", OFFICIAL_SLOT, spec, fds, job["cpu"], numeric=numeric)
            handed_over.close()
            return self._watch(job, pid, OFFICIAL_SLOT, dialogue.OneResult(read_end, _OFFICIAL), alarm=True, grace=0.0)

    def _record(self, job: Job) -> dict[str, Any]:
        """Record the calls of a task's tests; see recording.py and expecting.py."""
        return self._run_tests(job, "record", job["record"], fields={"recorded": dict}, limit=MAX_RECORD)

    def _answer(self, job: Job) -> dict[str, Any]:
        """Let a candidate answer recorded calls, or run a program once for each input."""
        asked = job["answer"]
        if "script" in asked:
            return self._run_script(job, cast("Script", asked))
        return self._answered(job, asked)

    def _answered(self, job: Job, asked: Answer) -> dict[str, Any]:
        """Return what a candidate answers."""
        candidate, calls = asked["candidate"], asked["calls"]
        each = candidate.get("each", 0)
        cpu = job["cpu"] + (dialogue.MOST_SECONDS if each else 0)
        numeric = needs_numpy([candidate["signature"], candidate["source"]], calls)
        spec = {**candidate, "kept": values.references(calls)}
        with self._talking(job, "candidate", spec, cpu, numeric=numeric) as (pid, fd):
            most = asked.get("most", dialogue.MOST_SECONDS)
            said = dialogue.LockStep(fd, calls, each=each, known=asked.get("known", ()), most=most)
            seen = self._watch(job, pid, CANDIDATE_SLOT, said, alarm=True)
        return seen | ({"unsure": True} if said.is_unsure else {})

    def _run_script(self, job: Job, asked: Script) -> dict[str, Any]:
        """Run a program once for each input; see script.py. The limits are those of one run."""
        source = asked["script"]
        numeric = needs_numpy([source])
        with self._talking(job, "script", {"source": source}, job["cpu"], numeric=numeric) as (pid, fd):
            said = dialogue.ScriptRuns(fd, asked["calls"], asked.get("most", dialogue.MOST_SECONDS))
            return self._watch(job, pid, CANDIDATE_SLOT, said)

    @contextlib.contextmanager
    def _talking(
        self, job: Job, kind: str, spec: Mapping[str, object], cpu: float, *, numeric: bool
    ) -> Iterator[tuple[int, int]]:
        """Start a process to which a program's input is sent; yield its pid, and this side of the channel."""
        ours, theirs = socket.socketpair()
        hash_seed = job.get("hash_seed", 0)
        with ours:
            with theirs:
                fds = [theirs.fileno()]
                pid = self.zygotes.start(kind, CANDIDATE_SLOT, spec, fds, cpu, numeric=numeric, hash_seed=hash_seed)
            yield pid, ours.fileno()

    def _judge(self, job: Job) -> dict[str, Any]:
        """Let the tests judge recorded answers; see judging.py.

        Their verdict comes first. A pass is not known to be right if its examination was stopped.
        """
        asked = job["judge"]
        task, said, each = asked["task"], asked["said"], asked.get("each", False)
        seen = self._run_tests(job, "judge", task, said, fields=_JUDGED, each=each)
        evidence, passed = seen["evidence"], seen.get("confirmed")
        again = (FILLED if job.get("alone") else STARVED) if passed else ()
        if passed is None or evidence["stopped"] in again:
            return {"evidence": evidence}
        evidence["stopped"] = None
        if "likeness" not in seen and said and "expected" in task:
            seen["likeness"] = {"doubt": "examining its answers did not finish"}
        if passed and (doubt := seen.get("likeness", {}).get("doubt")):
            seen |= {"confirmed": False, "reason": doubt, "kind": "unlike"}
        return seen | {"right": [one is True for one in seen.get("right", ())]}

    def _compare(self, job: Job) -> dict[str, Any]:
        """Compare answers with expected ones; see comparing.py."""
        return self._run_tests(job, "compare", job["compare"], fields={"compared": dict}, limit=MAX_RECORD)

    def _run_tests(
        self,
        job: Job,
        work: Work,
        task: Task | JudgedTask | Compare,
        said: bytes = b"",
        *,
        fields: dialogue.Fields,
        limit: int = dialogue.MAX_RESULT,
        each: bool = False,
    ) -> dict[str, Any]:
        """Run a task's tests in a fork of the process that has them. `said`: what a program answered to the calls."""
        given: list[str] = []
        expected: list[str] = []
        if "pairs" in task:
            compared = cast("Compare", task)
            given = [pair.get("given", "") for pair in compared["pairs"]]
            expected = [pair["expected"] for pair in compared["pairs"]]
            numeric = "evalplus" in compared or (bool(compared["function"]) and needs_numpy((), [*given, *expected]))
        else:
            tests = cast("JudgedTask", task)
            if work == "judge":
                given = [*tests["calls"], said.decode()]
                expected = [run.decode() for run in tests.get("expected", ())]
            texts = [tests["signature"], tests["test"], str(tests.get("reference") or "")]
            numeric = needs_numpy(texts, [*given, *expected])
        pid = self.judge.prepare(numeric=numeric)
        results = dialogue.Results(self.judge.result_fd, fields, limit)
        observed = self._watched(job, pid, results)
        most = job["cpu"] * (dialogue.LATER_TIMES if work == "judge" else 1)
        self.judge.ask({"work": work, "cpu": most, "task": task, "said": said, "each": each})
        observed.wait()
        self._kill_strangers()
        ended = self.judge.wait_for_end(results)
        if ended["left"]:
            self.judge.stop()
        evidence = self._evidence(observed, ended["ended"], ended["cpu"], oom=False)
        return (observed.result or {}) | {"evidence": evidence}

    # --- watching ---

    def _watched(
        self, job: Job, pid: int, said: dialogue.Dialogue, *, alarm: bool = False, grace: float = 2.0
    ) -> watch.Watch:
        return watch.Watch(
            pid,
            said,
            watch.Limits(job["cpu"], job["wall"], self.watched_memory),
            self.known(),
            alarm=alarm,
            nested=not isinstance(self.isolation, isolation.Uids),
            grace=5.0 if grace and job.get("alone") else grace,
            slow=self._slow,
            baseline=self._baseline(self.zygotes.origin(pid)),
            shared_room=self._shared_room(patient=job.get("patient", False)),
        )

    def _watch(
        self, job: Job, pid: int, slot: int, said: dialogue.Dialogue, *, alarm: bool = False, grace: float = 2.0
    ) -> dict[str, Any]:
        """Wait for a program, end it, and return the observations."""
        oom_before = self._oom.count() if self.counts_oom else None
        observed = self._watched(job, pid, said, alarm=alarm, grace=grace)
        observed.wait()
        return self._ended(observed, pid, slot, oom_before)

    def _ended(self, observed: watch.Watch, pid: int, slot: int, oom_before: int | None) -> dict[str, Any]:
        """End a watched program, and return the observations. `oom_before`: the kernel's count when it began."""
        disturbed = observed.reason == "disturbed"
        shared = watch.machine_memory_bytes("Shmem") if disturbed else 0
        end = self._end(pid, slot)
        if disturbed and shared - watch.machine_memory_bytes("Shmem") > self.watched_memory // 2:
            # The memory was freed with the program, so it belonged to the program.
            observed.reason = "shared"
        if not self.counts_oom:
            observed.ended(end.peak)
        status = end.status
        if not isinstance(self.isolation, isolation.Uids) and status is not None and status >= 128:
            # The namespace's first process reports a signal as a byte; an exit code from there is below 128.
            status = 128 - status
        oom = self.counts_oom and self._oom.count() != oom_before
        evidence = self._evidence(observed, status, end.cpu, oom=oom)
        # A process that is killed together with its children leaves no account of their time.
        evidence["cpu"] = max(evidence["cpu"], round(observed.cpu, 4))
        return (observed.result or {}) | {"evidence": evidence}

    @staticmethod
    def _evidence(observed: watch.Watch, status: int | None, cpu: float, *, oom: bool) -> dict[str, Any]:
        # After its last message, a process is killed or ends by itself first.
        if observed.reason is None and observed.done and status in {0 - signal.SIGKILL, isolation.ENDED}:
            status = None
        return {
            "stopped": observed.reason or (observed.alarmed if observed.result else None),
            "status": status,
            "cpu": round(cpu, 4),
            "longest": round(observed.longest(cpu), 4),
            "wall": round(observed.wall, 4),
            "waited": round(observed.waited, 4),
            "oom": oom,
        }

    def _shared_room(self, *, patient: bool) -> int | None:
        """Return how many bytes the machine's shared memory may grow while a program runs; None: it is not checked.

        Pages that a program holds without mapping them are charged to no process. If no cgroup counts them either, only
        the machine's total shows them, and it includes all other processes.
        """
        if self.counts_oom or not self.watched_memory:
            return None
        return self.watched_memory + (watch.machine_memory_bytes("MemAvailable") // 4 if patient else 0)

    def _baseline(self, zygote: int) -> int:
        """Return the memory that a fork of this zygote inherits."""
        if not self.watched_memory:
            return 0
        if zygote not in self._baselines:
            self._baselines[zygote] = watch.memory_bytes([zygote], 0)
        return self._baselines[zygote]

    def _slow(self, pids: list[int]) -> None:
        """Let others have more of the cores than a slow program."""
        watch.lower_priority(pids)
        self._say_slow()

    # --- ending ---

    def _end(self, pid: int, slot: int) -> End:
        """Kill and reap a program and all its processes; raises DamagedError if something remains."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        end = self.zygotes.reap(pid)
        self._kill_strangers()
        if not self.isolation.clean([slot]):
            # This program's result is valid, but no other may run in the presence of its files.
            self.retired = "files of a program cannot be removed"
        return end

    def _kill_strangers(self) -> None:
        deadline = time.monotonic() + 10
        while strangers := self._strangers():
            if time.monotonic() > deadline:
                raise DamagedError(f"{len(strangers)} processes of a program do not end")
            # The process that judges has a special slot; processes there are killed one by one.
            self.isolation.kill_all(() if self.judge.pids else SLOTS, strangers)
            time.sleep(0.001)

    def _strangers(self) -> list[int]:
        """Return the pids of unknown living processes. Orphans become children of process 1; if this is it, reap."""
        known = self.known()
        strangers = watch.processes(known)
        if not strangers:
            return []
        if os.getpid() == 1:
            for pid in strangers:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            strangers = watch.processes(known)
        return strangers


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, BinaryIO]]:
    """Yield the read end of a pipe, and the write end to be passed on, which may be closed before."""
    read_end, write_end = os.pipe()
    with open(read_end, "rb", buffering=0), open(write_end, "wb", buffering=0) as handed_over:
        yield read_end, handed_over
