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
from grader.sandbox.roles import has_loop, role_of
from grader.sandbox.starvation import was_starved

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from grade_sandbox.jobs import Job

    from grader.sandbox.interface import Backend, Supervisor
    from grader.sandbox.roles import Role

ANSWER_SECONDS = 180.0
"""Maximum time of a job; every kind of job has a wall-clock limit well below it."""
MAX_ATTEMPTS = 2
"""A job that has lost so many supervisors is probably the cause, and gets no other."""
MAX_STARTS = 3
"""Number of supervisors that may be lost while they start, or misjudge the self-check, before a job fails."""
MOST_SUPERVISORS = 4
"""Maximum number of supervisors for each worker, most of which are idle or have a slow program."""
RENEWED_AFTER = 10_000
"""Number of jobs after which a supervisor is replaced, which limits the growth of anything in it."""
AHEAD = 8
"""Number of jobs for each worker that one `run` has in the queue."""
STOPPED = "The run was stopped."


class _Work:
    """A job that has no answer yet."""

    __slots__ = ("alone", "attempts", "due", "future", "job", "role")

    def __init__(self, job: Job, loop_delay: float) -> None:
        self.job, self.role, self.future = job, role_of(job), Future[Answer]()
        self.due = time.monotonic() + loop_delay * has_loop(job)
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
    """A supervisor and its thread, as the queue sees them."""

    __slots__ = ("inbox", "jobs", "number", "role", "slow", "supervisor", "thread", "work")

    def __init__(self, number: int, role: Role) -> None:
        self.number, self.role = number, role
        self.inbox = SimpleQueue[_Work | None]()
        """Its next job; None: it ends."""
        self.work: _Work | None = None
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
        """Seconds by which jobs with a `while` loop come after others. Most programs that never end have one."""
        self._backend, self._answer_seconds, self._program_bytes = backend, answer_seconds, program_bytes
        self._lock = threading.Lock()
        self._waiting = collections.deque[_Work]()
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
        work = _Work(job, self.loop_delay)
        with self._lock:
            if self._is_over:
                work.future.set_exception(InfrastructureError(STOPPED))
            else:
                self._lints += work.role == "linting"
                self._waiting.append(work)
                self._hand_out()
        return work.future

    def run(self, jobs: Iterable[tuple[str, Job]]) -> Iterator[tuple[str, Answer | str]]:
        """Yield every job's key with its answer, or why it has none, in the order in which they finish.

        Jobs are drawn as they are needed. Raises InfrastructureError.
        """
        rest, done = iter(jobs), SimpleQueue[Future["Answer"]]()
        keys: dict[Future[Answer], str] = {}
        while True:
            for key, job in itertools.islice(rest, max(0, AHEAD * self.workers - len(keys))):
                future = self.submit(job)
                keys[future] = key
                future.add_done_callback(done.put)
            if not keys:
                return
            future = done.get()
            lost = future.exception()
            yield keys.pop(future), str(lost) if isinstance(lost, SupervisorLostError) else future.result()

    def begin(self, role: Role, jobs: int = 0) -> None:
        """Start supervisors of a role in the background, because so many jobs will come soon; 0: many."""
        self._backend.load()
        with self._lock:
            if role == "linting":
                self._lints = max(self._lints, jobs)
            missing = self._most(role) - sum(member.role == role for member in self._members)
            room = MOST_SUPERVISORS * self.workers - len(self._members)
            for _ in range(0 if self._is_over else min(missing, room)):
                self._add(role)

    def finish(self) -> None:
        """Begin to end all supervisors, also those that are busy. Jobs without an answer raise InfrastructureError."""
        with self._lock:
            self._is_over = True
            open_, members = list(self._waiting), list(self._members)
            self._waiting.clear()
            self._members.clear()
        for member in members:
            member.inbox.put(None)
            if member.work is not None and member.supervisor is not None:
                member.supervisor.close()
        for work in open_:
            work.future.set_exception(InfrastructureError(STOPPED))

    def close(self) -> None:
        """End all supervisors, and wait until they have ended."""
        self.finish()
        while self._threads:
            next(iter(self._threads)).join()

    # --- who gets what; called with the lock held ---

    def _most(self, role: Role) -> int:
        """Return how many supervisors of a role are worth starting for jobs that are not slow."""
        return 1 if role == "linting" and self._lints <= FEW_LINTS else self.workers

    def _hand_out(self) -> None:
        """Give waiting jobs to supervisors, as many as may run at a time."""
        while (work := self._next()) is not None:
            member = self._idle(work) or self._add(work.role)
            self._waiting.remove(work)
            self._members.remove(member)
            self._members.append(member)
            member.work, member.slow = work, False
            member.jobs += 1
            member.inbox.put(work)

    def _next(self) -> _Work | None:
        """Return the waiting job that may run now and is due first."""
        busy = [member for member in self._members if member.work is not None]
        if not self._waiting or any(member.work and member.work.alone for member in busy):
            return None
        if self._waiting[0].alone:
            return None if busy else self._waiting[0]
        if len(busy) - sum(member.slow for member in busy) >= self.workers or not self._has_room(len(busy) + 1):
            return None
        may_lint = sum(member.role == "linting" for member in busy) < self._most("linting")
        ready = [work for work in self._waiting if may_lint or work.role != "linting"]
        return min(ready, key=lambda work: work.due, default=None)

    def _has_room(self, programs: int) -> bool:
        """Whether the machine has room for so many programs at a time."""
        if programs <= self.workers:
            return True
        is_free = programs * self._program_bytes <= resources.free_memory()
        return is_free and programs <= MOST_SUPERVISORS * self.workers

    def _idle(self, work: _Work) -> _Member | None:
        """Return an idle supervisor for a job, the one used last."""
        return next(
            (
                member
                for member in reversed(self._members)
                if member.work is None and member.role == work.role and not (work.needs_new and member.jobs)
            ),
            None,
        )

    def _add(self, role: Role) -> _Member:
        """Start a supervisor. If there are too many, the idle one that was not used for the longest time ends."""
        if len(self._members) >= MOST_SUPERVISORS * self.workers:
            idle = next(member for member in self._members if member.work is None)
            self._members.remove(idle)
            idle.inbox.put(None)
        member = _Member(next(self._numbers), role)
        member.thread = threading.Thread(target=self._live, args=(member,), name=f"{role} {member.number}", daemon=True)
        self._members.append(member)
        self._threads.add(member.thread)
        member.thread.start()
        return member

    # --- the thread of a supervisor ---

    def _live(self, member: _Member) -> None:
        """Start a supervisor, let it do its jobs, and end it.

        The system ends a supervisor when the thread that started it ends, so all this is done in one thread.
        """
        try:
            self._start(member)
            while (work := member.inbox.get()) is not None and self._do(member, work):
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

    def _do(self, member: _Member, work: _Work) -> bool:
        """Let a supervisor do a job; return whether it can do another one."""
        try:
            answer = self._answer(member, work)
        except SupervisorLostError as error:
            self._lost(member, work, str(error))
            return False
        lasts = "retired" not in answer and member.jobs < RENEWED_AFTER
        with self._lock:
            # A run that is over gives what it has, because nothing runs again.
            again = was_starved(answer) and not work.alone and not self._is_over
            if again:
                work.alone, work.attempts, work.job = True, 0, work.job | {"alone": True}
                self._waiting.appendleft(work)
            self._leave(member, ends=not lasts)
        if not again:
            work.future.set_result(answer)
        return lasts

    def _leave(self, member: _Member, *, ends: bool) -> None:
        """Note that a supervisor has no job any more; `ends`: and gets no other. Called with the lock held."""
        member.work = None
        if ends and member in self._members:
            self._members.remove(member)
        self._hand_out()

    def _answer(self, member: _Member, work: _Work) -> Answer:
        """Return a supervisor's answer to a job; raises SupervisorLostError."""
        assert member.supervisor is not None
        if self._is_over:
            raise SupervisorLostError(STOPPED)
        member.supervisor.send(work.job, self._answer_seconds)
        while "slow" in (answer := member.supervisor.receive(self._answer_seconds)):
            with self._lock:
                member.slow = True
                self._hand_out()
            member.supervisor.yield_cores(to_others=True)
        if member.slow:
            member.supervisor.yield_cores(to_others=False)
        if "damaged" in answer:
            raise SupervisorLostError(str(answer["damaged"]))
        return answer

    def _lost(self, member: _Member, work: _Work, reason: str) -> None:
        """Try the job of a lost supervisor again, but not for ever."""
        work.attempts += 1
        error: Exception | None = SupervisorLostError(reason) if work.attempts >= MAX_ATTEMPTS else None
        with self._lock:
            if self._is_over:
                error = InfrastructureError(STOPPED)
            else:
                self.lost += 1
            if error is None:
                self._waiting.appendleft(work)
            self._leave(member, ends=True)
        if error is not None:
            work.future.set_exception(error)

    def _fail(self, member: _Member, error: BaseException) -> None:
        """Fail all waiting jobs, because no supervisor can be started. Later jobs try again."""
        if not isinstance(error, InfrastructureError):
            error = InfrastructureError(f"{type(error).__name__}: {error}")
        with self._lock:
            open_ = [] if member.work is None else [member.work, *self._waiting]
            if open_:
                self._waiting.clear()
            self._leave(member, ends=True)
        for work in open_:
            work.future.set_exception(error)
