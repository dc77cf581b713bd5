"""What code names, as `dis` has it."""

from __future__ import annotations

import dis
import inspect
import types
from typing import TYPE_CHECKING

import pytest

from tests.sandbox import inside

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

codes = inside.load("tests.names_for_tests")

MODULES = ("argparse", "ast", "dataclasses", "inspect", "statistics", "typing")


def _all(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _all(constant)


@pytest.mark.parametrize("name", MODULES)
def test_names_and_instructions_are_those_of_dis(name: str) -> None:
    module = __import__(name)
    for code in _all(compile(inspect.getsource(module), name, "exec")):
        steps = list(dis.get_instructions(code))
        assert codes.used_names(code) == {(s.argval, s.opname) for s in steps if s.opcode in dis.hasname}
        # Newer versions have entries between instructions, with number 0.
        found = {offset: (number, argument) for offset, number, argument in codes.instructions(code) if number}
        assert {offset: number for offset, (number, _) in found.items()} == {
            s.offset: s.opcode for s in steps if s.opcode
        }
        assert all(found[s.offset][1] == s.arg for s in steps if s.arg is not None)
