"""Hint which benchmark the data and predictions look like, for users with a wrong `-b` or `--data`.

It only changes messages.
"""

from __future__ import annotations

import contextlib
import re
from typing import TYPE_CHECKING

import msgspec

from grader.data.load import column_names
from grader.errors import DataUnavailableError, GradeError, InputError
from grader.scorers import declarations, registry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from grader.benchmark import Benchmark
    from grader.predictions.file import PredictionFile

_MOST_IDS = 1_000
"""Number of ids to check."""
_SHARE = 0.9
"""Share of the ids that must match a benchmark's pattern."""


@contextlib.contextmanager
def hinting(
    declared: Benchmark,
    file: PredictionFile,
    data: Path | None,
) -> Iterator[None]:
    """Add to an error about the data or the ids which other benchmark they look like."""
    try:
        yield
    except InputError as error:
        hint = _hint(declared, file, data)
        raise InputError([*error.problems, hint]) if hint else error from None
    except DataUnavailableError as error:
        hint = _hint(declared, file, data)
        raise DataUnavailableError(f"{error}\n{hint}") if hint else error from None


def _hint(
    declared: Benchmark,
    file: PredictionFile,
    data: Path | None,
) -> str:
    """Return a question that suggests other benchmarks, or other data; empty if no other benchmark fits."""
    known = [one for one in declarations.bundled() if one.id != declared.id]
    # Data cannot look more like a benchmark that has no column of its own.
    others = [one for one in known if not _named(one) <= _named(declared)]
    columns = _columns(data, [declared, *others])
    ids = [] if file.is_positional else [record.qid for record in file.records[:_MOST_IDS]]
    alike = [one for one in others if _has_columns(one, columns)]
    # The one that explains more of the columns is the likelier one.
    by_data = [one.id for one in alike if not any(_named(one) & columns < _named(other) & columns for other in alike)]
    by_ids = [one.id for one in known if _fits(one, ids)]
    # A benchmark of the user's own declares no pattern, so its ids cannot show that it is the wrong one.
    could_be = not declared.id_pattern or _fits(declared, ids)
    is_right_data = bool(columns) and _has_columns(declared, columns)
    if by_data and not is_right_data:
        return _about_data(declared, by_data, by_ids, could_be=could_be)
    if could_be or not by_ids:
        return ""
    return f"The predictions look like those of {_asked(by_ids)}"


def _about_data(declared: Benchmark, by_data: list[str], by_ids: list[str], *, could_be: bool) -> str:
    """Return a question about data of other benchmarks. `could_be`: the ids could be those of the declared one."""
    both = [name for name in by_data if name in by_ids]
    named = both or by_data
    data = f"The data looks like that of {_any_of(named)}"
    if both and not could_be:
        return f"The data and the predictions look like those of {_asked(both)}"
    if declared.id_pattern and could_be and not both:
        return f"{data}, but the predictions look like those of {declared.id}: is --data right?"
    return f"{data}: did you mean {_options(named)}, or another --data?"


MOST_NAMED = 3
"""More benchmarks than this are named once, not also as options."""


def _any_of(names: list[str]) -> str:
    *some, last = names
    return f"{', '.join(some)} or {last}" if some else last


def _options(names: list[str]) -> str:
    return " or ".join(f"-b {name}" for name in names) if len(names) <= MOST_NAMED else "one of these (-b NAME)"


def _asked(names: list[str]) -> str:
    """Return the benchmarks, and the question whether one of them was meant."""
    return f"{_any_of(names)}: did you mean {_options(names)}?"


def _columns(data: Path | None, benchmarks: list[Benchmark]) -> set[str]:
    """Return the names of the data's columns, read as a table or in a scorer's own format."""
    if data is None:
        return set()
    with contextlib.suppress(GradeError, OSError, ValueError):
        return set(column_names(data))
    for one in benchmarks:
        with contextlib.suppress(GradeError, OSError, ValueError):
            rows = registry.scorer(one.scoring).own_rows(one, one.default_split, data)
            if rows is not None and rows.rows:
                return set(rows.rows[0])
    return set()


def _has_columns(declared: Benchmark, columns: set[str]) -> bool:
    """Whether the data has the benchmark's id and more than half of the other columns that it declares."""
    named = _named(declared)
    return declared.columns.id in columns and 2 * len(named & columns) > len(named)


def _named(declared: Benchmark) -> set[str]:
    """Return the names of the columns that a benchmark declares."""
    return {name for name in msgspec.to_builtins(declared.columns).values() if isinstance(name, str) and name}


def _fits(declared: Benchmark, ids: list[str]) -> bool:
    """Whether the ids match the benchmark's pattern; False if the benchmark declares no pattern."""
    if not declared.id_pattern or not ids:
        return False
    pattern = re.compile(declared.id_pattern)
    return sum(pattern.fullmatch(qid[:200]) is not None for qid in ids) >= _SHARE * len(ids)
