"""Where hostile programs meet honest ones: real grading runs, on every backend, and what is left after them."""

from __future__ import annotations

import contextlib
import importlib.util
import itertools
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from .program import SIGNATURE, TESTS, Program, fenced

SECRET = f"grade-secret-{uuid.uuid4().hex}"
USER = 64_242
"""An unprivileged user that needs no name."""
NEEDED = ("click", "click_default_group", "msgspec", "platformdirs", "typing_extensions")
"""What the command imports on its way to a bubblewrap verdict, beside the standard library."""
VARIANTS = [
    pytest.param("docker", marks=[pytest.mark.docker, pytest.mark.xdist_group("docker")]),
    pytest.param("root", marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("bubblewrap")], id="bubblewrap-root"),
    pytest.param("user", marks=[pytest.mark.bubblewrap, pytest.mark.xdist_group("hostile-user")], id="bubblewrap-user"),
]

CLEAN = """
import os

SALT = {salt}


def solution(x):
    salt = {salt}
    room = os.statvfs("/scratch")
    mine = others = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/" + pid + "/status") as file:
                uids = [line.split()[1] for line in file if line.startswith("Uid:")]
        except OSError:
            continue
        mine += uids == [str(os.getuid())]
        others += 1
    # Alone in a namespace there is the first process as well; a split run has a second program, of another user.
    if mine > 2 or others > 6:
        raise ValueError("processes are left: %d %d" % (mine, others))
    left = os.listdir(".") + os.listdir("/dev/shm")
    left += [name for name in os.listdir("/scratch") if name not in ("lint", "program") and not name.isdigit()]
    if left:
        raise ValueError("files are left: %s" % left[:5])
    if (room.f_blocks - room.f_bfree) * room.f_frsize > 1 << 18:
        raise ValueError("space is taken: %d" % (room.f_blocks - room.f_bfree))
    with open("file", "w") as file:
        file.write("x" * 100000)
    os.unlink("file")
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    if os.umask(0o077) != 0o077 or len(os.listdir("/proc/self/fd")) > 6:
        raise ValueError("this process was tampered with")
    held = bytearray(1 << 20)
    return {{3: 7392, 5: 1187}}[x] + 0 * salt * len(held)
"""
WRONG = "def solution(x):\n    salt = {salt}\n    return {{3: 7392, 5: 1188}}[x] + 0 * salt\n"
UNLINTED = "import math, random\n\n\ndef solution(x):\n    salt = {salt}\n    random.shuffle(3, 4)\n    return math.cbrtt(x) + 0 * salt\n"
DROPPED = "TABLE = {{3: 7392, 5: 1187}}\n\n\ndef solution(x):\n    salt = {salt}\n    return TABLE[x] + 0 * salt\n"
CANARIES = {
    "clean": (CLEAN, ("error", "passed")),
    "wrong": (WRONG, ("failed", "failed")),
    "unlinted": (UNLINTED, ("lint_failed", "lint_failed")),
    "dropped": (DROPPED, ("lint_failed", "passed")),
}
