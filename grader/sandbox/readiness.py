"""Waiting for descriptors. `select` fails for numbers above 1023, and a training process has that many files open."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence


class HasDescriptor(Protocol):
    """A file or a socket."""

    def fileno(self) -> int:
        """Return its descriptor."""


Waited = int | HasDescriptor


def wait(timeout: float, *, readable: Sequence[Waited] = (), writable: Sequence[Waited] = ()) -> bool:
    """Return True as soon as one of them can be read or written, or has ended; False after `timeout` seconds.

    Raises ValueError if one is closed.
    """
    asked: dict[int, int] = {}
    for mask, waited in ((select.POLLIN, readable), (select.POLLOUT, writable)):
        for each in waited:
            number = each if isinstance(each, int) else each.fileno()
            if number < 0:
                raise ValueError("a closed file")
            asked[number] = asked.get(number, 0) | mask
    poll = select.poll()
    for number, mask in asked.items():
        poll.register(number, mask)
    return bool(poll.poll(max(0.0, 1000 * timeout)))
