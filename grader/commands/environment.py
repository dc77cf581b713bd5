"""A check of `GRADE_` environment variables: if the name of an option is misspelled, a gate could be lost unnoticed."""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from grader.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

PREFIX = "GRADE_"
OTHERS = frozenset({"GRADE_POOL", "GRADE_SERVE_TOKEN"})
"""Variables that are not options: the rewards and the server read them."""
_NEAR = 0.8
"""Minimum similarity of a misspelled name to the right one (difflib's ratio, without the prefix)."""
_PRIVATE = re.compile(r"GRADE_TEST_|.*_(KEY|TOKEN|SECRET|PASSWORD)$")
"""The tests' own variables, and keys with a name that the user chooses (`--api-key-env`)."""
_SERVICE = re.compile(r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)$")
_ADDRESS = re.compile(r"(tcp|udp|sctp)://")
"""Kubernetes sets such variables in every pod beside a service with the name `grade`."""


def check(environment: Mapping[str, str], options: Collection[str], read: Collection[str]) -> list[str]:
    """Return a warning for every unknown variable. Raises UsageError if one is probably a misspelled option.

    `options`: the documented variables; `read`: all variables that the command line reads.
    """
    known = OTHERS.union(options)
    unknown = [
        name
        for name, value in sorted(environment.items())
        if name.startswith(PREFIX) and value and name not in known and name not in read and not _foreign(name, value)
    ]
    meant = {name: _meant(name, environment[name], known) for name in unknown}
    if any(meant.values()):
        raise UsageError("\n".join(_refusal(name, near) for name, near in meant.items() if near))
    return [
        f"WARNING: the environment variable {name} is ignored: it is not the name of an option "
        "(`grade run --help` lists the options)."
        for name in unknown
    ]


def _foreign(name: str, value: str) -> bool:
    """Return whether such a variable is known to be for another program, not for the command line."""
    service = _SERVICE.match(name) or (name.endswith("_PORT") and _ADDRESS.match(value))
    return bool(_PRIVATE.match(name) or service)


def _meant(name: str, value: str, known: Collection[str]) -> str:
    """Return what to write instead of a name; empty if it resembles no option."""
    shorter = {name.upper().replace(f"{PREFIX}{word}_", PREFIX, 1) for word in ("RUN", "CHECK")}
    exact = sorted((shorter | {name.upper()}).intersection(known))
    if exact:
        return exact[0]
    positive = name.upper().replace("_NO_", "_", 1)
    if positive in known:
        return f"{positive}={0 if value.lower() in {'1', 'true', 't', 'yes', 'y', 'on'} else 1}"
    names = sorted(other.removeprefix(PREFIX) for other in known)
    near = difflib.get_close_matches(name.upper().removeprefix(PREFIX), names, 1, _NEAR)
    return PREFIX + near[0] if near else ""


def _refusal(name: str, near: str) -> str:
    return (
        f"the environment variable {name} is not the name of an option. Did you mean {near}? "
        f"If another program uses {name}, run `env -u {name} grade ...`."
    )
