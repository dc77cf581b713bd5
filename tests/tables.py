"""Tables of cases: a promise is one test, and its cases are rows."""

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pytest

Test = Callable[..., None]


def each(names: str | Sequence[str], rows: Iterable[Any] | Mapping[str, Any]) -> Callable[[Test], Test]:
    """Run a test for each row, as `pytest.mark.parametrize` does, but as one test; what fails is raised together.

    A row is the value of the one name, or a tuple with a value for each name; rows may have names of their own.
    """
    wanted = (names,) if isinstance(names, str) else tuple(names)
    listed = list(rows.items()) if isinstance(rows, Mapping) else [(repr(row)[:200], row) for row in rows]
    assert listed, "a table without rows holds nothing"
    assert not any(isinstance(row, type(pytest.param())) for _, row in listed), "a row with a name is one of a mapping"

    def decorate(test: Test) -> Test:
        @functools.wraps(test)
        def run(**fixtures: Any) -> None:
            failed = []
            for name, row in listed:
                try:
                    test(**dict(zip(wanted, (row,) if isinstance(names, str) else row, strict=True)), **fixtures)
                except Exception as error:
                    error.add_note(f"in the row {name}")
                    failed.append(error)
            if failed:
                raise ExceptionGroup(f"{len(failed)} of {len(listed)} rows", failed)

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
