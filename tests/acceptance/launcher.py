"""Forks a process for each run of `grade`, with the modules loaded that most runs need; a script of its own.

A connection to its socket is a run: a job, which is a line of JSON, is answered with the process and then with its exit
code, a line each. The fork has run nothing of `grade` yet: its words, folder, environment and streams are those of the
job. A connection without a job is of somebody who may come back; with the last of them the launcher ends.
"""

import contextlib
import importlib
import json
import os
import pkgutil
import selectors
import socket
import sys
import traceback
from pathlib import Path

import grader
import grader.__main__
from grader.errors import InfrastructureError

EARLY = (
    *("numpy", "numpy.random", "rich.console", "rich.progress", "rich.table", "PIL.Image", "jinja2", "openai"),
    *("docker", "junitparser", "pygments.lexers.python", "pygments.formatters", "rapidfuzz"),
)


def load() -> None:
    """Import all modules of the package, and what many of them import only where they use it."""
    for module in pkgutil.walk_packages(grader.__path__, "grader."):
        # What belongs to an extra that is not installed is not needed either.
        with contextlib.suppress(ImportError, InfrastructureError):
            importlib.import_module(module.name)
    for name in EARLY:
        importlib.import_module(name)
    sys.modules["PIL.Image"].init()
    # A client and its resources load their modules when they are first asked for.
    with sys.modules["openai"].OpenAI(api_key="none") as client:
        assert client.chat.completions


def become(job: dict[str, object]) -> None:
    """Run `grade` with the words, the folder, the environment and the streams of a job, and leave."""
    streams = Path(str(job["streams"]))
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        file = os.open(streams / name, flags if number else os.O_RDONLY)
        os.dup2(file, number)
        os.close(file)
    os.environ.clear()
    os.environ.update(job["environment"])  # type: ignore[call-overload]
    os.chdir(str(job["cwd"]))
    sys.argv = ["grade", *job["arguments"]]  # type: ignore[misc]
    grader.__main__.main()


def main(address: str) -> None:
    """Return when the launcher listens, or another one does; fork for each job until nobody is there."""
    with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as waiting:
        try:
            listener.bind(f"\0{address}")
        except OSError:
            return
        listener.listen(100)
        if os.fork():
            os._exit(0)
        load()
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1):
            os.dup2(nothing, number)
        waiting.register(listener, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fileobj is listener:
                    waiting.register(listener.accept()[0], selectors.EVENT_READ)
                    continue
                waiting.unregister(key.fileobj)
                if key.data is not None:
                    end(key.fd, *key.data)
                elif job := key.fileobj.makefile().readline():  # type: ignore[union-attr]
                    pid = start(json.loads(job), key.fileobj)
                    waiting.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, key.fileobj))
                else:
                    key.fileobj.close()  # type: ignore[union-attr]
            if len(waiting.get_map()) == 1:
                return


def start(job: dict[str, object], connection: socket.socket) -> int:
    """Fork for a job, and say which process it is."""
    pid = os.fork()
    if pid == 0:
        try:
            become(job)
        finally:
            traceback.print_exc()
            os._exit(1)
    connection.sendall(f"{pid}\n".encode())
    return pid


def end(descriptor: int, pid: int, connection: socket.socket) -> None:
    """Say the exit code of a process that has ended; whoever asked may be gone."""
    os.close(descriptor)
    _, status = os.waitpid(pid, 0)
    with connection, contextlib.suppress(OSError):
        connection.sendall(f"{os.waitstatus_to_exitcode(status)}\n".encode())


if __name__ == "__main__":
    main(sys.argv[1])
