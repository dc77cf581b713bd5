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
from grader.sandbox.roles import may_never_end, program_of, role_of
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
MAX_SUPERVISORS_PER_WORKER = 4
"""Most of them are idle or have a slow program."""
RENEWED_AFTER = 10_000
"""Number of jobs after which a supervisor is replaced, which limits the growth of anything in it."""
AHEAD = 8
"""Number of jobs for each worker that one `run` has in the queue."""
STOPPED = "The run was stopped."


def answer_seconds(limits: Limits) -> float:
    """Return the time after which a supervisor without an answer is lost."""
    return ANSWER_SECONDS + RUNS_PER_JOB * limits.wall_seconds


class _JobRequest:
    """A job that has no answer yet, and the future of its answer."""

    __slots__ = ("attempts", "due", "future", "job", "role", "runs_alone")

    def __init__(self, job: Job, loop_delay: float) -> None:
        self.job, self.role, self.future = job, role_of(job), Future[Answer]()
        self.due = time.monotonic() + loop_delay * may_never_end(program_of(job))
        """A time of `time.monotonic`: the job with the earliest one comes first."""
        self.attempts = 0
        """Number of supervisors that were lost with it."""
        self.runs_alone = False
        """Whether nothing may run beside it, because a busy machine may have stopped it before."""

    @property
    def needs_new(self) -> bool:
        """Whether it needs a sandbox in which nothing has run: a program may leave there what its next run finds."""
        return self.runs_alone or self.attempts > 0


class _SupervisorSlot:
    """A supervisor and its thread, as the queue sees them."""

    __slots__ = ("inbox", "is_slow", "job_count", "number", "request", "role", "supervisor", "thread")

    def __init__(self, number: int, role: Role) -> None:
        self.number, self.role = number, role
        self.inbox = SimpleQueue[_JobRequest | None]()
        """Its next request; None: it ends."""
        self.request: _JobRequest | None = None
        """The request whose job it does; None: it is idle."""
        self.job_count = 0
        """Number of jobs that it has got."""
        self.is_slow = False
        """Whether the supervisor has reported that its program is slow, so that another job may run beside it."""
        self.supervisor: Supervisor | None = None
        self.thread: threading.Thread


class JobQueue:
    """Runs jobs in the sandboxes of one backend. Use it as a context manager; any number of threads may use it."""

    def __init__(
        self, backend: Backend, workers: int, answer_seconds: float = ANSWER_SECONDS, *, program_bytes: int = 0
    ) -> None:
        """`workers`: number of jobs at a time. `answer_seconds`: a supervisor without an answer for so long is lost.

        `program_bytes`: memory that a program may use. More programs than workers run only while each can have so much.
        """
        self.workers = workers
        self.lost_supervisors = 0
        """Number of supervisors that were lost with a job; each such job was tried again or has failed."""
        self.loop_delay = 0.0
        """Seconds by which programs with a loop come after others (see `may_never_end`)."""
        self._backend, self._answer_seconds, self._program_bytes = backend, answer_seconds, program_bytes
        self._lock = threading.Lock()
        self._waiting = collections.deque[_JobRequest]()
        self._slots: list[_SupervisorSlot] = []
        """The supervisors that can get jobs; the one that got a job last is at the end."""
        self._threads: set[threading.Thread] = set()
        self._numbers = itertools.count()
        self._lint_count = 0
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
        request = _JobRequest(job, self.loop_delay)
        with self._lock:
            if self._is_over:
                request.future.set_exception(InfrastructureError(STOPPED))
            else:
                self._lint_count += request.role == "linting"
                self._waiting.append(request)
                self._dispatch()
        return request.future

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

    def prestart(self, role: Role, lint_jobs: int = 0) -> None:
        """Start supervisors of a role in the background, so that they are ready when its first jobs come.

        `lint_jobs`: the number known so far. Up to `FEW_LINTS`, one linter is started, else one for each worker.
        """
        self._backend.load()
        with self._lock:
            if role == "linting":
                self._lint_count = max(self._lint_count, lint_jobs)
            missing = self._max_supervisors(role) - sum(slot.role == role for slot in self._slots)
            room = MAX_SUPERVISORS_PER_WORKER * self.workers - len(self._slots)
            for _ in range(0 if self._is_over else min(missing, room)):
                self._add_slot(role)

    def finish(self) -> None:
        """Begin to end all supervisors, also those that are busy. Jobs without an answer raise InfrastructureError."""
        with self._lock:
            self._is_over = True
            unanswered, slots = list(self._waiting), list(self._slots)
            self._waiting.clear()
            self._slots.clear()
        for request in unanswered:
            request.future.set_exception(InfrastructureError(STOPPED))
        for slot in slots:
            slot.inbox.put(None)
        busy = [slot.supervisor for slot in slots if slot.request is not None and slot.supervisor is not None]
        # All at the same time: an engine that hangs needs a minute for each.
        closing = [threading.Thread(target=supervisor.close) for supervisor in busy]
        for thread in closing:
            thread.start()
        for thread in closing:
            thread.join()

    def close(self) -> None:
        """End all supervisors, and wait until they have ended."""
        self.finish()
        while threads := list(self._threads):  # at its end, a thread removes itself (see `_serve`)
            for thread in threads:
                thread.join()

    # --- who gets what; called with the lock held ---

    def _max_supervisors(self, role: Role) -> int:
        """Return how many supervisors of a role are worth starting for jobs that are not slow."""
        return 1 if role == "linting" and self._lint_count <= FEW_LINTS else self.workers

    def _dispatch(self) -> None:
        """Give waiting jobs to supervisors, as many as may run at a time."""
        while (request := self._next_job()) is not None:
            slot = self._idle_slot(request) or self._add_slot(request.role)
            self._waiting.remove(request)
            self._slots.remove(slot)
            self._slots.append(slot)  # now it is the one that got a job last
            slot.request, slot.is_slow = request, False
            slot.job_count += 1
            slot.inbox.put(request)

    def _next_job(self) -> _JobRequest | None:
        """Return the waiting job that may run now and is due first.

        A job that runs alone goes before all others, as soon as nothing else runs. Otherwise there is one job a worker;
        those with a slow program do not count, as long as there is room. Of lint jobs, only as many run at a time as
        `_max_supervisors` says.
        """
        busy = [slot for slot in self._slots if slot.request is not None]
        if not self._waiting or any(slot.request and slot.request.runs_alone for slot in busy):
            return None
        if (alone := next((request for request in self._waiting if request.runs_alone), None)) is not None:
            return None if busy else alone
        busy_workers = sum(not slot.is_slow for slot in busy)
        if busy_workers >= self.workers or not self._has_room(len(busy) + 1):
            return None
        may_lint = sum(slot.role == "linting" for slot in busy) < self._max_supervisors("linting")
        ready = [request for request in self._waiting if may_lint or request.role != "linting"]
        return min(ready, key=lambda request: request.due, default=None)

    def _has_room(self, programs: int) -> bool:
        """Whether so many programs may run at a time: more than there are workers, if some are slow."""
        if programs <= self.workers:
            return True
        is_free = programs * self._program_bytes <= resources.free_memory()
        return is_free and programs <= MAX_SUPERVISORS_PER_WORKER * self.workers

    def _idle_slot(self, request: _JobRequest) -> _SupervisorSlot | None:
        """Return the idle supervisor that got a job last; None: no idle one may do this job."""
        return next(
            (
                slot
                for slot in reversed(self._slots)
                if slot.request is None and slot.role == request.role and not (request.needs_new and slot.job_count)
            ),
            None,
        )

    def _add_slot(self, role: Role) -> _SupervisorSlot:
        """Start a supervisor. If there are too many, the idle one that was not used for the longest time ends."""
        if len(self._slots) >= MAX_SUPERVISORS_PER_WORKER * self.workers:
            # One is idle: `_has_room` lets fewer jobs run than there are supervisors now.
            idle = next(slot for slot in self._slots if slot.request is None)
            self._slots.remove(idle)
            idle.inbox.put(None)
        slot = _SupervisorSlot(next(self._numbers), role)
        slot.thread = threading.Thread(target=self._serve, args=(slot,), name=f"{role} {slot.number}", daemon=True)
        self._slots.append(slot)
        self._threads.add(slot.thread)
        slot.thread.start()
        return slot

    # --- the thread of a supervisor ---

    def _serve(self, slot: _SupervisorSlot) -> None:
        """Start a supervisor, let it do its jobs, and end it.

        The system ends a supervisor when the thread that started it ends, so all this is done in one thread.
        """
        try:
            self._start(slot)
            while (request := slot.inbox.get()) is not None and self._run_job(slot, request):
                pass
        except BaseException as error:
            self._fail(slot, error)
        finally:
            if slot.supervisor is not None:
                slot.supervisor.close()
            self._threads.discard(slot.thread)

    def _start(self, slot: _SupervisorSlot) -> None:
        """Start a supervisor, and check it; raises InfrastructureError."""
        if slot.number == 0:
            # A run whose results are all in the cache starts nothing, and does not wait for this.
            self._backend.reap()
        problem = STOPPED
        for _ in range(MAX_STARTS):
            if self._is_over:
                break
            slot.supervisor = self._backend.start(slot.number, for_linting=slot.role == "linting")
            try:
                problem = self_check.find_problem(slot.supervisor, slot.role, self._answer_seconds)
            except SupervisorLostError as error:
                problem = f"The sandbox ended before it was ready ({error})."
            if not problem:
                return
            slot.supervisor.close()
        raise InfrastructureError(problem)

    def _run_job(self, slot: _SupervisorSlot, request: _JobRequest) -> bool:
        """Let a supervisor do a job; return whether it can do another one.

        A job that was starved runs once more, with nothing beside it. A supervisor that has done many jobs is replaced.
        """
        try:
            answer = self._answer(slot, request)
        except SupervisorLostError as error:
            self._retry_after_loss(slot, request, str(error))
            return False
        can_continue = "retired" not in answer and slot.job_count < RENEWED_AFTER
        with self._lock:
            # When the queue is over, nothing runs again, so the answer of a starved job is the only one.
            runs_again = was_starved(answer) and not request.runs_alone and not self._is_over
            if runs_again:
                self._request_alone(request)
            self._release(slot, ends=not can_continue)
        if not runs_again:
            request.future.set_result(answer)
        return can_continue

    def _request_alone(self, request: _JobRequest) -> None:
        """Put a starved job before all others, to run with nothing beside it. Called with the lock held."""
        request.runs_alone = True
        request.job = request.job | {"alone": True}
        request.attempts = 0  # this run may lose a supervisor, too
        self._waiting.appendleft(request)

    def _release(self, slot: _SupervisorSlot, *, ends: bool) -> None:
        """Take a supervisor's request from it, and start the next jobs. Called with the lock held.

        `ends`: the supervisor gets no other job.
        """
        slot.request = None
        # `finish` takes all slots away.
        if ends and slot in self._slots:
            self._slots.remove(slot)
        self._dispatch()

    def _answer(self, slot: _SupervisorSlot, request: _JobRequest) -> Answer:
        """Return a supervisor's answer to a job; raises SupervisorLostError.

        While its program is slow, its core is lent to another job.
        """
        assert slot.supervisor is not None
        if self._is_over:
            raise SupervisorLostError(STOPPED)
        slot.supervisor.send(request.job, self._answer_seconds)
        while "slow" in (answer := slot.supervisor.receive(self._answer_seconds)):
            with self._lock:
                slot.is_slow = True
                self._dispatch()
            slot.supervisor.yield_cores(to_others=True)
        if slot.is_slow:
            slot.supervisor.yield_cores(to_others=False)
        if "damaged" in answer:
            raise SupervisorLostError(str(answer["damaged"]))
        return answer

    def _retry_after_loss(self, slot: _SupervisorSlot, request: _JobRequest, reason: str) -> None:
        """Try the job of a lost supervisor again, but not for ever."""
        request.attempts += 1
        error: Exception | None = None
        with self._lock:
            self.lost_supervisors += not self._is_over
            if self._is_over:
                error = InfrastructureError(STOPPED)
            elif request.attempts >= MAX_ATTEMPTS:
                error = SupervisorLostError(reason)
            else:
                self._waiting.appendleft(request)
            self._release(slot, ends=True)
        if error is not None:
            request.future.set_exception(error)

    def _fail(self, slot: _SupervisorSlot, error: BaseException) -> None:
        """Fail all waiting jobs, because no supervisor can be started. Later jobs try again.

        A supervisor without a job was started ahead (`prestart`): nobody waits for it.
        """
        if not isinstance(error, InfrastructureError):
            error = InfrastructureError(f"{type(error).__name__}: {error}")
        with self._lock:
            failed = [] if slot.request is None else [slot.request, *self._waiting]
            if failed:
                self._waiting.clear()
            self._release(slot, ends=True)
        for request in failed:
            request.future.set_exception(error)
