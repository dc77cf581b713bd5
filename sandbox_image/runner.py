"""The supervisor: holds the only channel to the grader, and has every program run by somebody else.

Protocol (messages of wire.py on standard input and output): the first message out is a greeting; then every job gets
one answer, in order. A job may ask for lint, for the official run, and for the split run:

    {"id": 7, "lint": true, "head": "...", "test": "...", "timed_out": "...", "failed_prefix": "...",
     "run": true, "split": {"signature": ..., "source": ..., ...},
     "cpu": 2.0, "wall": 20.0, "alone": false}   (alone: no other job runs on this machine's other supervisors)
"""

import contextlib
import json
import os
import platform
import select
import signal
import socket
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import confine
import isolation
import linter as _linter
import watch
import wire
from zygote import Zygote

# What a program, or the linter, may find when it imports: the standard library and the locked packages. Neither this
# code nor what else is installed with the interpreter, which differs from one machine to the next.
_HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:] = [p for p in sys.path if p != _HERE and not p.endswith(("site-packages", "dist-packages"))]

VERSION = 1
LEASE_SECONDS = 900
LINT_CPU_SECONDS = 10.0
LINT_WALL_SECONDS = 60.0
LINTS_BEFORE_COLLECTION = 64
# What a linter may hold on to after a program: it shares the container's memory with the programs that follow.
LINT_KEPT_BYTES = 192 << 20
OFFICIAL_SLOT, CANDIDATE_SLOT, TESTS_SLOT = 0, 1, 2


class DamagedError(Exception):
    """This supervisor can no longer vouch for what it says; the grader replaces it."""


def _serve_lint(connection, folder):
    """The linter's process; never returns."""
    import gc

    try:
        linter = _linter.Linter(folder)
        linter.warm()
        wire.send(connection.send, {"ready": True})
        count = 0
        while True:
            source = wire.receive(connection.recv)["source"]
            try:
                reply = {"messages": linter.messages(source)}
            except (Exception, RecursionError) as error:
                reply = {"broken": f"{type(error).__name__}: {str(error)[:500]}"}
            reply["stained"] = linter.stained
            wire.send(connection.send, reply)
            count += 1
            if count % LINTS_BEFORE_COLLECTION == 0:
                gc.collect()
    except (wire.ClosedError, OSError):
        pass
    finally:
        os._exit(0)


class LintProcess:
    """A linter in a process of its own, begun when first asked at the latest, replaced when stuck, dead or confused."""

    def __init__(self, isolation):
        self.isolation = isolation
        self.pid = None

    def start(self):
        """Fork the process; it says when it is ready."""
        ours, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                ours.close()
                confine.close_all_but({theirs.fileno()})
                folder = self._become()
                confine.restrict(memory_bytes=512 << 20, address_space=True)
                os.chdir(folder)
                _serve_lint(theirs, folder)
            finally:
                os._exit(1)
        theirs.close()
        self.socket = ours
        self.fresh = True

    def _become(self):
        if isinstance(self.isolation, isolation.Uids):
            uid = self.isolation.first_uid + isolation.LINTER_SLOT
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
        confine.prctl(confine.PR_SET_PDEATHSIG, signal.SIGKILL)
        confine.undumpable()
        folder = f"{isolation.SCRATCH}/{isolation.LINT_FOLDER}"
        with contextlib.suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        os.environ.update(HOME=folder, PYLINTHOME=folder)
        return folder

    def stop(self):
        """Kill and reap it."""
        self.socket.close()
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            os.waitpid(self.pid, 0)

    def lint(self, source):
        """Return {"messages": [...]} or {"broken": why}."""
        if self.pid is None:
            self.start()
        for _ in range(2):
            # Whoever ended the linter the first time, it was the source if the next one goes the same way.
            try:
                if self.fresh:
                    wire.receive(self.socket.recv)
                    self.fresh = False
                return self._ask(source)
            except (wire.ClosedError, OSError):
                self.stop()
                self.start()
        return {"broken": "the linter crashed on this source"}

    def _ask(self, source):
        wire.send(self.socket.send, {"source": source})
        used = watch.cpu_seconds([self.pid])
        deadline = time.monotonic() + LINT_WALL_SECONDS
        while not select.select([self.socket], [], [], 0.2)[0]:
            if watch.cpu_seconds([self.pid]) - used > LINT_CPU_SECONDS or time.monotonic() > deadline:
                self.stop()
                self.start()
                return {"broken": f"the linter did not finish within {LINT_CPU_SECONDS:.0f} s of CPU time"}
        reply = wire.receive(self.socket.recv)
        if reply.pop("stained") or watch.own_anonymous_bytes(self.pid) > LINT_KEPT_BYTES:
            self.stop()
            self.start()
        return reply


class Supervisor:
    """Runs jobs one after another, and leaves nothing of one to the next."""

    def __init__(self, settings):
        self.settings = settings
        memory = settings["memory"]
        root = os.getuid() == 0
        self.isolation = isolation.Uids(settings["first_uid"], memory) if root else isolation.Namespaces(memory)
        self.zygote = Zygote(self.isolation)
        self.linter = LintProcess(self.isolation)
        # Loading pylint takes longer than linting a hundred programs, and a supervisor may never be asked to.
        if settings["lint"]:
            self.linter.start()
        self.retired = ""
        self.counts_oom = watch.oom_kills() is not None and settings["cgroup"]
        # The kernel's limit has room for the supervisor as well; a program's own is the same on every backend.
        self.watched_memory = memory

    def known(self):
        """The pids that are ours."""
        return {1, os.getpid(), self.zygote.pid, self.linter.pid}

    def handle(self, job):
        """Do one job; return its answer."""
        answer = {"id": job["id"]}
        if job.get("lint"):
            answer["lint"] = self.linter.lint(job["head"] + job["test"])
            if answer["lint"].get("messages") != []:
                return answer
        if job.get("run"):
            answer["run"] = self._undisturbed(job, self.official)
        if split := job.get("split"):
            answer["split"] = self._undisturbed(job, lambda job: self.split(job, split))
        return answer

    def _undisturbed(self, job, run):
        """Run a program; where others fill the machine's memory even while it runs alone, once more with patience."""
        seen = run(job)
        if job.get("alone") and seen["evidence"]["stopped"] == "disturbed":
            seen = run(job | {"patient": True})
            if seen["evidence"]["stopped"] == "disturbed":
                raise DamagedError("others are filling this machine's memory")
        return seen

    def official(self, job):
        """The single-process run; see harness.official."""
        read_end, write_end = os.pipe()
        spec = {
            "program": job["head"] + job["test"],
            "failed_prefix": job["failed_prefix"],
            "timed_out": job["timed_out"],
        }
        try:
            pid = self.zygote.start("official", OFFICIAL_SLOT, spec, [write_end], job["cpu"])
            os.close(write_end)
            write_end = None
            return self._watch(job, pid, [pid], read_end, alarm=True)
        finally:
            os.close(read_end)
            if write_end is not None:
                os.close(write_end)

    def split(self, job, split):
        """The split run; see harness.candidate and harness.tests."""
        read_end, write_end = os.pipe()
        ours = [write_end]
        theirs, candidates = socket.socketpair()
        try:
            with theirs, candidates:
                shared = {"signature": split["signature"], "classes": split["classes"]}
                spec = shared | {"source": split["source"]}
                first = self.zygote.start("candidate", CANDIDATE_SLOT, spec, [candidates.fileno()], 2 * job["cpu"])
                spec = shared | {"test": job["test"], "stubs": split["stubs"]}
                fds = [theirs.fileno(), write_end]
                second = self.zygote.start("tests", TESTS_SLOT, spec, fds, 2 * job["cpu"])
            os.close(ours.pop())
            # Two processes take turns: each may have what the job allows.
            return self._watch(job | {"cpu": 2 * job["cpu"]}, second, [second, first], read_end, alarm=False)
        finally:
            os.close(read_end)
            for fd in ours:
                os.close(fd)

    def _watch(self, job, pid, pids, result_fd, *, alarm):
        """Wait for a program, end it, and say what was seen."""
        oom_before = watch.oom_kills() if self.counts_oom else None
        observed = watch.Watch(
            pid,
            result_fd,
            watch.Limits(job["cpu"], job["wall"], self.watched_memory),
            self.known(),
            alarm=alarm,
            nested=not isinstance(self.isolation, isolation.Uids),
            # Two processes that wait for each other look asleep on a busy machine; alone they are given more patience.
            grace=0.0 if alarm else 5.0 if job.get("alone") else 2.0,
            baseline=self._baseline(),
            shared_room=self._shared_room(patient=job.get("patient", False)),
        )
        observed.wait()
        shared = watch.machine_memory_bytes("Shmem")
        ends = self._end(pids)
        if observed.reason == "disturbed" and shared - watch.machine_memory_bytes("Shmem") > self.watched_memory // 2:
            # It went with the program, so it was the program's.
            observed.reason = "shared"
        status = ends[0][0]
        if not isinstance(self.isolation, isolation.Uids) and status is not None and status >= 128:
            # The namespace's first process reports a signal as a byte; an exit code is below 128 there.
            status = 128 - status
        if observed.reason is None and status == 0 - signal.SIGKILL and observed.result is not None:
            status = None
        evidence = {
            "stopped": observed.reason or (observed.alarmed if observed.result else None),
            "status": status,
            "cpu": round(sum(cpu for _, cpu in ends), 4),
            "wall": round(observed.wall, 4),
            "waited": round(observed.waited, 4),
            "oom": self.counts_oom and watch.oom_kills() != oom_before,
        }
        return (observed.result or {}) | {"evidence": evidence}

    def _shared_room(self, *, patient):
        """Bytes that the machine's shared memory may grow by while a program runs; None: not to be looked at.

        Pages that a program holds without mapping them count in no process. Where no cgroup counts them either, only
        the machine's sum tells, and that is everybody's.
        """
        if self.counts_oom or not self.watched_memory:
            return None
        return self.watched_memory + (watch.machine_memory_bytes("MemAvailable") // 4 if patient else 0)

    def _baseline(self):
        if not self.watched_memory:
            return 0
        if not hasattr(self, "_baseline_bytes"):
            self._baseline_bytes = watch.own_anonymous_bytes(self.zygote.pid)
        return self._baseline_bytes

    def _end(self, pids):
        """Kill and reap a program and all it left; raises DamagedError where something stays."""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        ends = [self.zygote.reap(pid) for pid in pids]
        slots = (OFFICIAL_SLOT, CANDIDATE_SLOT, TESTS_SLOT)
        deadline = time.monotonic() + 10
        while strangers := self._strangers():
            if time.monotonic() > deadline:
                raise DamagedError(f"{len(strangers)} processes of a program do not end")
            self.isolation.kill_all(slots, strangers)
            time.sleep(0.001)
        if not self.isolation.clean(slots[:1] if len(pids) == 1 else slots[1:]):
            # What was seen of this program stands; no other may run where its files are.
            self.retired = "files of a program cannot be removed"
        return ends

    def _strangers(self):
        """Pids that are neither ours nor dead. Orphans fall to process 1, which may be this one: reap them."""
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


def _settings():
    """Take the supervisor's settings from the environment, then empty it."""
    settings = json.loads(os.environ["GRADE_SETTINGS"])
    path = os.environ.get("PYTHONPATH", "")
    os.environ.clear()
    os.environ.update(
        PATH="/usr/local/bin:/usr/bin:/bin",
        LANG="C.UTF-8",
        HOME="/",
        OMP_NUM_THREADS="1",
        OPENBLAS_NUM_THREADS="1",
        MKL_NUM_THREADS="1",
    )
    if path:
        os.environ["PYTHONPATH"] = path
    return settings


def _channel():
    """Move the channel away from the standard descriptors, which every fork inherits in some form."""
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    os.close(null)
    for fd in (source, sink):
        os.set_inheritable(fd, False)
    return source, sink


def main():
    """Serve until the channel closes, the lease ends, or this supervisor is damaged."""
    settings = _settings()
    source, sink = _channel()
    confine.undumpable()
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)
    supervisor = Supervisor(settings)
    write = lambda data: os.write(sink, data)  # noqa: E731
    wire.send(
        write,
        {
            "ready": VERSION,
            "python": platform.python_version(),
            "isolation": supervisor.isolation.name,
            "oom_counter": supervisor.counts_oom,
        },
    )
    read = lambda count: os.read(source, count)  # noqa: E731
    while select.select([source], [], [], LEASE_SECONDS)[0]:
        try:
            job = wire.receive(read)
        except wire.ClosedError:
            break
        try:
            answer = supervisor.handle(job)
        except Exception as error:
            wire.send(write, {"id": job["id"], "damaged": f"{type(error).__name__}: {error}"})
            break
        if supervisor.retired:
            wire.send(write, answer | {"retired": supervisor.retired})
            break
        wire.send(write, answer)
    os._exit(0)


if __name__ == "__main__":
    main()
