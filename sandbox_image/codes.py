"""The names that code uses: like `dis.get_instructions`, but without an object for every instruction."""

from __future__ import annotations

import dis
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

_NAMING = frozenset(dis.hasname)
_EXTENDED = dis.EXTENDED_ARG
# For these, the lowest bits of an argument are not part of the name's index.
_SHIFTS = {
    "LOAD_GLOBAL": 1 if sys.version_info >= (3, 11) else 0,
    "LOAD_ATTR": 1 if sys.version_info >= (3, 12) else 0,
    "LOAD_SUPER_ATTR": 2,
}
_SHIFT = {number: _SHIFTS.get(dis.opname[number], 0) for number in _NAMING}


def instructions(code: CodeType) -> Iterator[tuple[int, int, int]]:
    """Yield (offset, number, argument) of every instruction of a code object, without those of nested functions."""
    raw, high = code.co_code, 0
    for offset in range(0, len(raw), 2):
        number = raw[offset]
        argument = raw[offset + 1] | high
        high = argument << 8 if number == _EXTENDED else 0
        yield offset, number, argument


def names(code: CodeType) -> set[tuple[str, str]]:
    """Return (name, instruction) for every name that code uses in an instruction."""
    # Few instructions have a name, and reading a set of their pairs is faster than examining each instruction.
    used = {(number, argument) for _, number, argument in instructions(code) if number in _NAMING}
    table = code.co_names
    return {(table[argument >> _SHIFT[number]], dis.opname[number]) for number, argument in used}
