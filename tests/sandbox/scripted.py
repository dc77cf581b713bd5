"""A backend whose supervisors do to each job what the job says."""

from __future__ import annotations

import collections
import threading
import time
from collections import Counter
from typing import Any

from grader.errors import InfrastructureError
from grader.sandbox.interface import SupervisorLostError


def evidence(stopped: str | None = None, *, waited: float = 0.0) -> dict[str, Any]:
    return {"stopped": stopped, "status": None, "cpu": 0.0, "wall": 0.0, "waited": waited, "oom": False}


class Scripted:
    """A supervisor that does to each job what the job says."""

    def __init__(self, backend: Backend, index: int) -> None:
        self.backend, self.index, self.closed, self.greeting = backend, index, False, {"python": "3.12.1"}
        self.job: dict[str, Any] | None = None
        self.is_awake = threading.Event()
        self.ran: list[str] = []
        backend.ran.append(self.ran)

    def send(self, job, timeout):
        if self.closed:
            raise SupervisorLostError("closed")
        assert self.job is None
        self.job = job
        self.ran.append(job["name"])
        with self.backend.lock:
            self.backend.seen[job["name"]] += 1
            self.backend.running += 1
            self.backend.most = max(self.backend.most, self.backend.running)
            self.backend.together[job["name"]] = self.backend.running

    def receive(self, timeout):
        if self.closed or self.job is None:
            raise SupervisorLostError("closed")
        job = self.job
        if job["do"] == "doze":
            self.job = job | {"do": "wait"}
            return {"slow": True}
        try:
            return self.answer(job)
        finally:
            self.job = None
            with self.backend.lock:
                self.backend.running -= 1

    def yield_cores(self, *, to_others):
        """Do nothing."""

    def answer(self, job):
        if "after" in job:
            self.backend.signals[job["after"]].wait(60)
        match job["do"]:
            case "die":
                raise SupervisorLostError("it died")
            case "die once" if self.backend.seen[job["name"]] == 1:
                raise SupervisorLostError("it died")
            case "break":
                self.backend.broken = True
                raise SupervisorLostError("it died, and no other starts")
            case "damage once" if self.backend.seen[job["name"]] == 1:
                return {"id": 0, "damaged": "files stay"}
            case "starve" if not job.get("alone"):
                return {"id": 0, "run": {"evidence": evidence("blocked", waited=1.0)}}
            case "pause":
                time.sleep(0.05)
            case "wait":
                while not self.backend.signals[job["for"]].wait(0.01):
                    if self.closed:
                        raise SupervisorLostError("closed")
            case "signal":
                self.backend.signals[job["for"]].set()
            case "sleep":
                return {"id": 0, "run": {"evidence": evidence("blocked", waited=1.0)}, "alone": bool(job.get("alone"))}
        run = {"result": "passed", "evidence": evidence()}
        return {"id": 0, "name": job["name"], "run": run, "alone": bool(job.get("alone"))}

    def close(self):
        self.backend.may_close.wait(60)
        with self.backend.lock:
            self.backend.closed += not self.closed
            self.backend.open -= not self.closed
            self.backend.closers[self] = threading.current_thread()
            self.closed = True


class Backend:
    name, identity = "docker", "scripted"

    def __init__(self, *, broken: bool = False, slow: float = 0.0) -> None:
        self.linting: list[bool] = []
        self.reaped = 0
        self.signals = collections.defaultdict[str, threading.Event](threading.Event)
        """A job that waits for a signal goes on when another one gives it."""
        self.may_close: Any = threading.Event()
        self.may_close.set()
        self.ran: list[list[str]] = []
        self.starters: dict[Scripted, threading.Thread] = {}
        self.closers: dict[Scripted, threading.Thread] = {}
        self.slow = slow
        self.seen, self.lock, self.started, self.closed, self.broken = Counter(), threading.Lock(), 0, 0, broken
        self.running = self.most = self.open = 0
        """Jobs that run now, and the most at a time; supervisors that are open now."""
        self.together: dict[str, int] = {}
        """Job -> how many ran when it began."""

    def start(self, index, *, for_linting=False):
        if self.broken:
            raise InfrastructureError("nothing starts")
        with self.lock:
            self.started += 1
            self.open += 1
            self.linting.append(for_linting)
            made = Scripted(self, index)
            self.starters[made] = threading.current_thread()
        time.sleep(self.slow)
        return made

    def load(self):
        pass

    def reap(self):
        self.reaped += 1
        return 0

    def describe(self):
        return {"backend": "docker"}


def lint_jobs(count: int) -> list[tuple[str, dict[str, Any]]]:
    return [(f"j{i}", {"name": f"j{i}", "do": "pass", "lint": True}) for i in range(count)]
