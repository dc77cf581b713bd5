"""Forks a process for each run of `grade`, with the modules loaded that most runs need; a script of its own.

A job is a line of JSON on standard input; its process and then its exit code are lines on standard output. The fork has
run nothing of `grade` yet: its words, folder, environment and streams are those of the job.
"""

import contextlib
import importlib
import json
import os
import pkgutil
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


def main() -> None:
    """Fork for each job, one after the other, until there are no more."""
    load()
    jobs, said = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1):
        os.dup2(nothing, number)
    for line in jobs:
        pid = os.fork()
        if pid == 0:
            try:
                become(json.loads(line))
            finally:
                traceback.print_exc()
                os._exit(1)
        print(pid, file=said, flush=True)
        _, status = os.waitpid(pid, 0)
        print(os.waitstatus_to_exitcode(status), file=said, flush=True)


if __name__ == "__main__":
    main()
