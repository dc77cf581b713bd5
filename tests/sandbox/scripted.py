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

    def __init__(self, backend: Backend) -> None:
        self.backend, self.queue, self.closed, self.greeting = backend, [], False, {"python": "3.12.1"}
        self.ran: list[str] = []
        backend.ran.append(self.ran)

    def send(self, job, timeout):
        if self.closed:
            raise SupervisorLostError("closed")
        self.queue.append(job)

    def receive(self, timeout):
        if self.closed or not self.queue:
            raise SupervisorLostError("closed")
        job = self.queue.pop(0)
        self.ran.append(job["name"])
        with self.backend.lock:
            self.backend.seen[job["name"]] += 1
            times = self.backend.seen[job["name"]]
        match job["do"]:
            case "die":
                raise SupervisorLostError("it died")
            case "die once" if times == 1:
                raise SupervisorLostError("it died")
            case "break":
                self.backend.broken = True
                raise SupervisorLostError("it died, and no other starts")
            case "damage once" if times == 1:
                return {"id": 0, "damaged": "files stay"}
            case "starve" if not job.get("alone"):
                return {"id": 0, "run": {"evidence": evidence("blocked", waited=1.0)}}
            case "pause":
                time.sleep(0.3)
            case "doze":
                self.queue.insert(0, job | {"do": "wait"})
                return {"asleep": True}
            case "wait":
                assert self.backend.signals[job["for"]].wait(30)
            case "signal":
                self.backend.signals[job["for"]].set()
            case "sleep":
                return {"id": 0, "run": {"evidence": evidence("blocked", waited=1.0)}, "alone": bool(job.get("alone"))}
        run = {"result": "passed", "evidence": evidence()}
        return {"id": 0, "name": job["name"], "run": run, "alone": bool(job.get("alone"))}

    def close(self):
        self.backend.may_close.wait(60)
        self.closed = True
        self.backend.closed += 1


class Backend:
    name, identity = "docker", "scripted"

    def __init__(self, *, broken: bool = False, broken_once: bool = False, slow: float = 0.0) -> None:
        self.linting: list[bool] = []
        self.reaped = 0
        self.signals = collections.defaultdict[str, threading.Event](threading.Event)
        """A job that waits for a signal goes on when another one gives it."""
        self.may_close = threading.Event()
        self.may_close.set()
        self.ran: list[list[str]] = []
        self.starters: list[threading.Thread] = []
        self.broken_once, self.slow = broken_once, slow
        self.seen, self.lock, self.started, self.closed, self.broken = Counter(), threading.Lock(), 0, 0, broken

    def start(self, index, *, lint=False):
        if self.broken:
            raise InfrastructureError("nothing starts")
        with self.lock:
            self.started += 1
            self.linting.append(lint)
            self.starters.append(threading.current_thread())
            broken, self.broken_once = self.broken_once, False
            made = Scripted(self)
        if broken:
            raise InfrastructureError("this one did not start")
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
