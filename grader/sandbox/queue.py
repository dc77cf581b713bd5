"""The queue that owns the sandboxes of this machine: any number of threads submit jobs and get their answers.

A supervisor has a thread, which starts it, gives it one job after another, and ends it. It serves one role for its
whole life. All roles together run as many jobs as there are workers. While a program is slow, one job more may run.
"""

from __future__ import annotations

import collections
import itertools
import threading
import time
from concurrent.futures import Future
from queue import SimpleQueue
from typing import TYPE_CHECKING

from grader import resources
from grader.errors import InfrastructureError
from grader.sandbox import self_check
from grader.sandbox.interface import FEW_LINTS, Answer, SupervisorLostError
from grader.sandbox.roles import has_loop, program_of, role_of
from grader.sandbox.starvation import was_starved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Backend, Limits, Supervisor
    from grader.sandbox.roles import Role

ANSWER_SECONDS = 180.0
"""Maximum time of a job with the usual limits; every kind of job has a wall-clock limit well below it."""
RUNS_PER_JOB = 4
"""A job has further time for so many runs of a program, each as long as the wall-clock limit, which users can raise."""
MAX_ATTEMPTS = 2
"""A job that has lost so many supervisors is probably the cause, and gets no other."""
MAX_STARTS = 3
"""Number of supervisors that may be lost while they start, or misjudge the self-check, before a job fails."""
MAX_SUPERVISORS = 4
"""Maximum number of supervisors for each worker, most of which are idle or have a slow program."""
RENEWED_AFTER = 10_000
"""Number of jobs after which a supervisor is replaced, which limits the growth of anything in it."""
AHEAD = 8
"""Number of jobs for each worker that one `run` has in the queue."""
STOPPED = "The run was stopped."


def answer_seconds(limits: Limits) -> float:
    """Return the time after which a supervisor without an answer is lost."""
    return ANSWER_SECONDS + RUNS_PER_JOB * limits.wall_seconds


class _PendingJob:
    """A job that has no answer yet."""

    __slots__ = ("alone", "attempts", "due", "future", "job", "role")

    def __init__(self, job: Job, loop_delay: float) -> None:
        self.job, self.role, self.future = job, role_of(job), Future[Answer]()
        self.due = time.monotonic() + loop_delay * has_loop(program_of(job))
        """The job with the earliest time comes first."""
        self.attempts = 0
        """Number of supervisors that were lost with it."""
        self.alone = False
        """Whether nothing else may run meanwhile, because a busy machine may have stopped it before."""

    @property
    def needs_new(self) -> bool:
        """Whether it needs a sandbox in which nothing has run: a program may leave there what its next run finds."""
        return self.alone or self.attempts > 0


class _Member:
    """A supervisor and its thread, as the queue sees them; `workers` is the number of jobs at a time."""

    __slots__ = ("inbox", "jobs", "number", "pending", "role", "slow", "supervisor", "thread")

    def __init__(self, number: int, role: Role) -> None:
        self.number, self.role = number, role
        self.inbox = SimpleQueue[_PendingJob | None]()
        """Its next job; None: it ends."""
        self.pending: _PendingJob | None = None
        """The job that it has."""
        self.jobs = 0
        """Number of jobs that it has got."""
        self.slow = False
        """Whether the program of its job is slow."""
        self.supervisor: Supervisor | None = None
        self.thread: threading.Thread


class JobQueue:
    """Runs jobs in the sandboxes of one backend. Use it as a context manager; any number of threads may use it."""

    def __init__(
        self, backend: Backend, workers: int, answer_seconds: float = ANSWER_SECONDS, *, program_bytes: int = 0
    ) -> None:
        """`answer_seconds`: time without an answer after which a supervisor is lost.

        `program_bytes`: memory that a program may use. More programs than workers run only where theirs is free.
        """
        self.workers = workers
        self.lost = 0
        """Number of supervisors that were lost with a job; each such job was tried again or has failed."""
        self.loop_delay = 0.0
        """Seconds by which programs with a loop come after others (see `has_loop`)."""
        self._backend, self._answer_seconds, self._program_bytes = backend, answer_seconds, program_bytes
        self._lock = threading.Lock()
        self._waiting = collections.deque[_PendingJob]()
        self._members: list[_Member] = []
        """The supervisors that can get jobs, the one used last at the end."""
        self._threads: set[threading.Thread] = set()
        self._numbers = itertools.count()
        self._lints = 0
        """Number of lint jobs so far, or announced."""
        self._is_over = False

    def __enter__(self) -> JobQueue:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- for callers ---

    def submit(self, job: Job) -> Future[Answer]:
        """Add a job.

        The future raises SupervisorLostError if the job has lost several supervisors, so that nothing is known of it,
        and InfrastructureError if no supervisor can be started, or the queue was closed.
        """
        pending = _PendingJob(job, self.loop_delay)
        with self._lock:
            if self._is_over:
                pending.future.set_exception(InfrastructureError(STOPPED))
            else:
                self._lints += pending.role == "linting"
                self._waiting.append(pending)
                self._dispatch()
        return pending.future

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[tuple[str, Answer | str]]:
        """Yield every job's key with its answer, or why it has none, in the order in which they finish.

        Jobs are drawn as they are needed. Raises InfrastructureError.
        """
        more_jobs = iter(jobs)
        finished = SimpleQueue[Future["Answer"]]()
        keys: dict[Future[Answer], str] = {}
        while True:
            for key, job in itertools.islice(more_jobs, max(0, AHEAD * self.workers - len(keys))):
                future = self.submit(job)
                keys[future] = key
                future.add_done_callback(finished.put)
            if not keys:
                return
            future = finished.get()
            error = future.exception()
            yield keys.pop(future), str(error) if isinstance(error, SupervisorLostError) else future.result()

    def begin(self, role: Role, jobs: int = 0) -> None:
        """Start supervisors of a role in the background: as many as are worth it for `jobs` jobs; 0: many jobs."""
        self._backend.load()
        with self._lock:
            if role == "linting":
                self._lints = max(self._lints, jobs)
            missing = self._max_supervisors(role) - sum(member.role == role for member in self._members)
            room = MAX_SUPERVISORS * self.workers - len(self._members)
            for _ in range(0 if self._is_over else min(missing, room)):
                self._add_member(role)

    def finish(self) -> None:
        """Begin to end all supervisors, also those that are busy. Jobs without an answer raise InfrastructureError."""
        with self._lock:
            self._is_over = True
            unanswered, members = list(self._waiting), list(self._members)
            self._waiting.clear()
            self._members.clear()
        for member in members:
            member.inbox.put(None)
            if member.pending is not None and member.supervisor is not None:
                member.supervisor.close()
        for pending in unanswered:
            pending.future.set_exception(InfrastructureError(STOPPED))

    def close(self) -> None:
        """End all supervisors, and wait until they have ended."""
        self.finish()
        while self._threads:
            next(iter(self._threads)).join()

    # --- who gets what; called with the lock held ---

    def _max_supervisors(self, role: Role) -> int:
        """Return how many supervisors of a role are worth starting for jobs that are not slow."""
        return 1 if role == "linting" and self._lints <= FEW_LINTS else self.workers

    def _dispatch(self) -> None:
        """Give waiting jobs to supervisors, as many as may run at a time."""
        while (pending := self._next_job()) is not None:
            member = self._idle_member(pending) or self._add_member(pending.role)
            self._waiting.remove(pending)
            self._members.remove(member)
            self._members.append(member)
            member.pending, member.slow = pending, False
            member.jobs += 1
            member.inbox.put(pending)

    def _next_job(self) -> _PendingJob | None:
        """Return the waiting job that may run now and is due first."""
        busy = [member for member in self._members if member.pending is not None]
        if not self._waiting or any(member.pending and member.pending.alone for member in busy):
            return None
        if self._waiting[0].alone:
            return None if busy else self._waiting[0]
        if len(busy) - sum(member.slow for member in busy) >= self.workers or not self._has_room(len(busy) + 1):
            return None
        may_lint = sum(member.role == "linting" for member in busy) < self._max_supervisors("linting")
        ready = [pending for pending in self._waiting if may_lint or pending.role != "linting"]
        return min(ready, key=lambda pending: pending.due, default=None)

    def _has_room(self, programs: int) -> bool:
        """Whether the machine has room for so many programs at a time."""
        if programs <= self.workers:
            return True
        is_free = programs * self._program_bytes <= resources.free_memory()
        return is_free and programs <= MAX_SUPERVISORS * self.workers

    def _idle_member(self, pending: _PendingJob) -> _Member | None:
        """Return an idle supervisor for a job, the one used last."""
        return next(
            (
                member
                for member in reversed(self._members)
                if member.pending is None and member.role == pending.role and not (pending.needs_new and member.jobs)
            ),
            None,
        )

    def _add_member(self, role: Role) -> _Member:
        """Start a supervisor. If there are too many, the idle one that was not used for the longest time ends."""
        if len(self._members) >= MAX_SUPERVISORS * self.workers:
            idle = next(member for member in self._members if member.pending is None)
            self._members.remove(idle)
            idle.inbox.put(None)
        member = _Member(next(self._numbers), role)
        member.thread = threading.Thread(
            target=self._serve, args=(member,), name=f"{role} {member.number}", daemon=True
        )
        self._members.append(member)
        self._threads.add(member.thread)
        member.thread.start()
        return member

    # --- the thread of a supervisor ---

    def _serve(self, member: _Member) -> None:
        """Start a supervisor, let it do its jobs, and end it.

        The system ends a supervisor when the thread that started it ends, so all this is done in one thread.
        """
        try:
            self._start(member)
            while (pending := member.inbox.get()) is not None and self._run_job(member, pending):
                pass
        except BaseException as error:
            self._fail(member, error)
        finally:
            if member.supervisor is not None:
                member.supervisor.close()
            self._threads.discard(member.thread)

    def _start(self, member: _Member) -> None:
        """Start a supervisor, and check it; raises InfrastructureError."""
        if member.number == 0:
            # A run whose results are all in the cache starts nothing, and does not wait for this.
            self._backend.reap()
        problem = STOPPED
        for _ in range(MAX_STARTS):
            if self._is_over:
                break
            member.supervisor = self._backend.start(member.number, lint=member.role == "linting")
            try:
                problem = self_check.problem(member.supervisor, member.role, self._answer_seconds)
            except SupervisorLostError as error:
                problem = f"The sandbox ended before it was ready ({error})."
            if not problem:
                return
            member.supervisor.close()
        raise InfrastructureError(problem)

    def _run_job(self, member: _Member, pending: _PendingJob) -> bool:
        """Let a supervisor do a job; return whether it can do another one.

        A job that was starved runs once more, with nothing beside it. A supervisor that has done many jobs is replaced.
        """
        try:
            answer = self._answer(member, pending)
        except SupervisorLostError as error:
            self._retry_after_loss(member, pending, str(error))
            return False
        can_continue = "retired" not in answer and member.jobs < RENEWED_AFTER
        with self._lock:
            # A run that is over gives what it has, because nothing runs again.
            runs_again = was_starved(answer) and not pending.alone and not self._is_over
            if runs_again:
                pending.alone = True
                pending.job = pending.job | {"alone": True}
                pending.attempts = 0
                self._waiting.appendleft(pending)
            self._release(member, ends=not can_continue)
        if not runs_again:
            pending.future.set_result(answer)
        return can_continue

    def _release(self, member: _Member, *, ends: bool) -> None:
        """Note that a supervisor has no job any more; `ends`: and gets no other one. Called with the lock held."""
        member.pending = None
        if ends and member in self._members:
            self._members.remove(member)
        self._dispatch()

    def _answer(self, member: _Member, pending: _PendingJob) -> Answer:
        """Return a supervisor's answer to a job; raises SupervisorLostError.

        While its program is slow, its core is lent to another job.
        """
        assert member.supervisor is not None
        if self._is_over:
            raise SupervisorLostError(STOPPED)
        member.supervisor.send(pending.job, self._answer_seconds)
        while "slow" in (answer := member.supervisor.receive(self._answer_seconds)):
            with self._lock:
                member.slow = True
                self._dispatch()
            member.supervisor.yield_cores(to_others=True)
        if member.slow:
            member.supervisor.yield_cores(to_others=False)
        if "damaged" in answer:
            raise SupervisorLostError(str(answer["damaged"]))
        return answer

    def _retry_after_loss(self, member: _Member, pending: _PendingJob, reason: str) -> None:
        """Try the job of a lost supervisor again, but not for ever."""
        pending.attempts += 1
        error: Exception | None = SupervisorLostError(reason) if pending.attempts >= MAX_ATTEMPTS else None
        with self._lock:
            if self._is_over:
                error = InfrastructureError(STOPPED)
            else:
                self.lost += 1
            if error is None:
                self._waiting.appendleft(pending)
            self._release(member, ends=True)
        if error is not None:
            pending.future.set_exception(error)

    def _fail(self, member: _Member, error: BaseException) -> None:
        """Fail all waiting jobs, because no supervisor can be started. Later jobs try again.

        A supervisor without a job was started ahead (`begin`): nobody waits for it.
        """
        if not isinstance(error, InfrastructureError):
            error = InfrastructureError(f"{type(error).__name__}: {error}")
        with self._lock:
            failed = [] if member.pending is None else [member.pending, *self._waiting]
            if failed:
                self._waiting.clear()
            self._release(member, ends=True)
        for pending in failed:
            pending.future.set_exception(error)
