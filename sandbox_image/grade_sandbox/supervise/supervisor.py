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
    from grade_sandbox.supervise.zygote import ProcessEnd

OFFICIAL_SLOT, CANDIDATE_SLOT, TESTS_SLOT = SLOTS = 0, 1, 2
MAX_RECORD = 56 << 20
GRACE_SECONDS, GRACE_SECONDS_ALONE = 2.0, 5.0
"""Seconds beyond the CPU limit in which a program may sleep; more where the grader sends it a second time, alone."""
SHARED_MEMORY_STOPS = ("shared", "disturbed")
STOPS_BY_OTHERS = ("wall", "blocked", *SHARED_MEMORY_STOPS)
"""Reasons for a stop that other programs on the machine can cause. The grader then sends the job again."""
_OFFICIAL_FIELDS = {"result": str, "kind": str, "lines": str}
_VERDICT_FIELDS = {"confirmed": bool, "reason": str, "kind": str, "likeness": dict, "right": list}


class DamagedError(Exception):
    """Raised if this supervisor's answers are no longer reliable; the grader replaces it."""


class Supervisor:
    """Runs jobs; for `settings` see `_settings` in runner.py. `report_slow` is called when a program is slow."""

    def __init__(self, settings: dict[str, Any], report_slow: Callable[[], object]) -> None:
        self.settings, self._report_slow = settings, report_slow
        memory = settings["memory"]
        is_root = os.getuid() == 0
        self.isolation = isolation.choose_isolation(memory, settings["first_uid"])
        self.zygotes = Zygotes(self.isolation)
        self._baselines: dict[int, int] = {}
        """The pid of a zygote -> the memory that its forks inherit."""
        self.linter = LintProcess(self.zygotes, self._end, has_namespace=not is_root)
        self.judge = JudgeProcess(self.zygotes, "judge", TESTS_SLOT, self._end, has_namespace=not is_root)
        self.retirement_reason = ""
        """Why no other program may run here; empty: others may."""
        self._oom = watch.OomKills()
        self.counts_oom: bool = self._oom.count() is not None and settings["cgroup"]
        """Whether the kernel counts what it kills for memory in this sandbox: only if it has a cgroup of its own."""
        self._handlers: dict[str, Callable[[Job], dict[str, Any]]] = {
            "record": self._record,
            "answer": self._answer,
            "judge": self._judge,
            "compare": self._compare,
            "run": self._run_officially,
        }
        """The parts of a job, in the order in which they are done."""
        self.watched_memory: int = memory
        """Bytes that the current job's program may have; 0: no limit. The kernel's limit also covers the supervisor."""
        # Loading pylint takes longer than linting a hundred programs, and many supervisors never get a lint job.
        if settings["lint"]:
            self.linter.start()

    def supervisor_pids(self) -> set[int]:
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
            is_free_of_errors = answer["lint"].get("messages") == []
            if not is_free_of_errors:
                return answer  # no other part is needed to know that the program fails, or that the linter is broken
        else:
            self.linter.stop()
        for name, run in self._handlers.items():
            if job.get(name):
                answer[name] = self._run_part(job, run)
        return answer

    def _run_part(self, job: Job, run: Callable[[Job], dict[str, Any]]) -> dict[str, Any]:
        """Do a part of a job; once more with more room if others fill the machine's memory although it runs alone."""
        outcome = run(job)
        if job.get("alone") and outcome["evidence"]["stopped"] == "disturbed":
            outcome = run({**job, "retry": True})
            if outcome["evidence"]["stopped"] == "disturbed":
                raise DamagedError("others are filling this machine's memory")
        return outcome

    # --- parts of a job ---

    def _run_officially(self, job: Job) -> dict[str, Any]:
        """Do the single-process run (official_run.py). `file`: see jobs.Job; why it has no grace: `_new_watch`."""
        program = job["head"] + job["test"]
        spec = {"program": program, "file": job.get("file", False)}
        spec |= {"failed_prefix": job["failed_prefix"], "timed_out": job["timed_out"]}
        with _pipe() as (read_end, write_end):
            fds, with_numpy = [write_end.fileno()], needs_numpy([program])
            pid = self.zygotes.start("official", OFFICIAL_SLOT, spec, fds, job["cpu"], with_numpy=with_numpy)
            write_end.close()
            one_result = dialogue.OneResult(read_end, _OFFICIAL_FIELDS)
            return self._run_to_end(job, pid, OFFICIAL_SLOT, one_result, sends_alarm=True, grace=0.0)

    def _record(self, job: Job) -> dict[str, Any]:
        """Record the calls of a task's tests; see recording.py and expecting.py."""
        return self._run_tests(job, "record", job["record"], fields={"recorded": dict}, max_result_bytes=MAX_RECORD)

    def _answer(self, job: Job) -> dict[str, Any]:
        """Let a candidate answer recorded calls, or run a program once for each input."""
        request = job["answer"]
        if "script" in request:
            return self._run_script(job, cast("Script", request))
        return self._run_candidate(job, request)

    def _run_candidate(self, job: Job, request: Answer) -> dict[str, Any]:
        """Return a candidate's answers to calls; see answering.py."""
        candidate, calls = request["candidate"], request["calls"]
        max_bytes = candidate.get("max_answer_bytes", 0)
        # Calls with limits of their own are sent until the process has worked for MAX_SECONDS. The last one may then
        # take its whole limit.
        cpu = job["cpu"] + (dialogue.MAX_SECONDS if max_bytes else 0)
        with_numpy = needs_numpy([candidate["signature"], candidate["source"]], calls)
        spec = {**candidate, "kept_calls": values.references(calls)}
        with self._start_process("candidate", spec, cpu, with_numpy=with_numpy) as (pid, fd):
            lock_step = dialogue.LockStep(
                fd,
                calls,
                max_answer_bytes=max_bytes,
                expected_digests=request.get("expected_digests", ()),
                max_seconds=request.get("max_seconds", dialogue.MAX_SECONDS),
            )
            outcome = self._run_to_end(job, pid, CANDIDATE_SLOT, lock_step, sends_alarm=True)
        return outcome | ({"unsure": True} if lock_step.is_unsure else {})

    def _run_script(self, job: Job, request: Script) -> dict[str, Any]:
        """Run a program once for each input; see stdin_program.py. The limits are those of one run."""
        source = request["script"]
        with_numpy = needs_numpy([source])
        with self._start_process("script", {"source": source}, job["cpu"], with_numpy=with_numpy) as (pid, fd):
            max_seconds = request.get("max_seconds", dialogue.MAX_SECONDS)
            return self._run_to_end(job, pid, CANDIDATE_SLOT, dialogue.ScriptRuns(fd, request["calls"], max_seconds))

    @contextlib.contextmanager
    def _start_process(
        self, kind: str, spec: Mapping[str, object], cpu: float, *, with_numpy: bool
    ) -> Iterator[tuple[int, int]]:
        """Start a process to which a program's input is sent; yield its pid, and this side of the channel."""
        ours, theirs = socket.socketpair()
        with ours:
            with theirs:
                fds = [theirs.fileno()]
                pid = self.zygotes.start(kind, CANDIDATE_SLOT, spec, fds, cpu, with_numpy=with_numpy)
            yield pid, ours.fileno()

    def _judge(self, job: Job) -> dict[str, Any]:
        """Let the tests judge recorded answers; see server.py."""
        request = job["judge"]
        task, transcript, by_assertion = request["task"], request["transcript"], request.get("by_assertion", False)
        outcome = self._run_tests(job, "judge", task, transcript, fields=_VERDICT_FIELDS, by_assertion=by_assertion)
        # Without answers, or without those of a reference, there is nothing to compare.
        is_examined = bool(transcript) and "expected" in task
        return _settle_verdict(outcome, is_examined=is_examined, is_alone=job.get("alone", False))

    def _compare(self, job: Job) -> dict[str, Any]:
        """Compare answers with expected ones; see comparing.py."""
        return self._run_tests(job, "compare", job["compare"], fields={"compared": dict}, max_result_bytes=MAX_RECORD)

    def _run_tests(
        self,
        job: Job,
        work: Work,
        task: Task | JudgedTask | Compare,
        transcript: bytes = b"",
        *,
        fields: dialogue.Fields,
        max_result_bytes: int = dialogue.MAX_RESULT,
        by_assertion: bool = False,
    ) -> dict[str, Any]:
        """Run a task's tests in a fork of the process that has them. `transcript`: see jobs.Judge."""
        pid = self.judge.prepare(with_numpy=_judge_needs_numpy(work, task, transcript))
        results = dialogue.Results(self.judge.result_fd, fields, max_result_bytes)
        program_watch = self._new_watch(job, pid, results)
        # Only a judge gives several results, and has more time for the later ones.
        max_cpu = job["cpu"] * (dialogue.LATER_TIME_FACTOR if work == "judge" else 1)
        self.judge.ask(
            {"work": work, "cpu": max_cpu, "task": task, "transcript": transcript, "by_assertion": by_assertion}
        )
        program_watch.wait()
        self._kill_unknown_processes()
        end = self.judge.wait_for_end(results)
        if end["left_files"]:
            self.judge.stop()
        evidence = self._evidence(program_watch, end["status"], end["cpu"], oom=False)
        return (program_watch.result or {}) | {"evidence": evidence}

    # --- watching ---

    def _new_watch(
        self,
        job: Job,
        pid: int,
        messages: dialogue.Dialogue,
        *,
        sends_alarm: bool = False,
        grace: float = GRACE_SECONDS,
    ) -> watch.Watch:
        """Return the watch that applies a job's limits to a process.

        `grace`: see `GRACE_SECONDS`. The official run has none (0), because the published evaluator gives none.
        """
        return watch.Watch(
            pid,
            messages,
            watch.Limits(job["cpu"], job["wall"], self.watched_memory),
            self.supervisor_pids(),
            sends_alarm=sends_alarm,
            has_namespace=not isinstance(self.isolation, isolation.Uids),
            grace=GRACE_SECONDS_ALONE if grace and job.get("alone") else grace,
            on_slow=self._handle_slow,
            baseline=self._baseline(self.zygotes.find_zygote(pid)),
            max_shared_growth=self._max_shared_growth(is_retry=job.get("retry", False)),
        )

    def _run_to_end(
        self,
        job: Job,
        pid: int,
        slot: int,
        messages: dialogue.Dialogue,
        *,
        sends_alarm: bool = False,
        grace: float = GRACE_SECONDS,
    ) -> dict[str, Any]:
        """Wait for a program, end it, and return its result and the observations."""
        oom_count = self._oom.count() if self.counts_oom else None
        program_watch = self._new_watch(job, pid, messages, sends_alarm=sends_alarm, grace=grace)
        program_watch.wait()
        end = self._end_and_check_memory(program_watch, pid, slot)
        is_oom = self.counts_oom and self._oom.count() != oom_count
        evidence = self._evidence(program_watch, self._exit_status(end), end.cpu, oom=is_oom)
        # A process that is killed together with its children leaves no account of their time.
        evidence["cpu"] = max(evidence["cpu"], round(program_watch.cpu, 4))
        return (program_watch.result or {}) | {"evidence": evidence}

    def _end_and_check_memory(self, program_watch: watch.Watch, pid: int, slot: int) -> ProcessEnd:
        """End a watched program, and note a limit of memory that only its end shows to be exceeded."""
        is_disturbed = program_watch.reason == "disturbed"
        shared = watch.machine_memory_bytes("Shmem") if is_disturbed else 0
        end = self._end(pid, slot)
        if is_disturbed and shared - watch.machine_memory_bytes("Shmem") > self.watched_memory // 2:
            # The memory was freed with the program, so it belonged to the program.
            program_watch.reason = "shared"
        if not self.counts_oom:
            program_watch.check_peak_memory(end.peak)
        return end

    def _exit_status(self, end: ProcessEnd) -> int | None:
        """Return the status of a program. A namespace's first process reports a signal as a byte from 128 on."""
        if not isinstance(self.isolation, isolation.Uids) and end.status is not None and end.status >= 128:
            return 128 - end.status
        return end.status

    @staticmethod
    def _evidence(program_watch: watch.Watch, status: int | None, cpu: float, *, oom: bool) -> dict[str, Any]:
        """Return what was observed of a process, as the grader's `ProcessEvidence` describes it.

        A process that has sent its last message is killed here, or ends by itself: such a status means nothing.
        """
        if program_watch.reason is None and program_watch.is_complete and status in {-signal.SIGKILL, isolation.ENDED}:
            status = None
        # A program that was told to stop, and ended without a result, has ended for another reason.
        alarm_reason = program_watch.alarm_reason if program_watch.result else None
        return {
            "stopped": program_watch.reason or alarm_reason,
            "status": status,
            "cpu": round(cpu, 4),
            "longest": round(program_watch.longest_turn(cpu), 4),
            "wall": round(program_watch.wall, 4),
            "waited": round(program_watch.waited, 4),
            "oom": oom,
        }

    def _max_shared_growth(self, *, is_retry: bool) -> int | None:
        """Return how many bytes the machine's shared memory may grow while a program runs; None: it is not checked.

        Pages that a program holds without mapping them are charged to no process. If no cgroup counts them either, only
        the machine's total shows them, and it includes all other processes.
        """
        if self.counts_oom or not self.watched_memory:
            return None
        # At a retry, others may also fill a quarter of the machine's free memory: more would endanger the machine.
        growth_of_others = watch.machine_memory_bytes("MemAvailable") // 4 if is_retry else 0
        return self.watched_memory + growth_of_others

    def _baseline(self, zygote: int) -> int:
        """Return the memory that a fork of this zygote inherits."""
        if not self.watched_memory:
            return 0
        if zygote not in self._baselines:
            self._baselines[zygote] = watch.memory_bytes([zygote], 0)
        return self._baselines[zygote]

    def _handle_slow(self, pids: list[int]) -> None:
        """Let others have more of the cores than a slow program."""
        watch.lower_priority(pids)
        self._report_slow()

    # --- ending ---

    def _end(self, pid: int, slot: int) -> ProcessEnd:
        """Kill and reap a program and all its processes; raises DamagedError if one remains.

        `slot`: the number of its kind of process: official run, candidate, tests or linter.
        """
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)
        end = self.zygotes.reap(pid)
        self._kill_unknown_processes()
        if not self.isolation.clean([slot]):
            # This program's result is valid, but no other may run in the presence of its files.
            self.retirement_reason = "files of a program cannot be removed"
        return end

    def _kill_unknown_processes(self) -> None:
        """Kill all processes but the supervisor's own until none is left; raises DamagedError after 10 s."""
        deadline = time.monotonic() + 10
        while pids := self._unknown_processes():
            if time.monotonic() > deadline:
                raise DamagedError(f"{len(pids)} processes of a program do not end")
            # Whole slots are killed only if the process that judges does not live: it has one of them.
            slots = () if self.judge.pids else SLOTS
            self.isolation.kill_all(slots, pids)
            time.sleep(0.001)

    def _unknown_processes(self) -> list[int]:
        """Return the pids of unknown living processes. Orphans become children of process 1; if this is it, reap."""
        supervisor_pids = self.supervisor_pids()
        pids = watch.processes(supervisor_pids)
        if not pids:
            return []
        if os.getpid() == 1:
            for pid in pids:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)
            pids = watch.processes(supervisor_pids)
        return pids


def _settle_verdict(outcome: dict[str, Any], *, is_examined: bool, is_alone: bool) -> dict[str, Any]:
    """Return what a judge says of answers, with one verdict from its parts.

    First the tests give their verdict. Then, if `is_examined`, the answers are compared with the reference's. If other
    programs on the machine may have stopped that, a pass does not count: without a verdict, the grader sends the job
    again.
    """
    evidence, passed = outcome["evidence"], outcome.get("confirmed")
    # A job that is alone has the cores for itself.
    stops_by_others = SHARED_MEMORY_STOPS if is_alone else STOPS_BY_OTHERS
    is_unsure_pass = passed and evidence["stopped"] in stops_by_others
    if passed is None or is_unsure_pass:
        return {"evidence": evidence}
    # The verdict is there, so what stopped the rest of the examination does not matter to the grader.
    evidence["stopped"] = None
    if "likeness" not in outcome and is_examined:
        outcome["likeness"] = {"doubt": "examining its answers did not finish"}
    if passed and (doubt := outcome.get("likeness", {}).get("doubt")):
        outcome |= {"confirmed": False, "reason": doubt, "kind": "unlike"}
    # The judge's process has sent the list, so its items may be anything.
    return outcome | {"right": [holds is True for holds in outcome.get("right", ())]}


def _judge_needs_numpy(work: Work, task: Task | JudgedTask | Compare, transcript: bytes) -> bool:
    """Whether the process that judges should have NumPy loaded."""
    if "pairs" in task:
        compare = cast("Compare", task)
        if "evalplus" in compare:
            return True
        are_values = bool(compare["function"])  # else printed texts
        answers = [text for pair in compare["pairs"] for text in (pair.get("answer", ""), pair["expected"])]
        return are_values and needs_numpy((), answers)
    tests = cast("JudgedTask", task)
    texts = [tests["signature"], tests["test"], str(tests.get("reference") or "")]
    if work != "judge":
        return needs_numpy(texts)
    expected = [run.decode() for run in tests.get("expected", ())]
    return needs_numpy(texts, [*tests["calls"], transcript.decode(), *expected])


@contextlib.contextmanager
def _pipe() -> Iterator[tuple[int, BinaryIO]]:
    """Yield the read end of a pipe, and the write end to be passed on, which may be closed before."""
    read_end, write_end = os.pipe()
    with open(read_end, "rb", buffering=0), open(write_end, "wb", buffering=0) as sink:
        yield read_end, sink
